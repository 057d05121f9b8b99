//! What may happen to an action, and who may make it happen.

use super::amend::amend;
use super::attention;
use super::command::{ActionCommand, ActionCommandKind as Kind, Resolution};
use super::event::ActionEvent;
use super::order;
use super::perform::{needs_its_turn, perform, rejudge_performance};
use super::state::{ActionState, ActionStatus as Status};
use crate::approval::{Approval, Ground, Terms, deed, review_digest};
use crate::digest::Digest;
use crate::evidence::Evidence;
use crate::id::{ActionId, IdentityId};
use crate::identity::{Actor, Identity, Role};
use crate::organisation::Organisation;
use crate::passkey::{Proof, Purpose};
use crate::permit::Signed;
use crate::policy::{Ruling, Tier, Verdict};
use crate::project::Separation;
use crate::proposal::Action;
use crate::prose::{LONGEST_REASON, check_reason};
use crate::reason::StatusReason;
use crate::refusal::{Obstacle, PasskeyFlaw, PermitFlaw, Refusal};
use crate::run::{Run, RunStatus, Treatment};
use crate::time::Timestamp;

/// What surrounds an action when something is asked of it.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    pub run: &'a Run,
    /// As they are now, with the passkeys that they have.
    pub actor: &'a Actor,
    pub terms: &'a Terms,
    /// The version of the policy in force: a verdict of another one no longer counts.
    pub policy: Digest,
    /// Those who gave the orders that stand in the run, as they are now.
    pub givers: &'a [Identity],
    pub passkeys: Demand,
    pub workers: Workers,
    pub now: Timestamp,
}

/// Availability of workers for an action whose deadline has passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Workers {
    /// The action could have been leased: an eligible worker asked for work and got none since the approval, or no worker has a lease.
    #[default]
    Free,
    /// No eligible worker was idle since the approval, and at least one worker has a lease.
    Busy,
}

/// Maximum age of an approval that waits for a worker. After a day the reviewer's view of the action is out of date.
const LONGEST_POSTPONED_MS: u64 = 24 * 3_600_000;

/// Who signs with a passkey where two people are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// Whoever has one.
    OfOwners,
    OfEverybody,
}

impl Demand {
    pub const fn by(organisation: &Organisation) -> Self {
        if organisation.passkeys.is_some() { Self::OfEverybody } else { Self::OfOwners }
    }
}

type Decision = Result<Vec<ActionEvent>, Refusal>;

/// Decides a command about an action that may not exist yet. Each event comes with the action it is about: to amend one
/// makes another.
pub fn decide(
    id: ActionId,
    state: Option<&ActionState>,
    command: &ActionCommand,
    setting: &Setting<'_>,
) -> Result<Vec<(ActionId, ActionEvent)>, Refusal> {
    match (state, command) {
        (None, ActionCommand::Propose { action, verdict, advice }) => {
            Ok(about(id, propose(id, action, verdict, *advice, setting)?))
        }
        (Some(_), ActionCommand::Propose { .. }) => Err(Refusal::Exists { what: "action" }),
        (None, _) => Err(Refusal::Unknown { what: "action" }),
        (Some(state), _) if state.run != setting.run.id => Err(Refusal::Unknown { what: "action" }),
        (Some(state), _) => change(state, command, setting),
    }
}

fn about(id: ActionId, events: Vec<ActionEvent>) -> Vec<(ActionId, ActionEvent)> {
    events.into_iter().map(|event| (id, event)).collect()
}

