//! LOADED: the state that a command is decided on. [`Reads`] names it, a store loads it, and events change it.

use std::collections::{BTreeMap, BTreeSet};

use crate::action::{self, ActionCommand, ActionState, Workers};
use crate::command::Command;
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use crate::identity::{self, DoorCommand, Identity, IdentityCommand};
use crate::organisation::{self, Organisation};
use crate::passkey::Passkey;
use crate::project::{self, Project, ProjectCommand};
use crate::record::{Event, Record};
use crate::run::{self, Beside, Questions, Run, RunCommand, RunEvent};
use crate::time::Timestamp;
use crate::worktree::{self, Worktree};

/// What must be loaded before a command can be decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reads<'c> {
    pub project: Option<ProjectId>,
    pub identity: Option<IdentityId>,
    /// Whether it matters what whoever asks is at this moment: they were let in a while ago.
    pub actor: bool,
    pub run: Option<RunId>,
    pub action: Option<ActionId>,
    /// What is to stand in the action's place: there must be nothing yet.
    pub successor: Option<ActionId>,
    pub worktree: Option<WorktreeId>,
    /// The run that pays for a new one.
    pub parent: Option<RunId>,
    /// Whether the project and the parent of the run are needed too, because they pay for it.
    pub payer: bool,
    /// Whether they are needed if the run is over, with everybody above them.
    pub payers_when_over: bool,
    /// Whether those are needed who gave the orders that stand in the run.
    pub givers: bool,
    pub others: Others,
    /// Whether it is needed which contents were touched, and from which entry on.
    pub touched_from: Option<u64>,
    /// Whether it is needed how much the family of the run has asked of people.
    pub questions: bool,
    /// True if the command needs to know whether a worker was free for the action.
    pub workers: bool,
    /// True if the command needs the number of other actions of the run that wait for people or are in progress.
    pub beside: bool,
    /// Identity that the command revokes. Everything that depends on its approvals, proposals and leases is loaded.
    pub rests_on: Option<IdentityId>,
    /// Name of a new project, which no other project may have.
    pub project_name: Option<&'c str>,
    /// Digest of a new token, which nobody may have or have had.
    pub token: Option<Digest>,
    /// True if the command needs the passkeys of everybody but the person that it is about.
    pub passkeys: bool,
    /// True if it matters whether another identity has the name of the caller.
    pub namesakes: bool,
}

/// Which runs that are not over, besides the one that a command is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Others {
    #[default]
    None,
    /// Those of the run's project that other runs have made.
    Children,
    /// All of this project.
    OfProject(ProjectId),
    /// All of them, with their projects.
    All,
}

/// Rows loaded for one command, as `Reads` names them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loaded {
    pub project: Option<Project>,
    pub identity: Option<Identity>,
    /// Whoever asks, as they are now.
    pub actor: Option<Identity>,
    pub run: Option<Run>,
    pub action: Option<ActionState>,
    /// What stands in the action's place after it was amended.
    pub successor: Option<ActionState>,
    pub worktree: Option<Worktree>,
    /// The run that pays for the run.
    pub parent: Option<Run>,
    /// Always there, and read with every command: it may have been halted.
    pub organisation: Organisation,
    /// Other runs, and projects, where a command concerns them: those that are not over, or those that paid for one that is.
    pub runs: Vec<Run>,
    pub projects: Vec<Project>,
    /// Those who gave the orders of the run, where one might be used.
    pub givers: Vec<Identity>,
    /// Contents that entries since a given one name, however they name them.
    pub touched: BTreeSet<Digest>,
    /// How much the family of the run has asked of people, where that is needed.
    pub questions: Questions,
    /// Availability of workers, for an action whose deadline has passed.
    pub workers: Workers,
    /// Actions of a run that wait for people or are in progress, counted without the loaded ones.
    pub beside: BTreeMap<RunId, Beside>,
    /// Actions and worktrees that depend on the revoked identity; their runs are among `runs`.
    pub actions: Vec<ActionState>,
    pub worktrees: Vec<Worktree>,
    /// True if another project has the name that a new one asks for.
    pub is_project_name_taken: bool,
    /// True if somebody has or had the token that is to be given out; a revoked identity keeps its token.
    pub is_token_taken: bool,
    /// Passkeys of everybody but the person that the command is about.
    pub passkeys: Vec<Passkey>,
    /// True if another identity has or had the name of the caller.
    pub has_namesake: bool,
    /// Contents that the command depends on and that its project has removed.
    pub removed: BTreeSet<Digest>,
}

