//! Repositories and worktrees that were made to run something, or to hold somebody up. Every operation is run over each
//! of them; none of the planted programs may ever run on the host.
//!
//! What is refused may be refused: these scenarios ask only that nothing runs, that everything ends, and that traps that
//! need not be refused are not.

mod deeds;
mod files;
mod settings;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use placet_workspace::remove_run;

use crate::harness::Test;
use crate::project::Project;

/// Longer than any of them takes on a busy machine, shorter than git waits for a pipe.
const PATIENCE: Duration = Duration::from_secs(50);

/// One trap.
pub(crate) struct Trap {
    name: &'static str,
    /// Plants it in a repository with a plain worktree `plain` and a layered one `layered`.
    plant: fn(&Planting<'_>),
    /// What somebody would do with plain git to spring it; nothing, if git itself would hang or does not spring it.
    spring: Option<&'static str>,
    works: Works,
}

/// Whether operations still do their work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Works {
    /// They do, as if there were no trap.
    Still,
    /// Some are refused.
    Partly,
}

/// Where a trap is planted.
pub(crate) struct Planting<'a> {
    project: &'a Project,
    canary: &'a Canary,
}

impl Planting<'_> {
    fn root(&self) -> PathBuf {
        self.project.root()
    }

    /// The main checkout's `.git`.
    fn git_dir(&self) -> PathBuf {
        self.project.path(".git")
    }

    /// Where agents work: the plain worktree, and the upper of the layered one.
    fn worktrees(&self) -> [PathBuf; 2] {
        [self.project.path(".worktrees/T-1/plain"), self.project.path(".worktrees/.layers/layered/files/upper")]
    }

    /// A command that leaves a trace.
    fn command(&self) -> String {
        self.canary.command()
    }

    fn config(&self, name: &str, value: &str) {
        self.project.git(&["config", name, value]);
    }

    fn program(&self, path: &Path) {
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, format!("#!/bin/sh\n{}\n", self.command())).expect("a program");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    fn write(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        let _ = fs::remove_file(path);
        fs::write(path, text).expect("a file");
    }

    fn pipe(&self, path: &Path) {
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        let _ = fs::remove_file(path);
        assert!(Command::new("mkfifo").arg(path).status().is_ok_and(|status| status.success()));
    }
}

/// A program that leaves a trace wherever it runs.
pub(crate) struct Canary(PathBuf);

impl Canary {
    fn new(project: &Project) -> Self {
        let path = project.outer().join("canary");
        fs::create_dir(&path).expect("a directory");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("open to everyone");
        Self(path)
    }

    fn command(&self) -> String {
        format!("touch {}/ran", self.0.display())
    }

    fn has_sung(&self) -> bool {
        self.0.join("ran").exists()
    }
}

/// Everything is run over the trap of this name.
fn check(name: &str) {
    let trap = traps().find(|trap| trap.name == name).expect("a trap of this name");
    let project = deeds::prepared();
    let canary = Canary::new(&project);
    (trap.plant)(&Planting { project: &project, canary: &canary });
    let started = Instant::now();
    let done = deeds::everything(&project);
    let took = started.elapsed();
    if trap.name.ends_with("without_an_end") {
        // Deeper than a temporary directory can be removed.
        for worktree in (Planting { project: &project, canary: &canary }).worktrees() {
            remove_run(&worktree).expect("it can always be removed");
        }
    }
    assert!(!canary.has_sung(), "a planted program was run");
    assert!(took < PATIENCE, "it was held up for {took:?}");
    if trap.works == Works::Still {
        assert_eq!(done, Ok(()), "it works in spite of the trap");
    }
    if let Some(spring) = trap.spring {
        let _ = Command::new("sh").args(["-c", spring]).current_dir(project.root()).output();
        assert!(canary.has_sung(), "the trap is none: plain git does not spring it");
    }
}

fn traps() -> impl Iterator<Item = &'static Trap> {
    settings::TRAPS.iter().chain(files::TRAPS)
}

/// One scenario for each trap.
pub(crate) fn tests() -> Vec<Test> {
    traps().map(|trap| Test { name: trap.name, body: check }).collect()
}
