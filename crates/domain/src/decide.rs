//! The one door. A store loads what a command is about, asks here, and commits the answer or nothing.
//!
//! ```text
//! AdmittedSubmission::check ─► command.reads() ─► load ─► decide(&loaded, &admitted, now) ─► records + state after ─► append ─► save ─► commit
//! ```

use std::borrow::Cow;

use crate::action::{self, ActionCommand, Demand, Setting};
use crate::allot;
use crate::command::{About, Command, Submission};
use crate::digest::Digest;
pub use crate::draft::CommandOutcome;
use crate::draft::{ActionOutcome, CommandDraft};
use crate::id::{ActionId, ProjectId};
use crate::identity::{self, Actor, DoorCommand, Identity, IdentityCommand, Role};
pub use crate::loaded::{Loaded, Others, Reads};
use crate::organisation::{self, Organisation, OrganisationEvent};
use crate::passkey::Proof;
use crate::project::{self, ProjectCommand};
use crate::proposal::ActionKind;
use crate::record::{BlobKept, Event, Record, Refused, Started};
use crate::refusal::Refusal;
use crate::retention;
use crate::revocation;
use crate::run::{
    self, ClockEvent, NetworkCommand, OrderEvent, Run, RunCommand, RunEvent, RunStatus, Treatment, Watch, watch,
};
use crate::time::Timestamp;
use crate::worktree;

impl Command {
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

/// A submission whose caller holds a valid credential at the moment of the decision.
#[derive(Debug, Clone, Copy)]
pub struct AdmittedSubmission<'a>(&'a Submission);

impl<'a> AdmittedSubmission<'a> {
    /// Checks the credential of the caller ([`check_credential`]).
    pub fn check(submission: &'a Submission, valid: Option<Digest>) -> Result<Self, Refusal> {
        // A refused attempt is recorded of everybody.
        if !matches!(submission.command, Command::NoteRefusal { .. }) {
            check_credential(&submission.actor, valid)?;
        }
        Ok(Self(submission))
    }

    pub const fn submission(&self) -> &'a Submission {
        self.0
    }
}

/// Checks the token that a caller authenticated with against the valid one, which is `None` if the caller is unknown or revoked.
///
/// This is the only check that counts. The caller was authenticated when the request arrived, but may have been revoked, or given another
/// token, while the request waited for the transaction that decides it.
pub fn check_credential(actor: &Actor, valid: Option<Digest>) -> Result<(), Refusal> {
    let holds_it = actor.identity().is_none_or(|identity| valid == Some(identity.token));
    if holds_it { Ok(()) } else { Err(Refusal::Revoked) }
}

/// Decides a command. A refusal changes nothing; whether the attempt itself is recorded, [`recorded`] says.
pub fn decide(loaded: &Loaded, admitted: &AdmittedSubmission<'_>, now: Timestamp) -> Result<CommandOutcome, Refusal> {
    let submission = admitted.submission();
    let command = &submission.command;
    let actor = &*present(loaded, submission)?;
    let about = about(loaded, command);
    check_reach(actor, command, about.project)?;
    check_halt(&loaded.organisation, command)?;
    check_safe_mode(loaded, command)?;
    let mut draft = CommandDraft::new(loaded, now);
    record_events(&mut draft, actor, submission)?;
    check_taken(loaded, command)?;
    check_contents(loaded, command)?;
    check_standstill(&draft)?;
    let is_missing = matches!(command, Command::Action { .. }) && draft.after.action.is_none();
    // No entry names an action that was not taken.
    let about = About { action: about.action.filter(|_| !is_missing), ..about };
    let is_untaken = command.proposes() && is_missing;
    Ok(draft.finish(|event| about_event(event, about, loaded), !is_untaken))
}

