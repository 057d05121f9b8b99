//! Modes: who is asked when, and how far actions go. No policy file can repeal them.

use placet_domain::action::ActionStatus;
use placet_domain::policy::Tier;
use placet_domain::proposal::ActionKind;
use placet_domain::run::{Effect, Mode, Posture, RunStatus, Treatment, Watch, watch};
use serde_json::json;

use crate::policy::Project;
use crate::scenario::World;

fn posture(mode: Mode, effect: Effect) -> Posture {
    Posture { mode, effect, ..Posture::default() }
}

fn tier(posture: &Posture, kind: ActionKind) -> Tier {
    Project::shipped().judge_in(posture, json!({"tool": kind.as_str(), "target": "www.example.org"})).tier()
}

#[test]
fn c2_in_supervised_mode_every_action_asks() {
    for kind in ActionKind::ALL {
        assert!(tier(&posture(Mode::Supervised, Effect::Execute), *kind) >= Tier::B, "{kind}");
    }
}

#[test]
fn c2_between_checkpoints_the_policy_decides_alone() {
    assert_eq!(tier(&posture(Mode::Checkpoint, Effect::Execute), ActionKind::CreateFile), Tier::A);
}

#[test]
fn c9_a_run_can_ask_before_kinds_that_are_configurable() {
    let mut asks = Posture::default();
    asks.gates.before.insert(ActionKind::CreateFile);
    assert_eq!(tier(&asks, ActionKind::CreateFile), Tier::B);
    assert!(asks.stops_before(ActionKind::CreateFile) && !asks.stops_before(ActionKind::ModifyFile));
}

#[test]
fn d11_a_run_that_observes_is_refused_whatever_may_change_something() {
    let observing = posture(Mode::Checkpoint, Effect::Observe);
    for kind in ActionKind::ALL {
        let expected = watch(*kind) != Watch::Monitored;
        assert_eq!(tier(&observing, *kind) == Tier::D, expected, "{kind}");
    }
}

#[test]
fn d11_a_dry_run_executes_nothing_and_a_simulation_nothing_that_others_notice() {
    let (dry, simulated) = (posture(Mode::Checkpoint, Effect::DryRun), posture(Mode::Simulation, Effect::Execute));
    let project = Project::shipped();
    for kind in ActionKind::ALL {
        let action = project.seal(json!({"tool": kind.as_str()}));
        let spec = action.spec();
        assert_eq!(dry.treatment(spec), Treatment::Rehearse, "{kind}");
        assert_eq!(simulated.treatment(spec) == Treatment::Rehearse, kind.reaches_others(), "{kind}");
        assert_eq!(Posture::default().treatment(spec), Treatment::Perform, "{kind}");
    }
}

#[test]
fn d11_code_that_reaches_others_is_rehearsed_in_a_simulation_and_refused_where_a_run_observes() {
    let proposal = json!({"tool": "sh", "arguments": ["true"], "network": ["www.example.org"]});
    let action = Project::shipped().seal(proposal.clone());
    assert_eq!(posture(Mode::Simulation, Effect::Execute).treatment(action.spec()), Treatment::Rehearse);
    assert_eq!(Project::shipped().judge_in(&posture(Mode::Checkpoint, Effect::Observe), proposal).tier(), Tier::D);
}

#[test]
fn c9_a_run_that_asks_before_new_sites_asks_before_code_that_reaches_any() {
    let mut asks = Posture::default();
    asks.gates.before.insert(ActionKind::NavigateNewDomain);
    let said = |network: &[&str]| {
        let proposal = json!({"tool": "sh", "arguments": ["true"], "network": network});
        let verdict = Project::shipped().judge_in(&asks, proposal);
        verdict.reasons().iter().any(|reason| reason.rule == "mode.new_domain")
    };
    assert!(said(&["www.example.org"]) && !said(&[]));
}

#[test]
fn c2_what_is_rehearsed_is_kept_and_never_leased_nor_asked_about() {
    let mut world = World::new();
    world.posture = posture(Mode::Simulation, Effect::Execute);
    let mut world = world.executing();
    world.agent().proposes("build and mail it").unwrap();
    assert_eq!((world.status(), world.run_status()), (ActionStatus::Rehearsed, RunStatus::Executing));
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
    assert_eq!(world.reviewer().approves().unwrap_err().code(), "not_now");
    world.agent().proposes("build it").unwrap();
    assert_eq!(world.status(), ActionStatus::PendingApproval, "what stays inside is executed, by the usual rules");
    world.agent().proposes("leak and mail it").unwrap();
    assert_eq!(world.status(), ActionStatus::Denied, "what is refused is not even rehearsed");
}

#[test]
fn c2_what_a_reviewer_makes_of_an_action_is_rehearsed_like_everything_else() {
    let mut world = World::new();
    world.posture = posture(Mode::Simulation, Effect::Execute);
    let mut world = world.executing();
    world.agent().proposes("delete it").unwrap();
    world.reviewer().amends("build and mail it").unwrap();
    assert_eq!((world.status(), world.run_status()), (ActionStatus::Rehearsed, RunStatus::Executing));
    assert!(world.action().approvals.is_empty(), "there is nothing to approve");
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
}

#[test]
fn c2_a_checkpoint_does_not_wait_for_what_is_only_rehearsed() {
    let mut world = World::new();
    world.posture = posture(Mode::Simulation, Effect::Execute);
    world.posture.gates.before.insert(ActionKind::ExecuteCode);
    let mut world = world.executing();
    world.agent().proposes("delete it").unwrap();
    assert_eq!(world.run_status(), RunStatus::CheckpointReached);
    world.reviewer().amends("build and mail it").unwrap();
    assert_eq!((world.status(), world.run_status()), (ActionStatus::Rehearsed, RunStatus::Executing));
    assert!(world.run().gate.is_none());
}

#[test]
fn c2_what_was_approved_with_a_plan_includes_how_it_is_carried_out() {
    let run = World::new().with_run(RunStatus::PendingApproval).run().clone();
    let mut other = run.clone();
    other.posture.mode = Mode::Simulation;
    assert_ne!(run.review(), other.review());
    let mut richer = World::new().governed().with_run(RunStatus::PendingApproval).run().clone();
    let seen = richer.review();
    richer.budget.as_mut().unwrap().ceiling.usd_micros = Some(u64::MAX);
    assert_ne!(richer.review(), seen);
}
