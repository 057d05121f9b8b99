//! Every command, as somebody who means well would give it: with the right data, by the right person, at the right time.
//!
//! What a matrix cell shows is then the law of the state alone, or (with another actor) the law of authority alone.

use placet_domain::action::{ActionCommand, ActionCommandKind, ActionStatus, Resolution};
use placet_domain::approval::Width;
use placet_domain::budget::{Amounts, Ceiling, Purpose, Resource};
use placet_domain::command::About;
use placet_domain::decide::Loaded;
use placet_domain::digest::Digest;
use placet_domain::evidence::{Exit, Manifest};
use placet_domain::policy::Tier;
use placet_domain::reason::HostFault;
use placet_domain::record::{Event, Record};
use placet_domain::refusal::Refusal;
use placet_domain::run::{
    Allowance, Answer, BudgetCommand, CallCommand, CallCount, CallOutcome, HostingCommand, ModelCall, ModelTokens,
    NetworkCommand, OrderCommand, OrderEvent, Output, Run, RunCommand, RunCommandKind, RunEvent, RunStatus,
    SnapshotCommand, Wanted,
};

use crate::orders::extent;
use crate::people::Who;
use crate::scenario::{DAY_MS, World, action_id, complete, verdict};

/// One command to try.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trial<Kind> {
    pub(crate) label: &'static str,
    pub(crate) kind: Kind,
    pub(crate) usual: Who,
}

pub(crate) const RUN_TRIALS: &[Trial<RunCommandKind>] = {
    use RunCommandKind as K;
    &[
        Trial { label: "create", kind: K::Create, usual: Who::Creator },
        Trial { label: "set-budget", kind: K::SetBudget, usual: Who::Reviewer },
        Trial { label: "submit", kind: K::Submit, usual: Who::Creator },
        Trial { label: "approve-plan", kind: K::ApprovePlan, usual: Who::Reviewer },
        Trial { label: "reject-plan", kind: K::RejectPlan, usual: Who::Reviewer },
        Trial { label: "start", kind: K::Start, usual: Who::Operator },
        Trial { label: "host", kind: K::Host, usual: Who::Worker },
        Trial { label: "equip", kind: K::Equip, usual: Who::Worker },
        Trial { label: "attach", kind: K::Attach, usual: Who::Agent },
        Trial { label: "finish-step", kind: K::FinishStep, usual: Who::Agent },
        Trial { label: "reach-gate", kind: K::ReachGate, usual: Who::Agent },
        Trial { label: "pass-gate", kind: K::PassGate, usual: Who::Reviewer },
        Trial { label: "reject-gate", kind: K::RejectGate, usual: Who::Reviewer },
        Trial { label: "pause", kind: K::Pause, usual: Who::Operator },
        Trial { label: "resume", kind: K::Resume, usual: Who::Reviewer },
        Trial { label: "roll-back", kind: K::RollBack, usual: Who::Operator },
        Trial { label: "ask-snapshot", kind: K::AskSnapshot, usual: Who::Operator },
        Trial { label: "fail-snapshot", kind: K::FailSnapshot, usual: Who::Worker },
        Trial { label: "keep-snapshot", kind: K::KeepSnapshot, usual: Who::Worker },
        Trial { label: "restore", kind: K::Restore, usual: Who::Worker },
        Trial { label: "hold", kind: K::Hold, usual: Who::Runtime },
        Trial { label: "settle", kind: K::Settle, usual: Who::Runtime },
        Trial { label: "charge", kind: K::Charge, usual: Who::Runtime },
        Trial { label: "count-calls", kind: K::CountCalls, usual: Who::Runtime },
        Trial { label: "wish", kind: K::Wish, usual: Who::Worker },
        Trial { label: "grant", kind: K::Grant, usual: Who::Reviewer },
        Trial { label: "reject-wish", kind: K::RejectWish, usual: Who::Reviewer },
        Trial { label: "revoke", kind: K::Revoke, usual: Who::Operator },
        Trial { label: "revoke-order", kind: K::RevokeOrder, usual: Who::Operator },
        Trial { label: "run-dry", kind: K::RunDry, usual: Who::Runtime },
        Trial { label: "finish", kind: K::Finish, usual: Who::Agent },
        Trial { label: "collect", kind: K::Collect, usual: Who::Worker },
        Trial { label: "approve-results", kind: K::ApproveResults, usual: Who::Reviewer },
        Trial { label: "reject-results", kind: K::RejectResults, usual: Who::Reviewer },
        Trial { label: "fail", kind: K::Fail, usual: Who::Agent },
        Trial { label: "cancel", kind: K::Cancel, usual: Who::Operator },
        Trial { label: "destroy", kind: K::Destroy, usual: Who::Worker },
        Trial { label: "lapse", kind: K::Lapse, usual: Who::Runtime },
    ]
};

