//! Passkeys: what lets in and what signs, by every flaw that an answer can have; and what a stranger finds out from the ledger alone.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

use placet_domain::action::{ActionCommand, ActionStatus as Status, Resolution};
use placet_domain::command::Command;
use placet_domain::deciding::Outcome as Decided;
use placet_domain::digest::Digest;
use placet_domain::id::IdentityId;
use placet_domain::identity::{DoorCommand, Entrance, Identity, IdentityCommand};
use placet_domain::organisation::OrganisationCommand;
use placet_domain::passkey::{
    Assertion, Change, Checked, Checker, Creation, Encoded, LONGEST_QUESTION_MS, Passkey, Proof, Purpose, Question,
    Told, Wrong,
};
use placet_domain::record::{Event, Record};
use placet_domain::refusal::{PasskeyFlaw as Flaw, Refusal};
use placet_domain::time::Timestamp;
use serde_json::{Value, json};

use crate::authenticator::{Authenticator, PRESENT, VERIFIED, encoded};
use crate::deciding::noted;
use crate::people::Who;
use crate::scenario::{MINUTE_MS, Outcome, World};

pub(crate) const SITE: &str = "http://localhost:7070";

pub(crate) fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

fn nonce(number: u8) -> Encoded {
    encoded(&[number; 16])
}

pub(crate) fn door(world: &mut World, by: Who, of: Who, command: DoorCommand) -> Outcome {
    let (id, command) = (of.id().unwrap(), IdentityCommand::Door(command));
    world.submit(by, Command::Identity { id, command })
}

pub(crate) fn own(world: &mut World, who: Who, command: DoorCommand) -> Outcome {
    door(world, who, who, command)
}

pub(crate) fn person(world: &World, who: Who) -> &Identity {
    &world.identities[&who.id().unwrap()]
}

/// Comes in by a link.
pub(crate) fn comes_in(world: &mut World, who: Who, visit: &str) {
    let (link, expires_at) = (digest(&format!("link to {visit}")), world.now.plus_ms(60_000));
    own(world, who, DoorCommand::Invite { link, expires_at, proof: None }).unwrap();
    let by = Entrance::Link { link };
    own(world, who, DoorCommand::Enter { visit: digest(visit), by, expires_at: world.now.plus_ms(3_600_000) }).unwrap();
}

pub(crate) fn asked(world: &World, purpose: Purpose) -> Question {
    Question { purpose, asked_at: world.now, nonce: nonce(world.ledger.len() as u8) }
}

pub(crate) fn adds(world: &mut World, who: Who, new: &Authenticator, visit: &str) -> Outcome {
    adds_with(world, who, new, visit, None)
}

/// Adds one, signed with another.
pub(crate) fn adds_with(
    world: &mut World,
    who: Who,
    new: &Authenticator,
    visit: &str,
    signer: Option<&Authenticator>,
) -> Outcome {
    let question = asked(world, Purpose::Register { person: who.id().unwrap() });
    let made = new.creates(question.challenge().as_bytes());
    let attested = Box::new(made.attest(question, SITE.parse().unwrap()).unwrap());
    let name = "blue key".to_owned();
    let change = Change::adding(&attested.named(&name));
    let proof = signer.map(|signer| changes(world, who, who, signer, change)).transpose()?;
    own(world, who, DoorCommand::AddPasskey { attested, name, visit: digest(visit), proof })
}

/// What proves that somebody's passkey signed a change of a door.
pub(crate) fn changes(
    world: &World,
    by: Who,
    of: Who,
    signer: &Authenticator,
    change: Change,
) -> Result<Box<Proof>, Flaw> {
    let question = asked(world, Purpose::Change { by: by.id().unwrap(), of: of.id().unwrap(), change });
    let assertion = signer.signs(question.challenge().as_bytes());
    person(world, by).prove(question, assertion).map(Box::new)
}

/// Has one taken away, signed with another or the same.
pub(crate) fn removes(world: &mut World, by: Who, of: Who, gone: &Authenticator, signer: &Authenticator) -> Outcome {
    let credential = gone.credential();
    let proof = Some(changes(world, by, of, signer, Change::Remove { credential: credential.clone() })?);
    door(world, by, of, DoorCommand::RemovePasskey { credential, proof })
}

