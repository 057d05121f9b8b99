//! Four eyes: identities that descend from one another, or from one parent, count as one person where a second person is required.

use placet_domain::action::{ActionCommand, ActionStatus as Status};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::IdentityId;
use placet_domain::identity::{Actor, IdentityCommand, Reach, Role};
use placet_domain::refusal::Refusal;
use placet_domain::run::{RunCommand, RunCommandKind, RunStatus};
use uuid::Uuid;

use crate::matrix::run_world;
use crate::people::Who;
use crate::scenario::{Outcome, World};
use crate::trials::run_command;

/// Registers a reviewer who also operates, below a parent.
fn register(world: &mut World, number: u128, parent: IdentityId) -> IdentityId {
    let id = IdentityId::from_uuid(Uuid::from_u128(number));
    let command = IdentityCommand::Register {
        name: format!("relative {number}"),
        roles: [Role::Reviewer, Role::Operator].into(),
        reach: Reach::Everywhere,
        parent: Some(Box::new(world.identities[&parent].clone())),
        token: Digest::of(&number.to_be_bytes()),
    };
    world.submit(Who::Runtime, Command::Identity { id, command }).expect("a new identity");
    id
}

fn id(who: Who) -> IdentityId {
    who.id().expect("not the clockwork")
}

fn act(world: &mut World, who: IdentityId, command: ActionCommand) -> Outcome {
    let actor = Actor::Identity(world.identities[&who].clone());
    let command = Command::Action { id: world.action, run: world.run, command };
    world.submit_as(actor, command)
}

fn approve(world: &mut World, who: IdentityId) -> Outcome {
    let seen = world.action().review();
    act(world, who, ActionCommand::Approve { seen, proof: None })
}

fn run_as(world: &mut World, who: IdentityId, command: RunCommand) -> Outcome {
    let actor = Actor::Identity(world.identities[&who].clone());
    let command = Command::Run { id: world.run, command };
    world.submit_as(actor, command)
}

#[test]
fn b4_tier_c_kin_reviewers_count_as_one() {
    let mut world = World::new().with_action("delete it", Status::PendingApproval);
    let parent = id(Who::Reviewer);
    let (child, sibling) = (register(&mut world, 901, parent), register(&mut world, 902, parent));
    let grandchild = register(&mut world, 903, child);
    for (first, second) in [(parent, child), (child, parent), (child, sibling), (parent, grandchild)] {
        let mut world = world.clone();
        approve(&mut world, first).expect("the first approval");
        assert_eq!(approve(&mut world, second), Err(Refusal::SamePerson), "{first} then {second}");
        assert_eq!(world.status(), Status::PendingApproval);
        approve(&mut world, id(Who::SecondReviewer)).expect("somebody else's approval");
        assert_eq!(world.status(), Status::Approved);
    }
}

#[test]
fn b4_plan_author_kin_cannot_decide_on_run() {
    for kind in
        [RunCommandKind::ApprovePlan, RunCommandKind::PassGate, RunCommandKind::ApproveResults, RunCommandKind::Grant]
    {
        let mut world = run_world(World::new(), kind);
        let child = register(&mut world, 901, id(Who::Creator));
        let command = run_command(&world, kind);
        assert_eq!(run_as(&mut world, child, command.clone()), Err(Refusal::Kin), "{kind:?}");
        world.reviewer().run(command).expect("an independent reviewer");
    }
}

#[test]
fn b4_plan_author_cannot_decide_by_parent() {
    let mut world = World::new();
    let child = register(&mut world, 901, id(Who::SecondReviewer));
    let create = world.new_run(&["look"]);
    run_as(&mut world, child, create).expect("a run");
    assert_eq!(world.run_status(), RunStatus::PendingApproval);
    assert_eq!(world.second_reviewer().approves_plan(), Err(Refusal::Kin));
    world.reviewer().approves_plan().expect("an independent reviewer");
}
