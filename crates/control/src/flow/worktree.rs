//! Worktrees: every command about one comes through here. What is on disk is the business of whoever asks.

use placet_domain::command::Command;
use placet_domain::id::{ProjectId, WorktreeId};
use placet_domain::identity::Identity;
use placet_domain::project::ProjectCommand;
use placet_domain::record::{Event, Record};
use placet_domain::refusal::Refusal;
use placet_domain::worktree::{Duties, Opening, Person, Worktree, WorktreeCommand};
use placet_ledger::Entry;
use placet_store::{EntryFilter, StoredEntry};
use placet_wire::api::{Notice, NoticeList};

use super::{Caller, No};
use crate::app::App;

/// How many entries are looked through for one answer; who is far behind asks again.
const MOST_LOOKED_THROUGH: u32 = 1_000;

pub(crate) async fn duties(app: &App, caller: &Caller, id: ProjectId) -> Result<Duties, No> {
    caller.sees(id, "project")?;
    let project = app.store().project(id).await.map_err(No::Fault)?;
    project.map(|project| project.duties).ok_or_else(|| Refusal::Unknown { what: "project" }.into())
}

pub(crate) async fn assign_duties(app: &App, caller: &Caller, id: ProjectId, duties: Duties) -> Result<Duties, No> {
    caller.sees(id, "project")?;
    let command = ProjectCommand::AssignDuties { duties: Box::new(duties) };
    let receipt = app.submit(caller.actor(), Command::Project { id, command }, caller.key.clone()).await?;
    receipt.loaded.project.map(|project| project.duties).ok_or_else(|| Refusal::Unknown { what: "project" }.into())
}

pub(crate) async fn open_worktree(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    opening: Opening,
) -> Result<Worktree, No> {
    caller.sees(project, "project")?;
    let id = WorktreeId::of(project, &opening.ticket, &opening.agent);
    submit(app, caller, id, project, WorktreeCommand::Open { project, opening: Box::new(opening) }).await
}

pub(crate) async fn change_worktree(
    app: &App,
    caller: &Caller,
    id: WorktreeId,
    command: WorktreeCommand,
) -> Result<Worktree, No> {
    let project = find_worktree(app, caller, id).await?.project;
    submit(app, caller, id, project, command).await
}

/// The worktree, if the caller may know of it.
pub(crate) async fn find_worktree(app: &App, caller: &Caller, id: WorktreeId) -> Result<Worktree, No> {
    let found = app.store().worktree(id).await.map_err(No::Fault)?;
    let worktree = found.ok_or(Refusal::Unknown { what: "worktree" })?;
    caller.sees(worktree.project, "worktree")?;
    Ok(worktree)
}

async fn submit(
    app: &App,
    caller: &Caller,
    id: WorktreeId,
    project: ProjectId,
    command: WorktreeCommand,
) -> Result<Worktree, No> {
    let command = Command::Worktree { id, project, command };
    let receipt = app.submit(caller.actor(), command, caller.key.clone()).await?;
    receipt.loaded.worktree.ok_or_else(|| Refusal::Unknown { what: "worktree" }.into())
}

/// What the caller is to be told of since the entry `after`.
pub(crate) async fn notices(app: &App, caller: &Caller, after: Option<u64>) -> Result<NoticeList, No> {
    let reach = caller.identity.reach.clone();
    let filter = EntryFilter { reach, after, limit: MOST_LOOKED_THROUGH, ..EntryFilter::default() };
    let entries = app.store().entries(filter).await.map_err(No::Fault)?;
    let next = entries.last().map_or_else(|| after.unwrap_or(0), |last| last.seq);
    let everybody = app.store().identities().await.map_err(No::Fault)?;
    let mut notices = Vec::new();
    for entry in entries {
        notices.extend(notice(app, caller, &everybody, &entry).await?);
    }
    Ok(NoticeList { notices, next })
}

async fn notice(
    app: &App,
    caller: &Caller,
    everybody: &[Identity],
    stored: &StoredEntry,
) -> Result<Option<Notice>, No> {
    if !stored.kind.starts_with("worktree.") {
        return Ok(None);
    }
    let Ok(entry) = Entry::parse(&stored.bytes) else { return Ok(None) };
    let read = Record::read(Default::default(), &entry.kind, entry.body);
    let Ok(Record { event: Event::Worktree(news), .. }) = read else { return Ok(None) };
    let is_meant = |person: &Person| person.means(&caller.identity, everybody);
    let open = news.consulted.iter().filter(|asked| asked.said.is_none() && is_meant(&asked.person));
    let consulted_on: Vec<String> = open.map(|asked| asked.on.as_str().to_owned()).collect();
    if consulted_on.is_empty() && !news.informed.iter().any(is_meant) {
        return Ok(None);
    }
    let worktree = find_worktree(app, caller, news.worktree).await?;
    let (ticket, agent) = (worktree.opening.ticket.to_string(), worktree.opening.agent.to_string());
    Ok(Some(Notice {
        seq: stored.seq,
        at: entry.at,
        event: entry.kind,
        worktree: news.worktree,
        ticket,
        agent,
        actor: entry.actor,
        consulted_on,
    }))
}
