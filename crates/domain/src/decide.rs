//! The one door. A store loads what a command is about, asks here, and commits the answer or nothing.
//!
//! ```text
//! command.reads() ─► load ─► decide(&loaded, &submission, now) ─► records ─► loaded.apply(record) ─► commit
//! ```

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::action::{self, ActionCommand, ActionState, Demand, Setting, Workers};
use crate::allot;
use crate::command::{About, Command, Submission};
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use crate::identity::{self, Actor, Identity, IdentityCommand, Role};
use crate::organisation::{self, Organisation, OrganisationEvent};
use crate::passkey::Proof;
use crate::project::{self, Project, ProjectCommand};
use crate::proposal::ActionKind;
use crate::record::{BlobKept, Event, Record, Refused, Started};
use crate::refusal::Refusal;
use crate::retention;
use crate::revocation;
use crate::run::{
    self, Beside, ClockEvent, Consequence, NetworkCommand, OrderEvent, Questions, Run, RunCommand, RunEvent, RunStatus,
    Treatment, Watch, watch,
};
use crate::time::Timestamp;
use crate::worktree::{self, Worktree};

/// What must be loaded before a command can be decided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reads {
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

/// What was found.
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
}

impl Command {
    pub fn reads(&self) -> Reads {
        match self {
            Self::Project { id, command: ProjectCommand::SetBudget { .. } } => {
                Reads { project: Some(*id), others: Others::OfProject(*id), ..Reads::default() }
            }
            Self::Project { id, .. } => Reads { project: Some(*id), ..Reads::default() },
            Self::KeepBlob { project, .. } => Reads { project: Some(*project), ..Reads::default() },
            Self::RemoveBlobs { project, expiry } => {
                Reads { project: Some(*project), touched_from: Some(expiry.as_of), ..Reads::default() }
            }
            Self::Identity { id, command: IdentityCommand::Revoke } => {
                Reads { identity: Some(*id), actor: true, rests_on: Some(*id), ..Reads::default() }
            }
            Self::Identity { id, .. } => Reads { identity: Some(*id), actor: true, ..Reads::default() },
            // Whether one person works alone is the project's decision, not that of whoever makes a run.
            Self::Run { id, command: RunCommand::Create(founding) } => {
                let (project, parent) = (Some(founding.project), founding.parent);
                let identity = founding.agent_token.map(|_| founding.agent);
                Reads { run: Some(*id), project, parent, identity, ..Reads::default() }
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
                Reads { worktree: Some(*id), project: Some(*project), ..Reads::default() }
            }
            Self::Organisation(_) => Reads { others: Others::All, ..Reads::default() },
            Self::AskPlanner { project, .. } | Self::NotePlanner { project, .. } => {
                Reads { project: Some(*project), ..Reads::default() }
            }
            Self::NoteRefusal { .. } | Self::NoteStart { .. } => Reads::default(),
        }
    }

    /// Whether an agent proposes something by it.
    pub const fn proposes(&self) -> bool {
        matches!(self, Self::Action { command: ActionCommand::Propose { .. }, .. })
    }

    /// A word for it, in logs and in records of refusals.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Organisation(command) => command.name(),
            Self::Project { .. } => "project",
            Self::Identity { .. } => "identity",
            Self::Run { command, .. } => command.kind().as_str(),
            Self::Action { command, .. } => command.kind().as_str(),
            Self::Worktree { command, .. } => command.kind().as_str(),
            Self::KeepBlob { .. } => "keep-blob",
            Self::RemoveBlobs { .. } => "remove-blobs",
            Self::NoteRefusal { tried, .. } => tried,
            Self::AskPlanner { .. } => "ask-planner",
            Self::NotePlanner { .. } => "note-planner",
            Self::NoteStart { .. } => "start",
        }
    }
}

