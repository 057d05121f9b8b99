//! Runs: locked scope, plans bound by digest, and people at every turn.

use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::identity::Role;
use placet_domain::refusal::Refusal;
use placet_domain::run::{RunCommand, RunCommandKind, RunStatus};

use crate::matrix::run_world;
use crate::people::Who;
use crate::scenario::{World, run_id};
use crate::trials::{RUN_TRIALS, run_command, run_worlds};

fn pass_gate_seen(seen: Digest) -> RunCommand {
    RunCommand::PassGate { seen, note: String::new(), plan: None }
}

#[test]
fn c10_who_sends_results_back_is_independent_and_decides_about_what_they_saw() {
    let mut world = World::new().with_run(RunStatus::PendingExport);
    let back = |world: &World| RunCommand::RejectResults { seen: world.run().review(), reason: "again".to_owned() };
    let first = back(&world);
    assert_eq!(world.by(Who::Creator).run(first.clone()), Err(Refusal::Kin), "the same run would go on by it");
    world.reviewer().run(first.clone()).unwrap();
    world.agent().run(RunCommand::Finish { summary: "otherwise".to_owned() }).unwrap();
    assert_eq!(world.reviewer().run(first).unwrap_err().code(), "stale");
    assert_eq!(world.run_status(), RunStatus::PendingExport);
}

#[test]
fn c8_an_approval_of_a_plan_is_bound_to_that_plan() {
    let mut world = World::new().with_run(RunStatus::PendingApproval);
    let first = world.run().review();
    world.reviewer().run(RunCommand::RejectPlan { reason: "too vague".to_owned() }).unwrap();
    world.by(Who::Creator).run(RunCommand::Submit { plan: vec!["delete everything".to_owned()] }).unwrap();
    let current = world.run().review();
    let old = RunCommand::ApprovePlan { seen: first };
    assert_eq!(world.reviewer().run(old), Err(Refusal::Stale { seen: first, current }));
    world.reviewer().approves_plan().unwrap();
}

#[test]
fn c8_the_plans_digest_covers_goal_plan_scope_agent_and_run() {
    let run = World::new().with_run(RunStatus::PendingApproval).run().clone();
    let mut changed = vec![run.clone(); 5];
    changed[0].goal.push('!');
    changed[1].plan.pop();
    changed[2].scope = placet_domain::scope::Scope::lock(placet_domain::scope::ScopeDraft::default());
    changed[3].agent = Who::OtherAgent.id().unwrap();
    changed[4].id = run_id(99);
    assert!(changed.iter().all(|other| other.review() != run.review()));
    let mut rephrased = run.clone();
    rephrased.plan = vec![run.plan.join("\",\"")];
    assert_ne!(rephrased.review(), run.review(), "two steps are not one step that looks like two");
}

#[test]
fn b4_the_creator_approves_neither_plan_nor_gate_nor_results() {
    let kinds = [RunCommandKind::ApprovePlan, RunCommandKind::PassGate, RunCommandKind::ApproveResults];
    for kind in kinds {
        let mut world = run_world(World::new(), kind);
        let command = run_command(&world, kind);
        assert_eq!(world.by(Who::Creator).run(command.clone()), Err(Refusal::Kin), "{kind:?}");
        world.reviewer().run(command).unwrap();
    }
}

#[test]
fn b4_who_wrote_the_plan_of_somebody_elses_run_does_not_approve_it() {
    let mut world = World::new();
    world.operator().creates_run(&[]).unwrap();
    world.by(Who::Creator).run(RunCommand::Submit { plan: vec!["my own idea".to_owned()] }).unwrap();
    assert_eq!(world.by(Who::Creator).approves_plan(), Err(Refusal::Kin));
    world.reviewer().approves_plan().unwrap();
}

#[test]
fn c1_the_clockwork_never_approves_starts_or_resumes() {
    use RunCommandKind as K;
    for kind in [
        K::ApprovePlan,
        K::RejectPlan,
        K::Start,
        K::PassGate,
        K::Resume,
        K::RollBack,
        K::ApproveResults,
        K::RejectResults,
    ] {
        let mut world = run_world(World::new(), kind);
        let command = run_command(&world, kind);
        assert_eq!(world.clockwork().run(command).unwrap_err().code(), "role", "{kind:?}");
    }
}

#[test]
fn c1_no_agent_decides_about_its_own_run() {
    use RunCommandKind as K;
    let theirs = [K::Attach, K::FinishStep, K::ReachGate, K::Finish, K::Fail];
    for trial in RUN_TRIALS.iter().filter(|trial| !theirs.contains(&trial.kind)) {
        let mut world = run_world(World::new(), trial.kind);
        let command = run_command(&run_world(World::new(), K::Submit), trial.kind);
        let refusal = world.agent().run(command).unwrap_err();
        assert_eq!(refusal.code(), "role", "{}", trial.label);
    }
}

#[test]
fn b2_no_command_changes_the_scope_agent_project_or_creator_of_a_run() {
    for (name, world) in run_worlds() {
        for trial in RUN_TRIALS {
            let (before, mut after) = (world.run().clone(), world.clone());
            let command = run_command(&world, trial.kind);
            if after.by(trial.usual).run(command).is_err() {
                continue;
            }
            let now = after.run();
            assert_eq!(now.scope, before.scope, "{} in {name}", trial.label);
            assert_eq!(
                (now.agent, now.project, now.authors.created_by),
                (before.agent, before.project, before.authors.created_by)
            );
            assert_eq!((now.separation, &now.goal), (before.separation, &before.goal));
        }
    }
}

