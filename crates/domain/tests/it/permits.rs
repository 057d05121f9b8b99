//! DISPATCH and EXECUTE: a permit counts once, for one worker, one attempt and one set of bytes; a lost worker has no say.

use placet_domain::action::{ActionCommand, ActionStatus as Status};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::evidence::Exit;
use placet_domain::permit::{Permit, PermitSigner, Signed};
use placet_domain::proposal::Action;
use placet_domain::reason::StatusReason;
use placet_domain::refusal::{PermitFlaw, Refusal};
use placet_domain::run::RunCommand;
use serde_json::json;

use crate::people::Who;
use crate::scenario::{MINUTE_MS, World, action_id, complete, signer};

fn leased() -> World {
    World::new().with_action("build it", Status::Leased)
}

fn executing() -> World {
    World::new().with_action("build it", Status::Executing)
}

fn redeem(world: &mut World, who: Who, permit: Signed) -> Refusal {
    world.by(who).act(ActionCommand::Redeem { permit }).expect_err("a flawed permit")
}

#[test]
fn b5_a_permit_for_something_else_is_refused_with_its_own_flaw_and_recorded() {
    let other_digest = json!(Digest::of(b"other bytes"));
    let cases = [
        ("action", json!(action_id(99)), PermitFlaw::OtherAction),
        ("worker", json!(Who::OtherWorker.id()), PermitFlaw::OtherWorker),
        ("attempt", json!(2), PermitFlaw::OtherAttempt),
        ("attempt", json!(0), PermitFlaw::OtherAttempt),
        ("digest", other_digest, PermitFlaw::OtherBytes),
        ("expires_at", json!(leased().now), PermitFlaw::Expired),
    ];
    for (key, value, flaw) in cases {
        let mut world = leased();
        let permit = world.permit_saying(key, value);
        assert_eq!(redeem(&mut world, Who::Worker, permit), Refusal::Permit(flaw), "{key}");
        let noted = world.ledger.last().unwrap().body();
        assert_eq!((&noted["tried"], &noted["code"]), (&json!("redeem"), &json!("permit")));
        assert!(noted["because"].as_str().unwrap().contains(&flaw.to_string()), "{noted}");
        assert_eq!(world.status(), Status::Leased);
    }
}

#[test]
fn b5_a_stolen_permit_is_worth_nothing_to_another_worker() {
    let mut world = leased();
    let permit = world.permit();
    assert_eq!(redeem(&mut world, Who::OtherWorker, permit), PermitFlaw::OtherWorker.into());
    let made_out_to_the_thief = world.permit_saying("worker", json!(Who::OtherWorker.id()));
    assert_eq!(redeem(&mut world, Who::OtherWorker, made_out_to_the_thief), PermitFlaw::OtherWorker.into());
}

#[test]
fn b5_a_permit_counts_once() {
    let mut world = leased();
    let permit = world.permit();
    world.worker().redeems().unwrap();
    assert_eq!(redeem(&mut world, Who::Worker, permit.clone()), PermitFlaw::Replayed.into());
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(redeem(&mut world, Who::Worker, permit), PermitFlaw::Replayed.into());
    let redeemed = world.ledger.iter().filter(|record| record.kind() == "permit.redeemed").count();
    assert_eq!(redeemed, 1);
}

#[test]
fn b5_an_expired_permit_stays_expired_even_before_the_clockwork_notices() {
    let mut world = leased();
    world.wait_ms(29_999);
    world.clone().worker().redeems().expect("the last millisecond counts");
    world.wait_ms(1);
    assert_eq!(world.worker().redeems(), Err(PermitFlaw::Expired.into()));
    let longer_than_its_lease = world.permit_saying("expires_at", json!(world.now.plus_ms(1_000)));
    assert_eq!(redeem(&mut world, Who::Worker, longer_than_its_lease), PermitFlaw::Expired.into());
}

#[test]
fn b5_a_forged_or_mangled_token_never_becomes_a_permit() {
    let world = leased();
    let permit = Permit::for_lease(world.action()).unwrap();
    let token = signer().sign(&permit);
    let other_key = PermitSigner::from_seed(&[8; 32]).sign(&permit);
    assert_eq!(signer().verifier().check(&other_key), Err(PermitFlaw::Forged));
    let (content, signature) = token.split_once('.').unwrap();
    let (foreign_content, _) = other_key.split_once('.').unwrap();
    assert_eq!(foreign_content, content);
    let other_content = signer().sign(world.permit_saying("attempt", json!(7)).permit());
    let (other_content, _) = other_content.split_once('.').unwrap();
    assert_eq!(signer().verifier().check(&format!("{other_content}.{signature}")), Err(PermitFlaw::Forged));
    for mangled in ["", ".", "a.b", content, &format!("{token}="), &format!("{token}.x"), &"A".repeat(4_000)] {
        assert_eq!(signer().verifier().check(mangled), Err(PermitFlaw::Malformed), "{mangled}");
    }
}