/// Decides a command. A refusal changes nothing; whether the attempt itself is recorded, [`recorded`] says.
pub fn decide(loaded: &Loaded, submission: &Submission, now: Timestamp) -> Result<Vec<Record>, Refusal> {
    let actor = &*present(loaded, submission)?;
    let about = about(loaded, &submission.command);
    admit(actor, &submission.command, about.project)?;
    check_halt(&loaded.organisation, &submission.command)?;
    check_safe_mode(loaded, &submission.command)?;
    let events: Vec<Event> = match &submission.command {
        Command::Organisation(command) => {
            let events = organisation::decide(&loaded.organisation, command, actor)?;
            let shares = allot::by_organisation(loaded, &events)?;
            let clocks = clocks(loaded, &events);
            events.into_iter().map(Event::Organisation).chain(shares).chain(clocks).collect()
        }
        Command::Project { id, command } => {
            let events = project::decide(loaded.project.as_ref(), command, actor)?;
            let shares = allot::by_project(loaded, *id, &events)?;
            events.into_iter().map(|event| Event::Project(*id, event)).chain(shares).collect()
        }
        Command::Identity { id, command } => {
            let events = identity::decide(loaded.identity.as_ref(), command, actor, now)?;
            let used = signed(actor, command.proof(), now)?;
            let void = match &loaded.identity {
                Some(revoked) if *command == IdentityCommand::Revoke => {
                    revocation::consequences(loaded, revoked, &submission.terms, now)?
                }
                Some(_) | None => Vec::new(),
            };
            events.into_iter().map(|event| Event::Identity(*id, event)).chain(used).chain(void).collect()
        }
        Command::Run { id, command } => {
            check_surroundings(loaded, command)?;
            let events = run::decide(loaded.run.as_ref(), command, actor, now)?;
            let paid = allot::by_run(loaded, *id, &events, now)?;
            let agent = run::own_agent(*id, loaded.identity.as_ref(), command, actor, now)?;
            events.into_iter().map(|event| Event::Run(*id, event)).chain(paid).chain(agent).collect()
        }
        Command::Action { id, command, .. } => about_action(loaded, *id, command, (actor, submission), now)?,
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
        Command::RemoveBlobs { expiry, .. } => {
            let project = loaded.project.as_ref().ok_or(Refusal::Unknown { what: "project" })?;
            let removed = retention::decide(project, expiry, &loaded.touched, actor, now)?;
            removed.into_iter().map(Event::BlobRemoved).collect()
        }
        Command::NoteRefusal { tried, refusal, .. } => vec![refused(tried, refusal)],
        Command::AskPlanner { asked, .. } => {
            loaded.project.as_ref().ok_or(Refusal::Unknown { what: "project" })?;
            // Whoever may found a run may ask for its plan.
            if !actor.identity().is_some_and(|identity| identity.has(Role::Operator)) {
                return Err(Refusal::Role { needed: Role::Operator });
            }
            vec![Event::PlannerAsked(asked.clone())]
        }
        Command::NotePlanner { .. } if *actor != Actor::Runtime => return Err(Refusal::Role { needed: Role::Admin }),
        Command::NotePlanner { answered, .. } => vec![Event::PlannerAnswered(answered.clone())],
        Command::NoteStart { .. } if *actor != Actor::Runtime => return Err(Refusal::Role { needed: Role::Admin }),
        Command::NoteStart { version, policy, tools } => {
            vec![Event::Started(Started { version: version.clone(), policy: *policy, tools: *tools })]
        }
    };
    let about = About { action: about.action.filter(|_| is_there(loaded, submission, &events)), ..about };
    let records = events.into_iter().map(|event| Record { about: about_event(&event, about, loaded), event }).collect();
    check_standstill(loaded, records, now)
}

/// Whether the action that a command is about exists after it: a question that was one too many does not, and no entry names it.
fn is_there(loaded: &Loaded, submission: &Submission, events: &[Event]) -> bool {
    let proposes = matches!(submission.command, Command::Action { .. });
    !proposes || loaded.action.is_some() || events.iter().any(|event| matches!(event, Event::Action(..)))
}

/// The time during which everything is stopped is nobody's time at work.
fn clocks(loaded: &Loaded, events: &[OrganisationEvent]) -> Vec<Event> {
    let change = events.iter().find_map(|event| match event {
        OrganisationEvent::Halted { .. } => Some(ClockEvent::Halted),
        OrganisationEvent::Released { .. } => Some(ClockEvent::Released),
        OrganisationEvent::BudgetSet { .. }
        | OrganisationEvent::Allotted { .. }
        | OrganisationEvent::SafeModeEntered { .. }
        | OrganisationEvent::SafeModeLeft { .. }
        | OrganisationEvent::PasskeysDemanded { .. }
        | OrganisationEvent::PasskeysReleased { .. } => None,
    });
    let at_work = loaded.runs.iter().filter(|run| run.status == RunStatus::Executing);
    change.map(|change| at_work.map(|run| Event::Run(run.id, change.into())).collect()).unwrap_or_default()
}

/// Whatever was asked: while everything is stopped, no run goes to work by it.
fn check_standstill(loaded: &Loaded, records: Vec<Record>, now: Timestamp) -> Result<Vec<Record>, Refusal> {
    let Some(halt) = &loaded.organisation.halt else { return Ok(records) };
    let mut after = loaded.clone();
    records.iter().for_each(|record| after.apply(record, now));
    let works = |run: &Option<Run>| run.as_ref().is_some_and(|run| run.status == RunStatus::Executing);
    let goes_to_work = !works(&loaded.run) && works(&after.run);
    if goes_to_work { Err(Refusal::Halted { reason: halt.reason.clone() }) } else { Ok(records) }
}

