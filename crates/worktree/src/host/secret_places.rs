//! Files and directories that hold secrets. A cache in, around or the same as one of them is refused.

use std::path::{Path, PathBuf};

/// Places that hold secrets. `~/` is the person's home. The list is a second line: a cache must also lie below a cache
/// root of the person's own settings.
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
    // Profiles of browsers and of programs that are browsers inside: cookies and saved passwords.
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
    // Agents and editors that keep keys of models or of forges.
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
    // Histories of shells hold what was typed, passwords among it.
    "~/.bash_history",
    "~/.zsh_history",
    "~/.local/share/fish",
    // Wallets.
    "~/.bitcoin",
    "~/.ethereum",
    "~/.electrum",
    // Placet's own: keys, tokens, settings and trust.
    "~/.placet",
    "~/.config/placet",
    "~/.local/state/placet",
    // The machine's own.
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

/// The secret place that a path, as it is spelled, lies in or around. For errors with a line number; what counts is what
/// the path leads to.
pub(crate) fn spelled(path: &str) -> Option<&'static str> {
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    SECRET_PLACES.iter().copied().find(|secret| within(path, secret) || within(secret, path))
}

/// Where each place is for a person with this home.
pub(crate) fn of_home(home: &Path) -> impl Iterator<Item = (&'static str, PathBuf)> {
    SECRET_PLACES.iter().map(|place| (*place, below_home(place, home)))
}

/// A path with `~/` replaced by the home.
pub(crate) fn below_home(path: &str, home: &Path) -> PathBuf {
    match path.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(path),
    }
}
