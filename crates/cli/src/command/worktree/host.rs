//! Access of agents to this machine: the repository requests it, the person allows and trusts it. Commands check this before they start any
//! work.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use placet_worktree::host::directory::HostDirectories;
use placet_worktree::host::person::{Person, Settings};
use placet_worktree::host::request::HostRequest;
use placet_worktree::host::trust::{Trust, TrustError};
use placet_worktree::setup;

use super::{Site, failed};
use crate::context::Who;
use crate::error::{CliError, Code, chain};
use crate::out::Out;
use crate::terminal::asked;

/// The person at this machine, with their settings.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) person: Person,
    pub(crate) settings: Settings,
    homes: Vec<PathBuf>,
}

impl Host {
    pub(crate) fn of(site: &Site, who: &Who) -> Result<Self, CliError> {
        let usage = |error: &dyn std::error::Error| CliError::usage(chain(error));
        let person = Person::of_process().map_err(|error| usage(&error))?;
        let settings = person.settings(site.repository.root()).map_err(|error| usage(&error))?;
        let used = who.home_if_any()?.map(|home| home.dir().to_owned());
        let homes = used.into_iter().chain([site.repository.root().join(".placet")]).collect();
        Ok(Self { person, settings, homes })
    }

    pub(crate) fn directories<'a>(&'a self, site: &'a Site) -> HostDirectories<'a> {
        HostDirectories::new(&self.person, &self.settings, site.repository.root(), &self.homes)
    }

    /// Refuses requests that the person's settings do not allow, even trusted ones.
    pub(crate) fn check(&self, site: &Site) -> Result<(), CliError> {
        let checked = setup::check(&site.team, &self.person, &self.settings, &self.directories(site));
        checked.map_err(|error| CliError::new(Code::Refused, chain(&error)))
    }

    pub(crate) fn trust(&self, site: &Site) -> Result<Trust, CliError> {
        Trust::of(&self.person, site.repository.root()).map_err(failed)
    }
}

/// Refuses a trust file that other users can write, and names the remedy.
pub(crate) fn untrustworthy(error: &TrustError) -> CliError {
    CliError::new(Code::Refused, chain(error))
}

/// Returns an error unless everything the repository requests is allowed and trusted. Asks the person if there is a terminal.
pub(crate) async fn admit(site: &Site, who: &Who, out: &Out) -> Result<(), CliError> {
    let request = HostRequest::of(&site.team);
    if request.is_empty() {
        return Ok(());
    }
    let host = Host::of(site, who)?;
    host.check(site)?;
    let trust = host.trust(site)?;
    if trust.holds(&request).map_err(|error| untrustworthy(&error))? {
        return Ok(());
    }
    out.note(&described(&request));
    if !is_attended(out) {
        let message = "this repository asks for things of your machine, and you have not trusted that";
        let hint = format!("look at `agents/policy.json`, then `placet trust --digest {}`", request.digest());
        return Err(CliError::new(Code::Refused, message).hint(hint));
    }
    ask().await?;
    trust.give(&request).map_err(|error| untrustworthy(&error))
}

/// Returns whether a person is at a terminal and can be asked.
pub(super) fn is_attended(out: &Out) -> bool {
    !out.is_json() && std::io::stdin().is_terminal()
}

/// Asks the person. Anything but an explicit yes is a refusal.
pub(super) async fn ask() -> Result<(), CliError> {
    if asked::is_yes("Trust this repository with that?").await? {
        return Ok(());
    }
    Err(CliError::new(Code::Waiting, "not trusted; nothing was begun"))
}

/// Formats the request for the person who decides.
pub(super) fn described(request: &HostRequest) -> String {
    let lines: String = request.lines().iter().map(|line| format!("\n  - {line}")).collect();
    format!("this repository (agents/policy.json and agents/profiles) asks for this:{lines}")
}
