//! Events of a lawful command of the right actor, if its content fits the run. Commands of facets go to the facet.

use std::collections::BTreeSet;

use super::command::{Founding, RunCommand};
use super::event::RunEvent;
use super::gate::GateKind;
use super::launch::Launch;
use super::rehearsal::performs_nothing;
use super::rule::has;
use super::state::{Run, RunStatus as Status};
use super::text::check_plan;
use super::{budget, calls, hosting, network, orders, snapshots};
use crate::budget::{BudgetRefusal, Resource};
use crate::digest::Digest;
use crate::id::IdentityId;
use crate::identity::{Actor, Lineage, Role};
use crate::planning::Preparation;
use crate::reason::{RunFailure, StatusReason};
use crate::refusal::{Obstacle, Refusal};
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
    let budget = founding.allowance.map(|allowance| allowance.set(None)).transpose()?.map(RunEvent::from);
    let planning = founding.planning.as_deref().map(calls::of_planning).transpose()?.map(RunEvent::from);
    let plan = &founding.plan;
    let submitted = (!plan.is_empty()).then(|| submitted(plan, actor));
    let products = prepared.into_iter().flat_map(Preparation::products).map(|product| RunEvent::Prepared { product });
    Ok(std::iter::once(created).chain(products).chain(budget).chain(planning).chain(submitted).collect())
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

pub(super) fn change(run: &Run, command: &RunCommand, context: &Context<'_>) -> Decision {
    let (single_operator, now, by) = (context.single_operator, context.now, author(context.actor));
    let event = match command {
        RunCommand::Create(_) => return Err(Refusal::Exists { what: "run" }),
        RunCommand::Submit { plan } if plan.is_empty() => return Err(Refusal::invalid("a plan has at least one step")),
        RunCommand::Submit { plan } => submitted(plan, context.actor),
        RunCommand::ApprovePlan { seen } => RunEvent::PlanApproved { seen: saw(run, *seen)?, single_operator, by },
        RunCommand::RejectPlan { reason } => RunEvent::PlanRejected { reason: reason.clone() },
        RunCommand::Start => RunEvent::Started,
        RunCommand::Attach => attach(run)?,
        RunCommand::FinishStep { step, summary } => return finish_step(run, *step, summary, now),
        RunCommand::ReachGate { summary } => gate(run, GateKind::Step, StatusReason::said(summary), now),
        RunCommand::PassGate { seen, note, plan } => {
            return Ok(let_go(run, pass_gate(run, *seen, note, plan.as_deref(), single_operator)?));
        }
        RunCommand::RejectGate { seen, reason } => reject_gate(run, *seen, reason)?,
        RunCommand::Pause { reason } => RunEvent::Paused { reason: StatusReason::said(reason) },
        RunCommand::Resume => resume(run)?,
        RunCommand::RollBack { to, reason } => roll_back(run, *to, reason)?,
        RunCommand::RunDry { resource } => exhausted(*resource),
        RunCommand::Finish { summary } => finish(run, summary, now),
        RunCommand::ApproveResults { seen, chosen } => approve_results(run, *seen, chosen.as_ref(), single_operator)?,
        RunCommand::RejectResults { seen, reason } => {
            saw(run, *seen)?;
            performs_nothing(run, "sent back to work")?;
            RunEvent::ResultsRejected { reason: reason.clone() }
        }
        RunCommand::Fail { reason } => fail(run, reason, by)?,
        RunCommand::Cancel { reason } => RunEvent::Cancelled { reason: StatusReason::said(reason) },
        RunCommand::Lapse => return Ok(let_go(run, lapse(run, now)?)),
        RunCommand::Budget(command) => budget::decide(run, command)?.into(),
        RunCommand::Network(command) => network::decide(run, command, by, now)?.into(),
        RunCommand::Order(command) => orders::decide(run, command)?.into(),
        RunCommand::Hosting(command) => hosting::decide(run, command, by)?.into(),
        RunCommand::Snapshot(command) => return Ok(all(snapshots::decide(run, command, now)?)),
        RunCommand::Call(command) => return Ok(all(calls::decide(run, command)?)),
    };
    Ok(vec![event])
}

fn all<E: Into<RunEvent>>(events: Vec<E>) -> Vec<RunEvent> {
    events.into_iter().map(Into::into).collect()
}

/// A decision is about what was seen.
fn saw(run: &Run, seen: Digest) -> Result<Digest, Refusal> {
    let current = run.review();
    if seen == current { Ok(seen) } else { Err(Refusal::Stale { seen, current }) }
}