fn change(
    state: &ActionState,
    command: &ActionCommand,
    setting: &Setting<'_>,
) -> Result<Vec<(ActionId, ActionEvent)>, Refusal> {
    let events = match command {
        ActionCommand::Propose { .. } => return Err(Refusal::Exists { what: "action" }),
        ActionCommand::Amend { seen, reason, amended } => return amend(state, *seen, reason, amended, setting),
        ActionCommand::Approve { seen, proof } => approve(state, *seen, proof.as_deref(), setting),
        ActionCommand::GiveOrder { seen, action, extent } => order::give(state, *seen, action, *extent, setting),
        ActionCommand::Reject { seen, reason } => reject(state, *seen, reason, setting),
        ActionCommand::Withdraw { reason } => withdraw(state, reason, setting),
        ActionCommand::Perform { seen, verdict } => perform(state, *seen, verdict, setting),
        ActionCommand::Rejudge { verdict } => rejudge(state, verdict, setting),
        ActionCommand::Lease { worker } => lease(state, *worker, setting),
        ActionCommand::Redeem { permit } => redeem(state, permit, setting),
        ActionCommand::Heartbeat { attempt } => heartbeat(state, *attempt, setting),
        ActionCommand::Complete { evidence } => complete(state, evidence, setting),
        ActionCommand::Resolve { resolution, reason } => resolve(state, *resolution, reason, setting),
        ActionCommand::Assign { to, note } => attention::assign(state, to.as_deref(), note, setting),
        ActionCommand::Defer { until } => attention::defer(state, *until, setting),
        ActionCommand::Lapse => lapse(state, setting),
    };
    Ok(about(state.id, events?))
}

pub(super) fn not_now(state: &ActionState, kind: Kind) -> Refusal {
    Refusal::not_now(kind.participle(), state.status)
}

pub(super) fn needs_status(state: &ActionState, kind: Kind, wanted: Status) -> Result<(), Refusal> {
    if state.status == wanted { Ok(()) } else { Err(not_now(state, kind)) }
}

fn needs_executing(run: &Run) -> Result<(), Refusal> {
    if run.status == RunStatus::Executing { Ok(()) } else { Err(run_not_active(run)) }
}

/// What was proposed before a rollback was about a state that is no more.
pub(super) fn needs_same_past(state: &ActionState, run: &Run, what: &'static str) -> Result<(), Refusal> {
    if state.rollbacks == run.rollbacks {
        return Ok(());
    }
    Err(Refusal::not_now(what, Obstacle::BeforeRollback))
}

/// Where the files of a run are, there its actions are executed.
fn needs_its_host(run: &Run, worker: IdentityId) -> Result<(), Refusal> {
    if run.hosting.is_external() || run.host.worker == Some(worker) { Ok(()) } else { Err(Refusal::OtherHost) }
}

fn needs_open(state: &ActionState, run: &Run) -> Result<(), Refusal> {
    if state.performing {
        return needs_its_turn(state, run);
    }
    if run.status.is_open() { Ok(()) } else { Err(run_not_active(run)) }
}

pub(super) const fn run_not_active(run: &Run) -> Refusal {
    Refusal::RunNotActive { status: run.status }
}

pub(super) fn needs_role<'a>(setting: &Setting<'a>, role: Role) -> Result<&'a Identity, Refusal> {
    let identity = setting.actor.identity().ok_or(Refusal::Role { needed: role })?;
    if identity.has(role) { Ok(identity) } else { Err(Refusal::Role { needed: role }) }
}

fn needs_clockwork(setting: &Setting<'_>) -> Result<(), Refusal> {
    if *setting.actor == Actor::Runtime { Ok(()) } else { Err(Refusal::Role { needed: Role::Admin }) }
}

fn propose(
    id: ActionId,
    action: &Action,
    verdict: &Verdict,
    advice: Option<Digest>,
    setting: &Setting<'_>,
) -> Decision {
    let agent = needs_role(setting, Role::Agent)?;
    if agent.id != setting.run.agent || action.spec().agent != agent.id || action.spec().run != setting.run.id {
        return Err(Refusal::OtherAgent);
    }
    needs_executing(setting.run)?;
    if action.spec().scope != setting.run.scope.version() || verdict.action() != action.digest() {
        return Err(Refusal::invalid(
            "the action was sealed under another scope, or the verdict is for another action",
        ));
    }
    let begun = [proposed(action, agent, advice, setting), judged(verdict, setting)];
    let last = if rehearses(action, verdict, setting.run) {
        Some(ActionEvent::Rehearsed)
    } else {
        order::covered(id, &begun, action, setting)
    };
    Ok(begun.into_iter().chain(last).collect())
}

