//! AMEND: to approve something else than what was proposed, and whose yes that is.

use placet_domain::action::{ActionCommand, ActionStatus as Status, Amended, Resolution};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::permit::Permit;
use placet_domain::policy::Tier;
use placet_domain::proposal::{Action, Tools};
use placet_domain::reason::StatusReason;
use placet_domain::record::Record;
use placet_domain::refusal::Refusal;
use placet_domain::run::RunCommand;
use proptest::prelude::*;

use crate::people::Who;
use crate::scenario::{DAY_MS, World, action_id, run_id, verdict, verdict_of_risk};

fn pending(words: &str) -> World {
    World::new().with_action(words, Status::PendingApproval)
}

fn kinds(records: &[Record]) -> Vec<&'static str> {
    records.iter().map(Record::kind).collect()
}

/// What the reviewer makes of it, judged with this tier and risk.
fn judged(world: &World, tier: Tier, risk: f64) -> Amended {
    let amended = world.amended("build it otherwise");
    let verdict = verdict_of_risk(amended.action.digest(), world.policy, tier, risk);
    Amended { verdict, ..amended }
}

#[test]
fn b4_an_amendment_closes_what_was_proposed_and_its_authors_yes_counts_where_it_is_no_riskier() {
    let mut world = pending("build it");
    let old = world.action().clone();
    let records = world.reviewer().amends("build a part of it").unwrap();
    assert_eq!(kinds(&records), ["action.superseded", "action.proposed", "action.judged", "action.approved"]);
    let (replaced, new) = (&world.actions[&old.id], world.action());
    assert_eq!((replaced.status, replaced.superseded_by), (Status::Superseded, Some(new.id)));
    assert_eq!(replaced.because, Some(StatusReason::said("safer like this")), "its agent reads why");
    assert_eq!(replaced.digest, old.digest);
    assert_eq!((new.status, new.proposer), (Status::Approved, old.proposer));
    let amendment = new.amendment.as_ref().unwrap();
    assert_eq!((amendment.of, amendment.amender()), (old.id, Who::Reviewer.id()));
    assert_eq!(new.approvals.len(), 1);
    assert_eq!(new.approvals[0].review, new.review(), "the yes is to the new bytes");
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
}

#[test]
fn b4_each_entry_of_an_amendment_names_the_action_it_is_about() {
    let mut world = pending("build it");
    let old = world.action;
    let records = world.reviewer().amends("build a part of it").unwrap();
    let about: Vec<_> = records.iter().map(|record| record.about.action.unwrap()).collect();
    assert_eq!(about, [old, world.action, world.action, world.action]);
    assert!(records.iter().all(|record| record.about.run == Some(world.run)));
}

#[test]
fn b4_where_two_people_are_needed_the_amender_is_one_of_them_and_never_both() {
    let mut world = pending("delete it");
    world.second_reviewer().approves().unwrap();
    world.reviewer().amends("delete a part of it").unwrap();
    assert_eq!((world.status(), world.action().approvals_missing()), (Status::PendingApproval, 1));
    assert_eq!(world.reviewer().approves(), Err(Refusal::SamePerson));
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
    world.second_reviewer().approves().expect("a yes to the old bytes was no yes to these");
    assert_eq!(world.status(), Status::Approved);
}

/// The same words for another program, which the policy finds just as risky.
fn with_another_tool(world: &World) -> Amended {
    let tools = Tools::parse("[zsh]\nprogram = \"/bin/zsh\"\nkind = \"execute_code\"\n").expect("tools");
    let proposal = serde_json::json!({ "tool": "zsh", "arguments": ["-c", "build it"] });
    let proposal = serde_json::from_value(proposal).expect("a proposal");
    let agent = Who::Agent.id().expect("an identity");
    let action = Action::seal(&proposal, &tools, &world.run().scope, world.run, agent).expect("a sealable proposal");
    let verdict = verdict(action.digest(), world.policy, Tier::B);
    Amended { action, verdict, ..world.amended("build it otherwise") }
}

#[test]
fn b4_another_tool_makes_it_somebody_elses_decision_however_harmless_it_is() {
    let mut world = pending("build it");
    let amended = with_another_tool(&world);
    world.reviewer().amends_to(amended).unwrap();
    assert_eq!(world.reviewer().approves(), Err(Refusal::Kin));
    world.second_reviewer().approves().unwrap();
}