fn attach(run: &Run) -> Result<RunEvent, Refusal> {
    if !run.hosting.is_external() && run.snapshots.kept.is_empty() {
        return Err(Refusal::not_now("attached to", Obstacle::NotHosted));
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
    let looks =
        run.posture.stops_after(step, steps).then(|| gate(run, GateKind::Step, StatusReason::said(summary), now));
    Ok(std::iter::once(finished).chain(looks).collect())
}

/// Only the host of a run reports its faults.
fn fail(run: &Run, failure: &RunFailure, by: Option<IdentityId>) -> Result<RunEvent, Refusal> {
    let is_host = by.is_some() && run.host.worker == by;
    match failure {
        RunFailure::Host(_) if !is_host => Err(Refusal::OtherHost),
        RunFailure::Said(_) | RunFailure::Host(_) => Ok(RunEvent::Failed { reason: failure.clone().into() }),
    }
}

fn gate(run: &Run, kind: GateKind, reason: StatusReason, now: Timestamp) -> RunEvent {
    let passes_at = passes_at(run, kind, now);
    RunEvent::GateReached { kind, reason, action: None, resource: None, finishes: None, passes_at }
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
    let reason = StatusReason::FinishesEarly { done, steps, summary: summary.to_owned() };
    let passes_at = passes_at(run, kind, now);
    RunEvent::GateReached { kind, reason, action: None, resource: None, finishes, passes_at }
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
    let reason = StatusReason::BudgetLow { resource };
    let (kind, resource) = (GateKind::Cost, Some(resource));
    RunEvent::GateReached { kind, reason, action: None, resource, finishes: None, passes_at: None }
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
        return Err(Refusal::not_now("let through its checkpoint", Obstacle::NotSaved));
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
    if run.snapshots.restoring.is_some() {
        return Err(Refusal::not_now("resumed", Obstacle::NotRestored));
    }
    if let Some(resource) = run.lacks() {
        return Err(BudgetRefusal::UsedUp { resource }.into());
    }
    Ok(RunEvent::Resumed)
}

fn roll_back(run: &Run, to: u32, reason: &str) -> Result<RunEvent, Refusal> {
    run.is_kept(to)?;
    Ok(RunEvent::RolledBack { to, reason: reason.to_owned() })
}

/// What a run that is at work must stop for.
pub(crate) fn question(run: &Run) -> Option<RunEvent> {
    let budget = run.budget.as_ref().filter(|_| run.status == Status::Executing)?;
    budget.overdrawn().map(exhausted).or_else(|| budget.unasked().map(cost_gate))
}

pub(super) fn exhausted(resource: Resource) -> RunEvent {
    RunEvent::Exhausted { resource }
}

fn approve_results(
    run: &Run,
    seen: Digest,
    chosen: Option<&BTreeSet<u32>>,
    single_operator: bool,
) -> Result<RunEvent, Refusal> {
    let seen = saw(run, seen)?;
    performs_nothing(run, "completed")?;
    if !run.hosting.is_external() && run.host.outputs.is_none() {
        return Err(Refusal::not_now("completed", Obstacle::NotCollected));
    }
    let known: BTreeSet<u32> = run.host.outputs.iter().flatten().map(|output| output.id).collect();
    if let Some(missing) = chosen.and_then(|chosen| chosen.difference(&known).next()) {
        return Err(Refusal::invalid(format!("there is no output {missing}")));
    }
    within_scope(run, chosen, &known)?;
    let exported = run.host.outputs.as_ref().map(|_| chosen.unwrap_or(&known).iter().copied().collect());
    Ok(RunEvent::ResultsApproved { seen, single_operator, exported })
}

/// Refuses to export paths that the scope does not allow. Workers undo such changes, but a worker may be wrong or lie.
fn within_scope(run: &Run, chosen: Option<&BTreeSet<u32>>, known: &BTreeSet<u32>) -> Result<(), Refusal> {
    let outside = |path: &str| match ScopePath::new(path.as_bytes()) {
        Ok(path) => !matches!(run.scope.judge_path(&path), PathRuling::Allowed { .. }),
        Err(_) => true,
    };
    let outputs =
        run.host.outputs.iter().flatten().filter(|output| chosen.is_none_or(|chosen| chosen.contains(&output.id)));
    // Removals are exported only if the reviewer accepts all outputs, named or not.
    let all = chosen.is_none_or(|chosen| known.is_subset(chosen));
    let removed = run.host.removed.iter().filter(|_| all).map(String::as_str);
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
        return Ok(gate(run, GateKind::Time, StatusReason::WorkedFor { minutes }, now));
    }
    if run.status == Status::CheckpointReached && is_due(run.due()) {
        needs_snapshot(run)?;
        return Ok(RunEvent::GateLapsed);
    }
    Err(Refusal::not_now("let lapse", Obstacle::NothingDue))
}