fn proposed(action: &Action, agent: &Identity, advice: Option<Digest>, setting: &Setting<'_>) -> ActionEvent {
    ActionEvent::Proposed {
        project: setting.run.project,
        run: setting.run.id,
        digest: action.digest(),
        tool: action.spec().tool.clone(),
        kind: action.spec().kind,
        pages: action.spec().limits.pages,
        reaches_others: action.spec().reaches_others(),
        proposer: agent.id,
        proposer_lineage: agent.lineage.clone(),
        advice,
        amendment: None,
        rollbacks: setting.run.rollbacks,
        deed: Some(deed(action.spec(), Ground::of(setting.run))),
    }
}

/// What nobody refuses is still not executed where the run only shows what it would do.
pub(super) fn rehearses(action: &Action, verdict: &Verdict, run: &Run) -> bool {
    verdict.ruling() != Ruling::Deny && run.posture.treatment(action.spec()) == Treatment::Rehearse
}

pub(super) fn judged(verdict: &Verdict, setting: &Setting<'_>) -> ActionEvent {
    let deadline = setting.now.plus_ms(wait_ms(verdict, setting.terms));
    ActionEvent::Judged { verdict: verdict.clone(), review: review_digest(verdict), deadline }
}

/// How long the next step may take: a person's, or a worker's where no person is asked.
pub(super) const fn wait_ms(verdict: &Verdict, terms: &Terms) -> u64 {
    match verdict.ruling() {
        Ruling::Allow => terms.dispatch_within_ms,
        Ruling::Ask { .. } | Ruling::Deny => terms.decide_within_ms,
    }
}

/// Only the clockwork judges again, and only when the policy changed: otherwise an agent could void approvals it does not
/// like, or keep a question open for ever.
fn rejudge(state: &ActionState, verdict: &Verdict, setting: &Setting<'_>) -> Decision {
    needs_clockwork(setting)?;
    if !matches!(state.status, Status::PendingApproval | Status::Approved) {
        return Err(not_now(state, Kind::Rejudge));
    }
    if setting.now >= state.deadline {
        return Err(Refusal::Expired);
    }
    if state.verdict.policy() == setting.policy {
        return Err(Refusal::not_now("judged again", Obstacle::JudgedByCurrentPolicy));
    }
    if verdict.action() != state.digest || verdict.policy() != setting.policy {
        return Err(Refusal::invalid("the verdict is for another action or policy"));
    }
    if state.performing {
        return Ok(rejudge_performance(verdict, setting));
    }
    // Its order is void under another policy, and its agent asks if it still wants it: what nobody was asked about must not become a
    // flood of questions.
    if state.approvals.iter().any(|approval| approval.order.is_some()) {
        return Ok(vec![ActionEvent::Withdrawn { reason: StatusReason::OrderOutdated }]);
    }
    Ok(vec![judged(verdict, setting)])
}

/// A question that somebody can still answer: in an open run, and in time.
pub(super) fn needs_waiting(state: &ActionState, kind: Kind, setting: &Setting<'_>) -> Result<(), Refusal> {
    needs_status(state, kind, Status::PendingApproval)?;
    needs_open(state, setting.run)?;
    needs_same_past(state, setting.run, "decided")?;
    if setting.now >= state.deadline { Err(Refusal::Expired) } else { Ok(()) }
}

/// What every decision of a person needs: a reviewer, an open run, a waiting action, in time, and the eyes on what stands now.
pub(super) fn needs_decider<'a>(
    state: &ActionState,
    kind: Kind,
    seen: Digest,
    setting: &Setting<'a>,
) -> Result<&'a Identity, Refusal> {
    let reviewer = needs_role(setting, Role::Reviewer)?;
    needs_waiting(state, kind, setting)?;
    if seen != state.review() {
        return Err(Refusal::Stale { seen, current: state.review() });
    }
    Ok(reviewer)
}

