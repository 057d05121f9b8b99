//! A random walk: half of the steps are what a well-meaning person would do next, so that walks get far; the others are
//! anything by anybody, with ids mixed up and old permits shown again.

use std::collections::BTreeMap;

use placet_domain::action::{ActionCommand, ActionEvent, ActionState, ActionStatus, Resolution};
use placet_domain::command::Command;
use placet_domain::id::{ActionId, RunId};
use placet_domain::permit::Signed;
use placet_domain::policy::Tier;
use placet_domain::record::{Event, Record};
use placet_domain::run::{Mode, Run, RunCommandKind, RunStatus};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::books::Books;
use super::{Seen, edges};
use crate::people::Who;
use crate::pipeline;
use crate::scenario::{DAY_MS, HOUR_MS, World, action_id, run_id};
use crate::trials::{ACTION_TRIALS, Move, RUN_TRIALS, run_command};

/// The choices of one step.
pub(super) type Dice = [u8; 6];

const WORDS: &[&str] =
    &["read it", "build it", "delete it", "leak it", "read and mail it", "build and mail it", "delete and mail it"];
const DECIDERS: &[Who] = &[Who::Reviewer, Who::SecondReviewer, Who::Creator, Who::Parent, Who::Grandparent];
const TIERS: &[Tier] = &[Tier::A, Tier::B, Tier::C, Tier::D];
/// Mostly nothing or a little; sometimes just short of, or beyond, one of the terms; now and then a clock set back.
const WAITS_MS: &[i64] = &[0, 0, 0, 0, 0, 1, 1_000, 1_000, 29_999, 30_000, 30_001, HOUR_MS, DAY_MS, -1_000, -30_000];

pub(super) struct Walk {
    pub(super) world: World,
    books: Books,
    permits: Vec<Signed>,
}

/// How things stood when a command was decided.
pub(super) struct Before {
    pub(super) runs: BTreeMap<RunId, Run>,
    pub(super) actions: BTreeMap<ActionId, ActionState>,
}

fn pick<T: Copy>(from: &[T], die: u8) -> T {
    from[usize::from(die) % from.len()]
}

impl Walk {
    pub(super) fn start(mut world: World) -> Self {
        // One of them is hosted and has a budget; the other one is neither limited nor hosted, and sends no mail before its results.
        for number in [2, 1] {
            world.run = run_id(number);
            world.posture.mode = if number == 2 { Mode::Simulation } else { Mode::Checkpoint };
            world = if number == 1 { world.governed() } else { world };
            world.by(Who::Creator).creates_run(&["look"]).expect("a new run");
        }
        Self { world, books: Books::default(), permits: Vec::new() }
    }

    pub(super) fn step(&mut self, dice: Dice, seen: &mut Seen) -> Result<(), TestCaseError> {
        let [course, which, wait, change, ..] = dice;
        self.world.wait_ms(pick(WAITS_MS, wait));
        if change < 8 {
            self.world.change_policy();
        }
        if which < 12 {
            self.world.run = run_id(u128::from(which % 2) + 1);
        }
        let (who, command) = if course < 150 { self.usual(dice) } else { self.anything(dice) };
        self.submit(who, command, seen)
    }

    /// What somebody who means well would do next.
    fn usual(&mut self, dice: Dice) -> (Who, Command) {
        let [.., die, other] = dice;
        if let Some(kind) = self.world.wanted_of_host() {
            return (Who::Worker, Command::Run { id: self.world.run, command: run_command(&self.world, kind) });
        }
        if let Some(course) = self.performance(die, other) {
            return course;
        }
        if let Some(action) = self.world.run().gate.as_ref().and_then(|gate| gate.action).filter(|_| die % 2 == 0) {
            self.world.action = action;
            return self.usual_for_action(die, other);
        }
        if self.world.run_status() != RunStatus::Executing {
            let (who, kind) = usual_for_run(self.world.run_status(), die);
            return (who, Command::Run { id: self.world.run, command: run_command(&self.world, kind) });
        }
        if die < 12 {
            let kind = if die < 6 { RunCommandKind::Finish } else { RunCommandKind::ReachGate };
            return (Who::Agent, Command::Run { id: self.world.run, command: run_command(&self.world, kind) });
        }
        if (12..20).contains(&die) {
            let (who, kind) = usual_for_wishes(&self.world);
            return (who, Command::Run { id: self.world.run, command: run_command(&self.world, kind) });
        }
        if die % 16 == 5 && self.world.run().orders.iter().any(|order| order.revoked.is_none()) {
            let command = run_command(&self.world, RunCommandKind::RevokeOrder);
            return (Who::Operator, Command::Run { id: self.world.run, command });
        }
        let status =
            self.world.actions.get(&self.world.action).filter(|action| action.run == self.world.run).map(|a| a.status);
        match status.filter(|status| !status.is_final()) {
            Some(_) => self.usual_for_action(die, other),
            None => self.proposal(pick(WORDS, die)),
        }
    }

