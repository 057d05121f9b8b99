//! The events that a lawful command of the right actor leads to, if what it carries fits the run.

use std::collections::BTreeSet;

use super::call::{CallCount, ModelCall};
use super::command::{Allowance, Founding, RunCommand};
use super::decide::has;
use super::event::RunEvent;
use super::evolve::evolve;
use super::gate::GateKind;
use super::hosting::{Output, Wanted};
use super::launch::Launch;
use super::retention::with_retention;
use super::state::{Run, RunStatus as Status};
use super::text::check_plan;
use super::{order, wish};
use crate::budget::{Amounts, Budget, Purpose, Resource};
use crate::digest::Digest;
use crate::id::IdentityId;
use crate::identity::{Actor, Lineage, Role};
use crate::planning::Preparation;
use crate::refusal::Refusal;
use crate::scope::{PathRuling, ScopePath};
use crate::text::spelled_out;
use crate::time::Timestamp;

/// Maximum number of paths in a refusal, which a person reads. Further paths are only counted.
const MOST_NAMED: usize = 10;

/// Who asks, and when.
pub(super) struct Context<'a> {
    pub(super) actor: &'a Actor,
    pub(super) single_operator: bool,
    pub(super) now: Timestamp,
}

type Decision = Result<Vec<RunEvent>, Refusal>;

pub(super) fn create(founding: &Founding, actor: &Actor) -> Decision {
    if let Actor::Identity(identity) = actor {
        has(identity, Role::Operator)?;
    }
    let prepared = founding.prepared.as_deref();
    if prepared.is_some_and(|prepared| !prepared.agrees_with(founding)) {
        return Err(Refusal::invalid("the run says something else than what was planned for it; plan again"));
    }
    founding.hosting.launch().map_or(Ok(()), Launch::check)?;
    let created = RunEvent::Created {
        project: founding.project,
        parent: founding.parent,
        separation: founding.separation,
        goal: founding.goal.clone(),
        scope_version: founding.scope.version(),
        scope: Box::new(founding.scope.clone()),
        posture: founding.posture.clone(),
        hosting: founding.hosting.clone(),
        agent: founding.agent,
        agent_lineage: founding.agent_lineage.clone(),
        created_by: author(actor),
        creator_lineage: author_lineage(actor),
    };
    let budget = founding.allowance.map(|allowance| budget_set(allowance, None)).transpose()?;
    let planning = founding.planning.as_deref().map(planned_by).transpose()?;
    let plan = &founding.plan;
    let submitted = (!plan.is_empty()).then(|| submitted(plan, actor));
    let products = prepared.into_iter().flat_map(Preparation::products).map(|product| RunEvent::Prepared { product });
    Ok(std::iter::once(created).chain(products).chain(budget).chain(planning).chain(submitted).collect())
}

/// Recorded with the run or not at all: whoever asks again is given this run and pays nothing.
fn planned_by(call: &ModelCall) -> Result<RunEvent, Refusal> {
    call.check()?;
    Ok(RunEvent::Called { purpose: Purpose::Call("planning".to_owned()), call: Box::new(call.clone()) })
}

fn author(actor: &Actor) -> Option<IdentityId> {
    actor.identity().map(|identity| identity.id)
}

fn author_lineage(actor: &Actor) -> Lineage {
    actor.identity().map(|identity| identity.lineage.clone()).unwrap_or_default()
}

fn submitted(plan: &[String], actor: &Actor) -> RunEvent {
    RunEvent::Submitted { plan: plan.to_vec(), by: author(actor), lineage: author_lineage(actor) }
}

fn budget_set(allowance: Allowance, now: Option<&Budget>) -> Result<RunEvent, Refusal> {
    let Allowance { ceiling, warn_at_percent } = allowance.checked(now)?;
    Ok(RunEvent::BudgetSet { ceiling, warn_at_percent })
}