/// A command for the run that stands in the world.
pub(crate) fn run_command(world: &World, kind: RunCommandKind) -> RunCommand {
    let (reason, summary) = ("for a reason".to_owned(), "so far".to_owned());
    match kind {
        RunCommandKind::Create => world.new_run(&["look"]),
        RunCommandKind::Submit => RunCommand::Submit { plan: vec!["look".to_owned(), "write".to_owned()] },
        RunCommandKind::ApprovePlan => RunCommand::ApprovePlan { seen: world.run().review() },
        RunCommandKind::RejectPlan => RunCommand::RejectPlan { reason },
        RunCommandKind::Start => RunCommand::Start,
        RunCommandKind::Equip => RunCommand::Hosting(HostingCommand::Equip),
        RunCommandKind::Attach => RunCommand::Attach,
        RunCommandKind::ReachGate => RunCommand::ReachGate { summary },
        RunCommandKind::PassGate => pass_gate(world.run()),
        RunCommandKind::RejectGate => RunCommand::RejectGate { seen: world.run().review(), reason },
        RunCommandKind::SetBudget => {
            let ceiling = Ceiling { actions: Some(500), ..Ceiling::default() };
            RunCommand::Budget(BudgetCommand::Set { allowance: Allowance { ceiling, warn_at_percent: 50 } })
        }
        RunCommandKind::Host => RunCommand::Hosting(HostingCommand::Host),
        RunCommandKind::FinishStep => RunCommand::FinishStep { step: world.run().steps_done + 1, summary },
        RunCommandKind::AskSnapshot => RunCommand::Snapshot(SnapshotCommand::Ask { reason }),
        RunCommandKind::FailSnapshot => {
            RunCommand::Snapshot(SnapshotCommand::Fail { fault: HostFault::SnapshotFailed { error: reason } })
        }
        RunCommandKind::KeepSnapshot => RunCommand::Snapshot(SnapshotCommand::Keep {
            number: wanted_number(world.run()),
            workspace: Digest::of(b"files"),
            memory: Digest::of(b"memory"),
            files: 3,
            size_bytes: 30,
        }),
        RunCommandKind::Restore => RunCommand::Snapshot(SnapshotCommand::Restore {
            number: wanted_number(world.run()),
            workspace: Digest::of(b"files"),
            memory: Digest::of(b"memory"),
        }),
        RunCommandKind::Hold => {
            RunCommand::Budget(BudgetCommand::Hold { purpose: Purpose::Call("another".to_owned()), amounts: worth(1) })
        }
        RunCommandKind::Settle => {
            RunCommand::Budget(BudgetCommand::Settle { purpose: Purpose::Call("call".to_owned()), spent: worth(1) })
        }
        RunCommandKind::CountCalls => RunCommand::Call(CallCommand::Count { counts: vec![call_count(3)] }),
        RunCommandKind::Charge => RunCommand::Call(CallCommand::Charge {
            purpose: Purpose::Call("call".to_owned()),
            calls: vec![model_call(10, 1)],
        }),
        RunCommandKind::Wish => wish(&format!("host-{}.test", world.run().network.wishes.len())),
        RunCommandKind::Grant => grant(world.run()),
        RunCommandKind::RejectWish => {
            RunCommand::Network(NetworkCommand::Reject { number: first(world.run(), Answer::is_waiting), reason })
        }
        RunCommandKind::Revoke => {
            RunCommand::Network(NetworkCommand::Revoke { number: first(world.run(), Answer::is_granted), reason })
        }
        RunCommandKind::RevokeOrder => {
            RunCommand::Order(OrderCommand::Revoke { number: standing_order(world.run()), reason })
        }
        RunCommandKind::RunDry => RunCommand::RunDry { resource: Resource::UsdMicros },
        RunCommandKind::Collect => {
            let output = Output {
                id: 1,
                path: "src/report.md".to_owned(),
                digest: Digest::of(b"report"),
                size_bytes: 6,
                executable: false,
            };
            RunCommand::Hosting(HostingCommand::Collect { outputs: vec![output], removed: Vec::new() })
        }
        RunCommandKind::Destroy => RunCommand::Hosting(HostingCommand::Destroy),
        RunCommandKind::Lapse => RunCommand::Lapse,
        RunCommandKind::Pause => RunCommand::Pause { reason },
        RunCommandKind::Resume => RunCommand::Resume,
        RunCommandKind::RollBack => RunCommand::RollBack { to: 0, reason },
        RunCommandKind::Finish => RunCommand::Finish { summary },
        RunCommandKind::ApproveResults => RunCommand::ApproveResults { seen: world.run().review(), chosen: None },
        RunCommandKind::RejectResults => RunCommand::RejectResults { seen: world.run().review(), reason },
        RunCommandKind::Fail => RunCommand::Fail { reason: reason.into() },
        RunCommandKind::Cancel => RunCommand::Cancel { reason },
    }
}

