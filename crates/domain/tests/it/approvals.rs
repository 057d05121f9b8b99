//! APPROVE: who may say yes, to what, and for how long.

use placet_domain::action::{ActionCommand, ActionStatus as Status, Resolution};
use placet_domain::approval::review_digest;
use placet_domain::digest::Digest;
use placet_domain::policy::Tier;
use placet_domain::reason::StatusReason;
use placet_domain::refusal::Refusal;
use placet_domain::run::{RunCommand, RunStatus};

use crate::people::Who;
use crate::scenario::{DAY_MS, HOUR_MS, MINUTE_MS, World, verdict};

fn pending(words: &str) -> World {
    World::new().with_action(words, Status::PendingApproval)
}

#[test]
fn b3_the_tier_decides_how_many_people_are_asked() {
    for (words, status, missing) in [
        ("read it", Status::Approved, 0),
        ("build it", Status::PendingApproval, 1),
        ("delete it", Status::PendingApproval, 2),
        ("leak it", Status::Denied, 0),
    ] {
        let world = World::new().with_action(words, status);
        assert_eq!(world.action().approvals_missing(), missing, "{words}");
    }
}

#[test]
fn b4_tier_c_needs_two_different_people() {
    let mut world = pending("delete it");
    world.reviewer().approves().unwrap();
    assert_eq!(world.status(), Status::PendingApproval);
    assert_eq!(world.reviewer().approves(), Err(Refusal::SamePerson));
    assert_eq!(world.ledger.last().unwrap().kind(), "refused", "that somebody tried twice is recorded");
    world.second_reviewer().approves().unwrap();
    assert_eq!(world.status(), Status::Approved);
}

#[test]
fn b4_one_approval_of_two_leases_nothing() {
    let mut world = pending("delete it");
    world.reviewer().approves().unwrap();
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
}

/// Who stands where in the line of the agent, whether four eyes decide or one person works alone, and for which tier: the
/// whole table of who may say yes, written down independently of the code.
#[test]
fn b4_r7_nobody_in_the_line_of_the_proposer_approves() {
    let strangers = [Who::Reviewer, Who::SecondReviewer, Who::Creator];
    let line = [Who::Grandparent, Who::Parent, Who::Agent, Who::Child, Who::ChildAgent];
    for (start, alone) in [(World::new as fn() -> World, false), (World::single_operator, true)] {
        for (words, tier) in [("build it", Tier::B), ("delete it", Tier::C)] {
            for who in strangers.into_iter().chain(line) {
                let above = matches!(who, Who::Grandparent | Who::Parent);
                let expected = strangers.contains(&who) || (above && alone && tier == Tier::B);
                let mut world = start().with_action(words, Status::PendingApproval);
                let allowed = world.by(who).approves().is_ok();
                assert_eq!(allowed, expected, "{} in tier {tier}, alone: {alone}", who.name());
            }
        }
    }
}

#[test]
fn b4_an_attempt_to_approve_within_the_family_is_recorded() {
    for who in [Who::Grandparent, Who::Parent, Who::Child] {
        let mut world = pending("build it");
        assert_eq!(world.by(who).approves(), Err(Refusal::Kin), "{}", who.name());
        assert_eq!(world.ledger.last().unwrap().body()["code"], "kin");
    }
}

#[test]
fn b4_who_works_alone_may_approve_tier_b_and_each_such_approval_is_marked() {
    let mut world = World::single_operator().with_action("build it", Status::PendingApproval);
    world.by(Who::Parent).approves().unwrap();
    assert_eq!(world.status(), Status::Approved);
    assert!(world.action().approvals[0].single_operator);
    let mut world = World::single_operator().with_action("build it", Status::PendingApproval);
    world.reviewer().approves().unwrap();
    assert!(!world.action().approvals[0].single_operator, "a stranger's yes is an ordinary one");
}

#[test]
fn b4_who_works_alone_never_approves_tier_c_not_even_as_the_second() {
    let mut world = World::single_operator().with_action("delete it", Status::PendingApproval);
    assert_eq!(world.by(Who::Parent).approves(), Err(Refusal::Kin));
    world.reviewer().approves().unwrap();
    assert_eq!(world.by(Who::Parent).approves(), Err(Refusal::Kin));
    assert_eq!(world.status(), Status::PendingApproval);
}

#[test]
fn b4_an_approval_of_something_else_is_stale() {
    let mut world = pending("build it");
    let current = world.action().review();
    let of_the_action_alone = world.action().digest;
    let other_tier = review_digest(&verdict(world.action().digest, world.policy, Tier::A));
    for seen in [Digest::of(b"yes"), of_the_action_alone, other_tier] {
        assert_eq!(
            world.reviewer().act(ActionCommand::Approve { seen, proof: None }),
            Err(Refusal::Stale { seen, current })
        );
        let reject = ActionCommand::Reject { seen, reason: "no".to_owned() };
        assert_eq!(world.reviewer().act(reject), Err(Refusal::Stale { seen, current }));
    }
    assert_eq!(world.status(), Status::PendingApproval);
}