/// A higher tier, a higher risk: each alone makes it somebody else's decision.
#[test]
fn b4_what_is_riskier_than_what_was_proposed_stands_as_if_its_amender_had_proposed_it() {
    for (tier, risk, counts) in [
        (Tier::B, 0.35, true),
        (Tier::B, 0.34, true),
        (Tier::B, 0.36, false),
        (Tier::C, 0.35, false),
        (Tier::C, 0.10, false),
    ] {
        let mut world = pending("build it");
        let amended = judged(&world, tier, risk);
        world.reviewer().amends_to(amended).unwrap();
        assert_eq!(world.action().approvals.len(), usize::from(counts), "tier {tier}, risk {risk}");
        if counts {
            continue;
        }
        assert_eq!(world.status(), Status::PendingApproval);
        assert_eq!(world.reviewer().approves(), Err(Refusal::Kin));
        assert_eq!(world.ledger.last().unwrap().kind(), "refused", "that they tried is recorded");
        world.second_reviewer().approves().expect("somebody else decides");
    }
}

#[test]
fn b4_an_amendment_that_needs_nobody_waits_for_nobody() {
    let mut world = pending("build it");
    let records = world.reviewer().amends("read it").unwrap();
    assert_eq!(kinds(&records), ["action.superseded", "action.proposed", "action.judged"]);
    assert_eq!(world.status(), Status::Approved);
}

#[test]
fn b4_what_the_policy_refuses_leaves_the_proposal_waiting_as_it_was() {
    let mut world = pending("delete it");
    world.second_reviewer().approves().unwrap();
    let before = world.clone();
    let refusal = world.reviewer().amends("leak it").unwrap_err();
    assert_eq!(refusal.code(), "denied");
    assert_eq!(world.actions, before.actions);
    let last = world.ledger.last().unwrap();
    assert_eq!((last.kind(), &last.body()["tried"]), ("refused", &serde_json::json!("amend")));
    world.reviewer().approves().expect("the earlier yes still stands");
    assert_eq!(world.status(), Status::Approved);
}

#[test]
fn b4_who_may_not_approve_may_not_amend() {
    for who in [Who::Grandparent, Who::Parent, Who::Child] {
        let mut world = pending("build it");
        assert_eq!(world.by(who).amends("build a part of it"), Err(Refusal::Kin), "{}", who.name());
        assert_eq!(world.status(), Status::PendingApproval);
    }
    for who in [Who::Agent, Who::ChildAgent, Who::Worker, Who::Operator, Who::Admin, Who::Auditor, Who::Runtime] {
        let mut world = pending("build it");
        assert_eq!(world.by(who).amends("build a part of it").unwrap_err().code(), "role", "{}", who.name());
    }
}

#[test]
fn b4_the_line_of_the_agent_does_not_approve_an_amendment_either() {
    for who in [Who::Grandparent, Who::Parent, Who::Child] {
        let mut world = pending("delete it");
        world.reviewer().amends("delete a part of it").unwrap();
        assert_eq!(world.by(who).approves(), Err(Refusal::Kin), "{}", who.name());
    }
}

#[test]
fn b4_who_works_alone_amends_tier_b_marked_and_nothing_beyond() {
    let mut world = World::single_operator().with_action("build it", Status::PendingApproval);
    world.by(Who::Parent).amends("build a part of it").unwrap();
    assert_eq!(world.status(), Status::Approved);
    assert!(world.action().approvals[0].single_operator);
    let mut world = World::single_operator().with_action("build it", Status::PendingApproval);
    world.by(Who::Parent).amends("delete it").unwrap();
    assert!(world.action().approvals.is_empty());
    assert_eq!(world.by(Who::Parent).approves(), Err(Refusal::Kin));
    let mut world = World::single_operator().with_action("delete it", Status::PendingApproval);
    assert_eq!(world.by(Who::Parent).amends("build it"), Err(Refusal::Kin));
}

#[test]
fn b4_the_kin_of_an_amender_does_not_add_the_other_yes() {
    let mut world = World::single_operator().with_action("build it", Status::PendingApproval);
    let riskier = judged(&world, Tier::B, 0.40);
    world.by(Who::Parent).amends_to(riskier).unwrap();
    assert_eq!(world.by(Who::Grandparent).approves(), Err(Refusal::Kin));
    world.reviewer().approves().expect("a stranger may");
}

