//! What a stranger finds in the entries beside signatures: whatever is of or by somebody who is not there, or who may not do it, and whatever was
//! executed before as many people approved it as were asked.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

use placet_domain::action::{ActionEvent, ActionStatus as Status, Resolution};
use placet_domain::command::{About, Command};
use placet_domain::id::IdentityId;
use placet_domain::identity::{IdentityCommand, IdentityEvent, Lineage, Reach, Role};
use placet_domain::passkey::{Passkey, What, Wrong};
use placet_domain::reason::StatusReason;
use placet_domain::record::{Event, Record};
use serde_json::json;

use crate::doors::{Told, entries, found};
use crate::passkeys::{digest, given_a_passkey, pending, person};
use crate::people::Who;
use crate::scenario::{World, project_id};

fn wrong(entries: Vec<Told>) -> Vec<Wrong> {
    found(entries).into_iter().map(|found| found.wrong).collect()
}

/// What a lying operator adds to an honest ledger.
fn also(world: &World, by: Option<IdentityId>, of: Who, event: IdentityEvent) -> Vec<Told> {
    let event = Event::Identity(of.id().unwrap(), event);
    let mut lying = entries(world);
    lying.push((99, world.now, by, Record { about: About::default(), event }));
    lying
}

fn link(world: &World) -> IdentityEvent {
    IdentityEvent::Invited { link: digest("l"), expires_at: world.now.plus_ms(60_000), signing: None }
}

fn added() -> IdentityEvent {
    let passkey: Passkey = serde_json::from_value(json!({
        "credential": "AQID", "key": "AQID", "name": "x", "site": "https://placet.example.org", "sign_count": 0,
    }))
    .unwrap();
    IdentityEvent::PasskeyAdded { passkey: Box::new(passkey), visit: digest("v"), signing: None }
}

fn removed() -> IdentityEvent {
    IdentityEvent::PasskeyRemoved { credential: "AQID".parse().unwrap(), signing: None }
}

fn password() -> IdentityEvent {
    IdentityEvent::PasswordSet { verifier: digest("w"), visit: digest("v"), signing: None }
}

fn token() -> IdentityEvent {
    IdentityEvent::TokenReplaced { token: digest("t"), signing: None }
}

fn registered(role: Role, reach: Reach, lineage: Lineage) -> IdentityEvent {
    IdentityEvent::Registered { name: "new".to_owned(), roles: [role].into(), reach, lineage, token: digest("t") }
}

fn revoke(world: &mut World, who: Who) {
    let command = IdentityCommand::Revoke;
    world.submit(Who::Admin, Command::Identity { id: who.id().unwrap(), command }).unwrap();
}

#[test]
fn b4_a_stranger_takes_nothing_of_or_by_whoever_was_revoked() {
    let mut world = pending("delete it");
    world.reviewer().approves().unwrap();
    let yes = world.ledger.last().unwrap().clone();
    let mut before = entries(&world);
    revoke(&mut world, Who::Reviewer);
    assert!(found(entries(&world)).is_empty());
    let admin = Who::Admin.id();
    for event in [link(&world), added(), removed(), password(), token(), IdentityEvent::CameBack] {
        assert_eq!(wrong(also(&world, admin, Who::Reviewer, event.clone())), [Wrong::Nobody], "{event:?}");
        let own = also(&world, Who::Reviewer.id(), Who::Reviewer, event.clone());
        assert_eq!(wrong(own), [Wrong::Nobody], "{event:?}");
    }
    // The approval was before; now it comes after.
    let (seq, at, by, _) = before.pop().unwrap();
    let mut after: Vec<Told> = entries(&world).into_iter().filter(|(.., record)| *record != yes).collect();
    after.push((seq, at, by, yes));
    assert_eq!(wrong(after), [Wrong::Nobody]);
    // An administrator who is over ends nobody and lets nobody in.
    revoke(&mut world, Who::Admin);
    for event in
        [link(&world), token(), IdentityEvent::Revoked, registered(Role::Admin, Reach::Everywhere, Lineage::default())]
    {
        let of = if event.meta().kind == "identity.registered" { Who::Child } else { Who::SecondReviewer };
        assert_eq!(wrong(also(&world, admin, of, event.clone())), [Wrong::Nobody], "{event:?}");
    }
}