pub(crate) fn pass_gate(run: &Run) -> RunCommand {
    RunCommand::PassGate { seen: run.review(), note: String::new(), plan: None }
}

/// What the cage of an action wants of this host.
pub(crate) fn wish(host: &str) -> RunCommand {
    RunCommand::Network(NetworkCommand::Wish {
        action: action_id(1),
        opening: format!("https://{host}/").parse().expect("an opening"),
    })
}

/// The first wish with such an answer, or a number that no wish has.
fn first(run: &Run, is_so: fn(&Answer) -> bool) -> u32 {
    run.network.wishes.iter().find(|wish| is_so(&wish.answer)).map_or(99, |wish| wish.number)
}

/// The first order that nobody took back, or a number that no order has.
fn standing_order(run: &Run) -> u32 {
    run.orders.iter().find(|order| order.revoked.is_none()).map_or(99, |order| order.number)
}

pub(crate) fn grant(run: &Run) -> RunCommand {
    let number = first(run, Answer::is_waiting);
    let seen = run.wish(number).map_or(Digest::of(b""), |wish| wish.review(run.id));
    RunCommand::Network(NetworkCommand::Grant { number, seen, lasts_ms: 60_000 })
}

/// What has to be there for a decision to be about something.
pub(crate) fn prepare_run(world: &mut World, kind: RunCommandKind) {
    let opens = kind == RunCommandKind::Revoke;
    if opens || matches!(kind, RunCommandKind::Grant | RunCommandKind::RejectWish) {
        // Where a run takes no wishes there is nothing to decide either.
        let _ = world.by(Who::Worker).run(wish("wanted.test"));
    }
    if kind == RunCommandKind::RevokeOrder {
        was_ordered(world);
    }
    if opens {
        let command = grant(world.run());
        let _ = world.by(Who::Reviewer).run(command);
    }
}

/// As if somebody had given an order while the run was at work.
fn was_ordered(world: &mut World) {
    let given = RunEvent::Order(OrderEvent::Given {
        number: 1,
        action: action_id(1),
        seen: Digest::of(b"seen"),
        tool: "sh".parse().expect("a name"),
        width: Width::Exact,
        class: Digest::of(b"class"),
        policy: world.policy,
        giver: Who::Reviewer.id().expect("an identity"),
        token: Digest::of(b"token"),
        until: world.now.plus_ms(60_000),
        times: 1,
        rollbacks: 0,
    });
    let (id, project) = (world.run, world.project);
    let mut loaded = Loaded { run: Some(world.run().clone()), ..Loaded::default() };
    let about = About { project: Some(project), run: Some(id), action: None };
    loaded.apply(&Record { about, event: Event::Run(id, given) }, world.now);
    world.runs.extend(loaded.run.map(|run| (run.id, run)));
}

