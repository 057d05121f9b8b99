//! How long a cage takes from launch to gone, around `true`, beside a bare process and beside bwrap.
//!
//! Every round runs each of them once, so that all see the same load: a cage from scratch, and one whose helper stood
//! ready, as a worker has it. bwrap gets the profile's files, scratch space and
//! system call filter; it gets neither the read-only and masked parts of /proc, nor Landlock, nor limits, nor a process
//! outside that ends it on time, so the comparison is in its favour.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use placet_sandbox::{Exit, Launcher, Profile, Request};
use serde_json::{Value, json};

use super::bwrap::Bwrap;
use super::stats::Times;
use crate::error::{CliError, chain};

pub(super) fn measure(seconds: u64) -> Result<Value, CliError> {
    let profile = Profile::builtin("default").ok_or_else(|| CliError::failed("the default profile is missing"))?;
    let (launcher, ready) = (Launcher::default(), Launcher::default().keeping_one_ready());
    let bwrap = Bwrap::find(&profile)?;
    let [mut plain, mut cage, mut warm, mut theirs] = [(); 4].map(|()| Times::default());
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        plain.push(timed(|| succeed(Command::new("true").stdin(Stdio::null())))?);
        cage.push(timed(|| in_cage(&launcher, &profile))?);
        warm.push(timed(|| in_cage(&ready, &profile))?);
        if let Some(bwrap) = &bwrap {
            theirs.push(timed(|| succeed(&mut bwrap.command()?))?);
        }
    }
    let mut over_bwrap = |times: &mut Times| bwrap.as_ref().map(|_| times.over(&mut theirs));
    let ratios = [over_bwrap(&mut cage), over_bwrap(&mut warm)];
    Ok(json!({
        "fork_exec": plain.spread_ms(),
        "cage": cage.spread_ms(),
        "cage_ready": warm.spread_ms(),
        "bwrap": if bwrap.is_some() { theirs.spread_ms() } else { json!("not installed") },
        "cage_over_fork_exec": cage.over(&mut plain),
        "cage_over_bwrap": ratios[0],
        "cage_ready_over_bwrap": ratios[1],
    }))
}

fn timed(work: impl FnOnce() -> Result<(), CliError>) -> Result<Duration, CliError> {
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
