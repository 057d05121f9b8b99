//! The commands of the worktree runtime: one agent, one worktree, one branch, one ticket. One file each; this page holds
//! what they share: the repository, the team's files, and the record of a worktree.

pub(crate) mod abort;
pub(crate) mod adopt;
pub(crate) mod check;
pub(crate) mod close;
pub(crate) mod duties;
pub(crate) mod exec;
pub(crate) mod exempt;
pub(crate) mod gc;
pub(crate) mod handoff;
pub(crate) mod host;
pub(crate) mod merge;
pub(crate) mod pr;
pub(crate) mod prompt;
pub(crate) mod shell;
pub(crate) mod start;
pub(crate) mod status;
pub(crate) mod trust;
mod unsaved;

use std::path::PathBuf;

use placet_domain::id::WorktreeId;
use placet_domain::worktree::{BranchName, Opening};
use placet_sandbox::{Profile, Request};
use placet_wire::Client;
use placet_wire::api::{ProjectView, WorktreeQuery, WorktreeView};
use placet_wire::endpoint::{ListWorktrees, ShowWorktree};
use placet_workspace::{Repository, Worktree};
use placet_worktree::host::request::HostRequest;
use placet_worktree::ready::Ready;
use placet_worktree::start::name_of;
use placet_worktree::team::Team;
use placet_worktree::turn::{Turn, TurnError};
use placet_worktree::{ports, ready, setup};

use super::project;
use crate::context::Who;
use crate::desk::Desk;
use crate::error::{CliError, Code, chain};
use host::Host;

/// Which worktree.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Pair {
    /// The agent, as the team's registry names it
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: String,
    /// What it works at, as in PAY-123
    #[arg(long, value_name = "TICKET")]
    pub(crate) ticket: String,
}

/// Where a command works: the repository around the current directory, and what its team wrote down.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) repository: Repository,
    pub(crate) team: Team,
}

impl Site {
    pub(crate) fn here() -> Result<Self, CliError> {
        let repository = repository()?;
        let team = Team::load(repository.root()).map_err(|problems| {
            CliError::usage(problems.to_string())
                .hint("`placet init` writes what is missing; the schemas are in agents/schemas")
        })?;
        Ok(Self { repository, team })
    }

    /// The worktree on disk that a record is about.
    pub(crate) fn on_disk(&self, view: &WorktreeView) -> Result<Worktree, CliError> {
        let name = name_of(&view.opening).map_err(|error| CliError::failed(chain(&error)))?;
        self.repository.worktree(&name).map_err(|error| {
            CliError::failed(chain(&error)).hint("`placet adopt` brings disk and record in line after a crash")
        })
    }
}

pub(crate) fn repository() -> Result<Repository, CliError> {
    let here: PathBuf = std::env::current_dir()?;
    Repository::find(&here).map_err(|error| CliError::usage(chain(&error)))
}

/// The kind of cage of a worktree's agent, from the profiles of the home or those that ship.
pub(crate) fn profile_of(site: &Site, opening: &Opening, who: &Who) -> Result<Profile, CliError> {
    let agent = site.team.agent(opening.agent.as_str()).map_err(failed)?;
    let name = agent.cage().as_str();
    let found = match who.home_if_any()? {
        Some(home) => home.profiles()?.get(name).cloned(),
        None => Profile::builtin(name),
    };
    found.ok_or_else(|| {
        let message = format!("there is no sandbox profile `{name}`, which `{}` works in", opening.agent);
        CliError::new(Code::NotFound, message).hint("placet sandbox profiles")
    })
}

/// Puts into a new worktree what the team declared.
pub(crate) fn make_ready(
    site: &Site,
    opening: &Opening,
    worktree: &Worktree,
    who: &Who,
) -> Result<(), ready::ReadyError> {
    if !ready::is_needed(&site.team) {
        return Ok(());
    }
    let unusable = |error: CliError| ready::ReadyError::Equipment(error.into());
    let profile = profile_of(site, opening, who).map_err(unusable)?;
    let host = Host::of(site, who).map_err(unusable)?;
    let equip = |request| equipped(request, site, opening, who).map_err(Into::into);
    let directories = host.directories(site);
    Ready { team: &site.team, opening, profile: &profile, directories: &directories, equip: &equip }.make(worktree)
}

