//! A repository with a linked worktree, both in layers, and an agent at work in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use placet_sandbox::{Layers, Request};
use placet_workspace::harvest::{Harvest, HarvestError, Harvested};
use placet_workspace::layer::Layered;
use placet_workspace::{Branch, ObjectId};
use tempfile::TempDir;

use crate::world::{run, sh};

/// Git on the host as a person runs it, but without anybody's settings.
#[track_caller]
pub(crate) fn git(directory: &Path, arguments: &[&str]) -> String {
    let ran = Command::new("git")
        .args(["-c", "user.name=host", "-c", "user.email=host@host", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("install `git` on this host");
    assert!(ran.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("text").trim().to_owned()
}

pub(crate) struct Repository {
    outer: TempDir,
    base: ObjectId,
}

impl Repository {
    pub(crate) fn new() -> Self {
        Self::with(&["init", "--quiet"])
    }

    pub(crate) fn with(init: &[&str]) -> Self {
        let outer = TempDir::new().expect("a temporary directory");
        for name in ["repository", "files", "files/upper", "files/work", "common", "common/upper", "common/work"] {
            fs::create_dir(outer.path().join(name)).expect("a directory");
        }
        let repository = outer.path().join("repository");
        fs::write(repository.join("file"), "one\n").expect("a file");
        git(&repository, init);
        git(&repository, &["add", "."]);
        git(&repository, &["commit", "--quiet", "-m", "first"]);
        git(&repository, &["worktree", "add", "--quiet", "../worktree", "-b", "run/7"]);
        let base = git(&repository, &["rev-parse", "HEAD"]).parse().expect("an object name");
        Self { outer, base }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.outer.path().join(name)
    }

    pub(crate) fn upper(&self, name: &str) -> PathBuf {
        self.path("common/upper").join(name)
    }

    /// The `.git` file names the repository by its path on the host, so that is where it appears.
    pub(crate) fn request(&self, script: &str) -> Request {
        let layers =
            |lower, run: &str| Layers::new(self.path(lower), self.path(run).join("upper"), self.path(run).join("work"));
        let common = self.path("repository/.git");
        sh(script).workspace(layers("worktree", "files")).layer(layers("repository/.git", "common"), common)
    }

    /// What the agent does, in the worktree; `$G` is the common directory.
    #[track_caller]
    pub(crate) fn agent(&self, script: &str) -> String {
        run(self.request(&format!("G=$(git rev-parse --path-format=absolute --git-common-dir)\n{script}")))
    }

    pub(crate) fn base(&self) -> &ObjectId {
        &self.base
    }

    pub(crate) fn layers(&self) -> Layered {
        let common = self.path("common");
        Layered::open(&self.path("repository/.git"), &common.join("upper"), &common.join("work")).expect("the layers")
    }

    pub(crate) fn branch() -> Branch {
        "run/7".parse().expect("a branch")
    }

    pub(crate) fn harvest(&self) -> Result<Harvested, HarvestError> {
        self.harvest_with(|harvest| harvest)
    }

    pub(crate) fn harvest_with(
        &self,
        asked: impl FnOnce(Harvest<'_>) -> Harvest<'_>,
    ) -> Result<Harvested, HarvestError> {
        let layers = self.layers();
        let harvest = Harvest::new(&layers, Self::branch(), self.base.clone());
        asked(harvest.worktree(self.path("repository/.git/worktrees/worktree"))).take()
    }

    /// Git in the real repository.
    #[track_caller]
    pub(crate) fn host(&self, arguments: &[&str]) -> String {
        git(&self.path("repository"), arguments)
    }

    /// Subjects of the commits on the branch.
    #[track_caller]
    pub(crate) fn log(&self) -> String {
        self.host(&["log", "--format=%s", "run/7"]).replace('\n', " ")
    }

    /// Everything in the real `.git` but objects: what no run changes, except its own branch.
    pub(crate) fn settings(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let (mut found, mut waiting) = (Vec::new(), vec![self.path("repository/.git")]);
        while let Some(directory) = waiting.pop() {
            for entry in fs::read_dir(directory).expect("a directory").flatten() {
                let path = entry.path();
                match path.file_name().and_then(|name| name.to_str()) {
                    Some("objects" | "index" | "7" | "logs") => {}
                    _ if path.is_dir() => waiting.push(path),
                    _ => found.push((path.clone(), fs::read(&path).expect("its content"))),
                }
            }
        }
        found.sort();
        found
    }

    /// Objects of the real repository, and what lies between them.
    pub(crate) fn objects(&self) -> Vec<PathBuf> {
        let (mut found, mut waiting) = (Vec::new(), vec![self.path("repository/.git/objects")]);
        while let Some(directory) = waiting.pop() {
            for entry in fs::read_dir(directory).expect("a directory").flatten() {
                found.push(entry.path());
                if entry.path().is_dir() {
                    waiting.push(entry.path());
                }
            }
        }
        found.sort();
        found
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        for run in ["files", "common"] {
            let room = self.path(run).join("work/work");
            let _ = fs::set_permissions(room, fs::Permissions::from_mode(0o700));
        }
    }
}