pub(super) fn approve(state: &ActionState, seen: Digest, proof: Option<&Proof>, setting: &Setting<'_>) -> Decision {
    let reviewer = needs_decider(state, Kind::Approve, seen, setting)?;
    if state.verdict.policy() != setting.policy {
        return Err(Refusal::not_now("approved", Obstacle::JudgedByOldPolicy));
    }
    let single_operator = independence(state, reviewer, setting.run.separation)?;
    // A relative of an earlier approver does not count as a second person.
    if state.approvals.iter().any(|approval| reviewer.is_kin_of(approval.reviewer, &approval.lineage)) {
        return Err(Refusal::SamePerson);
    }
    check_proof(state, reviewer, proof, setting)?;
    let last = if state.approvals_missing() <= 1 { Last::Yes } else { Last::No { undecided_until: state.deadline } };
    let mut approved = approved(reviewer, seen, single_operator, last, setting);
    if let ActionEvent::Approved { approval, .. } = &mut approved {
        // An earlier approval may expire sooner if a later one was voided. The set expires with its earliest approval.
        let soonest = state.approvals.iter().map(|earlier| earlier.expires_at).min();
        approval.expires_at = soonest.map_or(approval.expires_at, |soonest| soonest.min(approval.expires_at));
        approval.signing = proof.map(|proof| Box::new(proof.signing()));
    }
    Ok(vec![approved])
}

/// Whether this person's yes to such an action takes their passkey.
pub(super) fn takes_passkey(state: &ActionState, reviewer: &Identity, setting: &Setting<'_>) -> bool {
    let is_asked = match setting.passkeys {
        Demand::OfOwners => !reviewer.doors.passkeys().is_empty(),
        Demand::OfEverybody => true,
    };
    is_asked && matches!(state.verdict.ruling(), Ruling::Ask { approvals } if approvals >= 2)
}

/// A proof must be this person's, for exactly this; where one is demanded, there must be one.
fn check_proof(
    state: &ActionState,
    reviewer: &Identity,
    proof: Option<&Proof>,
    setting: &Setting<'_>,
) -> Result<(), Refusal> {
    let Some(proof) = proof else {
        return if takes_passkey(state, reviewer, setting) { Err(Refusal::PasskeyNeeded) } else { Ok(()) };
    };
    proof.counts_for(reviewer, setting.now)?;
    let this = Purpose::Approve { person: reviewer.id, action: state.id, review: state.review() };
    if proof.question().purpose == this { Ok(()) } else { Err(PasskeyFlaw::OtherChallenge.into()) }
}

/// Whether an approval is the last one that was missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Yes,
    No { undecided_until: Timestamp },
}

/// The last yes starts the time for a worker; an earlier one holds as long as the last one could still come, and then that
/// time too. So no approval has run out when the permit is redeemed.
fn approved(
    reviewer: &Identity,
    review: Digest,
    single_operator: bool,
    last: Last,
    setting: &Setting<'_>,
) -> ActionEvent {
    let holds_from = match last {
        Last::Yes => setting.now,
        Last::No { undecided_until } => undecided_until,
    };
    let expires_at = holds_from.plus_ms(setting.terms.dispatch_within_ms);
    let (reviewer, lineage, order, signing) = (reviewer.id, reviewer.lineage.clone(), None, None);
    let approval = Approval { reviewer, lineage, review, expires_at, single_operator, order, signing };
    ActionEvent::Approved { approval, complete: last == Last::Yes }
}