/// What the team declared for its worktrees, added to a command: variables, ports, caches.
pub(crate) fn equipped(mut request: Request, site: &Site, opening: &Opening, who: &Who) -> Result<Request, CliError> {
    let name = name_of(opening).map_err(failed)?;
    let slot = ports::lease(site.repository.root(), &name)?;
    // The person's settings are read only if the repository requests access to the host.
    let host = if HostRequest::of(&site.team).is_empty() { None } else { Some(Host::of(site, who)?) };
    let passes = |name: &str| host.as_ref().is_some_and(|host| host.settings.passes(name));
    let of_host = |name: &str| passes(name).then(|| std::env::var(name).ok()).flatten();
    for (name, value) in setup::variables(&site.team, slot, of_host) {
        request = request.env(name, value);
    }
    let Some(host) = &host else { return Ok(request) };
    for (from, to) in setup::read_only(&site.team, &host.directories(site)).map_err(failed)? {
        request = request.read_only(from, to);
    }
    Ok(request)
}

/// The project of a repository: the only one its home has, or the one that was named.
pub(crate) async fn project_of(client: &Client) -> Result<ProjectView, CliError> {
    project::find(client, None).await
}

/// What is recorded of a worktree.
pub(crate) async fn recorded(client: &Client, pair: &Pair) -> Result<WorktreeView, CliError> {
    let project = project_of(client).await?;
    let unusable = |error: &dyn std::fmt::Display| CliError::usage(error.to_string());
    let ticket = pair.ticket.parse().map_err(|error: placet_domain::name::BadName| unusable(&error))?;
    let agent = pair.agent.parse().map_err(|error: placet_domain::name::BadName| unusable(&error))?;
    let id = WorktreeId::of(project.id, &ticket, &agent);
    client.get(ShowWorktree { worktree: id }).await.map_err(|error| {
        let error = CliError::from(error);
        if error.code != Code::NotFound {
            return error;
        }
        let message = format!("`{agent}` has no worktree for {ticket}");
        CliError::new(Code::NotFound, message).hint(format!("placet start --agent {agent} --ticket {ticket}"))
    })
}

/// Everything that is recorded, page by page.
pub(crate) async fn all_recorded(client: &Client) -> Result<Vec<WorktreeView>, CliError> {
    let (mut all, mut query) = (Vec::new(), WorktreeQuery { limit: Some(1_000), ..WorktreeQuery::default() });
    loop {
        let list = client.get(ListWorktrees { query: query.clone() }).await?;
        all.extend(list.worktrees);
        match list.next {
            Some(next) => query.after = Some(next),
            None => return Ok(all),
        }
    }
}

/// Returns the branch that a worktree starts from: that of the worktree it follows, or the base.
pub(crate) async fn origin_of(who: &Who, view: &WorktreeView) -> Result<BranchName, CliError> {
    match view.opening.follows {
        None => Ok(view.opening.base_branch.clone()),
        Some(id) if id == view.id => Ok(view.opening.branch.clone()),
        Some(id) => {
            let desk = Desk::open(who).await?;
            let followed = desk.client.get(ShowWorktree { worktree: id }).await;
            desk.close().await;
            Ok(followed?.opening.branch)
        }
    }
}

/// What is recorded, by a desk that is closed again at once.
pub(crate) async fn look_up(who: &Who, pair: &Pair) -> Result<WorktreeView, CliError> {
    let desk = Desk::open(who).await?;
    let found = recorded(&desk.client, pair).await;
    desk.close().await;
    found
}

/// From here on until it is dropped, nobody else works in the worktree.
pub(crate) fn turn(worktree: &Worktree) -> Result<Turn, CliError> {
    Turn::take(worktree).map_err(|error| {
        let code = if matches!(error, TurnError::Taken(_)) { Code::Conflict } else { Code::Failed };
        CliError::new(code, chain(&error))
    })
}

pub(crate) fn failed(error: impl std::error::Error) -> CliError {
    CliError::failed(chain(&error))
}