/// A passkey of somebody who has none, made from a visit that has just begun.
pub(crate) fn given_a_passkey(world: &mut World, who: Who) -> Authenticator {
    let authenticator = Authenticator::at(SITE);
    comes_in(world, who, who.name());
    adds(world, who, &authenticator, who.name()).unwrap();
    authenticator
}

pub(crate) fn comes_in_by_passkey(world: &mut World, who: Who, authenticator: &Authenticator, visit: &str) -> Outcome {
    let question = asked(world, Purpose::Enter);
    let assertion = authenticator.signs(question.challenge().as_bytes());
    let proof = Box::new(person(world, who).prove(question, assertion)?);
    let expires_at = world.now.plus_ms(3_600_000);
    own(world, who, DoorCommand::EnterByPasskey { visit: digest(visit), proof, expires_at })
}

/// What is asked of whoever approves what stands in the world.
fn about_it(world: &World, who: Who) -> Question {
    let person = who.id().unwrap();
    asked(world, Purpose::Approve { person, action: world.action, review: world.action().review() })
}

pub(crate) fn proof(world: &World, who: Who, authenticator: &Authenticator) -> Result<Proof, Flaw> {
    let question = about_it(world, who);
    let assertion = authenticator.signs(question.challenge().as_bytes());
    person(world, who).prove(question, assertion)
}

pub(crate) fn approves_with(world: &mut World, who: Who, proof: Proof) -> Outcome {
    let seen = world.action().review();
    world.by(who).act(ActionCommand::Approve { seen, proof: Some(Box::new(proof)) })
}

pub(crate) fn signs(world: &mut World, who: Who, authenticator: &Authenticator) -> Outcome {
    let proof = proof(world, who, authenticator)?;
    approves_with(world, who, proof)
}

pub(crate) fn pending(words: &str) -> World {
    World::new().with_action(words, Status::PendingApproval)
}

#[test]
fn b4_where_two_people_are_asked_whoever_has_a_passkey_signs_with_it_and_both_are_recorded() {
    let mut world = pending("delete it");
    let (first, second) =
        (given_a_passkey(&mut world, Who::Reviewer), given_a_passkey(&mut world, Who::SecondReviewer));
    assert_eq!(world.reviewer().approves(), Err(Refusal::PasskeyNeeded));
    assert_eq!(world.ledger.last().unwrap().body()["code"], "passkey_needed", "that it was tried is recorded");
    signs(&mut world, Who::Reviewer, &first).unwrap();
    assert_eq!(world.second_reviewer().approves(), Err(Refusal::PasskeyNeeded));
    signs(&mut world, Who::SecondReviewer, &second).unwrap();
    assert_eq!(world.status(), Status::Approved);
    assert!(world.action().approvals.iter().all(|approval| approval.signing.is_some()));
    assert_eq!(checked(&world), Checked { signed: 2, ..Checked::default() });
}

#[test]
fn c17_who_changes_something_and_signs_it_then_has_decided_twice() {
    let mut world = pending("delete it");
    let key = given_a_passkey(&mut world, Who::Reviewer);
    world.reviewer().amends("delete less of it").unwrap();
    assert!(world.action().approvals.is_empty(), "a passkey signs what stands then");
    signs(&mut world, Who::Reviewer, &key).unwrap();
    let told: Vec<_> = noted(&world).iter().map(|one| (one.outcome, one.reviewer)).collect();
    let who = Who::Reviewer.id();
    assert_eq!(told, [(Decided::Amended, who), (Decided::Approved, who)]);
}

#[test]
fn b4_who_has_no_passkey_approves_as_ever_until_passkeys_are_demanded_of_everybody() {
    let demand =
        |reason: &str| Command::Organisation(OrganisationCommand::DemandPasskeys { reason: reason.to_owned() });
    let release = Command::Organisation(OrganisationCommand::ReleasePasskeys { reason: "enough".to_owned() });
    let mut world = pending("delete it");
    world.reviewer().approves().unwrap();
    assert_eq!(world.submit(Who::Reviewer, demand("an audit")).unwrap_err().code(), "role");
    assert_eq!(world.submit(Who::Admin, demand("")).unwrap_err().code(), "invalid", "without a reason");
    world.submit(Who::Admin, demand("an audit")).unwrap();
    assert_eq!(world.submit(Who::Admin, demand("again")).unwrap_err().code(), "not_now");
    assert_eq!(world.second_reviewer().approves(), Err(Refusal::PasskeyNeeded));
    world.submit(Who::Admin, release.clone()).unwrap();
    assert_eq!(world.submit(Who::Admin, release).unwrap_err().code(), "not_now");
    world.second_reviewer().approves().unwrap();
    assert_eq!(world.status(), Status::Approved);
}