/// A call of a model that took so much.
pub(crate) fn model_call(tokens: u64, usd_micros: u64) -> ModelCall {
    ModelCall {
        id: "call_1".to_owned(),
        wire: "messages".to_owned(),
        upstream: "cloud".to_owned(),
        model_asked: "large-1".to_owned(),
        model_answered: Some("large-1".to_owned()),
        other_model: false,
        upstream_request: None,
        request: Digest::of(b"question"),
        response: Digest::of(b"answer"),
        tokens: ModelTokens { input: tokens, ..ModelTokens::default() },
        usd_micros,
        prices: "test".to_owned(),
        estimated: false,
        status: 200,
        failed: false,
        latency_ms: 5,
        first_byte_ms: Some(2),
        words: None,
    }
}

/// So many calls of a model that the run may not use.
pub(crate) fn call_count(calls: u64) -> CallCount {
    let (outcome, reason, said) = (CallOutcome::Refused, "forbidden".to_owned(), Some("not this model".to_owned()));
    CallCount { outcome, reason, calls, within_ms: 5, said, digest: None }
}

/// Money, in millionths of a dollar.
pub(crate) fn worth(usd_micros: u64) -> Amounts {
    Amounts { usd_micros, ..Amounts::NONE }
}

/// The snapshot that its host is asked for, whatever is asked.
fn wanted_number(run: &Run) -> u32 {
    match run.wanted() {
        Wanted::Snapshot { number } | Wanted::Restored { number } => number,
        Wanted::Nothing | Wanted::Running | Wanted::Still | Wanted::Stopped | Wanted::Collected | Wanted::Destroyed => {
            0
        }
    }
}

/// A kind of command with the choice that makes a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Move {
    Propose,
    Approve,
    GiveOrder,
    Amend(Tier),
    Reject,
    Withdraw,
    Perform,
    Rejudge(Tier),
    Lease,
    Redeem,
    Heartbeat,
    Complete {
        exit_code: i32,
    },
    /// Says that it is not started, and why.
    Decline,
    Resolve(Resolution),
    Assign,
    Defer,
    Lapse,
}

pub(crate) const ACTION_TRIALS: &[Trial<Move>] = &[
    Trial { label: "propose", kind: Move::Propose, usual: Who::Agent },
    Trial { label: "approve", kind: Move::Approve, usual: Who::Reviewer },
    Trial { label: "give-order", kind: Move::GiveOrder, usual: Who::Reviewer },
    Trial { label: "amend (B)", kind: Move::Amend(Tier::B), usual: Who::Reviewer },
    Trial { label: "amend (D)", kind: Move::Amend(Tier::D), usual: Who::Reviewer },
    Trial { label: "reject", kind: Move::Reject, usual: Who::Reviewer },
    Trial { label: "withdraw", kind: Move::Withdraw, usual: Who::Agent },
    Trial { label: "perform", kind: Move::Perform, usual: Who::Reviewer },
    Trial { label: "rejudge (A)", kind: Move::Rejudge(Tier::A), usual: Who::Runtime },
    Trial { label: "rejudge (B)", kind: Move::Rejudge(Tier::B), usual: Who::Runtime },
    Trial { label: "rejudge (D)", kind: Move::Rejudge(Tier::D), usual: Who::Runtime },
    Trial { label: "lease", kind: Move::Lease, usual: Who::Worker },
    Trial { label: "redeem", kind: Move::Redeem, usual: Who::Worker },
    Trial { label: "heartbeat", kind: Move::Heartbeat, usual: Who::Worker },
    Trial { label: "complete (exit 0)", kind: Move::Complete { exit_code: 0 }, usual: Who::Worker },
    Trial { label: "complete (exit 1)", kind: Move::Complete { exit_code: 1 }, usual: Who::Worker },
    Trial { label: "complete (not started)", kind: Move::Decline, usual: Who::Worker },
    Trial { label: "resolve (retry)", kind: Move::Resolve(Resolution::Retry), usual: Who::Reviewer },
    Trial { label: "resolve (abandon)", kind: Move::Resolve(Resolution::Abandon), usual: Who::Reviewer },
    Trial { label: "assign", kind: Move::Assign, usual: Who::Reviewer },
    Trial { label: "defer", kind: Move::Defer, usual: Who::Reviewer },
    Trial { label: "lapse", kind: Move::Lapse, usual: Who::Runtime },
];