/// Nobody decides about what they or their kin wrote, as its agent or by amending it. Where one person works alone, that person may
/// give the one approval of tier B (or let tier A run again), and it is marked; agents never may, and tier C always takes strangers.
pub(super) fn independence(state: &ActionState, reviewer: &Identity, separation: Separation) -> Result<bool, Refusal> {
    if state.amendment.as_ref().is_some_and(|amendment| amendment.binds(reviewer, state.verdict.policy())) {
        return Err(Refusal::Kin);
    }
    if !reviewer.is_kin_of(state.proposer, &state.proposer_lineage) {
        return Ok(false);
    }
    let stands_behind = state.proposer_lineage.includes(reviewer.id);
    let alone = separation == Separation::SingleOperator && state.verdict.tier() <= Tier::B;
    if stands_behind && alone { Ok(true) } else { Err(Refusal::Kin) }
}

fn reject(state: &ActionState, seen: Digest, reason: &str, setting: &Setting<'_>) -> Decision {
    check_reason(reason)?;
    let reviewer = needs_decider(state, Kind::Reject, seen, setting)?.id;
    Ok(vec![ActionEvent::Rejected { reviewer, review: seen, reason: reason.to_owned() }])
}

fn withdraw(state: &ActionState, reason: &str, setting: &Setting<'_>) -> Decision {
    let its_agent = needs_role(setting, Role::Agent).is_ok_and(|agent| agent.id == state.proposer);
    if !its_agent {
        needs_role(setting, Role::Operator)?;
    }
    if reason.len() > LONGEST_REASON {
        return Err(Refusal::invalid("the reason is longer than 2000 bytes"));
    }
    match state.status {
        Status::PendingApproval | Status::Approved => {
            Ok(vec![ActionEvent::Withdrawn { reason: StatusReason::said(reason) }])
        }
        Status::Denied
        | Status::Rehearsed
        | Status::Rejected
        | Status::Expired
        | Status::Superseded
        | Status::Withdrawn
        | Status::Leased
        | Status::Executing
        | Status::Succeeded
        | Status::Failed
        | Status::Interrupted
        | Status::Abandoned => Err(not_now(state, Kind::Withdraw)),
    }
}

fn lease(state: &ActionState, worker: IdentityId, setting: &Setting<'_>) -> Decision {
    let identity = needs_role(setting, Role::Worker)?;
    if identity.id != worker {
        return Err(Refusal::Permit(PermitFlaw::OtherWorker));
    }
    needs_status(state, Kind::Lease, Status::Approved)?;
    needs_its_turn(state, setting.run)?;
    needs_same_past(state, setting.run, "leased")?;
    order::needs_its_order(state, setting.run, "leased")?;
    needs_its_host(setting.run, worker)?;
    if setting.now >= state.deadline {
        return Err(Refusal::Expired);
    }
    if state.verdict.policy() != setting.policy {
        return Err(Refusal::not_now("leased", Obstacle::JudgedByOldPolicy));
    }
    let attempt =
        state.attempt.checked_add(1).ok_or_else(|| Refusal::invalid("it was tried too often; propose it again"))?;
    // A permit never outlives the approvals it rests on.
    let expires_at = setting.now.plus_ms(setting.terms.lease_ms).min(state.deadline);
    Ok(vec![ActionEvent::Leased { worker, attempt, expires_at }])
}

/// The point of no return: the one moment a permit counts.
fn redeem(state: &ActionState, permit: &Signed, setting: &Setting<'_>) -> Decision {
    let worker = needs_role(setting, Role::Worker)?.id;
    let permit = permit.permit();
    if permit.worker() != worker {
        return Err(PermitFlaw::OtherWorker.into());
    }
    if permit.action() != state.id {
        return Err(PermitFlaw::OtherAction.into());
    }
    if permit.digest() != state.digest {
        return Err(PermitFlaw::OtherBytes.into());
    }
    if permit.attempt() != state.attempt {
        return Err(PermitFlaw::OtherAttempt.into());
    }
    // The permit is unused but void: the identity that approved or proposed the action was revoked.
    if state.voided_attempt == Some(permit.attempt()) {
        return Err(Refusal::not_now("started", Obstacle::PermitVoid));
    }
    let Some(lease) = state.lease().filter(|_| state.status == Status::Leased) else {
        return Err(PermitFlaw::Replayed.into());
    };
    // What is recorded counts, should a permit ever say more than its lease.
    if lease.worker != worker {
        return Err(PermitFlaw::OtherWorker.into());
    }
    if setting.now >= permit.expires_at() || setting.now >= lease.expires_at {
        return Err(PermitFlaw::Expired.into());
    }
    needs_its_turn(state, setting.run)?;
    needs_same_past(state, setting.run, "started")?;
    order::needs_its_order(state, setting.run, "started")?;
    if state.verdict.policy() != setting.policy {
        return Err(Refusal::not_now("started", Obstacle::JudgedByOldPolicy));
    }
    let expires_at = setting.now.plus_ms(setting.terms.lease_ms);
    Ok(vec![ActionEvent::Redeemed { worker, attempt: state.attempt, digest: state.digest, expires_at }])
}