pub(super) fn change(run: &Run, command: &RunCommand, context: &Context<'_>) -> Decision {
    let single_operator = context.single_operator;
    let event = match command {
        RunCommand::Create(_) => return Err(Refusal::Exists { what: "run" }),
        RunCommand::SetBudget { allowance } => budget_set(*allowance, run.budget.as_ref())?,
        RunCommand::Submit { plan } if plan.is_empty() => return Err(Refusal::invalid("a plan has at least one step")),
        RunCommand::Submit { plan } => submitted(plan, context.actor),
        RunCommand::ApprovePlan { seen } => {
            RunEvent::PlanApproved { seen: saw(run, *seen)?, single_operator, by: author(context.actor) }
        }
        RunCommand::RejectPlan { reason } => RunEvent::PlanRejected { reason: reason.clone() },
        RunCommand::Start => RunEvent::Started,
        RunCommand::Host => host(context)?,
        RunCommand::Equip => {
            is_wanted(run, Wanted::Running)?;
            RunEvent::Equipped
        }
        RunCommand::Attach => attach(run)?,
        RunCommand::FinishStep { step, summary } => return finish_step(run, *step, summary, context.now),
        RunCommand::ReachGate { summary } => gate(run, GateKind::Step, summary, context.now),
        RunCommand::PassGate { seen, note, plan } => {
            return Ok(let_go(run, pass_gate(run, *seen, note, plan.as_deref(), single_operator)?));
        }
        RunCommand::RejectGate { seen, reason } => reject_gate(run, *seen, reason)?,
        RunCommand::Pause { reason } => RunEvent::Paused { reason: reason.clone() },
        RunCommand::Resume => resume(run)?,
        RunCommand::RollBack { to, reason } => roll_back(run, *to, reason)?,
        RunCommand::AskSnapshot { reason } => ask_snapshot(run, reason)?,
        RunCommand::KeepSnapshot { number, workspace, memory, files, size_bytes } => {
            let (workspace, memory, files, size_bytes) = (*workspace, *memory, *files, *size_bytes);
            is_wanted(run, Wanted::Snapshot { number: *number })?;
            let kept = RunEvent::SnapshotKept { number: *number, workspace, memory, files, size_bytes };
            return Ok(with_retention(run, kept, context.now));
        }
        RunCommand::FailSnapshot { reason } => fail_snapshot(run, reason)?,
        RunCommand::Restore { number, workspace, memory } => restore(run, *number, *workspace, *memory)?,
        RunCommand::Hold { purpose, amounts } => {
            budget(run)?.permits(purpose, *amounts)?;
            RunEvent::Held { purpose: purpose.clone(), amounts: *amounts }
        }
        RunCommand::Settle { purpose, spent } => return settle(run, purpose, *spent),
        RunCommand::Charge { purpose, calls } => return charge(run, purpose, calls),
        RunCommand::CountCalls { counts } => return count_calls(counts),
        RunCommand::RunDry { resource } => exhausted(*resource),
        RunCommand::Finish { summary } => finish(run, summary, context.now),
        RunCommand::Wish { action, opening } => wish::wish(run, *action, opening, context.now)?,
        RunCommand::Grant { number, seen, lasts_ms } => {
            wish::grant(run, *number, *seen, *lasts_ms, (author(context.actor), context.now))?
        }
        RunCommand::RejectWish { number, reason } => wish::reject(run, *number, reason)?,
        RunCommand::Revoke { number, reason } => wish::revoke(run, *number, reason)?,
        RunCommand::RevokeOrder { number, reason } => order::revoke(run, *number, reason)?,
        RunCommand::Collect { outputs, removed } => collect(run, outputs, removed)?,
        RunCommand::ApproveResults { seen, chosen } => approve_results(run, *seen, chosen.as_ref(), single_operator)?,
        RunCommand::RejectResults { seen, reason } => {
            saw(run, *seen)?;
            performs_nothing(run, "sent back to work")?;
            RunEvent::ResultsRejected { reason: reason.clone() }
        }
        RunCommand::Fail { reason } => RunEvent::Failed { reason: reason.clone() },
        RunCommand::Cancel { reason } => RunEvent::Cancelled { reason: reason.clone() },
        RunCommand::Destroy => RunEvent::Destroyed,
        RunCommand::Lapse => return Ok(let_go(run, lapse(run, context.now)?)),
    };
    Ok(vec![event])
}

