//! Doors of those who have passkeys: every change is signed, by whoever makes it and for exactly that, as things are when it is decided; and
//! a stranger finds what was not.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

use placet_domain::action::{ActionCommand, ActionStatus as Status};
use placet_domain::command::{About, Command};
use placet_domain::id::IdentityId;
use placet_domain::identity::{DoorCommand, IdentityCommand, IdentityEvent};
use placet_domain::organisation::{OrganisationCommand, OrganisationEvent};
use placet_domain::passkey::{Change, Checked, Finding, LONGEST_QUESTION_MS, Proof, What, Wrong};
use placet_domain::record::{Event, Record};
use placet_domain::refusal::{PasskeyFlaw as Flaw, Refusal};
use placet_domain::time::Timestamp;

use crate::authenticator::Authenticator;
use crate::passkeys::{
    SITE, adds, adds_with, approves_with, changes, check, checked, comes_in, comes_in_by_passkey, digest, door,
    given_a_passkey, own, pending, person, proof, removes, signs,
};
use crate::people::Who;
use crate::scenario::{MINUTE_MS, Outcome, World};

type Signed = Option<Box<Proof>>;

fn invites(world: &mut World, by: Who, of: Who, proof: Signed) -> Outcome {
    let (link, expires_at) = (digest("a link"), world.now.plus_ms(60_000));
    door(world, by, of, DoorCommand::Invite { link, expires_at, proof })
}

fn replaces_token(world: &mut World, by: Who, of: Who, proof: Signed) -> Outcome {
    let command = IdentityCommand::ReplaceToken { token: digest("another token"), proof };
    world.submit(by, Command::Identity { id: of.id().unwrap(), command })
}

fn sets_password(world: &mut World, who: Who, visit: &str, proof: Signed) -> Outcome {
    own(world, who, DoorCommand::SetPassword { verifier: digest("words"), visit: digest(visit), proof })
}

fn ends_passkeys(world: &mut World, by: Who, of: Who) -> Outcome {
    door(world, by, of, DoorCommand::EndPasskeys { reason: "the phone fell into a lake".to_owned() })
}

fn unsigned(outcome: Outcome) {
    assert_eq!(outcome, Err(Refusal::DoorUnsigned));
}

fn flaw(outcome: Outcome) -> Flaw {
    match outcome {
        Err(Refusal::Passkey(flaw)) => flaw,
        other => panic!("{other:?}"),
    }
}

/// Somebody with a cookie, a token or a password of theirs, and an administrator who has no passkey.
#[test]
fn c16_nothing_gets_around_passkeys_without_one() {
    let mut world = World::new();
    let key = given_a_passkey(&mut world, Who::Reviewer);
    comes_in_by_passkey(&mut world, Who::Reviewer, &key, "v").unwrap();
    let before = world.ledger.len();
    for by in [Who::Reviewer, Who::Admin] {
        unsigned(invites(&mut world, by, Who::Reviewer, None));
        let remove = DoorCommand::RemovePasskey { credential: key.credential(), proof: None };
        unsigned(door(&mut world, by, Who::Reviewer, remove));
    }
    unsigned(replaces_token(&mut world, Who::Admin, Who::Reviewer, None));
    unsigned(sets_password(&mut world, Who::Reviewer, "v", None));
    unsigned(adds(&mut world, Who::Reviewer, &Authenticator::at(SITE), "v"));
    unsigned(ends_passkeys(&mut world, Who::Admin, Who::Reviewer));
    let tried: Vec<&str> = world.ledger[before..].iter().map(Record::kind).collect();
    assert_eq!(tried, ["refused"; 8], "that each was tried is recorded");
    assert_eq!(person(&world, Who::Reviewer).doors.passkeys().len(), 1);
    // Nobody is told more than before, and nobody waits to be ended.
    assert_eq!(invites(&mut world, Who::Stranger, Who::Reviewer, None), Err(Refusal::Unknown { what: "identity" }));
    let revoke = Command::Identity { id: Who::Reviewer.id().unwrap(), command: IdentityCommand::Revoke };
    world.submit(Who::Admin, revoke).unwrap();
    assert!(person(&world, Who::Reviewer).doors.passkeys().is_empty());
}