#[test]
fn b4_ledger_check_counts_kin_approvals_once() {
    let mut world = pending("delete it");
    world.reviewer().approves().unwrap();
    world.second_reviewer().approves().unwrap();
    world.worker().leases().unwrap();
    assert!(found(entries(&world)).is_empty());
    // Rewrite the ledger so that the second reviewer is a child of the first.
    let lineage = Lineage::below(&world.identities[&Who::Reviewer.id().unwrap()]);
    for record in &mut world.ledger {
        if let Event::Identity(id, IdentityEvent::Registered { lineage: line, .. }) = &mut record.event
            && Some(*id) == Who::SecondReviewer.id()
        {
            line.clone_from(&lineage);
        }
    }
    assert_eq!(wrong(entries(&world)), [Wrong::Unapproved, Wrong::Unapproved], "approved, and leased");
}

#[test]
fn b4_a_stranger_takes_nothing_of_or_by_whoever_was_never_registered() {
    let mut world = pending("delete it");
    world.reviewer().approves().unwrap();
    let of = |record: &Record| matches!(record.event, Event::Identity(id, _) if Some(id) == Who::Reviewer.id());
    let without: Vec<Told> = entries(&world).into_iter().filter(|(.., record)| !of(record)).collect();
    assert_eq!(wrong(without), [Wrong::Nobody], "who approved it");
    // Of the agent's child the ledger of this world says nothing.
    let (child, admin) = (Who::Child.id(), Who::Admin.id());
    for event in [link(&world), added(), token()] {
        assert_eq!(wrong(also(&world, admin, Who::Child, event.clone())), [Wrong::Nobody], "{event:?}");
        assert_eq!(wrong(also(&world, child, Who::Reviewer, event.clone())), [Wrong::Nobody], "{event:?}");
    }
    let twice = registered(Role::Reviewer, Reach::Everywhere, Lineage::default());
    assert_eq!(wrong(also(&world, None, Who::Reviewer, twice)), [Wrong::MayNot], "registered a second time");
}

/// By the very rule by which it is decided.
#[test]
fn c16_a_stranger_knows_who_may_change_whose_doors() {
    let world = World::new();
    let everybody = [Who::Reviewer, Who::Admin, Who::SecondReviewer, Who::Stranger, Who::Runtime];
    let table = [
        (link(&world), [true, true, false, false, true]),
        (removed(), [true, true, false, false, true]),
        (token(), [false, true, false, false, true]),
        (password(), [true, false, false, false, false]),
        (added(), [true, false, false, false, false]),
    ];
    for (event, may) in table {
        for (by, may) in everybody.iter().zip(may) {
            let expected = if may { vec![] } else { vec![Wrong::MayNot] };
            let told = also(&world, by.id(), Who::Reviewer, event.clone());
            assert_eq!(wrong(told), expected, "{} by {by:?}", event.meta().kind);
        }
    }
    let told = found(also(&world, Who::SecondReviewer.id(), Who::Reviewer, link(&world)));
    assert!(told[0].to_string().ends_with("(link) is by somebody who may not do it"), "{}", told[0]);
}

#[test]
fn b1_a_stranger_knows_who_may_register_whom() {
    let world = World::new();
    let here = Reach::Only([project_id(2)].into());
    let own = Lineage::below(person(&world, Who::Operator));
    let (agent, admin, none) = (Role::Agent, Role::Admin, Lineage::default());
    let table = [
        (Who::Admin, registered(admin, Reach::Everywhere, none.clone()), true),
        (Who::Runtime, registered(admin, Reach::Everywhere, none.clone()), true),
        (Who::Stranger, registered(admin, here.clone(), none.clone()), true),
        (Who::Stranger, registered(admin, Reach::Everywhere, none.clone()), false),
        (Who::Reviewer, registered(admin, here.clone(), none.clone()), false),
        // With a run comes its agent, from whoever makes the run.
        (Who::Operator, registered(agent, here.clone(), own.clone()), true),
        (Who::Operator, registered(agent, here.clone(), none), false),
        (Who::Operator, registered(Role::Reviewer, here, own), false),
    ];
    for (by, event, may) in table {
        let expected = if may { vec![] } else { vec![Wrong::MayNot] };
        assert_eq!(wrong(also(&world, by.id(), Who::Child, event.clone())), expected, "{event:?} by {by:?}");
    }
}

