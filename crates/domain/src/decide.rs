//! The one door. A store loads what a command is about, asks here, and commits the answer or nothing.
//!
//! ```text
//! command.reads() ─► load ─► decide(&loaded, &submission, now) ─► records ─► loaded.apply(record) ─► commit
//! ```

use crate::action::{self, ActionState, Setting};
use crate::command::{About, Command, Submission};
use crate::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use crate::identity::{self, Actor, Identity, Role};
use crate::project::{self, Project};
use crate::record::{BlobKept, Event, Record, Refused, Started};
use crate::refusal::Refusal;
use crate::run::{self, Run, RunCommand};
use crate::time::Timestamp;
use crate::worktree::{self, Worktree};

/// What must be loaded before a command can be decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reads {
    pub project: Option<ProjectId>,
    pub identity: Option<IdentityId>,
    pub run: Option<RunId>,
    pub action: Option<ActionId>,
    /// What is to stand in the action's place: there must be nothing yet.
    pub successor: Option<ActionId>,
    pub worktree: Option<WorktreeId>,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    pub project: Option<Project>,
    pub identity: Option<Identity>,
    pub run: Option<Run>,
    pub action: Option<ActionState>,
    /// What stands in the action's place after it was amended.
    pub successor: Option<ActionState>,
    pub worktree: Option<Worktree>,
}

impl Command {
    pub fn reads(&self) -> Reads {
        match self {
            Self::Project { id, .. } => Reads { project: Some(*id), ..Reads::default() },
            Self::KeepBlob { project, .. } => Reads { project: Some(*project), ..Reads::default() },
            Self::Identity { id, .. } => Reads { identity: Some(*id), ..Reads::default() },
            // Whether one person works alone is the project's decision, not that of whoever makes a run.
            Self::Run { id, command: RunCommand::Create { project, .. } } => {
                Reads { run: Some(*id), project: Some(*project), ..Reads::default() }
            }
            Self::Run { id, .. } => Reads { run: Some(*id), ..Reads::default() },
            Self::Action { id, run, command } => {
                Reads { action: Some(*id), run: Some(*run), successor: command.successor(), ..Reads::default() }
            }
            Self::Worktree { id, project, .. } => {
                Reads { worktree: Some(*id), project: Some(*project), ..Reads::default() }
            }
            Self::NoteRefusal { .. } | Self::NoteStart { .. } => Reads::default(),
        }
    }

    /// A word for it, in logs and in records of refusals.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Project { .. } => "project",
            Self::Identity { .. } => "identity",
            Self::Run { command, .. } => command.kind().as_str(),
            Self::Action { command, .. } => command.kind().as_str(),
            Self::Worktree { command, .. } => command.kind().as_str(),
            Self::KeepBlob { .. } => "keep-blob",
            Self::NoteRefusal { tried, .. } => tried,
            Self::NoteStart { .. } => "start",
        }
    }
}

/// Decides a command. A refusal changes nothing; whether the attempt itself is recorded, [`recorded`] says.
pub fn decide(loaded: &Loaded, submission: &Submission, now: Timestamp) -> Result<Vec<Record>, Refusal> {
    let actor = &submission.actor;
    let about = about(loaded, &submission.command);
    admit(submission, about.project)?;
    let events: Vec<Event> = match &submission.command {
        Command::Project { id, command } => {
            let events = project::decide(loaded.project.as_ref(), command, actor)?;
            events.into_iter().map(|event| Event::Project(*id, event)).collect()
        }
        Command::Identity { id, command } => {
            let events = identity::decide(loaded.identity.as_ref(), command, actor)?;
            events.into_iter().map(|event| Event::Identity(*id, event)).collect()
        }
        Command::Run { id, command } => {
            check_project(loaded.project.as_ref(), command)?;
            let events = run::decide(loaded.run.as_ref(), command, actor)?;
            events.into_iter().map(|event| Event::Run(*id, event)).collect()
        }
        Command::Action { id, command, .. } => {
            let run = loaded.run.as_ref().ok_or(Refusal::Unknown { what: "run" })?;
            if loaded.successor.is_some() {
                return Err(Refusal::Exists { what: "action" });
            }
            let setting = Setting { run, actor, terms: &submission.terms, policy: submission.policy, now };
            let events = action::decide(*id, loaded.action.as_ref(), command, &setting)?;
            events.into_iter().map(|(id, event)| Event::Action(id, event)).collect()
        }
        Command::Worktree { id, project, command } => {
            // The duties of one project say nothing about the worktrees of another.
            let known = loaded.worktree.as_ref().filter(|worktree| worktree.project == *project);
            if loaded.worktree.is_some() && known.is_none() {
                return Err(Refusal::Unknown { what: "worktree" });
            }
            let news = worktree::decide(*id, known, loaded.project.as_ref(), command, actor)?;
            news.into_iter().map(Event::Worktree).collect()
        }
        Command::KeepBlob { digest, size_bytes, secrets, .. } => {
            loaded.project.as_ref().ok_or(Refusal::Unknown { what: "project" })?;
            vec![Event::BlobKept(BlobKept { digest: *digest, size_bytes: *size_bytes, secrets: secrets.clone() })]
        }
        Command::NoteRefusal { tried, refusal, .. } => vec![refused(tried, refusal)],
        Command::NoteStart { .. } if *actor != Actor::Runtime => return Err(Refusal::Role { needed: Role::Admin }),
        Command::NoteStart { version, policy, tools } => {
            vec![Event::Started(Started { version: version.clone(), policy: *policy, tools: *tools })]
        }
    };
    Ok(events.into_iter().map(|event| Record { about: about_event(&event, about), event }).collect())
}