#[test]
fn c16_whoever_has_a_passkey_signs_the_change_and_what_was_signed_is_recorded() {
    let mut world = World::new();
    let (key, root) = (given_a_passkey(&mut world, Who::Reviewer), given_a_passkey(&mut world, Who::Admin));
    let sign = |world: &World, change| Some(changes(world, Who::Admin, Who::Reviewer, &root, change).unwrap());
    let link = sign(&world, Change::Link);
    let records = invites(&mut world, Who::Admin, Who::Reviewer, link).unwrap();
    assert!(records[0].body()["event"]["signing"]["assertion"]["signature"].is_string());
    comes_in_by_passkey(&mut world, Who::Reviewer, &key, "v").unwrap();
    let own = Some(changes(&world, Who::Reviewer, Who::Reviewer, &key, Change::Password).unwrap());
    sets_password(&mut world, Who::Reviewer, "v", own).unwrap();
    adds_with(&mut world, Who::Reviewer, &Authenticator::at(SITE), "v", Some(&key)).unwrap();
    removes(&mut world, Who::Admin, Who::Reviewer, &key, &root).unwrap();
    let token = sign(&world, Change::Token);
    replaces_token(&mut world, Who::Admin, Who::Reviewer, token).unwrap();
    assert!(person(&world, Who::Reviewer).doors.passkeys().is_empty(), "a new token ends them");
    assert_eq!(checked(&world), Checked { doors: 5, ..Checked::default() });
    // Whoever has none is let in as ever.
    invites(&mut world, Who::Admin, Who::Reviewer, None).unwrap();
}

/// Whoever has their token would come in as the other, add a passkey there, and sign.
#[test]
fn c16_whoever_has_passkeys_signs_what_lets_in_as_another_administrator() {
    let mut world = World::new();
    invites(&mut world, Who::Admin, Who::Stranger, None).unwrap();
    let root = given_a_passkey(&mut world, Who::Admin);
    unsigned(invites(&mut world, Who::Admin, Who::Stranger, None));
    unsigned(replaces_token(&mut world, Who::Admin, Who::Stranger, None));
    let sign = |world: &World, change| Some(changes(world, Who::Admin, Who::Stranger, &root, change).unwrap());
    let (link, token) = (sign(&world, Change::Link), sign(&world, Change::Token));
    invites(&mut world, Who::Admin, Who::Stranger, link).unwrap();
    let honest = entries(&world);
    replaces_token(&mut world, Who::Admin, Who::Stranger, token).unwrap();
    // They themselves, the host, and what is no administrator: as ever.
    for by in [Who::Stranger, Who::Runtime] {
        invites(&mut world, by, Who::Stranger, None).unwrap();
    }
    replaces_token(&mut world, Who::Admin, Who::Agent, None).unwrap();
    assert_eq!(checked(&world), Checked { doors: 2, ..Checked::default() });
    let mut lying = honest;
    let (about, mut body) = (lying.last().unwrap().3.about, lying.last().unwrap().3.body());
    body["event"].as_object_mut().unwrap().remove("signing").unwrap();
    lying.last_mut().unwrap().3 = Record::read(about, "identity.invited", body).unwrap();
    assert_eq!(found(lying).into_iter().map(|found| found.wrong).collect::<Vec<_>>(), [Wrong::Unsigned]);
}

#[test]
fn c16_an_answer_changes_this_door_of_this_person_by_this_person_once() {
    let mut world = World::new();
    let (key, root) = (given_a_passkey(&mut world, Who::Reviewer), given_a_passkey(&mut world, Who::Admin));
    given_a_passkey(&mut world, Who::SecondReviewer);
    let link = |world: &World| changes(world, Who::Admin, Who::Reviewer, &root, Change::Link).unwrap();
    let given = link(&world);
    let other_door = replaces_token(&mut world, Who::Admin, Who::Reviewer, Some(given.clone()));
    assert_eq!(flaw(other_door), Flaw::OtherChallenge);
    let other_person = invites(&mut world, Who::Admin, Who::SecondReviewer, Some(given.clone()));
    assert_eq!(flaw(other_person), Flaw::OtherChallenge);
    assert_eq!(flaw(invites(&mut world, Who::Reviewer, Who::Reviewer, Some(given.clone()))), Flaw::Unknown);
    let own = changes(&world, Who::Reviewer, Who::Reviewer, &key, Change::Link).unwrap();
    assert_eq!(flaw(invites(&mut world, Who::Admin, Who::Reviewer, Some(own))), Flaw::Unknown);
    let another = Change::Remove { credential: Authenticator::at(SITE).credential() };
    let another = Some(changes(&world, Who::Admin, Who::Reviewer, &root, another).unwrap());
    let remove = DoorCommand::RemovePasskey { credential: key.credential(), proof: another };
    assert_eq!(flaw(door(&mut world, Who::Admin, Who::Reviewer, remove)), Flaw::OtherChallenge);
    let mut later = world.clone();
    later.wait_ms(i64::try_from(LONGEST_QUESTION_MS).unwrap() + 1);
    assert_eq!(flaw(invites(&mut later, Who::Admin, Who::Reviewer, Some(given.clone()))), Flaw::Late);
    invites(&mut world, Who::Admin, Who::Reviewer, Some(given)).unwrap();
}