/// Whether the worker still has a say in this attempt.
fn holds(state: &ActionState, worker: IdentityId, attempt: u32) -> bool {
    let its_lease = state.lease().is_some_and(|lease| lease.worker == worker);
    its_lease && state.attempt == attempt && state.status == Status::Executing
}

fn heartbeat(state: &ActionState, attempt: u32, setting: &Setting<'_>) -> Decision {
    let worker = needs_role(setting, Role::Worker)?.id;
    if !holds(state, worker, attempt) {
        return Err(Refusal::LostLease { given: attempt, current: state.attempt });
    }
    needs_open(state, setting.run)?;
    needs_same_past(state, setting.run, "kept alive")?;
    let expires_at = setting.now.plus_ms(setting.terms.lease_ms);
    Ok(vec![ActionEvent::Renewed { attempt, expires_at }])
}

/// Whether the worker holds a permit that it has not spent: it may say why it will not.
fn holds_unspent(state: &ActionState, worker: IdentityId, attempt: u32) -> bool {
    let its_lease = state.lease().is_some_and(|lease| lease.worker == worker);
    its_lease && state.attempt == attempt && state.status == Status::Leased
}

/// Takes a result. One that comes too late is kept and marked, never dropped and never counted. Before its permit is spent a
/// worker has one thing to report: that it does not start the action, and why.
fn complete(state: &ActionState, evidence: &Evidence, setting: &Setting<'_>) -> Decision {
    let worker = needs_role(setting, Role::Worker)?.id;
    evidence.check().map_err(|bad| Refusal::invalid(bad.to_string()))?;
    let (manifest, evidence) = (evidence.manifest(), evidence.digest());
    if manifest.worker != worker || manifest.action != state.id {
        return Err(Refusal::invalid("the evidence names another worker or action"));
    }
    // Never leased to it: that is not late, that is none of its business.
    if !state.was_held_by(worker, manifest.attempt) {
        return Err(PermitFlaw::OtherAttempt.into());
    }
    let unstarted = manifest.exit.is_not_started() && holds_unspent(state, worker, manifest.attempt);
    let held = unstarted || holds(state, worker, manifest.attempt);
    if !held || state.rollbacks != setting.run.rollbacks {
        return Ok(vec![ActionEvent::Quarantined { worker, attempt: manifest.attempt, evidence }]);
    }
    if manifest.executed != state.digest {
        return Err(PermitFlaw::OtherBytes.into());
    }
    let (attempt, executed) = (manifest.attempt, manifest.executed);
    let (exit, usage) = (manifest.exit.clone(), manifest.usage);
    Ok(vec![ActionEvent::Completed { attempt, executed, evidence, exit, usage }])
}

fn resolve(state: &ActionState, resolution: Resolution, reason: &str, setting: &Setting<'_>) -> Decision {
    check_reason(reason)?;
    let reviewer = needs_role(setting, Role::Reviewer)?;
    needs_status(state, Kind::Resolve, Status::Interrupted)?;
    let deadline = setting.now.plus_ms(wait_ms(&state.verdict, setting.terms));
    let (reason, by) = (reason.to_owned(), Some(reviewer.id));
    let resolved = ActionEvent::Resolved { resolution, reason, deadline, by };
    match resolution {
        Resolution::Abandon => Ok(vec![resolved]),
        Resolution::Retry => {
            let yes = retry(state, reviewer, deadline, setting)?;
            Ok(std::iter::once(resolved).chain(yes).collect())
        }
    }
}

