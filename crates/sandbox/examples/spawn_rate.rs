//! How long a cage takes from launch to gone, around `true`. Prints one line of JSON.
//!
//! Where bwrap is installed it runs in the same loop, with a comparable view and without seccomp, so that both see the
//! same load. Usage: `spawn_rate [rounds]`.

use std::process::{Command, Stdio};
use std::time::Instant;

use placet_sandbox::{Exit, Profile, Request, helper_entry, launch};

type Failure = Box<dyn std::error::Error>;

const BWRAP: &[&str] = &[
    "--unshare-all",
    "--cap-drop",
    "ALL",
    "--new-session",
    "--die-with-parent",
    "--ro-bind",
    "/usr",
    "/usr",
    "--symlink",
    "usr/bin",
    "/bin",
    "--symlink",
    "usr/lib",
    "/lib",
    "--symlink",
    "usr/lib64",
    "/lib64",
    "--tmpfs",
    "/tmp",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--clearenv",
    "true",
];

#[expect(clippy::print_stdout, reason = "printing the measurement is what this program is for")]
fn main() -> Result<(), Failure> {
    helper_entry();
    let rounds = std::env::args().nth(1).map_or(Ok(200), |text| text.parse())?;
    let profile = Profile::builtin("default").ok_or("no default profile")?;
    let (mut cage, mut plain, mut bwrap) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        cage.push(timed(|| in_cage(&profile))?);
        plain.push(timed(|| run(&mut Command::new("true")))?);
        if let Ok(millis) = timed(|| run(Command::new("bwrap").args(BWRAP))) {
            bwrap.push(millis);
        }
    }
    println!(
        "{{\"rounds\":{rounds},\"cage_ms\":{},\"plain_ms\":{},\"bwrap_ms\":{}}}",
        summary(cage),
        summary(plain),
        summary(bwrap)
    );
    Ok(())
}

fn in_cage(profile: &Profile) -> Result<(), Failure> {
    match launch(profile, Request::new(["true"]))?.wait()?.exit {
        Exit::Code(0) => Ok(()),
        other @ (Exit::Code(_) | Exit::Signal(_) | Exit::Limit { .. } | Exit::Cancelled) => {
            Err(format!("the command ended with {other:?}").into())
        }
    }
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.stdin(Stdio::null()).stderr(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(status.to_string().into()) }
}

fn timed(work: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64() * 1e3)
}

fn summary(mut millis: Vec<f64>) -> String {
    millis.sort_by(f64::total_cmp);
    let at = |share: f64| millis.get(((millis.len() as f64 - 1.0) * share) as usize);
    match (millis.first(), at(0.5), at(0.95)) {
        (Some(min), Some(p50), Some(p95)) => format!("{{\"min\":{min:.2},\"p50\":{p50:.2},\"p95\":{p95:.2}}}"),
        _ => "null".to_owned(),
    }
}