#[test]
fn b4_one_persons_decisions_take_no_passkey_and_neither_does_a_no() {
    let mut world = pending("build it");
    given_a_passkey(&mut world, Who::Reviewer);
    world.reviewer().approves().unwrap();
    let mut world = pending("delete it");
    given_a_passkey(&mut world, Who::Reviewer);
    world.reviewer().rejects("no").unwrap();
}

/// Three ways in which a yes comes along with something else. Where it takes a passkey, it does not.
#[test]
fn b4_no_yes_comes_along_unsigned_with_an_amendment_a_retry_or_a_performance() {
    let mut world = pending("delete it");
    let key = given_a_passkey(&mut world, Who::Reviewer);
    world.reviewer().amends("delete it otherwise").unwrap();
    assert!(world.action().approvals.is_empty(), "an amender's own yes");
    signs(&mut world, Who::Reviewer, &key).unwrap();
    assert_eq!(world.action().approvals.len(), 1, "is given on what stands then");

    let mut world = World::new().with_action("delete it", Status::Interrupted);
    given_a_passkey(&mut world, Who::Reviewer);
    world.reviewer().resolves(Resolution::Retry).unwrap();
    assert!(world.action().approvals.is_empty(), "a retry");

    let mut world = World::with_rehearsed("delete and mail it").at_results();
    given_a_passkey(&mut world, Who::Reviewer);
    world.reviewer().performs().unwrap();
    assert!(world.action().approvals.is_empty(), "a performance");
}

#[test]
fn b4_every_flaw_of_an_answer_is_refused() {
    let mut world = pending("delete it");
    let key = given_a_passkey(&mut world, Who::Reviewer);
    let question = about_it(&world, Who::Reviewer);
    let challenge = *question.challenge().as_bytes();
    let reviewer = person(&world, Who::Reviewer).clone();
    let proves = |assertion: Assertion| reviewer.prove(question.clone(), assertion).map(drop);
    assert_eq!(proves(key.signs(&challenge)), Ok(()));
    let lying = |change: fn(&mut Authenticator)| {
        let mut world = pending("delete it");
        let mut key = given_a_passkey(&mut world, Who::Reviewer);
        change(&mut key);
        proof(&world, Who::Reviewer, &key).map(drop)
    };
    for (change, flaw, what) in [
        ((|key| key.origin = "https://localhost:7070".into()) as fn(&mut Authenticator), Flaw::OtherSite, "scheme"),
        (|key| key.origin = "http://localhost:7071".into(), Flaw::OtherSite, "port"),
        (|key| key.origin = "http://evil.example".into(), Flaw::OtherSite, "site"),
        (|key| key.cross_origin = true, Flaw::OtherSite, "inside of another page"),
        (|key| key.rp_id = "evil.example".into(), Flaw::OtherSite, "signed for another site"),
        (|key| key.flags = PRESENT, Flaw::NoPerson, "without proving who they are"),
        (|key| key.flags = VERIFIED, Flaw::NoPerson, "without being there"),
        (|key| key.flags = PRESENT | VERIFIED | 16, Flaw::Malformed, "copied without being copyable"),
        (|key| key.flags = PRESENT | VERIFIED | 64, Flaw::Malformed, "a credential that is not there"),
        (|key| key.flags = PRESENT | VERIFIED | 128, Flaw::Malformed, "extensions that are not there"),
    ] {
        assert_eq!(lying(change), Err(flaw), "{what}");
    }
    assert_eq!(proves(key.signs_as("webauthn.create", &challenge)), Err(Flaw::OtherPurpose));
    assert_eq!(proves(key.signs(digest("other").as_bytes())), Err(Flaw::OtherChallenge));
    let mut impostor = Authenticator::at(SITE);
    assert_eq!(proves(impostor.signs(&challenge)), Err(Flaw::Unknown), "somebody else's passkey");
    impostor.pretends_to_be(&key);
    assert_eq!(proves(impostor.signs(&challenge)), Err(Flaw::Forged), "under this one's name");
    let good = key.signs(&challenge);
    for cut in 0..good.authenticator_data.as_bytes().len() {
        let authenticator_data = encoded(&good.authenticator_data.as_bytes()[..cut]);
        assert_eq!(proves(Assertion { authenticator_data, ..good.clone() }), Err(Flaw::Malformed), "cut off at {cut}");
    }
    let twice = r#"{"type":"webauthn.get","type":"webauthn.get","challenge":"","origin":""}"#;
    let twice = Assertion { client_data: encoded(twice.as_bytes()), ..good.clone() };
    assert_eq!(proves(twice), Err(Flaw::Malformed), "a member that is there twice");
    let other_words = Assertion { client_data: key.signs(digest("x").as_bytes()).client_data, ..good };
    assert_eq!(proves(other_words), Err(Flaw::OtherChallenge));
}

