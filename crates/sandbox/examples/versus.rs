//! How long a cage takes from launch to gone, around `true`, beside a bare process and beside bwrap. One line of JSON.
//!
//! Every round runs each of them once, so that all see the same load; the cage twice, with a helper that has to come up
//! and with one that stood ready, as a worker has it. bwrap gets the profile's files, scratch space and
//! system call filters; it gets neither the read-only and masked parts of /proc, nor Landlock, nor limits, nor a process
//! outside that ends it on time, so the comparison is in its favour. What is not installed is reported as absent.
//! Usage: `versus [rounds]`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use placet_sandbox::{Exit, Launcher, Mount, MountKind, Profile, Request, helper_entry};
use rustix::fs::MemfdFlags;
use serde_json::{Value, json};

type Failure = Box<dyn std::error::Error>;

const DEFAULT_ROUNDS: usize = 200;

/// The same walls by bwrap's names; files and filters are added from the profile.
const BWRAP: &[&str] = &[
    "--unshare-all",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--hostname",
    "cage",
    "--cap-drop",
    "ALL",
    "--new-session",
    "--die-with-parent",
    "--clearenv",
    "--dev",
    "/dev",
];

#[expect(clippy::print_stdout, reason = "printing the measurement is what this program is for")]
fn main() -> Result<(), Failure> {
    helper_entry();
    let rounds = std::env::args().nth(1).map_or(Ok(DEFAULT_ROUNDS), |text| text.parse())?;
    let profile = Profile::builtin("default").ok_or("no default profile")?;
    let (cold, ready) = (Launcher::default(), Launcher::default().keeping_one_ready());
    let bwrap = installed("bwrap").then(|| Bwrap::new(&profile)).transpose()?;
    let (mut plain, mut cage, mut warm, mut theirs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        plain.push(timed(|| run(&mut Command::new("true")))?);
        cage.push(timed(|| in_cage(&cold, &profile))?);
        warm.push(timed(|| in_cage(&ready, &profile))?);
        if let Some(bwrap) = &bwrap {
            theirs.push(timed(|| bwrap.run())?);
        }
    }
    let (plain, cage, warm, theirs) = (Spread::of(plain), Spread::of(cage), Spread::of(warm), Spread::of(theirs));
    let ratio = |ours: &Option<Spread>| ours.as_ref().zip(theirs.as_ref()).map(|(ours, theirs)| ours.over(theirs));
    println!(
        "{}",
        json!({
            "rounds": rounds,
            "plain_ms": described(plain.as_ref()),
            "cage_ms": described(cage.as_ref()),
            "ready_cage_ms": described(warm.as_ref()),
            "bwrap_ms": described(theirs.as_ref()),
            "cage_to_bwrap": ratio(&cage),
            "ready_cage_to_bwrap": ratio(&warm),
        })
    );
    Ok(())
}

fn installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(name).is_file())
}

fn in_cage(launcher: &Launcher, profile: &Profile) -> Result<(), Failure> {
    match launcher.launch(profile, Request::new(["true"]))?.wait()?.exit {
        Exit::Code(0) => Ok(()),
        other @ (Exit::Code(_) | Exit::Signal(_) | Exit::Limit { .. } | Exit::Cancelled) => {
            Err(format!("the command ended with {other:?}").into())
        }
    }
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.stdin(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(status.to_string().into()) }
}

fn timed(work: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

/// bwrap with the arguments that come closest to a profile.
struct Bwrap {
    arguments: Vec<OsString>,
    /// In memory; bwrap inherits the descriptors and reads them to the end.
    filter: File,
}

impl Bwrap {
    fn new(profile: &Profile) -> Result<Self, Failure> {
        let mut arguments: Vec<OsString> = BWRAP.iter().map(Into::into).collect();
        arguments.extend(profile.mounts().iter().flat_map(mount).map(OsString::from));
        let filter = inheritable(&profile.filter())?;
        arguments.extend(["--seccomp".into(), filter.as_raw_fd().to_string().into(), "true".into()]);
        Ok(Self { arguments, filter })
    }

    fn run(&self) -> Result<(), Failure> {
        (&self.filter).rewind()?;
        run(Command::new("bwrap").args(&self.arguments))
    }
}

/// A file in memory that survives exec.
fn inheritable(bytes: &[u8]) -> Result<File, Failure> {
    let memory: OwnedFd = rustix::fs::memfd_create("filter", MemfdFlags::empty())?;
    let mut file = File::from(memory);
    file.write_all(bytes)?;
    Ok(file)
}

fn mount(mount: &Mount) -> Vec<String> {
    let at = mount.at.to_string();
    match &mount.what {
        MountKind::Host => match fs::read_link(Path::new(&at)) {
            Ok(target) => vec!["--symlink".into(), target.display().to_string(), at],
            Err(_) => vec!["--ro-bind-try".into(), at.clone(), at],
        },
        MountKind::HostAt(host) => vec!["--ro-bind".into(), host.to_string(), at],
        MountKind::Scratch { size_bytes, .. } => vec!["--size".into(), size_bytes.to_string(), "--tmpfs".into(), at],
        // Its own /dev has these.
        MountKind::Link(target) if !at.starts_with("/dev/") => vec!["--symlink".into(), target.to_string(), at],
        MountKind::Directory => vec!["--dir".into(), at],
        MountKind::Proc => vec!["--proc".into(), at],
        MountKind::Link(_) | MountKind::Device | MountKind::File(_) | MountKind::Frozen | MountKind::Masked => {
            Vec::new()
        }
    }
}

struct Spread {
    min: f64,
    p50: f64,
    p95: f64,
}

impl Spread {
    fn of(mut millis: Vec<f64>) -> Option<Self> {
        millis.sort_by(f64::total_cmp);
        let at = |share: f64| millis.get(((millis.len().checked_sub(1)?) as f64 * share) as usize).copied();
        Some(Self { min: at(0.0)?, p50: at(0.5)?, p95: at(0.95)? })
    }

    fn over(&self, other: &Self) -> Value {
        json!({ "min": rounded(self.min / other.min), "p50": rounded(self.p50 / other.p50), "p95": rounded(self.p95 / other.p95) })
    }
}

fn described(spread: Option<&Spread>) -> Value {
    spread.map_or_else(
        || json!("absent"),
        |spread| json!({ "min": rounded(spread.min), "p50": rounded(spread.p50), "p95": rounded(spread.p95) }),
    )
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
