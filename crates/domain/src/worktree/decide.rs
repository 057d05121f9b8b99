//! What may happen to a worktree, and who may make it happen.
//!
//! Two questions in this order: does the state allow it ([`lawful`]), and does the project's table of duties let this
//! person do it ([`authority`]).

use super::command::{Work, WorktreeCommand, WorktreeCommandKind as Kind};
use super::duty::{Duties, Operation, Person};
use super::event::{Consultation, WorktreeEvent, WorktreeNews};
use super::state::{Advice, DoneItem, Exemption, Opening, Worktree, WorktreeStatus as Status};
use crate::id::{IdentityId, WorktreeId};
use crate::identity::{Actor, Identity, Lineage, Role};
use crate::project::{Project, Separation};
use crate::prose::check_reason;
use crate::refusal::Refusal;

/// More exemptions than this are another scope.
const MOST_EXEMPTIONS: usize = 50;
const MOST_ITEMS: usize = 200;
const LONGEST_COMMAND: usize = 16_384;

/// Decides a command about a worktree that may not exist yet.
pub fn decide(
    id: WorktreeId,
    state: Option<&Worktree>,
    project: Option<&Project>,
    command: &WorktreeCommand,
    actor: &Actor,
) -> Result<Vec<WorktreeNews>, Refusal> {
    let project = project.ok_or(Refusal::Unknown { what: "project" })?;
    check_text(command)?;
    match (state, command.kind()) {
        (None, Kind::Open) => {}
        (None, _) => return Err(Refusal::Unknown { what: "worktree" }),
        (Some(worktree), kind) if !lawful(worktree.status, kind) => {
            return Err(Refusal::not_now(kind.participle(), worktree.status));
        }
        (Some(_), _) => {}
    }
    let single_operator = authority(state, project, command, actor)?;
    let event = change(id, state, project, command, actor, single_operator)?;
    let informed = project.duties.of(operation(command)).informed.iter().cloned().collect();
    let consulted = consulted(state, project, &event);
    Ok(vec![WorktreeNews { worktree: id, informed, consulted, event }])
}

/// People whom the duties list as consulted on the operation that an event decides, and on those that can be decided from now on.
fn consulted(state: Option<&Worktree>, project: &Project, event: &WorktreeEvent) -> Vec<Consultation> {
    let of = |on: &Operation| {
        let people = project.duties.of(*on).consulted.iter();
        people.map(|person| consultation(state, *on, person)).collect::<Vec<_>>()
    };
    consulted_on(event).iter().flat_map(of).collect()
}

fn consultation(state: Option<&Worktree>, on: Operation, person: &Person) -> Consultation {
    let advice = state.and_then(|worktree| worktree.advice_of(on, person));
    Consultation { on, person: person.clone(), said: advice.map(|advice| advice.said.clone()) }
}

const fn consulted_on(event: &WorktreeEvent) -> &'static [Operation] {
    match event {
        WorktreeEvent::Opening { .. }
        | WorktreeEvent::ExemptionAsked { .. }
        | WorktreeEvent::ExemptionGranted { .. }
        | WorktreeEvent::ExemptionVoided { .. }
        | WorktreeEvent::ExemptionRefused { .. } => &[Operation::Start],
        WorktreeEvent::Opened | WorktreeEvent::Adopted { .. } => {
            &[Operation::Execute, Operation::ScopeCheck, Operation::Close]
        }
        WorktreeEvent::Closed { .. } => &[Operation::Close, Operation::Merge],
        WorktreeEvent::Merged { .. } => &[Operation::Merge],
        WorktreeEvent::Noted { .. } | WorktreeEvent::Advised { .. } | WorktreeEvent::Aborted { .. } => &[],
    }
}

