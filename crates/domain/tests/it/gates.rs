//! Checkpoints: where a run stands still, what silence may do, and what it never may.

use placet_domain::action::ActionStatus;
use placet_domain::reason::StatusReason;
use placet_domain::refusal::Refusal;
use placet_domain::run::{BudgetCommand, GateKind, RunCommand, RunStatus};

use crate::scenario::{HOUR_MS, MINUTE_MS, World};
use crate::trials::pass_gate;

fn step(number: u32) -> RunCommand {
    RunCommand::FinishStep { step: number, summary: format!("step {number}") }
}

#[test]
fn c9_an_action_that_always_asks_brings_the_run_to_a_checkpoint_until_it_is_decided() {
    let mut world = World::new().executing();
    world.agent().proposes("build and mail it").unwrap();
    let gate = world.run().gate.clone().expect("a checkpoint");
    assert_eq!(
        (gate.kind, gate.action, world.run_status()),
        (GateKind::Action, Some(world.action), RunStatus::CheckpointReached)
    );
    let around = pass_gate(world.run());
    assert_eq!(world.reviewer().run(around).unwrap_err().code(), "invalid", "the action is what is decided");
    world.reviewer().approves().unwrap();
    assert_eq!((world.run_status(), world.status()), (RunStatus::Executing, ActionStatus::Approved));
    world.worker().leases().unwrap();
}

#[test]
fn c9_a_refused_or_withdrawn_action_lets_the_run_go_on_and_only_a_refusal_counts_as_one() {
    for rejected in [1, 0] {
        let mut world = World::new().executing();
        world.agent().proposes("build and mail it").unwrap();
        let ended = if rejected == 1 { world.reviewer().rejects("no") } else { world.agent().withdraws() };
        ended.unwrap();
        assert_eq!(world.run_status(), RunStatus::Executing);
        assert!(world.run().gate.is_none());
        assert_eq!((world.run().gates.rejected, world.run().gates.approved), (rejected, 0));
    }
}

#[test]
fn c10_a_checkpoint_whose_action_nobody_decided_on_in_time_still_waits_for_a_person() {
    let mut world = World::new();
    world.posture.gates.auto_pass_after_ms = Some(60_000);
    let mut world = world.executing();
    world.agent().proposes("build and mail it").unwrap();
    let asked = world.run().review();
    world.wait_ms(25 * HOUR_MS);
    world.clockwork().lapses().unwrap();
    assert_eq!((world.status(), world.run_status()), (ActionStatus::Expired, RunStatus::CheckpointReached));
    let gate = world.run().gate.clone().expect("the same checkpoint");
    assert_eq!((gate.number, gate.kind, gate.action, gate.passes_at), (1, GateKind::Step, None, None));
    assert_ne!(world.run().review(), asked, "it is about something else now");
    world.wait_ms(1_000 * HOUR_MS);
    assert!(matches!(world.clockwork().run(RunCommand::Lapse), Err(Refusal::NotNow { .. })));
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing);
}

#[test]
fn c9_an_agent_does_not_put_off_a_look_at_its_work_by_asking_and_taking_back() {
    let mut world = World::new();
    world.posture.gates.every_ms = Some(10 * 60_000);
    let mut world = world.executing();
    for _ in 0..3 {
        world.wait_ms(3 * MINUTE_MS);
        world.agent().proposes("build and mail it").unwrap();
        world.agent().withdraws().unwrap();
    }
    assert_eq!(world.run().due().map(|due| due.unix_ms() - world.now.unix_ms()), Some(MINUTE_MS));
    world.agent().proposes("build and mail it").unwrap();
    world.reviewer().approves().unwrap();
    assert_eq!(
        world.run().due().map(|due| due.unix_ms() - world.now.unix_ms()),
        Some(10 * MINUTE_MS),
        "a person looked"
    );
}