/// First raise the risk, then change a little more: the second step alone is harmless.
#[test]
fn b4_a_risk_is_not_laundered_by_amending_twice() {
    let mut world = pending("build it");
    let riskier = judged(&world, Tier::B, 0.90);
    world.reviewer().amends_to(riskier).unwrap();
    assert_eq!(world.reviewer().amends("build less of it"), Err(Refusal::Kin));
    let less = world.amended("build less of it");
    world.second_reviewer().amends_to(less).expect("somebody else may, and it is their yes");
    assert_eq!(world.status(), Status::Approved);
    assert_eq!(world.action().approvals[0].reviewer, Who::SecondReviewer.id().unwrap());
    let amenders = &world.action().amendment.as_ref().unwrap().amenders;
    assert_eq!(amenders.len(), 2, "all who wrote a part of it are named");
}

#[test]
fn b4_an_author_of_risk_stays_one_when_somebody_else_amends_after_them() {
    let mut world = pending("build it");
    world.reviewer().amends("delete it").unwrap();
    world.second_reviewer().amends("delete less of it").unwrap();
    assert_eq!(world.action().approvals_missing(), 1);
    assert_eq!(world.reviewer().approves(), Err(Refusal::Kin));
    world.by(Who::Creator).approves().unwrap();
    assert_eq!(world.status(), Status::Approved);
}

#[test]
fn b4_who_amended_without_risk_may_amend_again_and_is_still_one_person() {
    let mut world = pending("delete it");
    world.reviewer().amends("delete less of it").unwrap();
    world.reviewer().amends("delete even less of it").unwrap();
    assert_eq!(world.action().approvals_missing(), 1);
    assert_eq!(world.action().amendment.as_ref().unwrap().amenders.len(), 1);
    assert_eq!(world.reviewer().approves(), Err(Refusal::SamePerson));
    world.second_reviewer().approves().unwrap();
}

#[test]
fn b4_after_the_policy_changed_an_amender_is_an_author_like_any_other() {
    let mut world = pending("build it");
    world.reviewer().amends("build a part of it").unwrap();
    world.change_policy();
    world.clockwork().rejudges(Tier::B).unwrap();
    assert!(world.action().approvals.is_empty());
    assert_eq!(world.reviewer().approves(), Err(Refusal::Kin), "by this policy nobody compared the two");
    world.second_reviewer().approves().unwrap();
}

#[test]
fn b4_an_amender_without_risk_decides_whether_it_runs_again() {
    let mut world = pending("build it");
    world.reviewer().amends("build a part of it").unwrap();
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.wait_ms(60_000);
    world.clockwork().lapses().unwrap();
    world.reviewer().resolves(Resolution::Retry).unwrap();
    assert_eq!(world.status(), Status::Approved);
}

#[test]
fn b4_nothing_more_happens_to_what_was_superseded() {
    let mut world = pending("build it");
    let old = world.action;
    world.reviewer().amends("build a part of it").unwrap();
    world.action = old;
    assert!(Permit::for_lease(world.action()).is_none());
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
    assert_eq!(world.second_reviewer().approves().unwrap_err().code(), "not_now");
    assert_eq!(world.second_reviewer().amends("build it all").unwrap_err().code(), "not_now");
    assert_eq!(world.reviewer().rejects("no").unwrap_err().code(), "not_now");
    assert_eq!(world.agent().withdraws().unwrap_err().code(), "not_now");
    world.wait_ms(2 * DAY_MS);
    assert_eq!(world.clockwork().lapses().unwrap_err().code(), "not_now");
}

#[test]
fn b4_the_agent_may_withdraw_what_was_made_of_its_proposal() {
    let mut world = pending("build it");
    world.reviewer().amends("build a part of it").unwrap();
    world.agent().withdraws().unwrap();
    assert_eq!(world.status(), Status::Withdrawn);
}

#[test]
fn b4_an_amendment_needs_a_reason_open_eyes_time_and_the_policy_in_force() {
    let world = pending("build it");
    let amend = |world: &mut World, seen: Digest, reason: &str| {
        let amended = Box::new(world.amended("build a part of it"));
        world.reviewer().act(ActionCommand::Amend { seen, reason: reason.to_owned(), amended }).unwrap_err().code()
    };
    let seen = world.action().review();
    assert_eq!(amend(&mut world.clone(), seen, " "), "invalid");
    assert_eq!(amend(&mut world.clone(), world.action().digest, "why not"), "stale");
    let mut late = world.clone();
    late.wait_ms(DAY_MS);
    assert_eq!(amend(&mut late, seen, "why not"), "expired");
    let mut judged_before = world.clone();
    judged_before.change_policy();
    assert_eq!(amend(&mut judged_before, seen, "why not"), "not_now");
    let mut closed = world;
    closed.operator().run(RunCommand::Cancel { reason: String::new() }).unwrap();
    assert_eq!(amend(&mut closed, seen, "why not"), "run_not_active");
}