#[test]
fn b4_an_answer_counts_for_its_person_its_action_and_its_review_alone_and_for_a_while() {
    let mut world = pending("delete it");
    let key = given_a_passkey(&mut world, Who::Reviewer);
    given_a_passkey(&mut world, Who::SecondReviewer);
    let given = proof(&world, Who::Reviewer, &key).unwrap();
    let refused = |outcome: Outcome| match outcome {
        Err(Refusal::Passkey(flaw)) => flaw,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(approves_with(&mut world, Who::SecondReviewer, given.clone())), Flaw::Unknown);
    let mut later = world.clone();
    later.wait_ms(i64::try_from(LONGEST_QUESTION_MS).unwrap() + 1);
    assert_eq!(refused(approves_with(&mut later, Who::Reviewer, given.clone())), Flaw::Late);
    let (person_id, action) = (Who::Reviewer.id().unwrap(), world.action);
    let other = asked(&world, Purpose::Approve { person: person_id, action, review: digest("another card") });
    let assertion = key.signs(other.challenge().as_bytes());
    let of_another = person(&world, Who::Reviewer).prove(other, assertion).unwrap();
    assert_eq!(refused(approves_with(&mut world, Who::Reviewer, of_another)), Flaw::OtherChallenge);
    let to_enter = asked(&world, Purpose::Enter);
    let assertion = key.signs(to_enter.challenge().as_bytes());
    let to_enter = person(&world, Who::Reviewer).prove(to_enter, assertion).unwrap();
    assert_eq!(refused(approves_with(&mut world, Who::Reviewer, to_enter)), Flaw::OtherChallenge);
    let mut without = world.clone();
    removes(&mut without, Who::Reviewer, Who::Reviewer, &key, &key).unwrap();
    assert_eq!(refused(approves_with(&mut without, Who::Reviewer, given.clone())), Flaw::Unknown, "it was removed");
    approves_with(&mut world, Who::Reviewer, given).unwrap();
}

#[test]
fn b4_a_key_that_counts_never_goes_back() {
    let mut world = pending("delete it");
    let mut key = given_a_passkey(&mut world, Who::Reviewer);
    key.count = 5;
    let records = signs(&mut world, Who::Reviewer, &key).unwrap();
    assert_eq!(records.last().unwrap().kind(), "identity.passkey_used");
    for count in [5, 4, 0] {
        key.count = count;
        let refused = comes_in_by_passkey(&mut world, Who::Reviewer, &key, "late");
        assert_eq!(refused, Err(Refusal::Passkey(Flaw::Copied)), "{count}");
    }
    key.count = 6;
    comes_in_by_passkey(&mut world, Who::Reviewer, &key, "next").unwrap();
    assert_eq!(person(&world, Who::Reviewer).doors.passkeys()[0].sign_count, 6);
    assert!(comes_in_by_passkey(&mut world, Who::Reviewer, &key, "again").is_err());
}