#[test]
fn c9_who_asks_and_takes_back_again_and_again_is_looked_at() {
    let mut world = World::new().governed().executing();
    world.terms.asking = placet_domain::approval::Asking::UNBOUNDED;
    for _ in 0..2 {
        for _ in 0..20 {
            world.agent().proposes("build and mail it").unwrap();
            world.host_catches_up();
            world.agent().withdraws().unwrap();
            assert_eq!(world.run_status(), RunStatus::Executing);
        }
        world.agent().proposes("build and mail it").unwrap();
        world.host_catches_up();
        world.agent().withdraws().unwrap();
        let gate = world.run().gate.clone().expect("it stands still");
        assert_eq!((gate.kind, gate.action), (GateKind::Step, None));
        assert_eq!(gate.reason, StatusReason::WithdrawnUndecided { actions: 21 });
        assert!(world.agent().proposes("build and mail it").is_err());
        let pass = pass_gate(world.run());
        world.reviewer().run(pass).unwrap();
    }
}

#[test]
fn c11_however_many_snapshots_there_are_a_run_can_go_back_and_come_to_its_end() {
    let mut world = World::new().governed().executing();
    for _ in 0..1_001 {
        world.agent().run(RunCommand::ReachGate { summary: "look".to_owned() }).unwrap();
        world.host_catches_up();
        let pass = pass_gate(world.run());
        world.reviewer().run(pass).unwrap();
    }
    let back = |to| RunCommand::RollBack { to, reason: "start over".to_owned() };
    let gone = world.operator().run(back(7)).unwrap_err().to_string();
    assert!(gone.contains("snapshot 7 is no longer kept; there are 0 and 810 to 1001: choose"), "{gone}");
    world.operator().run(back(810)).unwrap();
    world.host_catches_up();
    world.reviewer().run(RunCommand::Resume).unwrap();
    world.agent().run(RunCommand::Finish { summary: "done".to_owned() }).unwrap();
    world.host_catches_up();
    assert!(world.run().host.outputs.is_some());
}

#[test]
fn c10_who_pauses_a_run_at_a_checkpoint_is_asked_however_long_that_takes() {
    let mut world = World::new();
    world.posture.gates.auto_pass_after_ms = Some(60_000);
    let mut world = world.executing();
    world.agent().run(RunCommand::ReachGate { summary: "half way".to_owned() }).unwrap();
    world.operator().run(RunCommand::Pause { reason: "let me see".to_owned() }).unwrap();
    world.wait_ms(HOUR_MS);
    world.operator().run(RunCommand::Resume).unwrap();
    assert_eq!((world.run_status(), world.run().due()), (RunStatus::CheckpointReached, None));
    assert_eq!(world.clockwork().run(RunCommand::Lapse).unwrap_err().code(), "not_now");
}

#[test]
fn c9_an_amended_action_takes_the_place_of_what_the_checkpoint_waits_for() {
    let mut world = World::new().executing();
    world.agent().proposes("delete and mail it").unwrap();
    let first = world.action;
    world.reviewer().amends("build and mail less").unwrap();
    // The amender's own yes counts, because it is no riskier: the run goes on with the other action.
    assert_ne!(world.action, first);
    assert_eq!(world.status(), ActionStatus::Approved);
    assert_eq!(world.run_status(), RunStatus::Executing);
}

#[test]
fn c9_a_pause_while_an_action_is_awaited_does_not_let_it_slip_through() {
    let mut world = World::new().executing();
    world.agent().proposes("build and mail it").unwrap();
    world.operator().run(RunCommand::Pause { reason: "lunch".to_owned() }).unwrap();
    world.reviewer().approves().unwrap();
    assert_eq!(world.run_status(), RunStatus::Paused, "who paused it says when it goes on");
    assert_eq!(world.worker().leases().unwrap_err().code(), "run_not_active");
    world.operator().run(RunCommand::Resume).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing, "there is no checkpoint to go back to any more");
}

#[test]
fn c9_a_checkpoint_after_nothing_is_refused_and_so_is_one_that_passes_at_once() {
    for name in ["every_steps", "every_ms", "auto_pass_after_ms"] {
        let mut world = World::new();
        world.posture.gates = serde_json::from_value(serde_json::json!({ name: 0 })).unwrap();
        let refusal = world.operator().creates_run(&["look"]).unwrap_err();
        assert_eq!(refusal.to_string(), format!("`{name}` is at least 1; leave it out if it is not wanted"));
    }
}