/// The state machine: in which states a command may be given.
pub(super) const fn lawful(status: Status, kind: Kind) -> bool {
    match kind {
        Kind::Open => !status.is_held(),
        Kind::Settle => matches!(status, Status::Opening),
        Kind::Adopt | Kind::Abort => status.is_held(),
        // What is closed may still be pushed, checked and collected.
        Kind::Note => !matches!(status, Status::Opening),
        Kind::AskExemption | Kind::GrantExemption | Kind::RefuseExemption | Kind::Close => {
            matches!(status, Status::Open)
        }
        Kind::Merge => matches!(status, Status::Closed),
    }
}

/// For which operation a command counts.
const fn operation(command: &WorktreeCommand) -> Operation {
    match command {
        WorktreeCommand::Open { .. }
        | WorktreeCommand::Settle
        | WorktreeCommand::Adopt { .. }
        | WorktreeCommand::AskExemption { .. }
        | WorktreeCommand::GrantExemption { .. }
        | WorktreeCommand::RefuseExemption { .. }
        | WorktreeCommand::Abort { .. } => Operation::Start,
        WorktreeCommand::Note { work } => match work {
            Work::Began { .. } | Work::Executed { .. } | Work::Harvested { .. } => Operation::Execute,
            Work::Checked { .. } => Operation::ScopeCheck,
            Work::Pushing { .. } | Work::Pushed { .. } | Work::Collected { .. } => Operation::Close,
            Work::Advised { on, .. } => *on,
        },
        WorktreeCommand::Close { .. } => Operation::Close,
        WorktreeCommand::Merge { .. } => Operation::Merge,
    }
}

/// Whether the actor may give this command. The answer tells if it was allowed only because one person works alone here.
fn authority(
    state: Option<&Worktree>,
    project: &Project,
    command: &WorktreeCommand,
    actor: &Actor,
) -> Result<bool, Refusal> {
    // The clockwork has no part in it: nothing about a worktree happens without a person.
    let Actor::Identity(identity) = actor else { return Err(Refusal::Role { needed: Role::Operator }) };
    let duties = &project.duties;
    match command.kind() {
        Kind::Open | Kind::Settle | Kind::Adopt | Kind::Abort | Kind::Close | Kind::Merge => {
            duties.may_decide(operation(command), identity).map(|()| false)
        }
        Kind::Note => may_note(duties, command, identity).map(|()| false),
        Kind::AskExemption => duties.may_do(Operation::Start, identity).map(|()| false),
        Kind::GrantExemption => independent_reviewer(state, project, command, identity),
        Kind::RefuseExemption => has_reviewer(identity).map(|()| false),
    }
}

/// Checks the duty to record work. Closing includes the scope-check, so a person who may close records its result without another duty.
fn may_note(duties: &Duties, command: &WorktreeCommand, identity: &Identity) -> Result<(), Refusal> {
    let operation = operation(command);
    if let WorktreeCommand::Note { work: Work::Advised { .. } } = command {
        return duties.consulted_as(operation, identity).map(drop);
    }
    let is_part_of_closing = operation == Operation::ScopeCheck;
    if is_part_of_closing && duties.may_decide(Operation::Close, identity).is_ok() {
        return Ok(());
    }
    duties.may_do(operation, identity)
}

fn has_reviewer(identity: &Identity) -> Result<(), Refusal> {
    if identity.has(Role::Reviewer) { Ok(()) } else { Err(Refusal::Role { needed: Role::Reviewer }) }
}

/// Requires a reviewer unrelated to the person who asked for the exemption or opened the worktree. In single-operator mode that person
/// may grant it. Returns true for that exception.
fn independent_reviewer(
    state: Option<&Worktree>,
    project: &Project,
    command: &WorktreeCommand,
    identity: &Identity,
) -> Result<bool, Refusal> {
    has_reviewer(identity)?;
    let exemption = |number| state.and_then(|worktree: &Worktree| worktree.exemptions.get(number));
    let is_kin = |by: Option<IdentityId>, lineage| by.is_some_and(|by| identity.is_kin_of(by, lineage));
    let asked = if let WorktreeCommand::GrantExemption { number, .. } = command { exemption(*number) } else { None };
    let asked = asked.is_some_and(|exemption| is_kin(exemption.asked_by, &exemption.lineage));
    let opened = state.is_some_and(|worktree| is_kin(worktree.opened_by, &worktree.opener_lineage));
    match (asked || opened, project.separation) {
        (false, _) => Ok(false),
        (true, Separation::SingleOperator) => Ok(true),
        (true, Separation::FourEyes) => Err(Refusal::Kin),
    }
}