    /// At its results, mostly something of what the run rehearsed is done next.
    fn performance(&mut self, die: u8, other: u8) -> Option<(Who, Command)> {
        let run = self.world.run();
        if run.status != RunStatus::PendingExport || die < 40 {
            return None;
        }
        let waits = |action: &&ActionState| action.run == run.id && action.status == ActionStatus::Rehearsed;
        let begun = run.rehearsal.performing.first().copied();
        self.world.action = begun.or_else(|| self.world.actions.values().find(waits).map(|action| action.id))?;
        Some(self.usual_for_action(die, other))
    }

    fn proposal(&mut self, words: &str) -> (Who, Command) {
        self.world.action = action_id(self.world.fresh_number());
        let command = self.world.proposal(Who::Agent, words);
        (Who::Agent, Command::Action { id: self.world.action, run: self.world.run, command })
    }

    fn usual_for_action(&self, die: u8, other: u8) -> (Who, Command) {
        let action = self.world.action();
        let judged_before = action.verdict.policy() != self.world.policy;
        let (who, kind) = match action.status {
            _ if die < 8 => (Who::Runtime, Move::Lapse),
            ActionStatus::PendingApproval | ActionStatus::Approved if judged_before => {
                (Who::Runtime, Move::Rejudge(pick(TIERS, other)))
            }
            ActionStatus::PendingApproval if die < 16 => (Who::Reviewer, Move::Reject),
            ActionStatus::PendingApproval | ActionStatus::Approved if die < 24 => (Who::Agent, Move::Withdraw),
            ActionStatus::PendingApproval if die < 32 => (pick(DECIDERS, other), Move::Assign),
            ActionStatus::PendingApproval if die < 40 => (pick(DECIDERS, other), Move::Defer),
            ActionStatus::PendingApproval if die < 80 => (pick(DECIDERS, other), Move::Amend(pick(TIERS, die))),
            ActionStatus::PendingApproval if die < 120 => (pick(DECIDERS, other), Move::GiveOrder),
            ActionStatus::PendingApproval => (pick(DECIDERS, other), Move::Approve),
            ActionStatus::Approved => (pick(&[Who::Worker, Who::OtherWorker], other), Move::Lease),
            ActionStatus::Leased if die < 40 => (self.holder(), Move::Decline),
            ActionStatus::Leased => (self.holder(), Move::Redeem),
            ActionStatus::Executing if die < 90 => (self.holder(), Move::Heartbeat),
            ActionStatus::Executing if die < 170 => (Who::Runtime, Move::Lapse),
            ActionStatus::Executing => (self.holder(), Move::Complete { exit_code: i32::from(other % 2) }),
            ActionStatus::Interrupted if die < 60 => (Who::Reviewer, Move::Resolve(Resolution::Abandon)),
            ActionStatus::Interrupted => (Who::SecondReviewer, Move::Resolve(Resolution::Retry)),
            ActionStatus::Rehearsed => (pick(DECIDERS, other), Move::Perform),
            ActionStatus::Denied
            | ActionStatus::Rejected
            | ActionStatus::Expired
            | ActionStatus::Superseded
            | ActionStatus::Withdrawn
            | ActionStatus::Succeeded
            | ActionStatus::Failed
            | ActionStatus::Abandoned => (Who::Reviewer, Move::Approve),
        };
        (who, Command::Action { id: action.id, run: action.run, command: kind.command(&self.world, who) })
    }

    fn holder(&self) -> Who {
        self.world.action().holders.last().and_then(|id| Who::from_id(*id)).unwrap_or(Who::Worker)
    }

    /// Anything, by anybody, about a run and an action that need not belong together.
    fn anything(&self, dice: Dice) -> (Who, Command) {
        let [_, who, _, run, kind, die] = dice;
        let who = pick(Who::ALL, who);
        if !self.world.actions.contains_key(&self.world.action) || kind % 3 == 0 {
            let trial = pick(RUN_TRIALS, die);
            return (who, Command::Run { id: self.world.run, command: run_command(&self.world, trial.kind) });
        }
        let run = if run < 200 { self.world.action().run } else { run_id(u128::from(run % 3) + 1) };
        let shown_again = self.permits.get(usize::from(die) % self.permits.len().max(1)).filter(|_| kind % 7 == 0);
        let command = match shown_again {
            Some(permit) => ActionCommand::Redeem { permit: permit.clone() },
            None if kind % 11 == 0 => ActionCommand::Approve { seen: self.world.action().digest, proof: None },
            None => pick(ACTION_TRIALS, die).kind.command(&self.world, who),
        };
        (who, Command::Action { id: self.world.action, run, command })
    }