/// One was shown, and another is sent along with the signature.
#[test]
fn c16_a_new_passkey_is_the_one_that_was_signed() {
    let mut world = World::new();
    let key = given_a_passkey(&mut world, Who::Reviewer);
    comes_in_by_passkey(&mut world, Who::Reviewer, &key, "v").unwrap();
    let signed = Change::Add { passkey: digest("the one that was shown") };
    let proof = Some(changes(&world, Who::Reviewer, Who::Reviewer, &key, signed).unwrap());
    let question = crate::passkeys::asked(
        &world,
        placet_domain::passkey::Purpose::Register { person: Who::Reviewer.id().unwrap() },
    );
    let made = Authenticator::at(SITE).creates(question.challenge().as_bytes());
    let attested = Box::new(made.attest(question, SITE.parse().unwrap()).unwrap());
    let add = DoorCommand::AddPasskey { attested, name: "x".to_owned(), visit: digest("v"), proof };
    assert_eq!(flaw(own(&mut world, Who::Reviewer, add)), Flaw::OtherChallenge);
}

/// A request was let in, and before it is decided its person gets or loses a passkey.
#[test]
fn b4_passkeys_count_as_they_are_when_it_is_decided() {
    let mut world = pending("delete it");
    let approve = |world: &World| Command::Action {
        id: world.action,
        run: world.run,
        command: ActionCommand::Approve { seen: world.action().review(), proof: None },
    };
    let let_in_without = world.actor(Who::Reviewer);
    let key = given_a_passkey(&mut world, Who::Reviewer);
    let command = approve(&world);
    assert_eq!(world.submit_as(let_in_without, command), Err(Refusal::PasskeyNeeded), "added meanwhile");

    let (let_in_with, signed) = (world.actor(Who::Reviewer), proof(&world, Who::Reviewer, &key).unwrap());
    removes(&mut world, Who::Reviewer, Who::Reviewer, &key, &key).unwrap();
    let seen = world.action().review();
    let command = Command::Action {
        id: world.action,
        run: world.run,
        command: ActionCommand::Approve { seen, proof: Some(Box::new(signed)) },
    };
    assert_eq!(flaw(world.submit_as(let_in_with.clone(), command)), Flaw::Unknown, "removed meanwhile");
    let command = approve(&world);
    world.submit_as(let_in_with, command).unwrap();

    let root = given_a_passkey(&mut world, Who::Admin);
    given_a_passkey(&mut world, Who::SecondReviewer);
    let let_in = world.actor(Who::Admin);
    let link = Some(changes(&world, Who::Admin, Who::SecondReviewer, &root, Change::Link).unwrap());
    removes(&mut world, Who::Admin, Who::Admin, &root, &root).unwrap();
    let (id, expires_at) = (Who::SecondReviewer.id().unwrap(), world.now.plus_ms(60_000));
    let invite = DoorCommand::Invite { link: digest("l"), expires_at, proof: link };
    let command = Command::Identity { id, command: IdentityCommand::Door(invite) };
    assert_eq!(flaw(world.submit_as(let_in, command)), Flaw::Unknown, "the administrator's, meanwhile");
}

#[test]
fn c16_a_key_that_counts_has_counted_on_by_changing_anothers_door() {
    let mut world = World::new();
    given_a_passkey(&mut world, Who::Reviewer);
    let mut root = given_a_passkey(&mut world, Who::Admin);
    root.count = 3;
    let link = Some(changes(&world, Who::Admin, Who::Reviewer, &root, Change::Link).unwrap());
    let records = invites(&mut world, Who::Admin, Who::Reviewer, link).unwrap();
    let kinds: Vec<&str> = records.iter().map(Record::kind).collect();
    assert_eq!(kinds, ["identity.invited", "identity.passkey_used"]);
    assert_eq!(person(&world, Who::Admin).doors.passkeys()[0].sign_count, 3);
    assert_eq!(person(&world, Who::Reviewer).doors.passkeys()[0].sign_count, 0);
    assert!(changes(&world, Who::Admin, Who::Reviewer, &root, Change::Link).is_err(), "a copy");
}