/// A decision is about what was seen.
fn saw(run: &Run, seen: Digest) -> Result<Digest, Refusal> {
    let current = run.review();
    if seen == current { Ok(seen) } else { Err(Refusal::Stale { seen, current }) }
}

fn is_wanted(run: &Run, report: Wanted) -> Result<(), Refusal> {
    if run.wanted() == report {
        return Ok(());
    }
    Err(Refusal::invalid("this is not what is wanted of the host now; ask again what is"))
}

fn host(context: &Context<'_>) -> Result<RunEvent, Refusal> {
    let worker = author(context.actor).ok_or(Refusal::Role { needed: Role::Worker })?;
    Ok(RunEvent::Hosted { worker })
}

fn attach(run: &Run) -> Result<RunEvent, Refusal> {
    if !run.hosting.is_external() && run.snapshots.is_empty() {
        return Err(Refusal::not_now("attached to", "not hosted yet", "its host must take it in first"));
    }
    Ok(RunEvent::Attached)
}

fn finish_step(run: &Run, step: u32, summary: &str, now: Timestamp) -> Decision {
    let next = run.steps_done.saturating_add(1);
    let steps = u32::try_from(run.plan.len()).unwrap_or(u32::MAX);
    if step != next || step > steps {
        return Err(Refusal::invalid(format!("step {next} of {steps} is the next one, not step {step}")));
    }
    let finished = RunEvent::StepFinished { step, summary: summary.to_owned() };
    let looks = run.posture.stops_after(step, steps).then(|| gate(run, GateKind::Step, summary, now));
    Ok(std::iter::once(finished).chain(looks).collect())
}

fn gate(run: &Run, kind: GateKind, summary: &str, now: Timestamp) -> RunEvent {
    let passes_at = passes_at(run, kind, now);
    RunEvent::GateReached { kind, summary: summary.to_owned(), action: None, resource: None, finishes: None, passes_at }
}

fn passes_at(run: &Run, kind: GateKind, now: Timestamp) -> Option<Timestamp> {
    let after_ms = run.posture.gates.auto_pass_after_ms.filter(|_| kind.may_pass_by_itself());
    after_ms.map(|after_ms| now.plus_ms(after_ms))
}

/// Who says that all is done before the looks that were agreed is looked at now: no agent decides that they are not needed.
fn finish(run: &Run, summary: &str, now: Timestamp) -> RunEvent {
    let (done, steps) = (run.steps_done, u32::try_from(run.plan.len()).unwrap_or(u32::MAX));
    let looks = (done.saturating_add(1)..=steps).any(|step| run.posture.stops_after(step, steps));
    if !looks {
        return RunEvent::Finished { summary: summary.to_owned() };
    }
    let (kind, finishes) = (GateKind::Step, Some(summary.to_owned()));
    let summary = format!("it wants to finish with {done} of {steps} steps done: {summary}");
    let passes_at = passes_at(run, kind, now);
    RunEvent::GateReached { kind, summary, action: None, resource: None, finishes, passes_at }
}

/// Past a checkpoint; where the agent wanted to finish, and nobody gave it other work, its work ends there.
fn let_go(run: &Run, event: RunEvent) -> Vec<RunEvent> {
    let told = matches!(&event, RunEvent::GatePassed { note, plan, .. } if !note.is_empty() || plan.is_some());
    let ends = !told && matches!(event, RunEvent::GatePassed { .. } | RunEvent::GateLapsed);
    let summary = run.gate.as_ref().filter(|_| ends).and_then(|gate| gate.finishes.clone());
    let finished = summary.map(|summary| RunEvent::Finished { summary });
    std::iter::once(event).chain(finished).collect()
}

