//! Secrets of the host: they do not exist inside, whatever a request mounts beside them.

use std::fs;
use std::path::{Path, PathBuf};

use placet_sandbox::{Rules, SandboxError};

use crate::harness::tests;
use crate::world::{Layered, Workspace, run, sh};

tests![
    a10_home_directories_of_the_host_and_what_they_keep_do_not_exist,
    a_layer_inside_a_home_directory_shows_nothing_beside_it,
    a_home_directory_as_such_cannot_be_mounted,
    a10_environment_files_of_a_workspace_are_out_of_reach,
];

/// Where people and their tools keep keys, tokens and passwords.
const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/op",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".gitconfig",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials.toml",
    ".vault-token",
    ".password-store",
    ".mozilla",
    ".bash_history",
    ".claude",
    ".codex",
];

/// Homes of all accounts of the host, and the caller's own.
fn homes() -> Vec<PathBuf> {
    let accounts = fs::read_to_string("/etc/passwd").expect("accounts");
    let of_accounts = accounts.lines().filter_map(|line| line.split(':').nth(5)).map(PathBuf::from);
    let own = std::env::var_os("HOME").map(PathBuf::from);
    let all = of_accounts.chain(own).chain(["/root".into(), "/home/agent".into()]);
    all.filter(|home| home.is_absolute() && home != Path::new("/")).collect()
}

fn a10_home_directories_of_the_host_and_what_they_keep_do_not_exist() {
    let paths = homes().into_iter().flat_map(|home| SECRETS.iter().map(move |secret| home.join(secret)));
    let script =
        "while read -r path; do test -e \"$path\" && echo \"$path\"; done; ls -A /home /root 2>/dev/null; true";
    let list: String = paths.map(|path| format!("{}\n", path.display())).collect();
    assert_eq!(run(sh(script).stdin(list)).succeeded(), "/home:\nagent\n");
    let named = ["/etc/shadow", "/etc/ssh", "/etc/sudoers", "/etc/ssl/private", "/var/run/docker.sock", "/run/secrets"];
    for path in named {
        assert_eq!(run(sh(&format!("test ! -e {path} && echo gone"))).succeeded(), "gone\n", "{path}");
    }
}

fn a_layer_inside_a_home_directory_shows_nothing_beside_it() {
    let home = Layered::new().with("repo/.git/HEAD", "ref\n").with("repo/file", "x");
    for secret in SECRETS {
        let path = home.lower(secret);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, "secret\n").expect("a secret");
    }
    let git = home.lower("repo/.git");
    let script =
        format!("cat {}/HEAD; ls -A {} {}", git.display(), home.lower("").display(), home.lower("repo").display());
    let seen = run(sh(&script).layer(home.layers_above(&git), &git)).succeeded();
    let lines: Vec<_> = seen.lines().filter(|line| !line.is_empty() && !line.ends_with(':')).collect();
    assert_eq!(lines, ["ref", "repo", ".git"]);
}

fn a_home_directory_as_such_cannot_be_mounted() {
    for place in ["/root", "/home", "/etc", "/"] {
        let error = crate::world::refused(sh("true").workspace(place));
        // An ordinary user cannot search a home of root for repositories: that refuses it as well.
        let is_refused = matches!(error, SandboxError::Source { .. } | SandboxError::Unprotected { .. });
        assert!(is_refused, "{place}: {error:?}");
    }
}

fn a10_environment_files_of_a_workspace_are_out_of_reach() {
    let layered = Layered::new().with(".env", "TOKEN=secret\n").with("app/.env.production", "TOKEN=secret\n");
    let request = || sh("grep -r secret . ; cat .env app/.env.production").workspace(layered.layers());
    assert_eq!(run(request().rules(Rules::writable().hide_env_files())).stdout, "");
    let workspace = Workspace::new().with(".env", "TOKEN=secret\n");
    let direct = sh("grep -r secret . ; cat .env").workspace(workspace.path());
    assert_eq!(run(direct.rules(Rules::read_only().hide_env_files())).stdout, "");
    assert!(run(request()).stdout.contains("secret"), "without the rule they are there");
}