/// An action's events, and what they mean for its run: both, or neither.
fn about_action(
    loaded: &Loaded,
    id: ActionId,
    command: &ActionCommand,
    (actor, submission): (&Actor, &Submission),
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let run = loaded.run.as_ref().ok_or(Refusal::Unknown { what: "run" })?;
    if loaded.successor.is_some() {
        return Err(Refusal::Exists { what: "action" });
    }
    let (terms, policy) = (&submission.terms, submission.policy);
    let passkeys = Demand::by(&loaded.organisation);
    let (givers, workers) = (loaded.givers.as_slice(), loaded.workers);
    let setting = Setting { run, actor, terms, policy, givers, passkeys, workers, now };
    let events = action::decide(id, loaded.action.as_ref(), command, &setting)?;
    if let Some(instead) = run::instead_of_asking(run, &events, loaded.questions, &terms.asking, now)? {
        return Ok(vec![Event::Run(run.id, instead)]);
    }
    let (order, signed) = (order_given(loaded, command, &setting)?, signed(actor, command.proof(), now)?);
    let on_run = |events: Vec<_>| events.into_iter().map(|event| Event::Run(run.id, event));
    let beside = command.may_move().then(|| loaded.beside.get(&run.id).copied().unwrap_or_default());
    Ok(match run::follow(run, loaded.action.as_ref(), &events, beside, now)? {
        Consequence::Instead(instead) => on_run(instead).collect(),
        Consequence::Also(also) => {
            let events = events.into_iter().map(|(id, event)| Event::Action(id, event));
            events
                .chain(on_run(also))
                .chain(on_run(order.into_iter().map(RunEvent::from).collect()))
                .chain(signed)
                .collect()
        }
    })
}

/// The order that is given with the yes to an action.
fn order_given(loaded: &Loaded, command: &ActionCommand, setting: &Setting<'_>) -> Result<Option<OrderEvent>, Refusal> {
    let ActionCommand::GiveOrder { action, extent, .. } = command else { return Ok(None) };
    let (Some(state), Some(giver)) = (&loaded.action, setting.actor.identity()) else { return Ok(None) };
    run::give_order(setting.run, state, action.spec(), *extent, giver, setting.now).map(Some)
}

/// Whoever asks, as they are when it is decided. They were let in a while ago, and may have got or lost a passkey since.
fn present<'a>(loaded: &Loaded, submission: &'a Submission) -> Result<Cow<'a, Actor>, Refusal> {
    match (&submission.actor, &loaded.actor) {
        (Actor::Identity(asked), Some(now)) if now.id == asked.id => Ok(Cow::Owned(Actor::Identity(now.clone()))),
        (Actor::Identity(_), _) if submission.command.reads().actor => Err(Refusal::Revoked),
        (Actor::Identity(_) | Actor::Runtime, _) => Ok(Cow::Borrowed(&submission.actor)),
    }
}

/// What a signature means for the passkey of whoever asks, as it is now: it has signed once more.
fn signed(actor: &Actor, proof: Option<&Proof>, now: Timestamp) -> Result<Option<Event>, Refusal> {
    let (Some(proof), Some(person)) = (proof, actor.identity()) else { return Ok(None) };
    Ok(identity::used(person, proof, now)?.map(|event| Event::Identity(person.id, event)))
}

/// What one of a command's events is about: to amend an action changes one and makes another.
fn about_event(event: &Event, about: About, loaded: &Loaded) -> About {
    match event {
        Event::Action(id, _) => {
            let of = loaded.actions.iter().find(|action| action.id == *id);
            let (project, run) = (of.map(|of| of.project).or(about.project), of.map(|of| of.run).or(about.run));
            About { project, run, action: Some(*id) }
        }
        // What pays for a run may be another one, and what concerns everything concerns each of them.
        Event::Run(id, _) => {
            let project = loaded.find_run(*id).map(|run| run.project).or(about.project);
            About { project, run: Some(*id), ..about }
        }
        // Who somebody is, is nothing that whoever watches a run is told.
        Event::Identity(..) => About::default(),
        Event::Worktree(news) => {
            let of = loaded.worktrees.iter().find(|worktree| worktree.id == news.worktree);
            About { project: of.map(|of| of.project).or(about.project), ..about }
        }
        Event::Organisation(_)
        | Event::Project(..)
        | Event::BlobKept(_)
        | Event::BlobRemoved(_)
        | Event::Refused(_)
        | Event::PlannerAsked(_)
        | Event::PlannerAnswered(_)
        | Event::Started(_) => about,
    }
}