/// Records the events of a command and their consequences.
fn record_events(draft: &mut CommandDraft<'_>, actor: &Actor, submission: &Submission) -> Result<(), Refusal> {
    let (loaded, now) = (draft.before, draft.now);
    match &submission.command {
        Command::Organisation(command) => {
            let events = organisation::decide(&loaded.organisation, command, actor)?;
            let shares = allot::by_organisation(loaded, &events)?;
            let clocks = clocks(loaded, &events);
            draft.record_all(events.into_iter().map(Event::Organisation).chain(shares).chain(clocks));
        }
        Command::Project { id, command } => {
            let events = project::decide(loaded.project.as_ref(), command, actor)?;
            let shares = allot::by_project(loaded, *id, &events)?;
            draft.record_all(events.into_iter().map(|event| Event::Project(*id, event)).chain(shares));
        }
        Command::Identity { id, command } => {
            let events = identity::decide(loaded.identity.as_ref(), command, actor, now)?;
            let used = signed(actor, command.proof(), now)?;
            draft.record_all(events.into_iter().map(|event| Event::Identity(*id, event)).chain(used));
            if let (Some(revoked), IdentityCommand::Revoke) = (&loaded.identity, command) {
                revocation::record_consequences(draft, revoked, &submission.terms)?;
            }
        }
        Command::Run { id, command } => {
            check_surroundings(loaded, command)?;
            let events = run::decide(loaded.run.as_ref(), command, actor, now)?;
            allot::record_run(draft, *id, events)?;
            let agent = run::own_agent(*id, loaded.identity.as_ref(), command, actor, now)?;
            draft.record_all(agent);
        }
        Command::Action { id, command, .. } => record_action(draft, *id, command, (actor, submission))?,
        Command::Worktree { id, project, command } => {
            // The duties of one project say nothing about the worktrees of another.
            let known = loaded.worktree.as_ref().filter(|worktree| worktree.project == *project);
            if loaded.worktree.is_some() && known.is_none() {
                return Err(Refusal::Unknown { what: "worktree" });
            }
            let news = worktree::decide(*id, known, loaded.project.as_ref(), command, actor)?;
            draft.record_all(news.into_iter().map(Event::Worktree));
        }
        Command::KeepBlob { .. }
        | Command::RemoveBlobs { .. }
        | Command::NoteRefusal { .. }
        | Command::AskPlanner { .. }
        | Command::NotePlanner { .. }
        | Command::NoteStart { .. } => draft.record_all(decide_note(loaded, actor, &submission.command, now)?),
    }
    Ok(())
}

/// Decides a command that records something and changes no state.
fn decide_note(loaded: &Loaded, actor: &Actor, command: &Command, now: Timestamp) -> Result<Vec<Event>, Refusal> {
    Ok(match command {
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
        Command::NotePlanner { .. } | Command::NoteStart { .. } if *actor != Actor::Runtime => {
            return Err(Refusal::Role { needed: Role::Admin });
        }
        Command::NotePlanner { answered, .. } => vec![Event::PlannerAnswered(answered.clone())],
        Command::NoteStart { version, policy, tools } => {
            vec![Event::Started(Started { version: version.clone(), policy: *policy, tools: *tools })]
        }
        Command::Organisation(_)
        | Command::Project { .. }
        | Command::Identity { .. }
        | Command::Run { .. }
        | Command::Action { .. }
        | Command::Worktree { .. } => Vec::new(),
    })
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

/// Checks that no run goes to work while everything is stopped, whatever was asked.
fn check_standstill(draft: &CommandDraft<'_>) -> Result<(), Refusal> {
    let Some(halt) = &draft.before.organisation.halt else { return Ok(()) };
    let works = |run: &Option<Run>| run.as_ref().is_some_and(|run| run.status == RunStatus::Executing);
    let goes_to_work = !works(&draft.before.run) && works(&draft.after.run);
    if goes_to_work { Err(Refusal::Halted { reason: halt.reason.clone() }) } else { Ok(()) }
}

/// Checks that what a command gives out for the first time is not taken: a name, a token, a passkey.
fn check_taken(loaded: &Loaded, command: &Command) -> Result<(), Refusal> {
    if loaded.is_project_name_taken {
        return Err(Refusal::Exists { what: "project" });
    }
    if loaded.is_token_taken {
        return Err(Refusal::Exists { what: "token" });
    }
    match command {
        // A key belongs to one person: otherwise one person could sign for two.
        Command::Identity { command: IdentityCommand::Door(DoorCommand::AddPasskey { attested, .. }), .. }
            if attested.is_among(&loaded.passkeys) =>
        {
            Err(Refusal::Exists { what: "passkey" })
        }
        Command::Project { id, command: ProjectCommand::Preserve { run: Some(_), .. } }
            if loaded.run.as_ref().is_none_or(|run| run.project != *id) =>
        {
            Err(Refusal::Unknown { what: "run" })
        }
        Command::Organisation(_)
        | Command::Project { .. }
        | Command::Identity { .. }
        | Command::Run { .. }
        | Command::Action { .. }
        | Command::Worktree { .. }
        | Command::KeepBlob { .. }
        | Command::RemoveBlobs { .. }
        | Command::NoteRefusal { .. }
        | Command::AskPlanner { .. }
        | Command::NotePlanner { .. }
        | Command::NoteStart { .. } => Ok(()),
    }
}

/// Checks that the contents which the command depends on are still kept: they may have been removed since it was prepared.
fn check_contents(loaded: &Loaded, command: &Command) -> Result<(), Refusal> {
    if loaded.removed.is_empty() {
        return Ok(());
    }
    match retention::depended_on(command).into_iter().find(|digest| loaded.removed.contains(digest)) {
        Some(digest) => {
            let why = format!("{digest} was removed, because nothing needed it any more; upload it again");
            Err(Refusal::invalid(why))
        }
        None => Ok(()),
    }
}

/// Records the events of an action and what they mean for its run: both, or neither.
fn record_action(
    draft: &mut CommandDraft<'_>,
    id: ActionId,
    command: &ActionCommand,
    (actor, submission): (&Actor, &Submission),
) -> Result<(), Refusal> {
    let (loaded, now) = (draft.before, draft.now);
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
        draft.record_run(run.id, [instead]);
        return Ok(());
    }
    let (order, signed) = (order_given(loaded, command, &setting)?, signed(actor, command.proof(), now)?);
    if draft.record_action(run, loaded.action.as_ref(), events, command.may_move())? == ActionOutcome::Recorded {
        draft.record_run(run.id, order.map(RunEvent::from));
        draft.record_all(signed);
    }
    Ok(())
}

