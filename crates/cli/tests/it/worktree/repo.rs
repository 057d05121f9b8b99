//! A repository with a team in it: what the scenarios begin with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Said, clean, free_port, placet};

/// A repository on `main`, set up with `placet init`, with `backend` (src, tests) and `docs` as its agents.
pub(crate) struct Repo {
    _dir: tempfile::TempDir,
    /// The person's directories, outside of the repository.
    person: tempfile::TempDir,
    root: PathBuf,
}

pub(crate) const PAIR: [&str; 4] = ["--agent", "backend", "--ticket", "PAY-1"];

impl Repo {
    pub(crate) fn new() -> Self {
        Self::named("")
    }

    /// One in a directory of this name.
    pub(crate) fn named(name: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join(name);
        fs::create_dir_all(&root).unwrap();
        let repo = Self { _dir: dir, person: tempfile::tempdir().unwrap(), root };
        repo.git(&["init", "-q", "-b", "main"]);
        for (name, value) in [("user.name", "Mira"), ("user.email", "mira@example.org")] {
            repo.git(&["config", name, value]);
        }
        let files = [
            ("src/main.rs", "fn main() {}\n"),
            ("src/util.rs", "pub fn one() -> u8 {\n    1\n}\n"),
            ("src/run.sh", "#!/bin/sh\n"),
            ("docs/guide.md", "# Guide\n"),
            ("Makefile", "all:\n\ttrue\n"),
            (".gitignore", "*.log\nbuild/\n"),
            (".github/workflows/ci.yml", "on: push\n"),
        ];
        files.iter().for_each(|(name, text)| repo.write(name, text));
        repo.commit("chore(repo): begin");
        repo.placet(&["init", "--address", &format!("127.0.0.1:{}", free_port())]).ok();
        repo.commit("chore(agents): the team");
        repo
    }

    /// One whose agent is at work.
    pub(crate) fn started(options: &[&str]) -> Self {
        let repo = Self::new();
        repo.on("start", options).ok();
        repo
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A path in the worktree of `backend` at `PAY-1`.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.root().join(".worktrees/PAY-1/backend").join(name)
    }

    /// Where notes about that worktree are, and what its cages wrote.
    pub(crate) fn layers(&self) -> PathBuf {
        self.root().join(".worktrees/.layers/PAY-1-backend")
    }

    pub(crate) fn noted(&self, name: &str) -> Option<String> {
        // Below the digest of it.
        fs::read_to_string(self.layers().join(name)).ok()?.split_once('\n').map(|(_, note)| note.to_owned())
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Changes one of the team's files.
    pub(crate) fn edit(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let path = self.root().join(name);
        let mut value: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut value);
        fs::write(path, serde_json::to_string_pretty(&value).unwrap()).unwrap();
    }

    /// What a person does with git, in the main checkout.
    #[track_caller]
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_in(self.root(), args)
    }

    #[track_caller]
    pub(crate) fn git_in(&self, dir: &Path, args: &[&str]) -> String {
        let mut git = clean(Command::new("git"));
        git.current_dir(dir).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").args(args);
        Said::by(&mut git).ok().out().to_owned()
    }

    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    pub(crate) fn placet(&self, args: &[&str]) -> Said {
        Said::by(&mut self.command(args))
    }

    /// Builds the command without running it.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = placet();
        command.current_dir(self.root()).envs(self.person_variables()).args(args);
        command
    }

    /// Directory for the person's home, settings and trust.
    pub(crate) fn person(&self, name: &str) -> PathBuf {
        self.person.path().join(name)
    }

    /// Sets only the settings and trust directories; the home is that of the user who runs the tests.
    pub(crate) fn person_variables(&self) -> [(&'static str, PathBuf); 2] {
        [("XDG_CONFIG_HOME", self.person("config")), ("XDG_STATE_HOME", self.person("state"))]
    }

    /// Writes the person's settings.
    pub(crate) fn settings(&self, text: &str) {
        fs::create_dir_all(self.person("config/placet")).unwrap();
        fs::write(self.person("config/placet/settings.toml"), text).unwrap();
    }

    /// Allows these directories as caches in the person's settings.
    pub(crate) fn allow_caches(&self, roots: &[&Path]) {
        self.settings(&format!("cache_roots = {}\n", serde_json::to_string(roots).unwrap()));
    }

    /// Shows the repository's request and trusts it.
    pub(crate) fn trust(&self) {
        let shown = self.placet(&["--json", "trust", "--show"]).ok().json();
        self.placet(&["trust", "--digest", shown["digest"].as_str().unwrap()]).ok();
    }

    /// A command about `backend` at `PAY-1`.
    pub(crate) fn on(&self, verb: &str, more: &[&str]) -> Said {
        self.placet(&[&[verb], &PAIR[..], more].concat())
    }

    /// What the agent does, in its cage.
    pub(crate) fn agent(&self, script: &str) -> Said {
        self.on("exec", &["--", "sh", "-ec", script])
    }

    /// The answer of a scope-check, whether it holds or not.
    pub(crate) fn checked(&self) -> Value {
        let said = self.placet(&[&["--json", "scope-check"], &PAIR[..]].concat());
        assert!(matches!(said.code, Some(0 | 3)), "{}: {}", said.what, said.stderr);
        said.json()
    }

    /// What is said of each path that is held against the agent: `path: verdict`.
    pub(crate) fn findings(&self) -> Vec<String> {
        let checked = self.checked();
        let files = checked["files"].as_array().unwrap().iter().filter(|file| file["verdict"] != "allowed");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        files.map(|file| format!("{}: {}", text(&file["path"]), text(&file["verdict"]))).collect()
    }

    /// The kinds of entries in the ledger, in order, that are about worktrees.
    pub(crate) fn recorded(&self) -> Vec<String> {
        let books = self.root().join(".placet/data/placet.db");
        let books = rusqlite::Connection::open_with_flags(books, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let mut kinds = books.prepare("SELECT kind FROM ledger WHERE kind LIKE 'worktree.%' ORDER BY seq").unwrap();
        kinds.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }
}