#[test]
fn c9_after_every_so_many_steps_a_person_looks() {
    let mut world = World::new();
    world.posture.gates.every_steps = Some(2);
    world.by(crate::people::Who::Creator).creates_run(&["a", "b", "c", "d"]).unwrap();
    world.reviewer().approves_plan().unwrap();
    world.operator().run(RunCommand::Start).unwrap();
    world.agent().run(RunCommand::Attach).unwrap();
    world.agent().run(step(1)).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing);
    assert_eq!(world.agent().run(step(3)).unwrap_err().to_string(), "step 2 of 4 is the next one, not step 3");
    world.agent().run(step(2)).unwrap();
    assert_eq!(world.run().gate.as_ref().map(|gate| gate.kind), Some(GateKind::Step));
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    world.agent().run(step(3)).unwrap();
    world.agent().run(step(4)).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing, "after the last step come the results");
}

#[test]
fn c10_a_reviewer_can_change_what_is_left_of_the_plan_and_nothing_that_is_done() {
    let mut world = World::new().executing();
    world.agent().run(step(1)).unwrap();
    world.agent().run(RunCommand::ReachGate { summary: "half way".to_owned() }).unwrap();
    let (seen, note) = (world.run().review(), "shorter".to_owned());
    world.reviewer().run(RunCommand::PassGate { seen, note, plan: Some(vec!["stop here".to_owned()]) }).unwrap();
    assert_eq!(world.run().plan, ["look", "stop here"]);
    assert_eq!(world.run().because, Some(StatusReason::said("shorter")), "the agent reads it");
}

#[test]
fn c9_after_so_much_time_at_work_a_person_looks_and_waiting_is_no_work() {
    let mut world = World::new();
    world.posture.gates.every_ms = Some(10 * 60_000);
    let mut world = world.executing();
    world.wait_ms(9 * MINUTE_MS);
    assert_eq!(world.clockwork().run(RunCommand::Lapse).unwrap_err().code(), "not_now");
    world.operator().run(RunCommand::Pause { reason: "lunch".to_owned() }).unwrap();
    world.wait_ms(5 * HOUR_MS);
    world.operator().run(RunCommand::Resume).unwrap();
    assert_eq!(world.run().due().map(|due| due.unix_ms() - world.now.unix_ms()), Some(MINUTE_MS));
    world.wait_ms(MINUTE_MS);
    world.clockwork().run(RunCommand::Lapse).unwrap();
    assert_eq!(world.run().gate.as_ref().map(|gate| gate.kind), Some(GateKind::Time));
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    assert_eq!(world.run().due().map(|due| due.unix_ms() - world.now.unix_ms()), Some(10 * MINUTE_MS));
}

#[test]
fn c10_silence_passes_a_checkpoint_only_where_that_was_agreed_and_never_an_action() {
    let mut world = World::new();
    world.posture.gates.auto_pass_after_ms = Some(60_000);
    let mut world = world.executing();
    world.agent().run(RunCommand::ReachGate { summary: "half way".to_owned() }).unwrap();
    world.wait_ms(MINUTE_MS - 1);
    assert_eq!(world.clockwork().run(RunCommand::Lapse).unwrap_err().code(), "not_now");
    world.wait_ms(1);
    world.clockwork().run(RunCommand::Lapse).unwrap();
    assert_eq!(
        (world.run_status(), world.ledger.last().unwrap().kind()),
        (RunStatus::Executing, "run.checkpoint_lapsed")
    );
    world.agent().proposes("build and mail it").unwrap();
    world.wait_ms(HOUR_MS);
    assert_eq!(world.run().due(), None);
    assert_eq!(world.clockwork().run(RunCommand::Lapse).unwrap_err().code(), "not_now");
    assert_eq!(world.run_status(), RunStatus::CheckpointReached);
}

#[test]
fn c10_without_an_agreement_a_checkpoint_waits_for_ever() {
    let mut world = World::new().with_run(RunStatus::CheckpointReached);
    world.wait_ms(1_000 * HOUR_MS);
    assert_eq!(world.run().due(), None);
    assert!(matches!(world.clockwork().run(RunCommand::Lapse), Err(Refusal::NotNow { .. })));
}

#[test]
fn c11_nothing_passes_a_checkpoint_of_a_hosted_run_before_it_is_saved() {
    let mut world = World::new().governed().executing();
    world.agent().proposes("build and mail it").unwrap();
    assert_eq!(world.reviewer().approves().unwrap_err().code(), "not_now");
    world.host_catches_up();
    world.reviewer().approves().unwrap();
    assert_eq!(world.run().snapshots.kept.len(), 2);
    assert_eq!(world.run().snapshots.kept[1].gate, Some(1));
}