impl Command {
    pub fn reads(&self) -> Reads<'_> {
        match self {
            Self::Project { id, command: ProjectCommand::SetBudget { .. } } => {
                Reads { project: Some(*id), others: Others::OfProject(*id), ..Reads::default() }
            }
            Self::Project { id, command: ProjectCommand::Create { name, .. } } => {
                Reads { project: Some(*id), project_name: Some(name), ..Reads::default() }
            }
            Self::Project { id, command: ProjectCommand::Preserve { run, .. } } => {
                Reads { project: Some(*id), run: *run, ..Reads::default() }
            }
            Self::Project { id, .. } => Reads { project: Some(*id), ..Reads::default() },
            Self::KeepBlob { project, .. } => Reads { project: Some(*project), ..Reads::default() },
            Self::RemoveBlobs { project, expiry } => {
                Reads { project: Some(*project), touched_from: Some(expiry.as_of), ..Reads::default() }
            }
            Self::Identity { id, command: IdentityCommand::Revoke } => {
                Reads { identity: Some(*id), actor: true, rests_on: Some(*id), ..Reads::default() }
            }
            Self::Identity { id, command } => {
                let passkeys = matches!(command, IdentityCommand::Door(DoorCommand::AddPasskey { .. }));
                Reads { identity: Some(*id), actor: true, token: new_token(command), passkeys, ..Reads::default() }
            }
            // Whether one person works alone is the project's decision, not that of whoever makes a run.
            Self::Run { id, command: RunCommand::Create(founding) } => {
                let (project, parent) = (Some(founding.project), founding.parent);
                let identity = founding.agent_token.map(|_| founding.agent);
                let token = founding.agent_token;
                Reads { run: Some(*id), project, parent, identity, token, ..Reads::default() }
            }
            Self::Run { id, command } => {
                let others = if command.concerns_children() { Others::Children } else { Others::None };
                let (payer, payers_when_over) = (command.concerns_payer(), command.concerns_payers_when_over());
                Reads { run: Some(*id), payer, payers_when_over, others, ..Reads::default() }
            }
            Self::Action { id, run, command } => {
                let (action, run, successor) = (Some(*id), Some(*run), command.successor());
                let proposes = matches!(command, ActionCommand::Propose { .. });
                let (questions, givers) = (proposes, proposes);
                let (actor, beside) = (command.says_yes(), command.may_move());
                let workers = matches!(command, ActionCommand::Lapse);
                Reads { action, run, successor, actor, questions, givers, workers, beside, ..Reads::default() }
            }
            Self::Worktree { id, project, .. } => {
                Reads { worktree: Some(*id), project: Some(*project), namesakes: true, ..Reads::default() }
            }
            Self::Organisation(_) => Reads { others: Others::All, ..Reads::default() },
            Self::AskPlanner { project, .. } | Self::NotePlanner { project, .. } => {
                Reads { project: Some(*project), ..Reads::default() }
            }
            Self::NoteRefusal { .. } | Self::NoteStart { .. } => Reads::default(),
        }
    }
}

/// The token that a command gives to an identity, if it does.
const fn new_token(command: &IdentityCommand) -> Option<Digest> {
    match command {
        IdentityCommand::Register { token, .. } | IdentityCommand::ReplaceToken { token, .. } => Some(*token),
        IdentityCommand::Revoke | IdentityCommand::Door(_) | IdentityCommand::Away(_) | IdentityCommand::Declare(_) => {
            None
        }
    }
}