#[test]
fn b5_every_changed_character_of_a_token_is_noticed() {
    let world = leased();
    let token = signer().sign(&Permit::for_lease(world.action()).unwrap());
    for at in 0..token.len() {
        let mut bytes = token.clone().into_bytes();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(bytes).unwrap();
        assert!(signer().verifier().check(&changed).is_err(), "character {at}");
    }
}

#[test]
fn b5_a_worker_checks_for_itself_that_permit_and_bytes_belong_together() {
    let world = leased();
    let (sealed, other) =
        (world.seal("build it", Who::Agent, world.run), world.seal("build that", Who::Agent, world.run));
    let worker = Who::Worker.id().unwrap();
    let fit = |bytes: &Action, action, worker| {
        world.permit().fit(action, bytes.clone(), worker).map(|fitting| fitting.spend())
    };
    let (permit, bytes) = fit(&sealed, world.action, worker).unwrap();
    assert_eq!((permit.digest(), bytes.bytes()), (sealed.digest(), sealed.bytes()));
    assert_eq!(fit(&other, world.action, worker), Err(PermitFlaw::OtherBytes));
    assert_eq!(fit(&sealed, action_id(99), worker), Err(PermitFlaw::OtherAction));
    assert_eq!(fit(&sealed, world.action, Who::OtherWorker.id().unwrap()), Err(PermitFlaw::OtherWorker));
}

#[test]
fn b5_a_worker_lost_before_it_started_gives_the_action_back_for_another_attempt() {
    let mut world = leased();
    let old = world.permit();
    world.wait_ms(MINUTE_MS);
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), Status::Approved);
    world.by(Who::OtherWorker).leases().unwrap();
    assert_eq!(world.action().attempt, 2);
    assert_eq!(redeem(&mut world, Who::Worker, old), PermitFlaw::OtherAttempt.into());
    world.by(Who::OtherWorker).redeems().unwrap();
}

#[test]
fn b5_a_worker_lost_after_it_started_leaves_the_action_to_a_person() {
    let mut world = executing();
    world.wait_ms(MINUTE_MS);
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), Status::Interrupted);
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
    assert_eq!(world.clockwork().lapses().unwrap_err().code(), "not_now", "time alone never restarts it");
}

#[test]
fn b5_a_lease_is_kept_by_heartbeats_and_lost_without() {
    let mut world = executing();
    for _ in 0..10 {
        world.wait_ms(29_999);
        world.worker().beats().unwrap();
        assert_eq!(world.clockwork().lapses().unwrap_err().code(), "not_now");
    }
    world.wait_ms(30_000);
    world.clockwork().lapses().unwrap();
    assert_eq!(world.worker().beats(), Err(Refusal::LostLease { given: 1, current: 1 }));
}

#[test]
fn b5_a_heartbeat_of_another_worker_or_attempt_keeps_nothing_alive() {
    let mut world = executing();
    assert_eq!(world.by(Who::OtherWorker).beats().unwrap_err().code(), "lost_lease");
    for attempt in [0, 2, u32::MAX] {
        assert_eq!(world.worker().act(ActionCommand::Heartbeat { attempt }).unwrap_err().code(), "lost_lease");
    }
}

#[test]
fn b6_a_late_result_is_kept_and_marked_and_changes_nothing() {
    let mut world = executing();
    world.wait_ms(MINUTE_MS);
    world.clockwork().lapses().unwrap();
    let before = world.action().clone();
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.ledger.last().unwrap().kind(), "evidence.quarantined");
    assert_eq!(*world.action(), before);
}

#[test]
fn b6_a_late_result_of_an_earlier_attempt_does_not_end_the_current_one() {
    let mut world = executing();
    world.wait_ms(MINUTE_MS);
    world.clockwork().lapses().unwrap();
    world.reviewer().resolves(placet_domain::action::Resolution::Retry).unwrap();
    world.by(Who::OtherWorker).leases().unwrap();
    world.by(Who::OtherWorker).redeems().unwrap();
    world.worker().completes_attempt(1, Exit::Code(0)).unwrap();
    assert_eq!(world.ledger.last().unwrap().kind(), "evidence.quarantined");
    assert_eq!(world.status(), Status::Executing);
    world.by(Who::OtherWorker).completes(Exit::Code(1)).unwrap();
    assert_eq!(world.status(), Status::Failed);
}

