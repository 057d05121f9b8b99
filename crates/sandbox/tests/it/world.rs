//! What scenarios are told in: a cage to run commands in, and what came out of it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use placet_sandbox::{
    Check, Exit, Layers, Limits, Outcome, Profile, Request, Running, SandboxError, State, Usage, launch,
};
use tempfile::TempDir;

use crate::inside;

/// Where this binary appears in a cage.
const PROBE: &str = "/opt/probe/it";

/// Tells this binary to say what the host it is on enforces.
pub(crate) const REPORT_FLAG: &str = "--report";

#[expect(clippy::print_stdout, reason = "for people who run it elsewhere")]
pub(crate) fn report() -> ExitCode {
    for check in placet_sandbox::probe().checks {
        println!("{}: {:?}, {}", check.name, check.state, check.detail);
    }
    ExitCode::SUCCESS
}

/// What a command left.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: Exit,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) usage: Usage,
}

impl Ran {
    /// Standard output of a command that must have succeeded.
    #[track_caller]
    pub(crate) fn succeeded(self) -> String {
        assert_eq!(self.exit, Exit::Code(0), "stderr: {}", self.stderr);
        self.stdout
    }
}

pub(crate) fn profile() -> Profile {
    Profile::builtin("default").expect("the default profile")
}

/// Generous, so that each scenario tightens the one limit it is about.
pub(crate) fn limits() -> Limits {
    Limits { wall_ms: 60_000, ..profile().limits() }
}

/// Runs a request to its end.
#[track_caller]
pub(crate) fn run(request: Request) -> Ran {
    run_in(&profile(), request)
}

#[track_caller]
pub(crate) fn run_in(profile: &Profile, request: Request) -> Ran {
    let (Outcome { exit, usage }, output) = start_in(profile, request).collect().expect("an outcome");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ran { exit, stdout: text(output.stdout), stderr: text(output.stderr), usage }
}

/// Starts a request and leaves it running.
#[track_caller]
pub(crate) fn start(request: Request) -> Running {
    start_in(&profile(), request)
}

#[track_caller]
fn start_in(profile: &Profile, request: Request) -> Running {
    match launch(profile, request) {
        Ok(running) => running,
        Err(error) => panic!("not launched: {error} ({error:?})"),
    }
}

/// The error of a request that must not start.
#[track_caller]
pub(crate) fn refused(request: Request) -> SandboxError {
    launch(&profile(), request).expect_err("the launch is refused")
}

/// A shell script as a request.
pub(crate) fn sh(script: &str) -> Request {
    Request::new(["sh", "-c", script]).limits(limits())
}

/// This binary, inside a cage, under the name of one of its probes.
pub(crate) fn probe(name: &str, operands: &[&str]) -> Request {
    let argv = [PROBE, inside::FLAG, name].into_iter().chain(operands.iter().copied());
    Request::new(argv).limits(limits()).read_only(own_path(), PROBE)
}

pub(crate) fn own_path() -> PathBuf {
    std::env::current_exe().expect("the path of this binary")
}

/// Whether the kernel limits the trees of this caller's cages. Mostly so for root, and mostly not for others.
pub(crate) fn has_groups() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    let limited = |check: &Check| check.name == "control group: memory" && check.state == State::Enforced;
    *ANSWER.get_or_init(|| placet_sandbox::probe().checks.iter().any(limited))
}

/// The directories of control groups whose name begins so, in any hierarchy.
pub(crate) fn groups(prefix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(directory) = waiting.pop() {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                found.push(entry.path());
            }
            waiting.push(entry.path());
        }
    }
    found
}

/// How the groups of a process are named, its cages' numbers aside.
pub(crate) fn group_prefix(pid: u32) -> String {
    let namespace = fs::metadata("/proc/self/ns/pid").expect("a namespace").ino();
    format!("placet-cage-{namespace}-{pid}-")
}

/// A workspace below a directory that nobody but its owner can enter.
pub(crate) struct Workspace(TempDir);

impl Workspace {
    pub(crate) fn new() -> Self {
        let outer = TempDir::new().expect("a temporary directory");
        fs::create_dir(outer.path().join("workspace")).expect("a directory");
        Self(outer)
    }

    /// Temporary files may be kept in memory; these are not.
    pub(crate) fn on_disk() -> Self {
        let outer = TempDir::new_in("/var/tmp").expect("a temporary directory");
        fs::create_dir(outer.path().join("workspace")).expect("a directory");
        Self(outer)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("workspace")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        fs::write(self.file(name), text).expect("a file in the workspace");
        self
    }
}

/// A directory with a private upper and work beside it.
pub(crate) struct Layered {
    outer: TempDir,
}

impl Layered {
    pub(crate) fn new() -> Self {
        let outer = TempDir::new().expect("a temporary directory");
        for name in ["lower", "run", "run/upper", "run/work"] {
            fs::create_dir(outer.path().join(name)).expect("a directory");
        }
        Self { outer }
    }

    pub(crate) fn layers(&self) -> Layers {
        self.layers_above(self.lower(""))
    }

    /// The private directories above another one.
    pub(crate) fn layers_above(&self, lower: impl Into<PathBuf>) -> Layers {
        let run = self.outer.path().join("run");
        Layers::new(lower, run.join("upper"), run.join("work"))
    }

    pub(crate) fn lower(&self, name: &str) -> PathBuf {
        below(self.outer.path().join("lower"), name)
    }

    pub(crate) fn upper(&self, name: &str) -> PathBuf {
        below(self.outer.path().join("run/upper"), name)
    }

    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        let file = self.lower(name);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        fs::write(file, text).expect("a file below");
        self
    }

    /// Every path below the directory that was given, with what is there: what must be the same before and after.
    pub(crate) fn untouched(&self) -> Vec<(PathBuf, String)> {
        let mut seen = Vec::new();
        walk(&self.lower(""), &mut seen);
        seen.sort();
        seen
    }
}

impl Drop for Layered {
    fn drop(&mut self) {
        // The kernel's own room is closed to everybody, even to its owner who wants to remove it.
        let room = self.outer.path().join("run/work/work");
        let _ = fs::set_permissions(room, fs::Permissions::from_mode(0o700));
    }
}

/// The empty name is the directory itself, without a slash behind it.
fn below(directory: PathBuf, name: &str) -> PathBuf {
    if name.is_empty() { directory } else { directory.join(name) }
}

fn walk(directory: &Path, seen: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let (path, meta) = (entry.path(), entry.metadata().expect("a file"));
        let content = if meta.is_file() { fs::read(&path).expect("its content") } else { Vec::new() };
        let facts = (meta.mode(), meta.uid(), meta.gid(), meta.mtime_nsec());
        seen.push((path.clone(), format!("{facts:?} {}", String::from_utf8_lossy(&content))));
        if meta.is_dir() {
            walk(&path, seen);
        }
    }
}

/// A word that appears in no other command line.
pub(crate) fn marker() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{:06}", 900_000 + COUNT.fetch_add(1, Ordering::Relaxed), std::process::id())
}

/// Whether a process with this word in its command line exists on the host.
pub(crate) fn alive(word: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("processes").flatten().map(|entry| entry.path().join("cmdline"));
    let own = Path::new("/proc").join(std::process::id().to_string()).join("cmdline");
    processes
        .filter(|path| *path != own)
        .filter_map(|path| fs::read(path).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()))
}

/// Waits until something holds, for at most ten seconds.
#[track_caller]
pub(crate) fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "still not: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