/// The order that is given with the yes to an action.
fn order_given(loaded: &Loaded, command: &ActionCommand, setting: &Setting<'_>) -> Result<Option<OrderEvent>, Refusal> {
    let ActionCommand::GiveOrder { action, extent, .. } = command else { return Ok(None) };
    let (Some(state), Some(giver)) = (&loaded.action, setting.actor.identity()) else { return Ok(None) };
    run::give_order(setting.run, state, action.spec(), *extent, giver, setting.now).map(Some)
}

/// The caller as of now. They were authenticated a while ago, and may have got or lost a passkey since.
fn present<'a>(loaded: &Loaded, submission: &'a Submission) -> Result<Cow<'a, Actor>, Refusal> {
    match (&submission.actor, &loaded.actor) {
        (Actor::Identity(asked), Some(now)) if now.id == asked.id => Ok(Cow::Owned(Actor::Identity(now.clone()))),
        (Actor::Identity(_), _) if submission.command.reads().actor => Err(Refusal::Revoked),
        // A duty that names a shared name is nobody's: nobody gets the duty of another by having the same name.
        (Actor::Identity(asked), _) if loaded.has_namesake => {
            Ok(Cow::Owned(Actor::Identity(Identity { name: String::new(), ..asked.clone() })))
        }
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

/// Checks that the project is within reach of the caller; a project beyond it does not exist for them.
fn check_reach(actor: &Actor, command: &Command, project: Option<ProjectId>) -> Result<(), Refusal> {
    // A refused attempt is recorded of everybody.
    if matches!(command, Command::NoteRefusal { .. }) {
        return Ok(());
    }
    let beyond = |identity: &Identity| project.is_some_and(|project| !identity.reach.includes(project));
    if actor.identity().is_some_and(beyond) { Err(Refusal::Unknown { what: "project" }) } else { Ok(()) }
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
    let (run, action) = match command {
        Command::Action { id, run, .. } => (Some(*run), Some(*id)),
        Command::Run { id, .. } => (Some(*id), None),
        Command::Organisation(_)
        | Command::Project { .. }
        | Command::Identity { .. }
        | Command::Worktree { .. }
        | Command::KeepBlob { .. }
        | Command::RemoveBlobs { .. }
        | Command::NoteRefusal { .. }
        | Command::AskPlanner { .. }
        | Command::NotePlanner { .. }
        | Command::NoteStart { .. } => (None, None),
    };
    About { project, run, action }
}