#[test]
fn c8_each_transition_is_one_record() {
    for (name, world) in run_worlds() {
        for trial in RUN_TRIALS {
            let answer =
                world.ask(trial.usual, Command::Run { id: world.run, command: run_command(&world, trial.kind) });
            assert!(answer.is_err() || answer.is_ok_and(|records| records.len() == 1), "{} in {name}", trial.label);
        }
    }
}

#[test]
fn c8_a_pause_at_a_checkpoint_comes_back_to_the_checkpoint() {
    let mut world = World::new().with_run(RunStatus::CheckpointReached);
    world.operator().run(RunCommand::Pause { reason: "lunch".to_owned() }).unwrap();
    world.operator().run(RunCommand::Resume).unwrap();
    assert_eq!(world.run_status(), RunStatus::CheckpointReached, "a pause is no way around a decision");
}

#[test]
fn c8_nothing_follows_completion_or_cancellation() {
    for status in [RunStatus::Completed, RunStatus::Cancelled] {
        let world = World::new().with_run(status);
        for trial in RUN_TRIALS {
            for who in Who::ALL {
                let command = run_command(&world, trial.kind);
                assert!(
                    world.ask(*who, Command::Run { id: world.run, command }).is_err(),
                    "{} by {}",
                    trial.label,
                    who.name()
                );
            }
        }
    }
}

#[test]
fn c7_a_plan_has_steps_that_people_can_read() {
    let mut world = World::new().with_run(RunStatus::Draft);
    let plans =
        [vec![], vec![String::new()], vec![" \n".to_owned()], vec!["x".repeat(2_001)], vec!["x".to_owned(); 201]];
    for plan in plans {
        assert_eq!(world.by(Who::Creator).run(RunCommand::Submit { plan }).unwrap_err().code(), "invalid");
    }
}

#[test]
fn c8_reasons_are_asked_for_where_somebody_is_sent_back() {
    let mut world = World::new().with_run(RunStatus::PendingApproval);
    for reason in ["", " \t", &"x".repeat(2_001)] {
        let reject = RunCommand::RejectPlan { reason: reason.to_owned() };
        assert_eq!(world.reviewer().run(reject).unwrap_err().code(), "invalid");
    }
}

#[test]
fn b2_a_run_needs_its_project_and_takes_its_separation_of_duties() {
    let mut world = World::new();
    let mut nowhere = world.clone();
    nowhere.projects.clear();
    assert_eq!(nowhere.operator().run(world.new_run(&[])), Err(Refusal::Unknown { what: "project" }));
    let lax = World::single_operator().new_run(&[]);
    assert_eq!(world.operator().run(lax).unwrap_err().code(), "invalid");
    world.operator().creates_run(&[]).unwrap();
    assert_eq!(world.operator().creates_run(&[]), Err(Refusal::Exists { what: "run" }));
}

#[test]
fn c8_a_run_that_is_not_there_takes_no_command() {
    let world = World::new();
    for trial in RUN_TRIALS.iter().filter(|trial| trial.kind != RunCommandKind::Create) {
        let command = run_command(&World::new().with_run(RunStatus::Draft), trial.kind);
        let answer = world.ask(trial.usual, Command::Run { id: world.run, command });
        assert_eq!(answer, Err(Refusal::Unknown { what: "run" }), "{}", trial.label);
    }
}

#[test]
fn c11_a_failed_run_can_be_rolled_back_and_taken_up_again() {
    let mut world = World::new().governed().with_run(RunStatus::Failed);
    world.operator().run(RunCommand::RollBack { to: 0, reason: "start over".to_owned() }).unwrap();
    assert_eq!(world.operator().run(RunCommand::Resume), Err(Refusal::Role { needed: Role::Reviewer }));
    assert_eq!(world.reviewer().run(RunCommand::Resume).unwrap_err().code(), "not_now", "nothing is restored yet");
    world.host_catches_up();
    world.reviewer().run(RunCommand::Resume).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing);
}

#[test]
fn c10_a_yes_to_one_checkpoint_is_no_yes_to_the_next_nor_to_the_results() {
    let mut world = World::new().with_run(RunStatus::CheckpointReached);
    let first = world.run().review();
    world.reviewer().run(pass_gate_seen(first)).unwrap();
    // The same words again: still another checkpoint.
    let summary = "so far".to_owned();
    world.agent().run(RunCommand::ReachGate { summary: summary.clone() }).unwrap();
    let second = world.run().review();
    let again = pass_gate_seen(first);
    assert_eq!(world.reviewer().run(again), Err(Refusal::Stale { seen: first, current: second }));
    world.reviewer().run(pass_gate_seen(second)).unwrap();
    world.agent().run(RunCommand::Finish { summary }).unwrap();
    let results = RunCommand::ApproveResults { seen: second, chosen: None };
    assert!(matches!(world.reviewer().run(results), Err(Refusal::Stale { .. })));
}

#[test]
fn c10_a_pause_does_not_change_what_a_checkpoint_asks() {
    let mut world = World::new().with_run(RunStatus::CheckpointReached);
    let seen = world.run().review();
    world.operator().run(RunCommand::Pause { reason: "lunch".to_owned() }).unwrap();
    world.operator().run(RunCommand::Resume).unwrap();
    world.reviewer().run(pass_gate_seen(seen)).unwrap();
}