pub(super) fn cost_gate(resource: Resource) -> RunEvent {
    let summary = format!("most of the budget for {resource} is used");
    let (kind, resource) = (GateKind::Cost, Some(resource));
    RunEvent::GateReached { kind, summary, action: None, resource, finishes: None, passes_at: None }
}

fn pass_gate(
    run: &Run,
    seen: Digest,
    note: &str,
    plan: Option<&[String]>,
    single_operator: bool,
) -> Result<RunEvent, Refusal> {
    stands_by_itself(run)?;
    let seen = saw(run, seen)?;
    needs_snapshot(run)?;
    let plan = plan.map(|rest| whole_plan(run, rest)).transpose()?;
    Ok(RunEvent::GatePassed { seen, single_operator, note: note.to_owned(), plan })
}

/// What was before a checkpoint is saved before anything comes after it.
pub(super) fn needs_snapshot(run: &Run) -> Result<(), Refusal> {
    if run.needs_a_snapshot() {
        let hint = "its host is taking the snapshot; look again";
        return Err(Refusal::not_now("let through its checkpoint", "not saved yet", hint));
    }
    Ok(())
}

/// The steps that are done stay as they are; only what is left can be changed.
fn whole_plan(run: &Run, rest: &[String]) -> Result<Vec<String>, Refusal> {
    let done = run.plan.iter().take(usize::try_from(run.steps_done).unwrap_or(usize::MAX));
    let plan: Vec<String> = done.chain(rest).cloned().collect();
    check_plan(&plan)?;
    Ok(plan)
}

/// What was done will not do, so the agent does it otherwise. What was spent is spent: there is nothing to send back.
fn reject_gate(run: &Run, seen: Digest, reason: &str) -> Result<RunEvent, Refusal> {
    stands_by_itself(run)?;
    saw(run, seen)?;
    needs_snapshot(run)?;
    if run.gate.as_ref().is_some_and(|gate| gate.kind == GateKind::Cost) {
        return Err(Refusal::invalid(
            "this checkpoint is about money; approve it, or pause, roll back or cancel the run",
        ));
    }
    Ok(RunEvent::GateRejected { reason: reason.to_owned() })
}

/// Where a run waits for an action, whoever decides on the action decides.
fn stands_by_itself(run: &Run) -> Result<(), Refusal> {
    match run.gate.as_ref().and_then(|gate| gate.action) {
        None => Ok(()),
        Some(action) => Err(Refusal::invalid(format!("this checkpoint waits for `{action}`; decide on that"))),
    }
}

fn resume(run: &Run) -> Result<RunEvent, Refusal> {
    if run.restoring.is_some() {
        return Err(Refusal::not_now("resumed", "not restored yet", "its host is bringing the snapshot back"));
    }
    if let Some(resource) = run.lacks() {
        return Err(Refusal::Budget {
            why: format!("its budget for {resource} is used up; a reviewer can give it more"),
        });
    }
    Ok(RunEvent::Resumed)
}

/// Only a host can save a run, and one that is about to save it need not be asked.
fn ask_snapshot(run: &Run, reason: &str) -> Result<RunEvent, Refusal> {
    if run.hosting.is_external() {
        return Err(Refusal::invalid("no worker hosts this run, so nobody can save it: its agent comes by itself"));
    }
    if run.snapshot_asked || matches!(run.wanted(), Wanted::Snapshot { .. }) {
        return Err(Refusal::not_now("saved", "about to be saved", "its host is taking a snapshot; look again"));
    }
    Ok(RunEvent::SnapshotAsked { reason: reason.to_owned() })
}

/// Without what somebody asked for, the run goes on; without what a checkpoint needs, it does not.
fn fail_snapshot(run: &Run, reason: &str) -> Result<RunEvent, Refusal> {
    if run.status == Status::CheckpointReached && run.needs_a_snapshot() {
        return Err(Refusal::invalid("this checkpoint needs the snapshot; the run cannot go on without it"));
    }
    Ok(RunEvent::SnapshotFailed { reason: reason.to_owned() })
}

