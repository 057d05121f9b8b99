//! What scenarios are told in: a directory in layers, a cage above it, and the same directory afterwards.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use placet_sandbox::{Exit, Layers, Limits as CageLimits, Profile, Request, Running, launch};
use placet_workspace::Limits;
use placet_workspace::layer::{Baseline, Changes, Layered};
use tempfile::TempDir;

/// Lists a tree the same way inside and outside: kind, mode, name, target, content.
pub(crate) const LISTING: &str = "find . -mindepth 1 -printf '%y %m %p %l\\n' | LC_ALL=C sort; \
                       find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum";

pub(crate) fn profile() -> Profile {
    Profile::builtin("code_development").expect("a profile")
}

pub(crate) fn sh(script: &str) -> Request {
    let limits = CageLimits { wall_ms: 60_000, ..profile().limits() };
    let people = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
    let request = Request::new(["sh", "-ec", script]).limits(limits);
    people.into_iter().fold(request, |request, name| request.env(name, "agent@cage"))
}

#[track_caller]
pub(crate) fn start(request: Request) -> Running {
    match launch(&profile(), request) {
        Ok(running) => running,
        Err(error) => panic!("not launched: {error} ({error:?})"),
    }
}

/// Standard output of a command that must succeed.
#[track_caller]
pub(crate) fn run(request: Request) -> String {
    let (outcome, output) = start(request).collect().expect("an outcome");
    assert_eq!(outcome.exit, Exit::Code(0), "stderr: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A directory with layers above it.
pub(crate) struct World(TempDir);

impl World {
    pub(crate) fn new() -> Self {
        let outer = TempDir::new().expect("a temporary directory");
        for name in ["lower", "run", "run/upper", "run/work"] {
            fs::create_dir(outer.path().join(name)).expect("a directory");
        }
        Self(outer)
    }

    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    /// What a person does.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.lower(name);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        fs::write(file, text).expect("a file");
    }

    pub(crate) fn lower(&self, name: &str) -> PathBuf {
        below(self.0.path().join("lower"), name)
    }

    pub(crate) fn upper(&self, name: &str) -> PathBuf {
        below(self.0.path().join("run/upper"), name)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn request(&self, script: &str) -> Request {
        sh(script).workspace(Layers::new(self.lower(""), self.upper(""), self.path("run/work")))
    }

    /// What an agent does.
    #[track_caller]
    pub(crate) fn agent(&self, script: &str) -> String {
        run(self.request(script))
    }

    /// The tree as a command in the layers sees it.
    #[track_caller]
    pub(crate) fn seen_inside(&self) -> String {
        self.agent(LISTING)
    }

    /// The tree as it is on the host.
    #[track_caller]
    pub(crate) fn seen_outside(&self) -> String {
        let listed = Command::new("sh").args(["-ec", LISTING]).current_dir(self.lower("")).output().expect("a listing");
        assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
        String::from_utf8_lossy(&listed.stdout).into_owned()
    }

    pub(crate) fn baseline(&self) -> Baseline {
        Baseline::record(&self.lower(""), Limits::default()).expect("a baseline")
    }

    #[track_caller]
    pub(crate) fn layered(&self) -> Layered {
        Layered::open(&self.lower(""), &self.upper(""), &self.path("run/work")).expect("the layers are free")
    }

    #[track_caller]
    pub(crate) fn preview(&self, baseline: &Baseline) -> Changes {
        self.layered().preview(baseline).expect("a preview")
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // The kernel's own room is closed to everybody, even to its owner who wants to remove it.
        let _ = fs::set_permissions(self.path("run/work/work"), fs::Permissions::from_mode(0o700));
    }
}

/// The empty name is the directory itself, without a slash behind it.
fn below(directory: PathBuf, name: &str) -> PathBuf {
    if name.is_empty() { directory } else { directory.join(name) }
}

/// Each change in a word and its path.
pub(crate) fn told(changes: &Changes) -> Vec<String> {
    changes.iter().map(|change| format!("{:?} {}", change.kind(), change.path())).collect()
}

pub(crate) fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
