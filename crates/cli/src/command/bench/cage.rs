//! How long a cage takes from launch to gone, around `true`, beside a bare process and beside bwrap.
//!
//! Every round runs each of them once, so that all see the same load. Everything that is done for one cage is done while
//! its clock runs: its helper is forked, its groups are made, and it ends when all of that is gone. `cage` has the zygote
//! that this process started for its first cage, as a worker has it; for `cage_cold` one is started and ended within the
//! clock; `cage_first` is the first one of the process. Between two measurements there is a pause, in which what one left to
//! the kernel is done; [`sustained`] has none.
//!
//! bwrap gets the profile's files, scratch space and system call filter. It does not get the masked parts of /proc, Landlock,
//! limits, or a process outside that ends it on time, so the comparison is in its favour.

mod bwrap;
mod peer;
mod sustained;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use placet_sandbox::{Exit, Launcher, Profile, Request};
use serde_json::{Value, json};

use super::stats::{Times, round};
use crate::error::{CliError, chain};
use peer::Peer;

/// A launcher of its own has a zygote of its own.
const OWN_BINARY: &str = "/proc/self/exe";

/// Longer than the kernel takes to let go of a cage that is gone.
const PAUSE: Duration = Duration::from_millis(5);

/// One part in so many of the time is for cages without a pause.
const SUSTAINED_SHARE: u32 = 4;

pub(super) fn measure(seconds: u64) -> Result<Value, CliError> {
    let profile = Profile::builtin("default").ok_or_else(|| CliError::failed("the default profile is missing"))?;
    let launcher = Launcher::default();
    let first = timed(|| in_cage(&launcher, &profile))?;
    let mut bwrap = Peer::bwrap(&profile)?;
    let [mut plain, mut cage, mut cold] = [(); 3].map(|()| Times::default());
    let (began, span) = (Instant::now(), Duration::from_secs(seconds));
    while began.elapsed() < span {
        plain.push(timed(|| succeed(Command::new("true").stdin(Stdio::null())))?);
        // On a busy host the pause is too short for what one leaves to the kernel, so they take turns in coming after the
        // other.
        let bwrap_first = cage.len() % 2 == 0;
        if bwrap_first {
            bwrap.take_part()?;
        }
        cage.push(timed(|| in_cage(&launcher, &profile))?);
        if !bwrap_first {
            bwrap.take_part()?;
        }
        cold.push(timed(|| in_cage(&Launcher::with_helper(OWN_BINARY), &profile))?);
    }
    let sustained = sustained::measure(&mut bwrap, || in_cage(&launcher, &profile), span / SUSTAINED_SHARE)?;
    Ok(json!({
        "load_average": std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim(),
        "fork_exec": plain.spread_ms(),
        "cage": cage.spread_ms(),
        "cage_cold": cold.spread_ms(),
        "cage_first_ms": round(first.as_secs_f64() * 1_000.0),
        "cage_over_fork_exec": cage.over(&mut plain),
        "sustained": sustained,
        "cage_over_bwrap": bwrap.under(&mut cage),
        "cage_cold_over_bwrap": bwrap.under(&mut cold),
        "bwrap": bwrap.report(),
    }))
}

fn timed(work: impl FnOnce() -> Result<(), CliError>) -> Result<Duration, CliError> {
    // An interrupted pause is a shorter one.
    let _ = rustix::event::poll(&mut [], PAUSE.try_into().ok().as_ref());
    let started = Instant::now();
    work()?;
    Ok(started.elapsed())
}

fn in_cage(launcher: &Launcher, profile: &Profile) -> Result<(), CliError> {
    let ended = launcher.launch(profile, Request::new(["true"])).and_then(|running| running.wait());
    match ended.map_err(|error| CliError::failed(chain(&error)))?.exit {
        Exit::Code(0) => Ok(()),
        other @ (Exit::Code(_) | Exit::Signal(_) | Exit::Limit { .. } | Exit::Cancelled) => {
            Err(CliError::failed(format!("the command in the cage ended with {other:?}")))
        }
    }
}

fn succeed(command: &mut Command) -> Result<(), CliError> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(CliError::failed(format!("{command:?}: {status}"))) }
}