/// Words of a tier that nobody proposes.
const fn otherwise(tier: Tier) -> &'static str {
    match tier {
        Tier::A => "read it otherwise",
        Tier::B => "build it otherwise",
        Tier::C => "delete it otherwise",
        Tier::D => "leak it otherwise",
    }
}

impl Move {
    /// Brings the world to where the move makes sense: a policy that changed, a deadline that passed.
    pub(crate) fn prepare(self, world: &mut World) {
        match self {
            Self::Rejudge(_) => world.change_policy(),
            Self::Lapse => world.wait_ms(2 * DAY_MS),
            Self::Propose
            | Self::Approve
            | Self::GiveOrder
            | Self::Amend(_)
            | Self::Reject
            | Self::Withdraw
            | Self::Perform
            | Self::Lease
            | Self::Redeem
            | Self::Heartbeat
            | Self::Complete { .. }
            | Self::Decline
            | Self::Resolve(_)
            | Self::Assign
            | Self::Defer => {}
        }
    }

    /// The command by which `who` makes the move on the action that stands in the world.
    pub(crate) fn command(self, world: &World, who: Who) -> ActionCommand {
        let (action, reason) = (world.action(), "for a reason".to_owned());
        let worker = who.id().or_else(|| Who::Worker.id()).expect("an identity");
        match self {
            Self::Propose => world.proposal(Who::Agent, "build it"),
            Self::Approve => ActionCommand::Approve { seen: action.review(), proof: None },
            Self::GiveOrder => {
                let action = world.sealed_again().unwrap_or_else(|| world.seal("build it", Who::Agent, action.run));
                let (seen, action) = (world.action().review(), Box::new(action));
                ActionCommand::GiveOrder { seen, action, extent: extent(3) }
            }
            Self::Amend(tier) => {
                let amended = Box::new(world.amended(otherwise(tier)));
                ActionCommand::Amend { seen: action.review(), reason, amended }
            }
            Self::Reject => ActionCommand::Reject { seen: action.review(), reason },
            Self::Withdraw => ActionCommand::Withdraw { reason },
            Self::Perform => world.performance(),
            Self::Rejudge(tier) => ActionCommand::Rejudge { verdict: verdict(action.digest, world.policy, tier) },
            Self::Lease => ActionCommand::Lease { worker },
            Self::Redeem => ActionCommand::Redeem { permit: world.permit_saying("worker", serde_json::json!(worker)) },
            Self::Heartbeat => ActionCommand::Heartbeat { attempt: action.attempt },
            Self::Complete { exit_code } => {
                let manifest = world.manifest(Who::Worker, action.attempt, Exit::Code(exit_code));
                complete(Manifest { worker, ..manifest })
            }
            Self::Decline => {
                let manifest = world.manifest(Who::Worker, action.attempt, Exit::NotStarted { why: reason });
                complete(Manifest { worker, ..manifest })
            }
            Self::Resolve(resolution) => ActionCommand::Resolve { resolution, reason },
            Self::Assign => {
                let to = Who::Creator.id().map(|id| Box::new(world.identities[&id].clone()));
                ActionCommand::Assign { to, note: reason }
            }
            Self::Defer => ActionCommand::Defer { until: Some(world.now.plus_ms(60_000)) },
            Self::Lapse => ActionCommand::Lapse,
        }
    }
}

/// A word for what came of a try: the refusal's code, with the flaw where it is about a permit.
pub(crate) fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NotNow { .. } => "-".to_owned(),
        Refusal::Permit(flaw) => format!("permit:{flaw:?}").to_lowercase(),
        Refusal::Unknown { .. }
        | Refusal::UnknownName { .. }
        | Refusal::Exists { .. }
        | Refusal::Invalid { .. }
        | Refusal::Role { .. }
        | Refusal::Reach
        | Refusal::Duty { .. }
        | Refusal::Undone { .. }
        | Refusal::RunNotActive { .. }
        | Refusal::OtherAgent
        | Refusal::OtherHost
        | Refusal::Budget { .. }
        | Refusal::Halted { .. }
        | Refusal::SafeMode { .. }
        | Refusal::TooManyQuestions { .. }
        | Refusal::TooManyActions { .. }
        | Refusal::Kin
        | Refusal::SamePerson
        | Refusal::Denied { .. }
        | Refusal::PasskeyNeeded
        | Refusal::StaleVisit
        | Refusal::Passkey(_)
        | Refusal::Stale { .. }
        | Refusal::Expired
        | Refusal::Revoked
        | Refusal::DoorUnsigned
        | Refusal::LostLease { .. } => refusal.code().to_owned(),
    }
}