#[test]
fn c16_a_passkey_lets_its_person_in_and_nobody_says_so_without_one() {
    let mut world = World::new();
    let key = given_a_passkey(&mut world, Who::Reviewer);
    comes_in_by_passkey(&mut world, Who::Reviewer, &key, "mine").unwrap();
    assert!(person(&world, Who::Reviewer).doors.visit(digest("mine"), world.now).unwrap().by_passkey);
    let by = Entrance::Passkey { credential: key.credential(), sign_count: 1 };
    let enter = DoorCommand::Enter { visit: digest("x"), by, expires_at: world.now.plus_ms(60_000) };
    assert!(own(&mut world, Who::Reviewer, enter).is_err(), "said, not proved");
    let (reviewer, action) = (Who::Reviewer.id().unwrap(), world.action);
    let approval = asked(&world, Purpose::Approve { person: reviewer, action, review: digest("r") });
    let assertion = key.signs(approval.challenge().as_bytes());
    let proof = Box::new(person(&world, Who::Reviewer).prove(approval, assertion).unwrap());
    let enter = DoorCommand::EnterByPasskey { visit: digest("x"), proof, expires_at: world.now.plus_ms(60_000) };
    assert_eq!(own(&mut world, Who::Reviewer, enter), Err(Refusal::Passkey(Flaw::OtherPurpose)));
}

#[test]
fn c16_a_first_passkey_is_added_right_after_coming_in_and_every_other_is_signed_with_one_that_is_there() {
    let mut world = World::new();
    comes_in(&mut world, Who::Reviewer, "old");
    world.wait_ms(10 * MINUTE_MS);
    let (key, second) = (Authenticator::at(SITE), Authenticator::at(SITE));
    assert_eq!(adds(&mut world, Who::Reviewer, &key, "old"), Err(Refusal::StaleVisit), "a screen that was left");
    comes_in(&mut world, Who::Reviewer, "young");
    adds(&mut world, Who::Reviewer, &key, "young").unwrap();
    comes_in_by_passkey(&mut world, Who::Reviewer, &key, "by key").unwrap();
    for visit in ["young", "by key"] {
        let stolen = adds(&mut world, Who::Reviewer, &second, visit);
        assert_eq!(stolen, Err(Refusal::DoorUnsigned), "whoever took the cookie of a visit by {visit}");
    }
    let remove = DoorCommand::RemovePasskey { credential: key.credential(), proof: None };
    assert_eq!(own(&mut world, Who::Reviewer, remove), Err(Refusal::DoorUnsigned));
    assert_eq!(world.ledger.last().unwrap().body()["code"], "door_unsigned", "that it was tried is recorded");

    world.wait_ms(20 * MINUTE_MS);
    adds_with(&mut world, Who::Reviewer, &second, "by key", Some(&key)).unwrap();
    let again = adds_with(&mut world, Who::Reviewer, &second, "by key", Some(&key));
    assert_eq!(again, Err(Refusal::Exists { what: "passkey" }));
    removes(&mut world, Who::Reviewer, Who::Reviewer, &key, &second).unwrap();
    assert_eq!(person(&world, Who::Reviewer).doors.passkeys().len(), 1);
    let visit = person(&world, Who::Reviewer).doors.visit(digest("by key"), world.now);
    assert!(visit.is_none(), "whoever came in by one is out");
    assert!(removes(&mut world, Who::Reviewer, Who::Reviewer, &key, &second).is_err(), "it is gone");
    assert_eq!(checked(&world), Checked { doors: 2, ..Checked::default() });
}

#[test]
fn c16_nobody_adds_a_passkey_for_somebody_else() {
    let mut world = World::new();
    given_a_passkey(&mut world, Who::Reviewer);
    let question = asked(&world, Purpose::Register { person: Who::Reviewer.id().unwrap() });
    let made = Authenticator::at(SITE).creates(question.challenge().as_bytes());
    let attested = Box::new(made.attest(question, SITE.parse().unwrap()).unwrap());
    let add = |visit: &str| {
        let (attested, name) = (attested.clone(), "x".to_owned());
        DoorCommand::AddPasskey { attested, name, visit: digest(visit), proof: None }
    };
    for who in [Who::Admin, Who::SecondReviewer] {
        assert_eq!(
            door(&mut world, who, Who::Reviewer, add(Who::Reviewer.name())),
            Err(Refusal::Unknown { what: "identity" })
        );
    }
    comes_in(&mut world, Who::SecondReviewer, "theirs");
    assert_eq!(
        own(&mut world, Who::SecondReviewer, add("theirs")),
        Err(Refusal::Passkey(Flaw::OtherPurpose)),
        "made for another"
    );
}