#[test]
fn b4_a_pending_approval_expires_and_then_lapses() {
    let mut world = pending("build it");
    world.wait_ms(DAY_MS - 1);
    assert_eq!(world.clockwork().lapses().unwrap_err().code(), "not_now");
    world.wait_ms(1);
    assert_eq!(world.reviewer().approves(), Err(Refusal::Expired));
    assert_eq!(world.reviewer().rejects("late"), Err(Refusal::Expired));
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), Status::Expired);
    assert_eq!(world.reviewer().approves().unwrap_err().code(), "not_now");
}

#[test]
fn b4_an_approved_action_that_nobody_takes_up_lapses() {
    let mut world = pending("build it");
    world.reviewer().approves().unwrap();
    world.wait_ms(HOUR_MS - 1);
    world.clone().worker().leases().expect("the last millisecond counts");
    world.wait_ms(1);
    assert_eq!(world.worker().leases(), Err(Refusal::Expired));
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), Status::Expired);
}

#[test]
fn b4_an_early_approval_still_holds_when_the_late_one_completes_it() {
    let mut world = pending("delete it");
    world.reviewer().approves().unwrap();
    world.wait_ms(DAY_MS - 1);
    world.second_reviewer().approves().unwrap();
    let deadline = world.action().deadline;
    assert!(world.action().approvals.iter().all(|approval| approval.expires_at >= deadline));
}

#[test]
fn b4_a_permit_never_outlives_the_approvals_it_rests_on() {
    let mut world = World::new().with_action("delete it", Status::Approved);
    world.wait_ms(HOUR_MS - 1);
    world.worker().leases().unwrap();
    let (permit, deadline) = (world.permit(), world.action().deadline);
    assert_eq!(permit.permit().expires_at(), deadline);
    world.wait_ms(1);
    assert_eq!(world.worker().redeems().unwrap_err().to_string(), "the permit is refused: it has expired");
    world.clockwork().lapses().unwrap();
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), Status::Expired, "and it does not come back");
}

#[test]
fn b4_a_changed_policy_voids_approvals_until_the_action_is_judged_again() {
    let mut world = pending("delete it");
    world.reviewer().approves().unwrap();
    world.change_policy();
    assert_eq!(world.second_reviewer().approves().unwrap_err().code(), "not_now");
    world.clockwork().rejudges(Tier::C).unwrap();
    assert!(world.action().approvals.is_empty());
    world.second_reviewer().approves().unwrap();
    assert_eq!(world.status(), Status::PendingApproval, "one of two, the old one does not count");
    world.reviewer().approves().expect("whoever approved the old verdict may approve the new one");
    assert_eq!(world.status(), Status::Approved);
}

#[test]
fn b4_a_changed_policy_stops_what_was_approved_and_what_was_leased() {
    let mut world = World::new().with_action("build it", Status::Approved);
    world.change_policy();
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
    world.clockwork().rejudges(Tier::D).unwrap();
    assert_eq!(world.status(), Status::Denied);
    let mut world = World::new().with_action("build it", Status::Leased);
    world.change_policy();
    assert_eq!(world.worker().redeems().unwrap_err().code(), "not_now");
}

#[test]
fn b4_judging_again_needs_the_clockwork_a_changed_policy_and_time_left() {
    let mut world = pending("build it");
    assert_eq!(world.clockwork().rejudges(Tier::A).unwrap_err().code(), "not_now", "the policy is the same");
    world.change_policy();
    for who in Who::ALL.iter().filter(|who| !matches!(who, Who::Runtime | Who::Stranger)) {
        assert_eq!(world.by(*who).rejudges(Tier::A).unwrap_err().code(), "role", "{}", who.name());
    }
    world.wait_ms(DAY_MS);
    assert_eq!(world.clockwork().rejudges(Tier::B), Err(Refusal::Expired));
}

#[test]
fn b4_a_verdict_of_another_action_or_policy_is_refused() {
    let mut world = pending("build it");
    let (digest, old) = (world.action().digest, world.policy);
    world.change_policy();
    for verdict in [verdict(Digest::of(b"other"), world.policy, Tier::A), verdict(digest, old, Tier::A)] {
        assert_eq!(world.clockwork().act(ActionCommand::Rejudge { verdict }).unwrap_err().code(), "invalid");
    }
}

