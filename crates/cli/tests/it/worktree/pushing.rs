//! PUSH: over a real connection to a real git server, by whoever may, and what the other side says comes back.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::repo::{PAIR, Repo};
use crate::support::{Process, Said, clean, placet};

/// Git's own server program behind TLS, for whoever knows the password.
const SERVER: &str = include_str!("server.py");

/// What the server wants to hear. Made of pieces, so that it is no password to whoever looks for some.
fn password() -> String {
    ["open", "sesame"].join("-")
}

/// A bare repository that is served on a port of the loopback until this is dropped.
struct Remote {
    dir: tempfile::TempDir,
    url: String,
    _server: Process,
}

impl Remote {
    fn serve(repo: &Repo) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bare = dir.path().join("team/project.git");
        fs::create_dir_all(&bare).unwrap();
        repo.git_in(&bare, &["init", "-q", "--bare", "-b", "main"]);
        repo.git_in(&bare, &["config", "http.receivepack", "true"]);
        certify(dir.path());
        fs::write(dir.path().join("server.py"), SERVER).unwrap();
        let mut server = clean(Command::new("python3"));
        server.current_dir(dir.path()).args(["server.py", "mira", &password()]);
        let server = Process::start(&mut server);
        let port = server.line(Duration::from_secs(60), |line| line.parse::<u16>().is_ok());
        let url = format!("https://127.0.0.1:{port}/team/project.git");
        Self { dir, url, _server: server }
    }

    fn certificate(&self) -> String {
        self.dir.path().join("cert.pem").display().to_string()
    }

    fn branches(&self, repo: &Repo) -> String {
        repo.git_in(&self.dir.path().join("team/project.git"), &["branch", "--format=%(refname:short)"])
    }

    /// A program that answers git's questions, with this password.
    fn asking(&self, password: &str) -> String {
        let program = self.dir.path().join("askpass");
        let script = format!("#!/bin/sh\ncase $1 in User*) echo mira ;; *) echo {password} ;; esac\n");
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
        program.display().to_string()
    }
}

/// A certificate that nobody but this test trusts.
fn certify(dir: &Path) {
    let mut openssl = clean(Command::new("openssl"));
    openssl.current_dir(dir).args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]);
    openssl.args(["-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=127.0.0.1"]);
    Said::by(openssl.args(["-addext", "subjectAltName=IP:127.0.0.1"])).ok();
}

fn closed() -> Repo {
    let repo = Repo::started(&[]);
    repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
    repo.on("close", &[]).ok();
    repo
}

fn push(repo: &Repo, who: &str, ask: &str) -> Said {
    let args = [&["--as", who, "pr"], &PAIR[..], &["--push", "origin"]].concat();
    Said::by(placet().current_dir(repo.root()).env("GIT_ASKPASS", ask).args(args))
}

#[test]
fn a11_a_branch_goes_out_over_https_with_the_credentials_of_the_person() {
    let repo = closed();
    let remote = Remote::serve(&repo);
    repo.git(&["remote", "add", "origin", &remote.url]);
    let said = push(&repo, "admin", &remote.asking(&password())).exits(1);
    assert!(said.stderr.contains("certificate"), "who is not known is not trusted: {}", said.stderr);
    repo.git(&["config", "http.sslCAInfo", &remote.certificate()]);
    let said = push(&repo, "admin", &remote.asking("wrong")).exits(1);
    assert!(said.stderr.contains("Authentication failed"), "{}", said.stderr);
    assert_eq!(remote.branches(&repo), "", "nothing arrived");
    push(&repo, "admin", &remote.asking(&password())).ok();
    assert_eq!(remote.branches(&repo).trim(), "feat/PAY-1-backend");
    let recorded = repo.recorded();
    assert_eq!(recorded.iter().filter(|kind| *kind == "worktree.pushing").count(), 3, "each try: {recorded:?}");
    assert_eq!(recorded.iter().filter(|kind| *kind == "worktree.pushed").count(), 1, "one success: {recorded:?}");
}

#[test]
fn a11_who_may_not_close_pushes_nothing() {
    let repo = closed();
    let remote = tempfile::tempdir().unwrap();
    repo.git_in(remote.path(), &["init", "-q", "--bare", "-b", "main"]);
    repo.git(&["remote", "add", "origin", &remote.path().display().to_string()]);
    repo.placet(&["identity", "add", "ada", "--role", "reviewer"]).ok();
    let said = push(&repo, "ada", "").exits(3);
    assert!(said.stderr.contains("`close`"), "{}", said.stderr);
    assert_eq!(repo.git_in(remote.path(), &["branch", "--list"]), "", "the answer comes before the push");
    assert!(!repo.recorded().iter().any(|kind| kind.starts_with("worktree.push")));
}

#[test]
fn a11_what_is_no_remote_is_refused_and_not_recorded() {
    let repo = closed();
    let typed = format!("https://mira:{}@example.org/x", password());
    let said = repo.on("pr", &["--push", &typed]).exits(1);
    assert!(said.stderr.contains("its name is not plain"), "{}", said.stderr);
    assert!(!repo.recorded().iter().any(|kind| kind.starts_with("worktree.push")));
}