impl Loaded {
    /// What is known after a record of that moment.
    pub fn apply(&mut self, record: &Record, at: Timestamp) {
        self.evolve(&record.event, at);
    }

    /// Evolves the state by an event of that moment.
    pub(crate) fn evolve(&mut self, event: &Event, at: Timestamp) {
        match event {
            Event::Organisation(event) => {
                self.organisation = organisation::evolve(std::mem::take(&mut self.organisation), event);
            }
            Event::Project(id, event) => self.project = project::evolve(*id, self.project.take(), event),
            Event::Identity(id, event) => {
                let person = self.person(*id);
                *person = identity::evolve(*id, person.take(), event);
            }
            Event::Run(id, event) => self.evolve_run(*id, event, at),
            Event::Action(id, event) => match self.actions.iter_mut().find(|action| action.id == *id) {
                Some(known) => {
                    if let Some(after) = action::evolve(*id, Some(known.clone()), event, at) {
                        *known = after;
                    }
                }
                None => {
                    let state = self.slot(*id);
                    *state = action::evolve(*id, state.take(), event, at);
                }
            },
            Event::Worktree(news) => match self.worktrees.iter_mut().find(|worktree| worktree.id == news.worktree) {
                Some(known) => {
                    if let Some(after) = worktree::evolve(news.worktree, Some(known.clone()), &news.event) {
                        *known = after;
                    }
                }
                None => self.worktree = worktree::evolve(news.worktree, self.worktree.take(), &news.event),
            },
            Event::BlobKept(_)
            | Event::BlobRemoved(_)
            | Event::Refused(_)
            | Event::PlannerAsked(_)
            | Event::PlannerAnswered(_)
            | Event::Started(_) => {}
        }
    }

    /// Where a person is kept: whom a command is about, or whoever asks, whose passkey has signed once more.
    fn person(&mut self, id: IdentityId) -> &mut Option<Identity> {
        let is = |known: &Option<Identity>| known.as_ref().is_some_and(|person| person.id == id);
        if is(&self.actor) && !is(&self.identity) { &mut self.actor } else { &mut self.identity }
    }

    /// A person who is known here, as a command left them.
    pub fn find_person(&self, id: IdentityId) -> Option<&Identity> {
        self.identity.iter().chain(&self.actor).find(|person| person.id == id)
    }

    /// Finds a loaded action.
    pub fn find_action(&self, id: ActionId) -> Option<&ActionState> {
        self.action.iter().chain(&self.successor).chain(&self.actions).find(|action| action.id == id)
    }

    /// Counts all actions of a run that wait for people or are in progress, the loaded ones in their current state.
    pub(crate) fn count_beside(&self, run: &Run) -> Beside {
        let known = self.action.iter().chain(&self.successor).chain(&self.actions);
        let others = self.beside.get(&run.id).copied().unwrap_or_default();
        known.filter(|action| action.run == run.id).fold(others, |all, action| all.and(run, action))
    }

    /// A run that is known here.
    pub fn find_run(&self, id: RunId) -> Option<&Run> {
        self.run.iter().chain(&self.parent).chain(&self.runs).find(|run| run.id == id)
    }

    /// A run after an event of that moment, kept where it was.
    fn evolve_run(&mut self, id: RunId, event: &RunEvent, at: Timestamp) {
        if let Some(run) = self.runs.iter_mut().find(|run| run.id == id) {
            if let Some(after) = run::evolve(id, Some(run.clone()), event, at) {
                *run = after;
            }
            return;
        }
        let slot = match &self.parent {
            Some(parent) if parent.id == id => &mut self.parent,
            Some(_) | None => &mut self.run,
        };
        *slot = run::evolve(id, slot.take(), event, at);
    }

    /// Where an action is kept: the one that a command was about, or the one that stands in its place.
    fn slot(&mut self, id: ActionId) -> &mut Option<ActionState> {
        match &self.action {
            Some(action) if action.id != id => &mut self.successor,
            Some(_) | None => &mut self.action,
        }
    }
}
