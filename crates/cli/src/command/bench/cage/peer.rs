//! Another launcher that is measured beside the cage: there, not installed, or installed and of no use on this host.
//! The last two are told in the report with what to do, so that nobody takes an absent figure for a forgotten one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use placet_sandbox::Profile;
use serde_json::{Value, json};

use super::bwrap::Bwrap;
use super::podman::Podman;
use super::rootfs::Rootfs;
use super::runc::Runc;
use super::{Times, succeed, timed};
use crate::error::CliError;

/// A launcher, set up to run `true` once per command.
pub(super) trait Launches {
    fn command(&mut self) -> Result<Command, CliError>;
}

pub(super) struct Peer {
    name: &'static str,
    state: State,
    times: Times,
    spent: Duration,
}

enum State {
    Here(Box<dyn Launches>),
    Missing,
    /// Installed, and this is what it said when it was tried.
    Unusable(String),
}

impl Peer {
    pub(super) fn bwrap(profile: &Profile) -> Result<Self, CliError> {
        let here = find("bwrap").map(|_| Bwrap::of(profile)).transpose()?;
        Ok(Self::tried("bwrap", here))
    }

    pub(super) fn runc(profile: &Profile, rootfs: &Rootfs) -> Result<Self, CliError> {
        let here = find("runc").map(|program| Runc::of(program, profile, rootfs)).transpose()?;
        Ok(Self::tried("runc", here))
    }

    pub(super) fn podman(profile: &Profile, rootfs: &Rootfs) -> Self {
        let here = find("podman").map(|program| Podman::of(program, find("runc"), profile, rootfs));
        Self::tried("podman", here)
    }

    fn tried<L: Launches + 'static>(name: &'static str, here: Option<L>) -> Self {
        let state = here.map_or(State::Missing, |mut here| match trial(&mut here) {
            Ok(()) => State::Here(Box::new(here)),
            Err(why) => State::Unusable(why),
        });
        Self { name, state, times: Times::default(), spent: Duration::ZERO }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Launches once, and notes how long that took.
    pub(super) fn take_part(&mut self) -> Result<(), CliError> {
        let State::Here(launcher) = &mut self.state else { return Ok(()) };
        let mut command = launcher.command()?;
        let took = timed(|| succeed(&mut command))?;
        self.spent += took;
        self.times.push(took);
        Ok(())
    }

    /// Launches once; none if it takes no part.
    pub(super) fn launch(&mut self) -> Result<Option<()>, CliError> {
        match &mut self.state {
            State::Here(launcher) => succeed(&mut launcher.command()?).map(Some),
            State::Missing | State::Unusable(_) => Ok(None),
        }
    }

    /// Like [`Peer::take_part`], unless it has used up that much time.
    pub(super) fn take_part_within(&mut self, time: Duration) -> Result<(), CliError> {
        if self.spent < time { self.take_part() } else { Ok(()) }
    }

    /// How many times as long others took as this one, if it took part.
    pub(super) fn under(&mut self, others: &mut Times) -> Option<Value> {
        (self.times.len() > 0).then(|| others.over(&mut self.times))
    }

    pub(super) fn report(&mut self) -> Value {
        match &self.state {
            State::Here(_) => self.times.spread_ms(),
            State::Missing => json!({ "missing": format!("install `{}` to have it measured too", self.name) }),
            State::Unusable(why) => json!({ "unusable": why }),
        }
    }
}

/// Once before it counts: what does not work here is found out, and caches are filled.
fn trial(launcher: &mut impl Launches) -> Result<(), String> {
    let mut command = launcher.command().map_err(|error| error.to_string())?;
    let output = command.stdout(Stdio::null()).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{}: {said}", output.status)) }
}

/// The program of that name, where this process looks for programs and where those for root are.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(|place| Path::new(place).to_owned()));
    places.map(|place| place.join(name)).find(|program| program.is_file())
}