/// Who was revoked does nothing any more, and what lies beyond somebody's reach does not exist for them. The shell should have noticed
/// already; here nothing gets past.
fn admit(actor: &Actor, command: &Command, project: Option<ProjectId>) -> Result<(), Refusal> {
    let Some(identity) = actor.identity() else { return Ok(()) };
    // That they tried is recorded of everybody.
    if matches!(command, Command::NoteRefusal { .. }) {
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

/// A new run fits its project and its parent.
fn check_surroundings(loaded: &Loaded, command: &RunCommand) -> Result<(), Refusal> {
    let RunCommand::Create(founding) = command else { return Ok(()) };
    let project = loaded.project.as_ref().filter(|project| project.id == founding.project);
    let project = project.ok_or(Refusal::Unknown { what: "project" })?;
    if project.separation != founding.separation {
        return Err(Refusal::invalid("the run asks for another separation of duties than its project has"));
    }
    let known = loaded.parent.as_ref().is_some_and(|parent| parent.project == founding.project);
    if founding.parent.is_some() && !known {
        return Err(Refusal::Unknown { what: "parent run" });
    }
    Ok(())
}

/// While everything is stopped, nothing begins and nothing goes on. To look, to end and to take back is always possible.
fn check_halt(organisation: &Organisation, command: &Command) -> Result<(), Refusal> {
    let goes_on = match command {
        Command::Run { command, .. } => command.goes_on(),
        Command::Action { command, .. } => command.goes_on(),
        Command::Worktree { command, .. } => command.goes_on(),
        Command::AskPlanner { .. } => true,
        // Whoever stopped everything wants to look at what there is.
        Command::RemoveBlobs { .. } => true,
        Command::Organisation(_)
        | Command::Project { .. }
        | Command::Identity { .. }
        | Command::KeepBlob { .. }
        | Command::NoteRefusal { .. }
        | Command::NotePlanner { .. }
        | Command::NoteStart { .. } => false,
    };
    match &organisation.halt {
        Some(halt) if goes_on => Err(Refusal::Halted { reason: halt.reason.clone() }),
        Some(_) | None => Ok(()),
    }
}

/// In safe mode nothing that may change something begins or goes on: an action that does more than look is not proposed, and one that
/// was proposed before waits. In worktrees nobody knows what a command will do, so none begins.
fn check_safe_mode(loaded: &Loaded, command: &Command) -> Result<(), Refusal> {
    let Some(safe_mode) = &loaded.organisation.safe_mode else { return Ok(()) };
    let changes = match command {
        Command::Action { command, .. } => command.goes_on() && may_change(loaded, command),
        Command::Worktree { command, .. } => command.goes_on(),
        // Whoever looks needs no wider way out.
        Command::Run { command: RunCommand::Network(NetworkCommand::Grant { .. }), .. } => true,
        Command::Run { .. }
        | Command::Organisation(_)
        | Command::Project { .. }
        | Command::Identity { .. }
        | Command::KeepBlob { .. }
        | Command::RemoveBlobs { .. }
        | Command::NoteRefusal { .. }
        | Command::AskPlanner { .. }
        | Command::NotePlanner { .. }
        | Command::NoteStart { .. } => false,
    };
    if changes { Err(Refusal::SafeMode { reason: safe_mode.reason.clone() }) } else { Ok(()) }
}

/// Whether the action that is asked about does more than look. What is only rehearsed changes nothing.
fn may_change(loaded: &Loaded, command: &ActionCommand) -> bool {
    let looks = |kind: ActionKind| watch(kind) == Watch::Monitored;
    if let Some(brought) = command.brings() {
        let spec = brought.spec();
        let rehearsed = |run: &Run| run.posture.treatment(spec) == Treatment::Rehearse;
        return (!looks(spec.kind) || spec.reaches_others()) && !loaded.run.as_ref().is_some_and(rehearsed);
    }
    !loaded.action.as_ref().is_some_and(|action| looks(action.kind) && !action.reaches_others)
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
        Command::KeepBlob { project, .. }
        | Command::RemoveBlobs { project, .. }
        | Command::Worktree { project, .. }
        | Command::AskPlanner { project, .. }
        | Command::NotePlanner { project, .. } => Some(*project),
        Command::Run { command: RunCommand::Create(founding), .. } => Some(founding.project),
        Command::NoteRefusal { about, .. } => return *about,
        Command::Run { .. } | Command::Action { .. } => loaded.run.as_ref().map(|run| run.project),
        Command::Organisation(_) | Command::Identity { .. } | Command::NoteStart { .. } => None,
    };
    let reads = command.reads();
    About { project, run: reads.run, action: reads.action }
}

impl Loaded {
    /// What is known after a record of that moment.
    pub fn apply(&mut self, record: &Record, at: Timestamp) {
        match &record.event {
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

    /// Counts the other actions of a run that wait for people or are in progress, with the loaded ones in their current state.
    pub(crate) fn beside(&self, run: &Run, except: ActionId) -> Beside {
        let others = self.actions.iter().filter(|action| action.run == run.id && action.id != except);
        let known = self.beside.get(&run.id).copied().unwrap_or_default();
        others.fold(known, |all, action| all.and(run, action))
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