/// To run something again is to approve it again: the old approvals were for one execution. Whoever says so gives the first
/// of the approvals its tier needs; tier A needs none.
fn retry(
    state: &ActionState,
    reviewer: &Identity,
    deadline: Timestamp,
    setting: &Setting<'_>,
) -> Result<Option<ActionEvent>, Refusal> {
    needs_open(state, setting.run)?;
    let single_operator = independence(state, reviewer, setting.run.separation)?;
    if state.verdict.policy() != setting.policy {
        return Err(Refusal::not_now("run again", Obstacle::InterruptedUnderOldPolicy));
    }
    Ok(first_approval(state, reviewer, single_operator, deadline, setting))
}

/// The first yes of a new set; nothing where nobody is asked, nor where it takes a passkey: that one signs what stands then.
pub(super) fn first_approval(
    state: &ActionState,
    reviewer: &Identity,
    single_operator: bool,
    deadline: Timestamp,
    setting: &Setting<'_>,
) -> Option<ActionEvent> {
    let Ruling::Ask { approvals } = state.verdict.ruling() else { return None };
    if takes_passkey(state, reviewer, setting) {
        return None;
    }
    let last = if approvals <= 1 { Last::Yes } else { Last::No { undecided_until: deadline } };
    Some(approved(reviewer, state.review(), single_operator, last, setting))
}

/// Extends the deadline of an approved action while all workers are busy, so that a flood of actions cannot expire other agents' work.
/// Only a lack of workers extends the deadline; an action that could not be leased for another reason expires.
fn postponed(state: &ActionState, setting: &Setting<'_>) -> Option<ActionEvent> {
    let latest = state.approved_at?.plus_ms(LONGEST_POSTPONED_MS);
    let is_ready = state.status == Status::Approved
        && needs_its_turn(state, setting.run).is_ok()
        && needs_same_past(state, setting.run, "leased").is_ok()
        && order::needs_its_order(state, setting.run, "leased").is_ok()
        && state.verdict.policy() == setting.policy;
    let waits = is_ready && setting.workers == Workers::Busy && setting.now < latest;
    let deadline = setting.now.plus_ms(setting.terms.dispatch_within_ms).min(latest);
    waits.then_some(ActionEvent::Postponed { deadline })
}

/// The clockwork's only power: to end what ran out of time, or what nobody stands behind any more.
fn lapse(state: &ActionState, setting: &Setting<'_>) -> Decision {
    needs_clockwork(setting)?;
    let lease_over = state.lease().is_some_and(|lease| setting.now >= lease.expires_at);
    match state.status {
        Status::Leased if lease_over => Ok(vec![ActionEvent::LeaseLapsed { attempt: state.attempt, started: false }]),
        Status::Executing if lease_over => Ok(vec![ActionEvent::LeaseLapsed { attempt: state.attempt, started: true }]),
        Status::PendingApproval | Status::Approved
            if setting.now >= state.deadline || state.rollbacks != setting.run.rollbacks =>
        {
            Ok(vec![postponed(state, setting).unwrap_or(ActionEvent::DeadlineLapsed)])
        }
        Status::Approved if setting.run.disowns(state) => {
            Ok(vec![ActionEvent::Withdrawn { reason: StatusReason::OrderRevoked }])
        }
        Status::PendingApproval
        | Status::Approved
        | Status::Denied
        | Status::Rehearsed
        | Status::Rejected
        | Status::Expired
        | Status::Superseded
        | Status::Withdrawn
        | Status::Leased
        | Status::Executing
        | Status::Succeeded
        | Status::Failed
        | Status::Interrupted
        | Status::Abandoned => Err(not_now(state, Kind::Lapse)),
    }
}