#[test]
fn b6_a_second_result_is_quarantined_and_the_first_one_stands() {
    let mut world = executing();
    world.worker().completes(Exit::Code(1)).unwrap();
    let evidence = world.action().evidence;
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.ledger.last().unwrap().kind(), "evidence.quarantined");
    assert_eq!((world.status(), world.action().evidence), (Status::Failed, evidence));
}

#[test]
fn b6_a_result_from_a_worker_that_never_held_it_is_refused_and_recorded() {
    let mut world = executing();
    assert_eq!(world.by(Who::OtherWorker).completes(Exit::Code(0)), Err(PermitFlaw::OtherAttempt.into()));
    assert_eq!(world.ledger.last().unwrap().kind(), "refused");
    for attempt in [0, 2, u32::MAX] {
        assert_eq!(world.worker().completes_attempt(attempt, Exit::Code(0)), Err(PermitFlaw::OtherAttempt.into()));
    }
}

#[test]
fn b6_a_result_without_a_redeemed_permit_is_not_a_result() {
    let mut world = leased();
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.ledger.last().unwrap().kind(), "evidence.quarantined");
    assert_eq!((world.status(), world.action().evidence), (Status::Leased, None));
}

#[test]
fn b6_a_worker_that_does_not_start_it_says_why_and_its_permit_is_worth_nothing_from_then_on() {
    let why = || Exit::NotStarted { why: "another cage".to_owned() };
    let mut world = leased();
    assert_eq!(world.by(Who::OtherWorker).completes(why()), Err(PermitFlaw::OtherAttempt.into()));
    let permit = world.permit_saying("attempt", json!(1));
    world.worker().completes(why()).unwrap();
    assert_eq!(world.ledger.last().unwrap().kind(), "job.completed");
    assert_eq!(world.status(), Status::Failed);
    let exit = Exit::NotStarted { why: "another cage".to_owned() };
    assert_eq!(world.action().because, Some(StatusReason::Exited { exit }));
    assert_eq!(world.worker().act(ActionCommand::Redeem { permit }), Err(PermitFlaw::Replayed.into()));
}

#[test]
fn b6_evidence_names_what_was_executed_by_whom_and_under_its_own_digest() {
    let mut world = executing();
    let honest = world.manifest(Who::Worker, 1, Exit::Code(0));
    let mut other_bytes = honest.clone();
    other_bytes.executed = Digest::of(b"other bytes");
    assert_eq!(world.worker().act(complete(other_bytes)), Err(PermitFlaw::OtherBytes.into()));
    let mut other_worker = honest.clone();
    other_worker.worker = Who::OtherWorker.id().unwrap();
    assert_eq!(world.worker().act(complete(other_worker)).unwrap_err().code(), "invalid");
    let mut other_action = honest.clone();
    other_action.action = action_id(99);
    assert_eq!(world.worker().act(complete(other_action)).unwrap_err().code(), "invalid");
    world.worker().act(complete(honest)).unwrap();
}

#[test]
fn b6_a_worker_cannot_write_novels_into_the_ledger() {
    let mut world = executing();
    let novel = "x".repeat(2_001);
    for exit in [Exit::NotStarted { why: novel.clone() }, Exit::Limit { which: novel, limit: 1, seen: 2 }] {
        assert_eq!(world.worker().completes(exit).unwrap_err().code(), "invalid");
    }
}

#[test]
fn b5_a_paused_run_lets_what_runs_run_and_starts_nothing() {
    let pause = || RunCommand::Pause { reason: "wait".to_owned() };
    let mut world = executing();
    world.operator().run(pause()).unwrap();
    world.worker().beats().unwrap();
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.status(), Status::Succeeded);
    let mut world = leased();
    world.operator().run(pause()).unwrap();
    assert_eq!(world.worker().redeems().unwrap_err().code(), "run_not_active");
}

#[test]
fn b5_a_worker_leases_for_itself_only() {
    let mut world = World::new().with_action("build it", Status::Approved);
    let command = ActionCommand::Lease { worker: Who::OtherWorker.id().unwrap() };
    let command = Command::Action { id: world.action, run: world.run, command };
    assert_eq!(world.submit(Who::Worker, command), Err(PermitFlaw::OtherWorker.into()));
}