fn roll_back(run: &Run, to: u32, reason: &str) -> Result<RunEvent, Refusal> {
    run.is_kept(to)?;
    Ok(RunEvent::RolledBack { to, reason: reason.to_owned() })
}

fn restore(run: &Run, number: u32, workspace: Digest, memory: Digest) -> Result<RunEvent, Refusal> {
    is_wanted(run, Wanted::Restored { number })?;
    let kept = run.snapshot(number).ok_or(Refusal::Unknown { what: "snapshot" })?;
    if (kept.workspace, kept.memory) != (workspace, memory) {
        return Err(Refusal::invalid("what was restored is not what was saved; it does not count"));
    }
    Ok(RunEvent::Restored { number })
}

fn budget(run: &Run) -> Result<&Budget, Refusal> {
    run.budget.as_ref().ok_or_else(|| Refusal::invalid("this run has no budget; give it one first"))
}

fn settle(run: &Run, purpose: &Purpose, spent: Amounts) -> Decision {
    let budget = budget(run)?;
    if budget.held_for(purpose).is_none() {
        return Err(Refusal::invalid(format!("nothing is held for `{purpose}`, or it was settled already")));
    }
    Ok(vec![RunEvent::Settled { purpose: purpose.clone(), spent }])
}

/// What was called is recorded, whatever became of the run or of what was held for it meanwhile.
fn charge(run: &Run, purpose: &Purpose, calls: &[ModelCall]) -> Decision {
    budget(run)?;
    calls.iter().try_for_each(ModelCall::check)?;
    let called = |call: &ModelCall| RunEvent::Called { purpose: purpose.clone(), call: Box::new(call.clone()) };
    Ok(calls.iter().map(called).collect())
}

fn count_calls(counts: &[CallCount]) -> Decision {
    counts.iter().try_for_each(CallCount::check)?;
    Ok(counts.iter().map(|count| RunEvent::CallsCounted { count: count.clone() }).collect())
}

/// The events, and what a run that is at work after them must stop for: something is used up, or a person is to be asked because
/// most of it is. Whenever it goes on, so that what was spent while nobody could be asked is asked about then.
pub(super) fn with_question(run: &Run, mut events: Vec<RunEvent>, now: Timestamp) -> Vec<RunEvent> {
    let after = events.iter().try_fold(run.clone(), |run, event| evolve(run.id, Some(run), event, now));
    events.extend(after.as_ref().and_then(question));
    events
}

/// What a run that is at work must stop for.
pub(crate) fn question(run: &Run) -> Option<RunEvent> {
    let budget = run.budget.as_ref().filter(|_| run.status == Status::Executing)?;
    budget.overdrawn().map(exhausted).or_else(|| budget.unasked().map(cost_gate))
}

pub(super) fn exhausted(resource: Resource) -> RunEvent {
    RunEvent::Exhausted { resource, reason: format!("the budget for {resource} is used up") }
}