/// What replaces an action must be a change of it, judged as it is, under an id of its own.
#[test]
fn b4_only_a_change_of_the_same_agents_action_can_replace_it() {
    let world = pending("build it");
    let good = || world.amended("build a part of it");
    let for_agent = |who, run| {
        let action = world.seal("build a part of it", who, run);
        let verdict = verdict(action.digest(), world.policy, Tier::B);
        Amended { action, verdict, ..good() }
    };
    let refused = |amended| world.clone().reviewer().amends_to(amended).unwrap_err().code();
    assert_eq!(refused(world.amended("build it")), "invalid", "nothing is changed");
    assert_eq!(refused(for_agent(Who::OtherAgent, world.run)), "invalid");
    assert_eq!(refused(for_agent(Who::Agent, run_id(9))), "invalid");
    assert_eq!(refused(Amended { verdict: world.action().verdict.clone(), ..good() }), "invalid");
    let other_policy = verdict(good().action.digest(), Digest::of(b"other"), Tier::A);
    assert_eq!(refused(Amended { verdict: other_policy, ..good() }), "invalid");
    assert_eq!(refused(Amended { id: world.action, ..good() }), "exists");
    let mut crowded = world.clone();
    crowded.agent().proposes("read it").unwrap();
    let taken = crowded.action;
    crowded.action = world.action;
    assert_eq!(crowded.reviewer().amends_to(Amended { id: taken, ..good() }).unwrap_err().code(), "exists");
}

#[test]
fn b4_an_amendment_of_an_action_in_another_run_does_not_exist() {
    let mut world = pending("build it");
    let (seen, amended) = (world.action().review(), Box::new(world.amended("build a part of it")));
    let command = ActionCommand::Amend { seen, reason: "why not".to_owned(), amended };
    let (id, run) = (world.action, run_id(9));
    assert_eq!(world.submit(Who::Reviewer, Command::Action { id, run, command }).unwrap_err().code(), "unknown");
    assert!(!world.actions.contains_key(&action_id(1 << 64)));
}

/// Tiers and risks in hundredths, one for each step of a chain of amendments, and who makes it.
fn chains() -> impl Strategy<Value = Vec<(Tier, u8, Who)>> {
    let tier = prop::sample::select(vec![Tier::A, Tier::B, Tier::C, Tier::D]);
    let who = prop::sample::select(vec![Who::Reviewer, Who::SecondReviewer, Who::Creator]);
    prop::collection::vec((tier, 0u8..=100, who), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is made of a proposal, and by whom: the last author's yes is there exactly where it may be, nobody's is
    /// there twice, a refusal changes nothing, and only the end of the chain can be executed.
    #[test]
    fn b4_in_every_chain_of_amendments_each_yes_is_earned_and_only_the_last_one_lives(steps in chains()) {
        let mut world = pending("build it");
        for (number, (tier, hundredths, who)) in steps.into_iter().enumerate() {
            let (old, before) = (world.action().clone(), world.actions.clone());
            let amended = world.amended(&format!("build it otherwise, {number}"));
            let risk = f64::from(hundredths) / 100.0;
            let verdict = verdict_of_risk(amended.action.digest(), world.policy, tier, risk);
            let no_riskier = tier <= old.verdict.tier() && verdict.risk() <= old.verdict.risk();
            if world.by(who).amends_to(Amended { verdict, ..amended }).is_err() {
                prop_assert_eq!(&world.actions, &before);
                continue;
            }
            prop_assert_eq!(world.actions[&old.id].status, Status::Superseded);
            let new = world.action();
            let asked = usize::from(matches!(tier, Tier::B | Tier::C));
            prop_assert_eq!(new.approvals.len(), if no_riskier { asked } else { 0 });
            prop_assert!(tier != Tier::D);
            if !no_riskier && asked == 1 {
                prop_assert_eq!(world.by(who).approves(), Err(Refusal::Kin));
            }
        }
        let alive: Vec<_> = world.actions.values().filter(|action| !action.status.is_final()).collect();
        prop_assert_eq!(alive.len(), 1);
        prop_assert_eq!(alive[0].id, world.action);
    }
}