/// What a run's state becomes, or why not.
pub(crate) fn try_run(mut world: World, trial: Trial<RunCommandKind>) -> Result<RunStatus, Refusal> {
    prepare_run(&mut world, trial.kind);
    let command = run_command(&world, trial.kind);
    world.by(trial.usual).run(command)?;
    Ok(world.run_status())
}

/// What an action's state becomes, or why not.
pub(crate) fn try_action(mut world: World, trial: Trial<Move>) -> Result<ActionStatus, Refusal> {
    trial.kind.prepare(&mut world);
    let command = trial.kind.command(&world, trial.usual);
    world.by(trial.usual).act(command)?;
    Ok(world.status())
}

/// Rows of the run matrix: the states, and one more where it matters how the state was reached.
pub(crate) fn run_worlds() -> Vec<(String, World)> {
    let governed = || World::new().governed();
    let mut at_gate = governed().with_run(RunStatus::CheckpointReached);
    at_gate.operator().run(RunCommand::Pause { reason: "wait".to_owned() }).expect("a gate can be paused");
    let plain = RunStatus::ALL.iter().map(|status| (status.to_string(), governed().with_run(*status)));
    let behind = [
        (RunStatus::SpawningSandbox, "not hosted"),
        (RunStatus::CheckpointReached, "not saved"),
        (RunStatus::RolledBack, "not restored"),
        (RunStatus::PendingExport, "not collected"),
    ];
    let behind = behind.map(|(status, how)| (format!("{status}, {how}"), governed().just_arrived_at(status)));
    plain.chain(behind).chain([("PAUSED at a checkpoint".to_owned(), at_gate)]).collect()
}

/// Rows of the action matrix: the states in tier B, and those of tier C that differ.
pub(crate) fn action_worlds() -> Vec<(String, World)> {
    let words = |status| if status == ActionStatus::Denied { "leak it" } else { "build it" };
    // Rehearsed is a matter of the run's mode.
    let reachable = ActionStatus::ALL.iter().filter(|status| **status != ActionStatus::Rehearsed);
    let plain = reachable.map(|status| (status.to_string(), World::new().with_action(words(*status), *status)));
    let mut wanted = World::with_rehearsed("delete and mail it").at_results();
    wanted.reviewer().performs().expect("the first of two");
    let mut outdated = World::with_rehearsed("build and mail it").at_results();
    outdated.change_policy();
    let rehearsed = [
        ("REHEARSED".to_owned(), World::with_rehearsed("build and mail it")),
        ("REHEARSED, at the results".to_owned(), World::with_rehearsed("build and mail it").at_results()),
        ("REHEARSED in tier C".to_owned(), World::with_rehearsed("delete and mail it").at_results()),
        ("PENDING_APPROVAL, to be performed".to_owned(), wanted),
        ("APPROVED, to be performed".to_owned(), World::performing("build and mail it")),
        ("REHEARSED, judged by another policy".to_owned(), outdated),
    ];
    let of_two = [ActionStatus::PendingApproval, ActionStatus::Interrupted];
    let of_two = of_two.map(|status| (format!("{status} in tier C"), World::new().with_action("delete it", status)));
    plain.chain(of_two).chain(rehearsed).collect()
}

#[test]
fn every_command_is_tried() {
    let tried: Vec<RunCommandKind> = RUN_TRIALS.iter().map(|trial| trial.kind).collect();
    assert_eq!(tried, RunCommandKind::ALL);
    let world = World::new().with_action("build it", ActionStatus::Leased);
    let mut tried: Vec<ActionCommandKind> =
        ACTION_TRIALS.iter().map(|trial| trial.kind.command(&world, Who::Worker).kind()).collect();
    tried.dedup();
    assert_eq!(tried, ActionCommandKind::ALL);
}
