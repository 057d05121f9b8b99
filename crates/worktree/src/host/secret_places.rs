//! Files and directories that hold secrets. A cache that is one of them, in one, or around one is refused.

use std::path::{Path, PathBuf};

/// Paths that hold secrets. `~/` is the person's home. The list is a second line of defence: a cache must also be below a cache root of the
/// person's settings.
pub(crate) const SECRET_PLACES: &[&str] = &[
    // Keys of people.
    "~/.ssh",
    "~/.gnupg",
    "~/.pki",
    "~/.age",
    // Cloud command lines.
    "~/.aws",
    "~/.azure",
    "~/.kube",
    "~/.docker",
    "~/.config/gcloud",
    "~/.config/gh",
    "~/.config/glab-cli",
    "~/.config/sops",
    "~/.config/hub",
    "~/.config/containers",
    "~/.config/helm",
    "~/.config/doctl",
    "~/.config/hcloud",
    "~/.config/scw",
    "~/.config/linode-cli",
    "~/.config/netlify",
    "~/.config/heroku",
    "~/.config/configstore",
    "~/.config/stripe",
    "~/.config/argocd",
    "~/.config/rclone",
    "~/.config/.wrangler",
    "~/.local/share/heroku",
    "~/.local/share/com.vercel.cli",
    "~/.oci",
    "~/.bluemix",
    "~/.aliyun",
    "~/.fly",
    "~/.vercel",
    "~/.wrangler",
    "~/.terraform.d",
    "~/.terraformrc",
    "~/.pulumi",
    "~/.vault-token",
    "~/.s3cfg",
    "~/.boto",
    "~/.databrickscfg",
    "~/.snowflake",
    "~/.snowsql",
    "~/.kaggle",
    "~/.huggingface",
    "~/.cache/huggingface/token",
    // Password managers and keyrings.
    "~/.password-store",
    "~/.local/share/gopass",
    "~/.config/gopass",
    "~/.local/share/keyrings",
    "~/.local/share/kwalletd",
    "~/.config/1Password",
    "~/.config/op",
    "~/.config/Bitwarden",
    "~/.config/Bitwarden CLI",
    "~/.config/keepassxc",
    "~/.lpass",
    "~/.local/share/lpass",
    // Profiles of browsers and of programs built on them: cookies and saved passwords.
    "~/.mozilla",
    "~/.thunderbird",
    "~/.config/google-chrome",
    "~/.config/chromium",
    "~/.config/BraveSoftware",
    "~/.config/microsoft-edge",
    "~/.config/opera",
    "~/.config/vivaldi",
    "~/.config/Slack",
    "~/.config/discord",
    "~/.config/Signal",
    "~/.local/share/TelegramDesktop",
    "~/.cache/mozilla",
    "~/.cache/google-chrome",
    "~/.cache/chromium",
    "~/.var/app",
    "~/snap",
    // Agents and editors that keep keys of models or forges.
    "~/.claude",
    "~/.claude.json",
    "~/.codex",
    "~/.gemini",
    "~/.qwen",
    "~/.cursor",
    "~/.continue",
    "~/.kiro",
    "~/.aider.conf.yml",
    "~/.config/claude",
    "~/.config/Claude",
    "~/.config/github-copilot",
    "~/.config/goose",
    "~/.config/opencode",
    "~/.config/Cursor",
    "~/.config/Code",
    "~/.config/zed",
    "~/.local/share/opencode",
    // Credentials of package managers, databases and version control.
    "~/.netrc",
    "~/.git-credentials",
    "~/.config/git",
    "~/.npmrc",
    "~/.yarnrc.yml",
    "~/.pypirc",
    "~/.config/pip",
    "~/.config/composer",
    "~/.composer/auth.json",
    "~/.config/NuGet",
    "~/.nuget/NuGet",
    "~/.cargo/credentials",
    "~/.cargo/credentials.toml",
    "~/.gem/credentials",
    "~/.m2/settings.xml",
    "~/.m2/settings-security.xml",
    "~/.gradle/gradle.properties",
    "~/.pgpass",
    "~/.my.cnf",
    "~/.mylogin.cnf",
    // Shell histories contain typed text, including passwords.
    "~/.bash_history",
    "~/.zsh_history",
    "~/.local/share/fish",
    // Wallets.
    "~/.bitcoin",
    "~/.ethereum",
    "~/.electrum",
    // Placet: keys, tokens, settings and trust.
    "~/.placet",
    "~/.config/placet",
    "~/.local/state/placet",
    // The machine.
    "/etc/shadow",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/NetworkManager",
    "/run/secrets",
    "/run/user",
    "/var/lib/docker",
    "/var/run/docker.sock",
];

/// Finds the secret place that the spelling of a path lies in or around. Used for errors with a line number; the decision uses the resolved
/// path.
pub(crate) fn spelled(path: &str) -> Option<&'static str> {
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    SECRET_PLACES.iter().copied().find(|secret| within(path, secret) || within(secret, path))
}

/// Resolves the secret places for a person with this home.
pub(crate) fn of_home(home: &Path) -> impl Iterator<Item = (&'static str, PathBuf)> {
    SECRET_PLACES.iter().map(|place| (*place, below_home(place, home)))
}

/// Replaces `~/` in a path by the home.
pub(crate) fn below_home(path: &str, home: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(path),
    }
}