#[test]
fn b4_a_stranger_takes_no_approval_of_whoever_does_not_decide_or_did_not_say_so() {
    let mut world = pending("build it");
    world.reviewer().approves().unwrap();
    let good = entries(&world);
    let at = good.iter().position(|(.., record)| record.kind() == "action.approved").unwrap();
    let mut another = good.clone();
    another[at].2 = Who::SecondReviewer.id();
    assert_eq!(wrong(another), [Wrong::MayNot], "in somebody's name");
    let mut operator = good;
    let mut body = operator[at].3.body();
    body["approval"]["reviewer"] = json!(Who::Operator.id().unwrap());
    operator[at].3 = Record::read(operator[at].3.about, "action.approved", body).unwrap();
    operator[at].2 = Who::Operator.id();
    assert_eq!(wrong(operator), [Wrong::MayNot], "no reviewer");
}

/// Two were asked, and both said yes; then a lying operator makes one of them.
#[test]
fn b4_a_stranger_misses_every_person_who_was_asked_and_did_not_approve() {
    let world = World::new().with_action("delete it", Status::Executing);
    let good = entries(&world);
    assert!(found(good.clone()).is_empty());
    let yes = |at: &usize| good[*at].3.kind() == "action.approved";
    let (first, last) = ((0..good.len()).find(yes).unwrap(), (0..good.len()).rfind(yes).unwrap());
    assert!(first < last);
    for left_out in [first, last] {
        let mut lying = good.clone();
        lying.remove(left_out);
        assert!(wrong(lying).contains(&Wrong::Unapproved), "one was left out");
    }
    let mut twice = good.clone();
    (twice[last].2, twice[last].3) = (twice[first].2, twice[first].3.clone());
    let told = found(twice);
    let kinds: Vec<&str> = told.iter().map(|found| kind(found.what)).collect();
    assert_eq!(kinds, ["job.leased", "permit.redeemed"], "one person is not two: {told:?}");
    assert!(told[0].to_string().ends_with("comes before as many people approved it as had to"));
    // What is tried again is approved again.
    let again =
        ActionEvent::Resolved { resolution: Resolution::Retry, reason: "x".to_owned(), deadline: world.now, by: None };
    let mut retried = good.clone();
    let about = good[last].3.about;
    retried.insert(last + 1, (98, world.now, None, Record { about, event: Event::Action(world.action, again) }));
    assert!(wrong(retried).contains(&Wrong::Unapproved));
    let mut unjudged = good;
    unjudged.retain(|(.., record)| record.kind() != "action.judged");
    assert!(wrong(unjudged).contains(&Wrong::Unapproved), "nobody was asked at all");
}

/// After the first entry of a kind comes what a lying operator puts there.
fn after(good: &[Told], kind: &str, world: &World, events: impl IntoIterator<Item = ActionEvent>) -> Vec<Told> {
    let at = good.iter().position(|(.., record)| record.kind() == kind).unwrap();
    let about = good[at].3.about;
    let added = |event| (98, world.now, None, Record { about, event: Event::Action(world.action, event) });
    let mut lying = good.to_vec();
    lying.splice(at + 1..at + 1, events.into_iter().map(added));
    lying
}

fn event_of(good: &[Told], kind: &str) -> ActionEvent {
    let told = |record: &Record| if let Event::Action(_, event) = &record.event { Some(event.clone()) } else { None };
    let found = good.iter().find_map(|(.., record)| told(record).filter(|event| event.meta().kind == kind));
    found.unwrap()
}