#[test]
fn c16_passkeys_are_bounded_in_number_and_have_names() {
    let mut world = World::new();
    let key = given_a_passkey(&mut world, Who::Reviewer);
    comes_in_by_passkey(&mut world, Who::Reviewer, &key, "v").unwrap();
    let more = |world: &mut World| adds_with(world, Who::Reviewer, &Authenticator::at(SITE), "v", Some(&key));
    for _ in 1..8 {
        more(&mut world).unwrap();
    }
    assert_eq!(more(&mut world).unwrap_err().code(), "invalid");
    comes_in(&mut world, Who::Operator, "o");
    for name in ["", " x", "a\u{202e}b", &"x".repeat(61)] {
        let question = asked(&world, Purpose::Register { person: Who::Operator.id().unwrap() });
        let made = Authenticator::at(SITE).creates(question.challenge().as_bytes());
        let attested = Box::new(made.attest(question, SITE.parse().unwrap()).unwrap());
        let add = DoorCommand::AddPasskey { attested, name: name.to_owned(), visit: digest("o"), proof: None };
        assert_eq!(own(&mut world, Who::Operator, add).unwrap_err().code(), "invalid", "{name:?}");
    }
}

#[test]
fn t8_every_flaw_of_a_new_passkey_is_refused() {
    let question = Question {
        purpose: Purpose::Register { person: Who::Reviewer.id().unwrap() },
        asked_at: Timestamp::from_unix_ms(1),
        nonce: nonce(1),
    };
    let challenge = *question.challenge().as_bytes();
    let attest = |made: &Creation| made.attest(question.clone(), SITE.parse().unwrap()).map(drop);
    let key = Authenticator::at(SITE);
    let good = key.creates(&challenge);
    assert_eq!(attest(&good), Ok(()));
    let signed = Creation { client_data: key.signs(&challenge).client_data, ..good.clone() };
    assert_eq!(attest(&signed), Err(Flaw::OtherPurpose), "signed, not made");
    assert_eq!(attest(&key.creates(digest("other").as_bytes())), Err(Flaw::OtherChallenge));
    let elsewhere = Authenticator::at("https://evil.example").creates(&challenge);
    assert_eq!(attest(&elsewhere), Err(Flaw::OtherSite));
    let mut boasting = Authenticator::at(SITE);
    boasting.format = "packed";
    assert_eq!(attest(&boasting.creates(&challenge)), Err(Flaw::Attested));
    let mut absent = Authenticator::at(SITE);
    absent.flags = PRESENT;
    assert_eq!(attest(&absent.creates(&challenge)), Err(Flaw::NoPerson));
    let bytes = good.attestation.as_bytes();
    for cut in 0..bytes.len() {
        let attestation = encoded(&bytes[..cut]);
        assert!(attest(&Creation { attestation, ..good.clone() }).is_err(), "cut off at {cut}");
    }
    // A key of a kind that is not taken: the same bytes, called P-384.
    let mut other = bytes.to_vec();
    let at = other.windows(6).position(|part| part == [1, 2, 3, 0x26, 0x20, 1]).unwrap();
    other[at + 5] = 2;
    assert_eq!(attest(&Creation { attestation: encoded(&other), ..good }), Err(Flaw::OtherKey));
}

/// Made with another program than ours: formula, formats and algorithms are those of the standard.
#[test]
fn t8_what_openssl_signed_is_verified_in_every_algorithm() {
    let vectors: Value = serde_json::from_str(include_str!("passkey_vectors.json")).unwrap();
    for (name, vector) in vectors["keys"].as_object().unwrap() {
        let passkey = json!({
            "credential": "AQID", "key": vector["key"], "name": "x", "site": "https://placet.example.org", "sign_count": 6,
        });
        let passkey: Passkey = serde_json::from_value(passkey).unwrap();
        let mut owner = serde_json::to_value(person(&World::new(), Who::Reviewer)).unwrap();
        owner["doors"] = json!({ "passkeys": [passkey] });
        let owner: Identity = serde_json::from_value(owner).unwrap();
        let question = Question {
            purpose: Purpose::Enter,
            asked_at: Timestamp::from_unix_ms(1_000),
            nonce: "AAEC".parse().unwrap(),
        };
        let assertion = json!({
            "credential": "AQID", "client_data": vectors["client_data"],
            "authenticator_data": vectors["authenticator_data"], "signature": vector["signature"],
        });
        let good: Assertion = serde_json::from_value(assertion).unwrap();
        assert!(owner.prove(question.clone(), good.clone()).is_ok(), "{name}");
        let mut bytes = good.signature.as_bytes().to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        let bent = Assertion { signature: encoded(&bytes), ..good };
        assert_eq!(owner.prove(question, bent), Err(Flaw::Forged), "{name}");
    }
}

