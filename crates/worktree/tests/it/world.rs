//! A real repository in a temporary directory, with the files of a team.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use placet_worktree::team::{self, Team, TeamProblems};
use tempfile::TempDir;

pub(crate) struct World {
    dir: TempDir,
}

/// Git without anybody's configuration.
pub(crate) fn git(dir: &Path) -> Command {
    let mut git = Command::new("git");
    git.current_dir(dir).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for (key, value) in [("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("HOME", "/nonexistent")] {
        git.env(key, value);
    }
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
    git
}

impl World {
    /// A repository without a single commit.
    pub(crate) fn empty() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let made = git(dir.path()).args(["init", "--quiet", "--initial-branch=main"]).status().unwrap();
        assert!(made.success());
        Self { dir }
    }

    /// A repository after `init`.
    pub(crate) fn with_team() -> Self {
        let world = Self::empty();
        team::init(world.root()).unwrap();
        world
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.root().join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) -> &Self {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// Replaces a part of a file that must be there once.
    pub(crate) fn edit(&self, file: &str, old: &str, new: &str) -> &Self {
        let text = self.read(file);
        assert_eq!(text.matches(old).count(), 1, "`{old}` in {file}");
        self.write(file, &text.replace(old, new))
    }

    pub(crate) fn load(&self) -> Result<Team, TeamProblems> {
        Team::load(self.root())
    }

    /// The problems, one per line, as people see them.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.load().unwrap_err().all().iter().map(ToString::to_string).collect()
    }

    /// The only problem there is.
    pub(crate) fn problem(&self) -> String {
        let problems = self.problems();
        assert_eq!(problems.len(), 1, "{problems:#?}");
        problems[0].clone()
    }
}
