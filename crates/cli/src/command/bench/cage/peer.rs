//! The launcher that is measured beside the cage: there, not installed, or installed and of no use on this host.
//! The last two are told in the report with what to do, so that nobody takes an absent figure for a forgotten one.

use std::path::Path;
use std::process::Stdio;

use placet_sandbox::Profile;
use serde_json::{Value, json};

use super::bwrap::Bwrap;
use super::{Times, succeed, timed};
use crate::error::CliError;

const NAME: &str = "bwrap";

pub(super) struct Peer {
    state: State,
    times: Times,
}

enum State {
    Here(Bwrap),
    Missing,
    /// Installed, and this is what it said when it was tried.
    Unusable(String),
}

impl Peer {
    pub(super) fn bwrap(profile: &Profile) -> Result<Self, CliError> {
        let state = match is_installed(NAME).then(|| Bwrap::of(profile)).transpose()? {
            None => State::Missing,
            Some(mut here) => match trial(&mut here) {
                Ok(()) => State::Here(here),
                Err(why) => State::Unusable(why),
            },
        };
        Ok(Self { state, times: Times::default() })
    }

    /// Launches once, and notes how long that took.
    pub(super) fn take_part(&mut self) -> Result<(), CliError> {
        let State::Here(launcher) = &mut self.state else { return Ok(()) };
        let mut command = launcher.command()?;
        let took = timed(|| succeed(&mut command))?;
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

    /// How many times as long others took as this one, if it took part.
    pub(super) fn under(&mut self, others: &mut Times) -> Option<Value> {
        (self.times.len() > 0).then(|| others.over(&mut self.times))
    }

    pub(super) fn report(&mut self) -> Value {
        match &self.state {
            State::Here(_) => self.times.spread_ms(),
            State::Missing => json!({ "missing": format!("install `{NAME}` to have it measured too") }),
            State::Unusable(why) => json!({ "unusable": why }),
        }
    }
}

/// Once before it counts: what does not work here is found out, and caches are filled.
fn trial(launcher: &mut Bwrap) -> Result<(), String> {
    let mut command = launcher.command().map_err(|error| error.to_string())?;
    let output = command.stdout(Stdio::null()).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if output.status.success() { Ok(()) } else { Err(format!("{}: {said}", output.status)) }
}

/// Looks where this process finds programs, and where root finds its own.
fn is_installed(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(|place| Path::new(place).to_owned()));
    places.map(|place| place.join(name)).any(|program| program.is_file())
}