fn change(
    id: WorktreeId,
    state: Option<&Worktree>,
    project: &Project,
    command: &WorktreeCommand,
    actor: &Actor,
    single_operator: bool,
) -> Result<WorktreeEvent, Refusal> {
    let by = actor.identity().map(|identity| identity.id);
    let lineage = || actor.identity().map(|identity| identity.lineage.clone()).unwrap_or_default();
    Ok(match command {
        WorktreeCommand::Open { opening, .. } => open(id, project, opening, (by, lineage()))?,
        WorktreeCommand::Settle => WorktreeEvent::Opened,
        WorktreeCommand::Adopt { found } => WorktreeEvent::Adopted { found: found.clone() },
        WorktreeCommand::Note { work: Work::Advised { on, said } } => advise(state, project, *on, said, actor)?,
        WorktreeCommand::Note { work } => note(state, work)?,
        WorktreeCommand::AskExemption { paths, reason } => {
            ask(state, paths)?;
            WorktreeEvent::ExemptionAsked { paths: paths.clone(), reason: reason.clone(), by, lineage: lineage() }
        }
        WorktreeCommand::GrantExemption { number, seen } => {
            undecided(state, *number)?;
            let current = state.and_then(|worktree| worktree.exemption_review(*number));
            match current {
                Some(current) if current != *seen => return Err(Refusal::Stale { seen: *seen, current }),
                Some(_) | None => WorktreeEvent::ExemptionGranted { number: *number, seen: *seen, single_operator, by },
            }
        }
        WorktreeCommand::RefuseExemption { number, reason } => {
            undecided(state, *number)?;
            WorktreeEvent::ExemptionRefused { number: *number, reason: reason.clone() }
        }
        WorktreeCommand::Close { tip, report, items, force } => {
            check_done(items, force.as_deref())?;
            let (tip, items, forced) = (tip.clone(), items.clone(), force.clone());
            WorktreeEvent::Closed { tip, report: *report, items, forced }
        }
        WorktreeCommand::Merge { into, commit } => WorktreeEvent::Merged { into: into.clone(), commit: commit.clone() },
        WorktreeCommand::Abort { reason } => WorktreeEvent::Aborted { reason: reason.clone() },
    })
}

/// One agent, one ticket, one worktree, one branch, one place: the names all follow from the first two.
fn open(
    id: WorktreeId,
    project: &Project,
    opening: &Opening,
    (by, lineage): (Option<IdentityId>, Lineage),
) -> Result<WorktreeEvent, Refusal> {
    let Opening { agent, ticket, branch, path, .. } = opening;
    if id != WorktreeId::of(project.id, ticket, agent) {
        return Err(Refusal::invalid("this id is of another agent or another ticket"));
    }
    if branch.as_str() != format!("feat/{ticket}-{agent}") || *path != format!(".worktrees/{ticket}/{agent}") {
        let why = format!("its branch is `feat/{ticket}-{agent}` and its place `.worktrees/{ticket}/{agent}`");
        return Err(Refusal::Invalid { why });
    }
    Ok(WorktreeEvent::Opening { project: project.id, opening: Box::new(opening.clone()), by, lineage })
}