/// What a stranger finds in the ledger of a world.
pub(crate) fn checked(world: &World) -> Checked {
    let told =
        |(seq, record): (u64, &Record)| (seq, world.times[seq as usize], world.actors[seq as usize], record.clone());
    check((0..).zip(&world.ledger).map(told))
}

pub(crate) fn check(entries: impl Iterator<Item = (u64, Timestamp, Option<IdentityId>, Record)>) -> Checked {
    let mut checker = Checker::default();
    // As a stranger reads them: from what the entries say.
    for (seq, at, by, record) in entries {
        let read = Record::read(record.about, record.kind(), record.body()).unwrap();
        checker.read(Told { seq, at, by }, &read);
    }
    checker.finish()
}

#[test]
fn b4_a_stranger_finds_every_signing_that_is_not_what_it_says() {
    let mut world = pending("delete it");
    let key = given_a_passkey(&mut world, Who::Reviewer);
    signs(&mut world, Who::Reviewer, &key).unwrap();
    let at = world.ledger.iter().position(|record| record.kind() == "action.approved").unwrap();
    let added = world.ledger.iter().position(|record| record.kind() == "identity.passkey_added").unwrap();
    let now = world.now;
    // The host registered them all.
    let by = |record: &Record| Who::Reviewer.id().filter(|_| record.kind() != "identity.registered");
    let flaw = |ledger: &[Record]| {
        let found = check((0..).zip(ledger).map(|(seq, record)| (seq, now, by(record), record.clone()))).findings;
        let flaws = found.into_iter().map(|found| match found.wrong {
            Wrong::False(flaw) => flaw,
            Wrong::Unsigned | Wrong::Nobody | Wrong::MayNot | Wrong::Unapproved | Wrong::OtherBytes => {
                panic!("{found}")
            }
        });
        flaws.collect::<Vec<_>>()
    };
    let bent = |change: &dyn Fn(&mut Value)| {
        let mut ledger = world.ledger.clone();
        let mut body = ledger[at].body();
        change(&mut body);
        ledger[at] = Record::read(ledger[at].about, "action.approved", body).unwrap();
        flaw(&ledger)
    };
    assert!(flaw(&world.ledger).is_empty());
    assert_eq!(bent(&|body| body["approval"]["review"] = json!(digest("other"))), [Flaw::OtherChallenge]);
    assert_eq!(bent(&|body| body["approval"]["signing"]["nonce"] = json!("AAAA")), [Flaw::OtherChallenge]);
    assert_eq!(bent(&|body| body["approval"]["reviewer"] = json!(Who::Admin.id().unwrap())), [Flaw::Unknown]);
    assert_eq!(bent(&|body| body["approval"]["signing"]["assertion"]["signature"] = json!("AAAA")), [Flaw::Forged]);
    let mut without = world.ledger.clone();
    without.remove(added);
    assert_eq!(flaw(&without), [Flaw::Unknown], "no passkey was added");
    let mut twice = world.ledger.clone();
    twice.push(world.ledger[at].clone());
    assert_eq!(flaw(&twice), [Flaw::Replayed]);
    let Event::Action(id, event) = &world.ledger[at].event else { panic!("an approval") };
    let mut elsewhere = world.ledger.clone();
    let other = crate::scenario::action_id(4_711);
    assert_ne!(*id, other);
    elsewhere[at].event = Event::Action(other, event.clone());
    elsewhere[at].about.action = Some(other);
    assert_eq!(flaw(&elsewhere), [Flaw::OtherChallenge], "of another action");
    // A card was signed, and another verdict of the same action stands in its place.
    let judged = world.ledger.iter().position(|record| record.kind() == "action.judged").unwrap();
    let mut exchanged = world.ledger.clone();
    let mut body = exchanged[judged].body();
    body["verdict"]["policy"] = json!(digest("something else"));
    exchanged[judged] = Record::read(exchanged[judged].about, "action.judged", body).unwrap();
    assert_eq!(flaw(&exchanged), [Flaw::OtherPurpose]);
}