    fn submit(&mut self, who: Who, command: Command, seen: &mut Seen) -> Result<(), TestCaseError> {
        let before = Before { runs: self.world.runs.clone(), actions: self.world.actions.clone() };
        let entries = self.world.ledger.len();
        let answer = self.ask_twice(who, command.clone())?;
        let outcome = self.world.submit(who, command);
        prop_assert_eq!(&outcome, &answer);
        match outcome {
            Ok(records) => self.happened(&before, &records)?,
            Err(refusal) => {
                prop_assert_eq!((&before.runs, &before.actions), (&self.world.runs, &self.world.actions));
                prop_assert_eq!(self.world.ledger.len() - entries, usize::from(refusal.is_recorded()));
                seen.refusals.insert(refusal.code());
            }
        }
        seen.kinds.extend(self.world.ledger[entries..].iter().map(Record::kind));
        seen.runs.extend(self.world.runs.values().map(|run| run.status));
        seen.actions.extend(self.world.actions.values().map(|action| action.status));
        Ok(())
    }

    fn ask_twice(&self, who: Who, command: Command) -> Result<crate::scenario::Outcome, TestCaseError> {
        let actor = self.world.actor(who);
        let loaded = self.world.load(&actor, &command);
        let submission = self.world.submission(actor, command);
        let (first, second) = (self.world.decide(&loaded, &submission), self.world.decide(&loaded, &submission));
        prop_assert_eq!(&first, &second);
        let Ok(decided) = first else { return Ok(first.map(|decided| decided.records)) };
        // The state that is handed on is the one that the records lead to.
        let mut after = loaded;
        decided.records.iter().for_each(|record| after.apply(record, self.world.now));
        prop_assert_eq!(&after, &decided.after);
        Ok(Ok(decided.records))
    }

    fn happened(&mut self, before: &Before, records: &[Record]) -> Result<(), TestCaseError> {
        prop_assert!(!records.is_empty(), "what is accepted leaves a record");
        self.lawful_edges(before)?;
        self.world.runs.values().try_for_each(pipeline::sound)?;
        for record in records {
            self.books.enter(record, &self.world, before)?;
            if record.kind() == "job.leased" {
                self.permits.push(self.world.permit());
            }
            if let Event::Action(_, ActionEvent::Superseded { by, .. }) = &record.event {
                self.world.action = *by;
            }
        }
        Ok(())
    }

    fn lawful_edges(&self, before: &Before) -> Result<(), TestCaseError> {
        for (id, run) in &before.runs {
            let edge = (run.status, self.world.runs[id].status);
            prop_assert!(edge.0 == edge.1 || edges().runs.contains(&edge), "{edge:?}");
            prop_assert!(edge.0 == edge.1 || !run.status.is_final(), "{edge:?}");
            prop_assert_eq!(&run.scope, &self.world.runs[id].scope);
        }
        for (id, action) in &before.actions {
            let edge = (action.status, self.world.actions[id].status);
            prop_assert!(edge.0 == edge.1 || edges().actions.contains(&edge), "{edge:?}");
            let is_over = action.status.is_final() && action.status != ActionStatus::Rehearsed;
            prop_assert!(!is_over || *action == self.world.actions[id], "{edge:?}");
        }
        Ok(())
    }
}

/// Somebody asks, somebody opens it, somebody closes it again.
fn usual_for_wishes(world: &World) -> (Who, RunCommandKind) {
    let wishes = &world.run().network.wishes;
    if wishes.iter().any(|wish| wish.answer.is_granted()) {
        return (Who::Operator, RunCommandKind::Revoke);
    }
    if wishes.iter().any(|wish| wish.answer.is_waiting()) {
        return (Who::SecondReviewer, RunCommandKind::Grant);
    }
    (Who::Worker, RunCommandKind::Wish)
}

fn usual_for_run(status: RunStatus, die: u8) -> (Who, RunCommandKind) {
    match status {
        RunStatus::Draft => (Who::Creator, RunCommandKind::Submit),
        RunStatus::PendingApproval if die < 30 => (Who::Reviewer, RunCommandKind::RejectPlan),
        RunStatus::PendingApproval => (Who::Reviewer, RunCommandKind::ApprovePlan),
        RunStatus::Approved => (Who::Operator, RunCommandKind::Start),
        RunStatus::SpawningSandbox => (Who::Agent, RunCommandKind::Attach),
        RunStatus::Executing => (Who::Agent, RunCommandKind::ReachGate),
        RunStatus::CheckpointReached if die < 80 => (Who::SecondReviewer, RunCommandKind::RejectGate),
        RunStatus::CheckpointReached => (Who::SecondReviewer, RunCommandKind::PassGate),
        RunStatus::Paused | RunStatus::RolledBack => (Who::Operator, RunCommandKind::Resume),
        RunStatus::PendingExport if die < 100 => (Who::Reviewer, RunCommandKind::ApproveResults),
        RunStatus::PendingExport => (Who::Reviewer, RunCommandKind::RejectResults),
        RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled => (Who::Operator, RunCommandKind::RollBack),
    }
}