#[test]
fn c10_nobody_gets_past_a_checkpoint_by_sending_their_own_agent_back() {
    let mut world = World::new().with_run(RunStatus::CheckpointReached);
    let reject = RunCommand::RejectGate { seen: world.run().review(), reason: "again".to_owned() };
    assert_eq!(world.by(crate::people::Who::Creator).run(reject.clone()), Err(Refusal::Kin));
    assert_eq!(world.run_status(), RunStatus::CheckpointReached);
    world.reviewer().run(reject).unwrap();
    assert_eq!((world.run_status(), world.run().gates.rejected), (RunStatus::Executing, 1));
}

#[test]
fn c12_a_checkpoint_about_money_cannot_be_sent_back() {
    let mut world = World::new();
    world.ceiling = Some(placet_domain::budget::Ceiling { usd_micros: Some(10), ..Default::default() });
    let mut world = world.executing();
    let (purpose, amounts) = (placet_domain::budget::Purpose::Call("a".to_owned()), crate::trials::worth(9));
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Hold { purpose: purpose.clone(), amounts })).unwrap();
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Settle { purpose, spent: amounts })).unwrap();
    assert_eq!(world.run().gate.as_ref().map(|gate| gate.kind), Some(GateKind::Cost));
    let reject = RunCommand::RejectGate { seen: world.run().review(), reason: "too much".to_owned() };
    assert_eq!(world.reviewer().run(reject).unwrap_err().code(), "invalid");
}

fn looked_at_after_each_step() -> World {
    let mut world = World::new();
    world.posture.gates.every_steps = Some(1);
    world.executing()
}

fn finish() -> RunCommand {
    RunCommand::Finish { summary: "all is done".to_owned() }
}

#[test]
fn c9_who_finishes_before_the_looks_that_were_agreed_is_looked_at_now() {
    let mut world = looked_at_after_each_step();
    world.agent().run(finish()).unwrap();
    let gate = world.run().gate.clone().expect("a checkpoint, and no results");
    assert_eq!((gate.kind, world.run_status()), (GateKind::Step, RunStatus::CheckpointReached));
    assert_eq!(gate.reason, StatusReason::FinishesEarly { done: 0, steps: 2, summary: "all is done".to_owned() });
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    assert_eq!(world.run_status(), RunStatus::PendingExport);
    assert_eq!(world.run().said, Some(StatusReason::said("all is done")));
}

#[test]
fn c9_who_is_not_let_finish_works_on() {
    let mut world = looked_at_after_each_step();
    world.agent().run(finish()).unwrap();
    let reject = RunCommand::RejectGate { seen: world.run().review(), reason: "nothing is written".to_owned() };
    world.reviewer().run(reject).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing);
    world.agent().run(finish()).unwrap();
    let noted = RunCommand::PassGate { seen: world.run().review(), note: "first write".to_owned(), plan: None };
    world.reviewer().run(noted).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing, "whoever is told something goes on with it");
    world.agent().run(finish()).unwrap();
    let rest = Some(vec!["look properly".to_owned(), "write".to_owned()]);
    let modify = RunCommand::PassGate { seen: world.run().review(), note: String::new(), plan: rest };
    world.reviewer().run(modify).unwrap();
    assert_eq!((world.run_status(), world.run().plan.len()), (RunStatus::Executing, 2), "it has other work");
    world.agent().run(step(1)).unwrap();
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    world.agent().run(finish()).unwrap();
    assert_eq!(world.run_status(), RunStatus::PendingExport, "no look is left out any more");
}

#[test]
fn c10_where_silence_lets_a_look_pass_it_lets_a_run_finish_and_never_its_results() {
    let mut world = World::new();
    (world.posture.gates.every_steps, world.posture.gates.auto_pass_after_ms) = (Some(1), Some(60_000));
    let mut world = world.executing();
    world.agent().run(finish()).unwrap();
    world.wait_ms(MINUTE_MS);
    world.clockwork().run(RunCommand::Lapse).unwrap();
    assert_eq!(world.run_status(), RunStatus::PendingExport);
    world.wait_ms(1_000 * HOUR_MS);
    assert!(world.clockwork().run(RunCommand::Lapse).is_err());
}
