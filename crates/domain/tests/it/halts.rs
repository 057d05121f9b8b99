//! The switch that stops everything at once.

use placet_domain::action::ActionStatus;
use placet_domain::command::Command;
use placet_domain::evidence::Exit;
use placet_domain::organisation::OrganisationCommand;
use placet_domain::run::RunCommand;

use crate::people::Who;
use crate::scenario::World;

fn halt() -> Command {
    Command::Organisation(OrganisationCommand::Halt { reason: "something is wrong".to_owned() })
}

fn release() -> Command {
    Command::Organisation(OrganisationCommand::Release { reason: "it was nothing".to_owned() })
}

#[test]
fn d11_while_everything_is_stopped_nothing_begins_and_nothing_goes_on() {
    let mut world = World::new().with_action("build it", ActionStatus::Executing);
    world.submit(Who::Operator, halt()).unwrap();
    assert_eq!(world.worker().beats().unwrap_err().code(), "halted", "so its worker ends the cage");
    assert_eq!(world.agent().proposes("read it").unwrap_err().code(), "halted");
    let mut ready = World::new().with_action("build it", ActionStatus::Approved);
    ready.submit(Who::Reviewer, halt()).unwrap();
    let refusal = ready.worker().leases().unwrap_err();
    assert!(refusal.to_string().contains("something is wrong"), "{refusal}");
    ready.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
}

#[test]
fn d11_what_was_done_when_everything_was_stopped_is_still_recorded() {
    let mut world = World::new().with_action("build it", ActionStatus::Executing);
    world.submit(Who::Operator, halt()).unwrap();
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.status(), ActionStatus::Succeeded);
}

#[test]
fn d11_whoever_has_a_say_may_stop_everything_and_only_an_admin_lets_it_go_on() {
    for who in [Who::Agent, Who::Worker, Who::Auditor] {
        assert_eq!(World::new().submit(who, halt()).unwrap_err().code(), "role", "{who:?}");
    }
    let mut world = World::new();
    world.submit(Who::Reviewer, halt()).unwrap();
    assert_eq!(world.submit(Who::Operator, halt()).unwrap_err().code(), "not_now");
    assert_eq!(world.submit(Who::Reviewer, release()).unwrap_err().code(), "role");
    world.submit(Who::Admin, release()).unwrap();
    assert!(world.organisation.halt.is_none());
    assert_eq!(world.submit(Who::Admin, release()).unwrap_err().code(), "not_now");
}