#[test]
fn c16_where_all_are_lost_the_host_ends_them_and_everything_begins_anew() {
    let mut world = World::new();
    let key = given_a_passkey(&mut world, Who::Reviewer);
    comes_in_by_passkey(&mut world, Who::Reviewer, &key, "v").unwrap();
    let nothing = door(&mut world, Who::Runtime, Who::Reviewer, DoorCommand::EndPasskeys { reason: String::new() });
    assert_eq!(nothing.unwrap_err().code(), "invalid", "without a reason");
    let remove = DoorCommand::RemovePasskey { credential: key.credential(), proof: None };
    unsigned(door(&mut world, Who::Runtime, Who::Reviewer, remove));
    ends_passkeys(&mut world, Who::Runtime, Who::Reviewer).unwrap();
    let after = person(&world, Who::Reviewer);
    assert!(after.doors.passkeys().is_empty() && after.doors.visits(world.now).count() == 0);
    assert_eq!(ends_passkeys(&mut world, Who::Runtime, Who::Reviewer).unwrap_err().code(), "not_now");
    comes_in(&mut world, Who::Reviewer, "again");
    adds(&mut world, Who::Reviewer, &Authenticator::at(SITE), "again").unwrap();
    assert_eq!(checked(&world), Checked { ended_on_host: 1, ..Checked::default() });
}

/// An entry: its number, when it was written, who did it, and what.
pub(crate) type Told = (u64, Timestamp, Option<IdentityId>, Record);

/// What a stranger reads.
pub(crate) fn entries(world: &World) -> Vec<Told> {
    let all = world.ledger.iter().zip(&world.times).zip(&world.actors).zip(0..);
    all.map(|(((record, at), by), seq)| (seq, *at, *by, record.clone())).collect()
}

pub(crate) fn found(entries: Vec<Told>) -> Vec<Finding> {
    check(entries.into_iter()).findings
}

/// A lying operator takes the signature out of one entry after the other, and each is missed.
#[test]
fn b4_a_stranger_misses_every_signature_that_was_left_out() {
    let mut world = pending("delete it");
    let (key, root) = (given_a_passkey(&mut world, Who::Reviewer), given_a_passkey(&mut world, Who::Admin));
    signs(&mut world, Who::Reviewer, &key).unwrap();
    let link = Some(changes(&world, Who::Admin, Who::Reviewer, &root, Change::Link).unwrap());
    invites(&mut world, Who::Admin, Who::Reviewer, link).unwrap();
    comes_in_by_passkey(&mut world, Who::Reviewer, &key, "v").unwrap();
    let word = Some(changes(&world, Who::Reviewer, Who::Reviewer, &key, Change::Password).unwrap());
    sets_password(&mut world, Who::Reviewer, "v", word).unwrap();
    adds_with(&mut world, Who::Reviewer, &Authenticator::at(SITE), "v", Some(&key)).unwrap();
    removes(&mut world, Who::Admin, Who::Reviewer, &key, &root).unwrap();
    let token = Some(changes(&world, Who::Admin, Who::Reviewer, &root, Change::Token).unwrap());
    replaces_token(&mut world, Who::Admin, Who::Reviewer, token).unwrap();
    assert_eq!(checked(&world), Checked { signed: 1, doors: 5, ..Checked::default() });

    let mut missed = Vec::new();
    for at in 0..world.ledger.len() {
        let mut lying = entries(&world);
        let (about, kind, mut body) = (lying[at].3.about, lying[at].3.kind(), lying[at].3.body());
        let place = if kind == "action.approved" { &mut body["approval"] } else { &mut body["event"] };
        let Some(was) = place.as_object_mut().and_then(|place| place.remove("signing")) else { continue };
        assert!(was["assertion"].is_object());
        lying[at].3 = Record::read(about, kind, body).unwrap();
        let [finding] = &found(lying)[..] else { panic!("{kind}") };
        assert_eq!((finding.seq, finding.wrong), (at as u64, Wrong::Unsigned), "{kind}");
        assert!(finding.to_string().contains("is not signed by a passkey, and had to be"));
        missed.push(kind);
    }
    let kinds = [
        "action.approved",
        "identity.invited",
        "identity.password_set",
        "identity.passkey_added",
        "identity.passkey_removed",
        "identity.token_replaced",
    ];
    assert_eq!(missed, kinds);
}

