//! Wishes: what cages were refused becomes a question, one for each host, and what a person grants has an end.

use placet_domain::refusal::Refusal;
use placet_domain::run::{Answer, MOST_WISHES, NetworkCommand, RunCommand, RunStatus};

use crate::people::Who;
use crate::scenario::World;
use crate::trials::{grant, wish};

fn open(world: &World) -> Vec<String> {
    world.run().granted(world.now).map(|wish| wish.opening.to_string()).collect()
}

fn reason() -> String {
    "for a reason".to_owned()
}

#[test]
fn c5_what_is_granted_is_open_until_its_end_and_the_scope_stays_as_it_is() {
    let mut world = World::new().with_run(RunStatus::Executing);
    let scope = world.run().scope.clone();
    world.worker().run(wish("a.test")).unwrap();
    assert!(open(&world).is_empty(), "nothing is open because somebody asked");
    let command = grant(world.run());
    world.reviewer().run(command).unwrap();
    assert_eq!(open(&world), ["https://a.test:443/"]);
    world.wait_ms(60_000);
    assert!(open(&world).is_empty(), "it has an end");
    assert_eq!(world.run().scope, scope);
    world.worker().run(wish("a.test")).unwrap();
    assert_eq!(world.run().network.wishes.len(), 2, "what is over may be asked again");
}

#[test]
fn c5_what_is_taken_back_or_rejected_is_closed_and_not_asked_again() {
    let mut world = World::new().with_run(RunStatus::Executing);
    world.worker().run(wish("a.test")).unwrap();
    let command = grant(world.run());
    world.reviewer().run(command).unwrap();
    world.operator().run(RunCommand::Network(NetworkCommand::Revoke { number: 1, reason: reason() })).unwrap();
    assert!(open(&world).is_empty());
    world.worker().run(wish("b.test")).unwrap();
    world.reviewer().run(RunCommand::Network(NetworkCommand::Reject { number: 2, reason: reason() })).unwrap();
    for host in ["a.test", "b.test"] {
        assert!(matches!(world.worker().run(wish(host)), Err(Refusal::Exists { .. })), "{host}");
    }
    for again in [
        RunCommand::Network(NetworkCommand::Revoke { number: 1, reason: reason() }),
        RunCommand::Network(NetworkCommand::Revoke { number: 2, reason: reason() }),
    ] {
        assert!(matches!(world.operator().run(again), Err(Refusal::NotNow { .. })));
    }
    assert!(matches!(world.run().wish(2).unwrap().answer, Answer::Rejected { .. }));
}

#[test]
fn an_agent_cannot_flood_whoever_decides() {
    let mut world = World::new().with_run(RunStatus::Executing);
    world.worker().run(wish("a.test")).unwrap();
    for path in ["", "b", "c"] {
        let again = RunCommand::Network(NetworkCommand::Wish {
            action: world.action,
            opening: format!("GET http://a.test:8080/{path}").parse().unwrap(),
        });
        assert!(
            matches!(world.worker().run(again), Err(Refusal::Exists { .. })),
            "what is wanted of a host is one wish"
        );
    }
    for number in 1..MOST_WISHES {
        world.worker().run(wish(&format!("host-{number}.test"))).unwrap();
    }
    assert!(matches!(world.worker().run(wish("one-more.test")), Err(Refusal::Invalid { .. })));
    let network =
        RunCommand::Network(NetworkCommand::Wish { action: world.action, opening: "10.0.0.0/8".parse().unwrap() });
    assert!(matches!(world.worker().run(network), Err(Refusal::Invalid { .. })), "a wish is about one address");
}

#[test]
fn b1_nobody_grants_but_an_independent_reviewer_on_what_was_seen() {
    let mut world = World::new().with_run(RunStatus::Executing);
    world.worker().run(wish("a.test")).unwrap();
    world.worker().run(wish("b.test")).unwrap();
    let command = grant(world.run());
    for who in [Who::Agent, Who::Worker, Who::Operator, Who::Creator, Who::Runtime] {
        assert!(world.by(who).run(command.clone()).is_err(), "{who:?}");
    }
    let RunCommand::Network(NetworkCommand::Grant { seen, lasts_ms, .. }) = command else { unreachable!("a grant") };
    let other = RunCommand::Network(NetworkCommand::Grant { number: 2, seen, lasts_ms });
    assert!(matches!(world.reviewer().run(other), Err(Refusal::Stale { .. })));
    for lasts_ms in [0, u64::MAX] {
        let endless = RunCommand::Network(NetworkCommand::Grant { number: 1, seen, lasts_ms });
        assert!(matches!(world.reviewer().run(endless), Err(Refusal::Invalid { .. })));
    }
    assert!(open(&world).is_empty());
}