/// Whether nobody, one or two people were asked.
#[test]
fn b4_a_stranger_sees_that_one_approval_was_used_twice() {
    for kind in ["read it", "build it", "delete it"] {
        let world = World::new().with_action(kind, Status::Executing);
        let good = entries(&world);
        let (leased, redeemed) = (event_of(&good, "job.leased"), event_of(&good, "permit.redeemed"));
        let lapsed = |started| ActionEvent::LeaseLapsed { attempt: 1, started };
        let begun_again = [lapsed(true), leased.clone(), redeemed.clone()];
        assert_eq!(wrong(after(&good, "permit.redeemed", &world, begun_again)), [Wrong::Unapproved; 2], "{kind}");
        let judged_again = [event_of(&good, "action.judged"), leased.clone()];
        assert!(wrong(after(&good, "permit.redeemed", &world, judged_again)).contains(&Wrong::Unapproved), "{kind}");
        // What was never begun may be handed to another worker.
        assert!(wrong(after(&good, "job.leased", &world, [lapsed(false), leased])).is_empty(), "{kind}");
    }
}

#[test]
fn b4_a_stranger_sees_that_something_was_executed_which_was_over() {
    let world = World::new().with_action("build it", Status::Executing);
    let good = entries(&world);
    let (reviewer, review) = (Who::Reviewer.id().unwrap(), digest("r"));
    let reason = || "no".to_owned();
    let ends = [
        ActionEvent::Rejected { reviewer, review, reason: reason() },
        ActionEvent::Superseded { reviewer, review, by: world.action, reason: reason() },
        ActionEvent::Withdrawn { reason: StatusReason::said(reason()) },
        ActionEvent::DeadlineLapsed,
    ];
    for end in ends {
        let told = wrong(after(&good, "action.approved", &world, [end.clone()]));
        assert_eq!(told, [Wrong::Unapproved; 2], "leased and begun after {}", end.meta().kind);
    }
}

/// People sign the card of something harmless, and something else is done.
#[test]
fn b4_a_stranger_sees_that_something_else_was_judged_or_executed_than_was_proposed() {
    let world = World::new().with_action("build it", Status::Succeeded);
    let good = entries(&world);
    assert!(found(good.clone()).is_empty());
    let places = [("action.judged", "/verdict/action"), ("permit.redeemed", "/digest"), ("job.completed", "/executed")];
    for (kind, place) in places {
        let mut lying = good.clone();
        let (.., record) = lying.iter_mut().find(|(.., record)| record.kind() == kind).unwrap();
        let mut body = record.body();
        *body.pointer_mut(place).expect(place) = json!(digest("another"));
        *record = Record::read(record.about, kind, body).unwrap();
        assert!(wrong(lying).contains(&Wrong::OtherBytes), "{kind}");
    }
    let mut unproposed = good;
    unproposed.retain(|(.., record)| record.kind() != "action.proposed");
    assert!(wrong(unproposed).contains(&Wrong::OtherBytes));
}

fn kind(what: What) -> &'static str {
    match what {
        What::Permission { kind, .. } | What::Person { kind, .. } => kind,
        What::Approval { .. } => "approval",
        What::Door { change, .. } => change,
    }
}

/// What was denied is executed, and what needs nobody is executed without anybody.
#[test]
fn b4_a_stranger_follows_the_verdict() {
    let free = World::new().with_action("read it", Status::Executing);
    assert!(found(entries(&free)).is_empty());
    let mut denied = entries(&free);
    for (.., record) in &mut denied {
        if record.kind() == "action.judged" {
            let mut body = record.body();
            body["verdict"]["tier"] = json!("D");
            *record = Record::read(record.about, "action.judged", body).unwrap();
        }
    }
    assert!(wrong(denied).contains(&Wrong::Unapproved));
    let mut honest = World::new().with_action("delete it", Status::Interrupted);
    honest.reviewer().resolves(Resolution::Retry).unwrap();
    honest.second_reviewer().approves().unwrap();
    honest.worker().leases().unwrap();
    given_a_passkey(&mut honest, Who::Auditor);
    assert!(found(entries(&honest)).is_empty());
}