/// What one of a command's events is about: to amend an action changes one and makes another.
fn about_event(event: &Event, about: About) -> About {
    match event {
        Event::Action(id, _) => About { action: Some(*id), ..about },
        Event::Project(..)
        | Event::Identity(..)
        | Event::Run(..)
        | Event::Worktree(_)
        | Event::BlobKept(_)
        | Event::Refused(_)
        | Event::Started(_) => about,
    }
}

/// Who was revoked does nothing any more, and what lies beyond somebody's reach does not exist for them. The shell should have noticed
/// already; here nothing gets past.
fn admit(submission: &Submission, project: Option<ProjectId>) -> Result<(), Refusal> {
    let Some(identity) = submission.actor.identity() else { return Ok(()) };
    // That they tried is recorded of everybody.
    if matches!(submission.command, Command::NoteRefusal { .. }) {
        return Ok(());
    }
    if identity.revoked {
        return Err(Refusal::Revoked);
    }
    if project.is_some_and(|project| !identity.reach.includes(project)) {
        return Err(Refusal::Unknown { what: "project" });
    }
    Ok(())
}

fn check_project(project: Option<&Project>, command: &RunCommand) -> Result<(), Refusal> {
    let RunCommand::Create { project: named, separation, .. } = command else { return Ok(()) };
    let project = project.filter(|project| project.id == *named).ok_or(Refusal::Unknown { what: "project" })?;
    if project.separation == *separation {
        return Ok(());
    }
    Err(Refusal::invalid("the run asks for another separation of duties than its project has"))
}

/// The record of a refused attempt, for the refusals that are worth one.
pub fn recorded(loaded: &Loaded, command: &Command, refusal: &Refusal) -> Option<Record> {
    let record = || Record { about: about(loaded, command), event: refused(command.name(), refusal) };
    refusal.is_recorded().then(record)
}

fn refused(tried: &str, refusal: &Refusal) -> Event {
    let (code, because) = (refusal.code().to_owned(), refusal.to_string());
    Event::Refused(Refused { tried: tried.to_owned(), code, because })
}

fn about(loaded: &Loaded, command: &Command) -> About {
    let project = match command {
        Command::Project { id, .. } => Some(*id),
        Command::KeepBlob { project, .. } | Command::Worktree { project, .. } => Some(*project),
        Command::Run { command: RunCommand::Create { project, .. }, .. } => Some(*project),
        Command::NoteRefusal { about, .. } => return *about,
        Command::Run { .. } | Command::Action { .. } => loaded.run.as_ref().map(|run| run.project),
        Command::Identity { .. } | Command::NoteStart { .. } => None,
    };
    let reads = command.reads();
    About { project, run: reads.run, action: reads.action }
}

impl Loaded {
    /// What is known after a record.
    pub fn apply(&mut self, record: &Record) {
        match &record.event {
            Event::Project(id, event) => self.project = project::evolve(*id, self.project.take(), event),
            Event::Identity(id, event) => self.identity = identity::evolve(*id, self.identity.take(), event),
            Event::Run(id, event) => self.run = run::evolve(*id, self.run.take(), event),
            Event::Action(id, event) => {
                let state = self.slot(*id);
                *state = action::evolve(*id, state.take(), event);
            }
            Event::Worktree(news) => {
                self.worktree = worktree::evolve(news.worktree, self.worktree.take(), &news.event);
            }
            Event::BlobKept(_) | Event::Refused(_) | Event::Started(_) => {}
        }
    }

    /// Where an action is kept: the one that a command was about, or the one that stands in its place.
    fn slot(&mut self, id: ActionId) -> &mut Option<ActionState> {
        match &self.action {
            Some(action) if action.id != id => &mut self.successor,
            Some(_) | None => &mut self.action,
        }
    }
}