#[test]
fn b4_a_rejection_needs_a_reason_and_ends_it() {
    let mut world = pending("build it");
    for reason in ["", "  \n", &"x".repeat(2_001)] {
        assert_eq!(world.reviewer().rejects(reason).unwrap_err().code(), "invalid");
    }
    world.reviewer().rejects("touches production").unwrap();
    assert_eq!(world.action().because, Some(StatusReason::said("touches production")));
    assert_eq!(world.second_reviewer().approves().unwrap_err().code(), "not_now");
}

#[test]
fn b4_whoever_approved_may_change_their_mind_while_it_waits() {
    let mut world = pending("delete it");
    world.reviewer().approves().unwrap();
    world.reviewer().rejects("on second thoughts, no").unwrap();
    assert_eq!(world.status(), Status::Rejected);
}

#[test]
fn b4_to_run_an_interrupted_action_again_takes_as_many_people_as_the_first_time() {
    let mut world = World::new().with_action("delete it", Status::Interrupted);
    world.reviewer().resolves(Resolution::Retry).unwrap();
    assert_eq!(world.status(), Status::PendingApproval);
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
    assert_eq!(world.reviewer().approves(), Err(Refusal::SamePerson), "who said retry said yes already");
    world.second_reviewer().approves().unwrap();
    assert_eq!(world.status(), Status::Approved);
}

#[test]
fn b4_a_retry_is_an_approval_with_a_new_expiry_and_the_old_ones_are_gone() {
    let mut world = World::new().with_action("build it", Status::Interrupted);
    world.wait_ms(3 * DAY_MS);
    world.second_reviewer().resolves(Resolution::Retry).unwrap();
    let [approval] = &world.action().approvals[..] else { panic!("one approval") };
    assert_eq!(Some(approval.reviewer), Who::SecondReviewer.id());
    assert!(approval.expires_at > world.now && approval.review == world.action().review());
}

#[test]
fn b4_no_retry_within_the_family_nor_under_an_older_policy_nor_in_a_closed_run() {
    let interrupted = World::new().with_action("build it", Status::Interrupted);
    for who in [Who::Grandparent, Who::Parent, Who::Child] {
        assert_eq!(interrupted.clone().by(who).resolves(Resolution::Retry), Err(Refusal::Kin));
        interrupted.clone().by(who).resolves(Resolution::Abandon).expect("to stop is always safe");
    }
    let mut changed = interrupted.clone();
    changed.change_policy();
    assert_eq!(changed.reviewer().resolves(Resolution::Retry).unwrap_err().code(), "not_now");
    let mut closed = interrupted;
    closed.operator().run(RunCommand::Cancel { reason: String::new() }).unwrap();
    assert_eq!(closed.reviewer().resolves(Resolution::Retry).unwrap_err().code(), "run_not_active");
    closed.reviewer().resolves(Resolution::Abandon).expect("to stop is always safe");
}

#[test]
fn c8_while_a_run_stands_still_people_decide_and_workers_wait() {
    let pause = RunCommand::Pause { reason: "lunch".to_owned() };
    let gate = RunCommand::ReachGate { summary: "half way".to_owned() };
    for (still, status) in [(pause, RunStatus::Paused), (gate, RunStatus::CheckpointReached)] {
        let mut world = pending("build it");
        world.operator().run(still).unwrap();
        assert_eq!(world.run_status(), status);
        world.reviewer().approves().unwrap();
        assert_eq!(world.worker().leases().unwrap_err().code(), "run_not_active");
        assert_eq!(world.agent().proposes("read it").unwrap_err().code(), "run_not_active");
    }
}

#[test]
fn c8_a_cancelled_run_leases_nothing_redeems_nothing_and_decides_nothing() {
    let cancel = || RunCommand::Cancel { reason: "enough".to_owned() };
    let mut waiting = pending("build it");
    let mut approved = World::new().with_action("build it", Status::Approved);
    let mut leased = World::new().with_action("build it", Status::Leased);
    for world in [&mut waiting, &mut approved, &mut leased] {
        world.operator().run(cancel()).unwrap();
    }
    assert_eq!(waiting.reviewer().approves().unwrap_err().code(), "run_not_active");
    assert_eq!(approved.worker().leases().unwrap_err().code(), "run_not_active");
    assert_eq!(leased.worker().redeems().unwrap_err().code(), "run_not_active");
    leased.wait_ms(MINUTE_MS);
    leased.clockwork().lapses().unwrap();
    assert_eq!(leased.worker().leases().unwrap_err().code(), "run_not_active");
}

#[test]
fn c8_a_worker_in_a_cancelled_run_learns_it_from_its_heartbeat_and_its_result_still_counts() {
    let mut world = World::new().with_action("build it", Status::Executing);
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    assert_eq!(world.worker().beats().unwrap_err().code(), "run_not_active");
    world.worker().completes(placet_domain::evidence::Exit::Cancelled).unwrap();
    assert_eq!(world.status(), Status::Failed);
}