fn collect(run: &Run, outputs: &[Output], removed: &[String]) -> Result<RunEvent, Refusal> {
    is_wanted(run, Wanted::Collected)?;
    if !Output::fit(outputs) {
        return Err(Refusal::invalid("these are more outputs than can be recorded; have them packed together"));
    }
    let (mut seen, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for output in outputs {
        ScopePath::new(output.path.as_bytes()).map_err(|bad| Refusal::invalid(bad.to_string()))?;
        if !seen.insert(output.id) {
            return Err(Refusal::invalid(format!("two outputs have the number {}", output.id)));
        }
        if !paths.insert(&output.path) {
            return Err(Refusal::invalid(format!("two outputs have the path `{}`", output.path)));
        }
    }
    let inputs = || run.hosting.launch().into_iter().flat_map(|launch| &launch.inputs);
    if let Some(path) = removed.iter().find(|path| !inputs().any(|input| input.path.as_str() == path.as_str())) {
        return Err(Refusal::invalid(format!("`{path}` is no input of this run; only inputs can be missing")));
    }
    Ok(RunEvent::Collected { outputs: outputs.to_vec(), removed: removed.to_vec() })
}

fn approve_results(
    run: &Run,
    seen: Digest,
    chosen: Option<&BTreeSet<u32>>,
    single_operator: bool,
) -> Result<RunEvent, Refusal> {
    let seen = saw(run, seen)?;
    performs_nothing(run, "completed")?;
    if !run.hosting.is_external() && run.outputs.is_none() {
        return Err(Refusal::not_now(
            "completed",
            "not collected yet",
            "its host is collecting the outputs; look again",
        ));
    }
    let known: BTreeSet<u32> = run.outputs.iter().flatten().map(|output| output.id).collect();
    if let Some(missing) = chosen.and_then(|chosen| chosen.difference(&known).next()) {
        return Err(Refusal::invalid(format!("there is no output {missing}")));
    }
    within_scope(run, chosen, &known)?;
    let exported = run.outputs.as_ref().map(|_| chosen.unwrap_or(&known).iter().copied().collect());
    Ok(RunEvent::ResultsApproved { seen, single_operator, exported })
}

/// Refuses to export paths that the scope does not allow. Workers undo such changes, but a worker may be wrong or lie.
fn within_scope(run: &Run, chosen: Option<&BTreeSet<u32>>, known: &BTreeSet<u32>) -> Result<(), Refusal> {
    let outside = |path: &str| match ScopePath::new(path.as_bytes()) {
        Ok(path) => !matches!(run.scope.judge_path(&path), PathRuling::Allowed { .. }),
        Err(_) => true,
    };
    let outputs = run.outputs.iter().flatten().filter(|output| chosen.is_none_or(|chosen| chosen.contains(&output.id)));
    // Removals are exported only if the reviewer accepts all outputs, named or not.
    let all = chosen.is_none_or(|chosen| known.is_subset(chosen));
    let removed = run.removed.iter().filter(|_| all).map(String::as_str);
    let paths: Vec<&str> =
        outputs.map(|output| output.path.as_str()).chain(removed).filter(|path| outside(path)).collect();
    if paths.is_empty() {
        return Ok(());
    }
    let named =
        paths.iter().take(MOST_NAMED).map(|path| format!("`{}`", spelled_out(path))).collect::<Vec<_>>().join(", ");
    let more = match paths.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(Refusal::invalid(format!(
        "the scope of this run does not allow {named}{more}; nothing was let out. Choose outputs within the scope, or reject the results"
    )))
}

/// Nobody knows the results before that is over.
fn performs_nothing(run: &Run, what: &'static str) -> Result<(), Refusal> {
    if run.performing.is_empty() {
        return Ok(());
    }
    let hint = "wait until that is done, or decide on it";
    Err(Refusal::not_now(what, "still performing what it had rehearsed", hint))
}

/// The clockwork's power over a run: to stop it where that was agreed, and to let pass what was agreed to pass.
fn lapse(run: &Run, now: Timestamp) -> Result<RunEvent, Refusal> {
    let is_due = |due: Option<Timestamp>| due.is_some_and(|due| due <= now);
    let works = run.status == Status::Executing;
    if works && is_due(run.wall_time_gone()) {
        return Ok(exhausted(Resource::WallMs));
    }
    if works && is_due(run.wall_time_short()) {
        return Ok(cost_gate(Resource::WallMs));
    }
    if works && is_due(run.time_gate_due()) {
        let minutes = run.clock.worked_ms(now) / 60_000;
        return Ok(gate(run, GateKind::Time, &format!("it has been at work for {minutes} minutes"), now));
    }
    if run.status == Status::CheckpointReached && is_due(run.due()) {
        needs_snapshot(run)?;
        return Ok(RunEvent::GateLapsed);
    }
    Err(Refusal::not_now("let lapse", run.status.as_str(), "nothing is due"))
}