/// What is over is not worked in any more; it may still be looked at, pushed and removed.
fn note(state: Option<&Worktree>, work: &Work) -> Result<WorktreeEvent, Refusal> {
    let needs_open = matches!(work, Work::Began { .. } | Work::Executed { .. } | Work::Harvested { .. });
    if let Some(worktree) = state
        && needs_open
        && worktree.status != Status::Open
    {
        return Err(Refusal::not_now("worked in", worktree.status));
    }
    Ok(WorktreeEvent::Noted { work: work.clone() })
}

/// Maximum number of pieces of advice on one worktree. A longer conversation belongs elsewhere.
const MOST_ADVICE: usize = 200;

fn advise(
    state: Option<&Worktree>,
    project: &Project,
    on: Operation,
    said: &str,
    actor: &Actor,
) -> Result<WorktreeEvent, Refusal> {
    if state.is_some_and(|worktree| worktree.advice.len() >= MOST_ADVICE) {
        return Err(Refusal::invalid("a worktree has at most 200 pieces of advice"));
    }
    let identity = actor.identity().ok_or(Refusal::Role { needed: Role::Operator })?;
    let consulted_as = project.duties.consulted_as(on, identity)?;
    let (by, name, said) = (identity.id, identity.name.clone(), said.to_owned());
    Ok(WorktreeEvent::Advised { advice: Advice { on, by, name, consulted_as, said } })
}

fn ask(state: Option<&Worktree>, paths: &[crate::scope::Glob]) -> Result<(), Refusal> {
    let already = state.map_or(0, |worktree| worktree.exemptions.len());
    if paths.is_empty() || paths.len() > MOST_EXEMPTIONS || already >= MOST_EXEMPTIONS {
        return Err(Refusal::invalid("an exemption names 1 to 50 paths, and a worktree has at most 50"));
    }
    Ok(())
}

fn undecided(state: Option<&Worktree>, number: usize) -> Result<&Exemption, Refusal> {
    let exemption = state.and_then(|worktree| worktree.exemptions.get(number));
    let exemption = exemption.ok_or(Refusal::Unknown { what: "exemption" })?;
    if exemption.granted.is_some() { Err(Refusal::Exists { what: "decision" }) } else { Ok(exemption) }
}

/// Nothing is done as long as something is not, unless somebody answers for it in writing.
fn check_done(items: &[DoneItem], force: Option<&str>) -> Result<(), Refusal> {
    if items.is_empty() || items.len() > MOST_ITEMS {
        return Err(Refusal::invalid("a definition of done has 1 to 200 items"));
    }
    let open: Vec<&str> = items.iter().filter(|item| !item.holds).map(|item| item.name.as_str()).collect();
    match (open.as_slice(), force) {
        ([], None) | ([_, ..], Some(_)) => Ok(()),
        ([], Some(_)) => Err(Refusal::invalid("everything is done; there is nothing to force")),
        (open, None) => Err(Refusal::Undone { items: open.join(", ") }),
    }
}

fn check_text(command: &WorktreeCommand) -> Result<(), Refusal> {
    let text = match command {
        WorktreeCommand::Adopt { found: text }
        | WorktreeCommand::AskExemption { reason: text, .. }
        | WorktreeCommand::RefuseExemption { reason: text, .. }
        | WorktreeCommand::Abort { reason: text }
        | WorktreeCommand::Note { work: Work::Advised { said: text, .. } }
        | WorktreeCommand::Close { force: Some(text), .. } => text,
        WorktreeCommand::Note { work: Work::Began { command, .. } | Work::Executed { command, .. } } => {
            let long = command.iter().map(String::len).sum::<usize>() > LONGEST_COMMAND;
            return if long { Err(Refusal::invalid("the command is longer than 16 KiB")) } else { Ok(()) };
        }
        WorktreeCommand::Open { .. }
        | WorktreeCommand::Settle
        | WorktreeCommand::Note { .. }
        | WorktreeCommand::GrantExemption { .. }
        | WorktreeCommand::Close { force: None, .. }
        | WorktreeCommand::Merge { .. } => return Ok(()),
    };
    check_reason(text)
}
