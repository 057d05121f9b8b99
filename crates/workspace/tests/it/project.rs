//! A repository of a person's, as scenarios about worktrees need it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use placet_sandbox::{Layers, Request};
use placet_workspace::{ObjectId, Plan, Repository, Worktree};
use tempfile::TempDir;

use crate::repository::git;
use crate::world::{run, sh};

pub(crate) struct Project {
    outer: TempDir,
}

impl Project {
    /// Two commits on `main`, with what usual repositories have: directories, a program, a link, an ignored name.
    pub(crate) fn new() -> Self {
        let project = Self::empty();
        for name in ["src/one.rs", "src/two.rs", "docs/read.md", "file"] {
            project.write(name, &format!("{name}\n"));
        }
        project.write(".gitignore", "*.log\nbuild/\n");
        project.write("tool", "#!/bin/sh\n");
        fs::set_permissions(project.path("tool"), fs::Permissions::from_mode(0o755)).expect("a mode");
        std::os::unix::fs::symlink("file", project.path("link")).expect("a link");
        project.commit("first");
        project.write("file", "second\n");
        project.commit("second");
        project
    }

    fn empty() -> Self {
        let outer = TempDir::new().expect("a temporary directory");
        fs::create_dir(outer.path().join("project")).expect("a directory");
        git(&outer.path().join("project"), &["init", "--quiet"]);
        Self { outer }
    }

    pub(crate) fn outer(&self) -> &Path {
        self.outer.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.outer.path().join("project")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn commit(&self, message: &str) {
        git(&self.root(), &["add", "."]);
        git(&self.root(), &["commit", "--quiet", "-m", message]);
    }

    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root(), arguments)
    }

    #[track_caller]
    pub(crate) fn open(&self) -> Repository {
        Repository::find(&self.root()).expect("a repository")
    }

    pub(crate) fn head(&self) -> ObjectId {
        self.git(&["rev-parse", "HEAD"]).parse().expect("an object name")
    }

    pub(crate) fn plan(&self, name: &str) -> Plan {
        Plan {
            name: name.parse().expect("a name"),
            path: self.path(&format!(".worktrees/T-1/{name}")),
            branch: format!("feat/T-1-{name}").parse().expect("a branch"),
            base: self.head(),
        }
    }

    #[track_caller]
    pub(crate) fn plain(&self, name: &str) -> Worktree {
        self.open().add(&self.plan(name)).expect("a worktree")
    }

    #[track_caller]
    pub(crate) fn layered(&self, name: &str) -> Worktree {
        self.open().add_layered(&self.plan(name)).expect("a worktree")
    }

    /// Every file, link and directory with its size, but for objects and logs of the repository.
    pub(crate) fn listing(&self) -> Vec<PathBuf> {
        let (mut found, mut waiting) = (Vec::new(), vec![self.root()]);
        while let Some(directory) = waiting.pop() {
            for entry in fs::read_dir(directory).expect("a directory").flatten() {
                let path = entry.path();
                match path.file_name().and_then(|name| name.to_str()) {
                    Some("objects" | "logs") => {}
                    _ if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) => {
                        found.push(path.clone());
                        waiting.push(path);
                    }
                    _ => found.push(path),
                }
            }
        }
        found.sort();
        found
    }
}

/// What a cage of this worktree runs.
pub(crate) fn request(worktree: &Worktree, script: &str) -> Request {
    let cage = worktree.cage();
    let request = sh(script)
        .workspace(Layers::new(cage.lower, cage.upper, cage.work))
        .layer(Layers::new(&cage.git_lower, cage.git_upper, cage.git_work), cage.git_lower);
    cage.variables.into_iter().fold(request, |request, (name, value)| request.env(name, value))
}

/// What an agent does in its worktree.
#[track_caller]
pub(crate) fn agent(worktree: &Worktree, script: &str) -> String {
    run(request(worktree, script))
}

impl Drop for Project {
    fn drop(&mut self) {
        let layers = self.path(".worktrees/.layers");
        let Ok(worktrees) = fs::read_dir(layers) else { return };
        for worktree in worktrees.flatten() {
            for run in ["files", "git"] {
                let room = worktree.path().join(run).join("work/work");
                let _ = fs::set_permissions(room, fs::Permissions::from_mode(0o700));
            }
        }
    }
}