#[test]
fn b4_a_stranger_knows_who_had_to_sign_from_the_entries_alone() {
    let unsigned_by = |world: &World, who: Who| {
        let found = found(entries(world));
        let by = |finding: &Finding| match finding.what {
            What::Approval { reviewer, .. } => reviewer,
            What::Door { of, .. } | What::Person { of, .. } => of,
            What::Permission { .. } => panic!("{finding}"),
        };
        assert_eq!(found.iter().map(by).collect::<Vec<_>>(), [who.id().unwrap()], "{found:?}");
        assert_eq!(found[0].wrong, Wrong::Unsigned);
    };
    // Nobody had one, and nobody demanded it.
    let mut world = pending("delete it");
    world.reviewer().approves().unwrap();
    assert_eq!(checked(&world), Checked::default());
    let approved = world.ledger.iter().position(|record| record.kind() == "action.approved").unwrap();
    let first = entries(&world);

    // It was demanded before, as a lying operator wishes it had not been.
    let event = OrganisationEvent::PasskeysDemanded { by: None, reason: "an audit".to_owned() };
    let demanded = Record { about: About::default(), event: Event::Organisation(event) };
    let mut lying = first.clone();
    lying.insert(approved, (0, world.now, None, demanded.clone()));
    assert_eq!(found(lying.clone())[0].wrong, Wrong::Unsigned);
    let released = OrganisationEvent::PasskeysReleased { reason: "over".to_owned() };
    let released = Record { event: Event::Organisation(released), ..demanded };
    lying.insert(approved + 1, (0, world.now, None, released));
    assert!(found(lying).is_empty(), "and no longer is");

    // The reviewer had one, and the entry says nothing of it.
    let mut other = pending("delete it");
    given_a_passkey(&mut other, Who::Reviewer);
    let (seq, at, by, record) = first[approved].clone();
    let Event::Action(_, event) = record.event else { panic!("an approval") };
    other.ledger.push(Record { event: Event::Action(other.action, event), ..record });
    other.times.push(at);
    other.actors.push(by);
    unsigned_by(&other, Who::Reviewer);
    assert!(seq > 0);

    // One person is asked: nothing is missed.
    let mut one = pending("build it");
    given_a_passkey(&mut one, Who::Reviewer);
    one.reviewer().approves().unwrap();
    assert_eq!((one.status(), checked(&one)), (Status::Approved, Checked::default()));
}

#[test]
fn b4_a_stranger_takes_no_signature_of_another_moment_or_another_person() {
    let mut world = pending("delete it");
    let (key, root) = (given_a_passkey(&mut world, Who::Reviewer), given_a_passkey(&mut world, Who::Admin));
    let signed = proof(&world, Who::Reviewer, &key).unwrap();
    approves_with(&mut world, Who::Reviewer, signed).unwrap();
    let link = Some(changes(&world, Who::Admin, Who::Reviewer, &root, Change::Link).unwrap());
    invites(&mut world, Who::Admin, Who::Reviewer, link).unwrap();
    let good = entries(&world);
    let at = |kind: &str| good.iter().rposition(|(.., record)| record.kind() == kind).unwrap();
    let wrong = |entries| found(entries).into_iter().map(|found| found.wrong).collect::<Vec<_>>();
    let mut late = good.clone();
    late[at("action.approved")].1 = world.now.plus_ms(LONGEST_QUESTION_MS + 1);
    assert_eq!(wrong(late), [Wrong::False(Flaw::Late)], "kept for later");
    for by in [Who::SecondReviewer.id(), Who::Runtime.id()] {
        let mut other = good.clone();
        other[at("identity.invited")].2 = by;
        assert_eq!(wrong(other), [Wrong::False(Flaw::Unknown)], "said to be of {by:?}");
    }
    // As an administrator, and not the host, ended them.
    let mut ended = good.clone();
    let event = IdentityEvent::PasskeysEnded { reason: "lost".to_owned() };
    let event = Event::Identity(Who::Reviewer.id().unwrap(), event);
    ended.push((99, world.now, Who::Admin.id(), Record { about: About::default(), event }));
    assert_eq!(wrong(ended), [Wrong::Unsigned]);
}

#[test]
fn c16_passkeys_demanded_lock_nobody_out_who_has_none_yet() {
    let mut world = World::new();
    let demand = OrganisationCommand::DemandPasskeys { reason: "an audit".to_owned() };
    world.submit(Who::Admin, Command::Organisation(demand)).unwrap();
    let root = given_a_passkey(&mut world, Who::Admin);
    world.wait_ms(30 * MINUTE_MS);
    removes(&mut world, Who::Admin, Who::Admin, &root, &root).unwrap();
    comes_in(&mut world, Who::Admin, "again");
    adds(&mut world, Who::Admin, &Authenticator::at(SITE), "again").unwrap();
}
