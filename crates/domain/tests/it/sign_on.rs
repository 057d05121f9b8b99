//! Single sign-on: which tokens are believed, and who somebody is by them. Every claim is forged once.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::identity::{DoorCommand, Entrance, IdentityCommand};
use placet_domain::oidc::{BadPeople, Claims, Expected, Keys, KnownPeople, KnownPerson, TokenFlaw as Flaw, verify};
use placet_domain::time::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::minted::{Mint, encoded};
use crate::people::Who;
use crate::scenario::World;

const ISSUER: &str = "https://login.example.org";
const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000);

fn expected() -> Expected<'static> {
    Expected { issuer: ISSUER, client_id: "placet", nonce: "n-1", now: NOW }
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "sub": "248289761001", "aud": "placet", "exp": 1_600, "iat": 1_000, "nonce": "n-1",
        "email": "ada@example.org", "email_verified": true, "roles": ["admin"], "groups": ["placet-admins"],
    })
}

fn keys(mints: &[&Mint]) -> Keys {
    let keys: Vec<Value> = mints.iter().map(|mint| mint.jwk()).collect();
    Keys::read(json!({ "keys": keys }).to_string().as_bytes()).unwrap()
}

fn with(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

#[test]
fn t8_a_token_is_believed_for_one_provider_one_service_one_question_and_a_while() {
    let mint = Mint::new("k1");
    let keys = keys(&[&mint]);
    let read = |claims: &Value| verify(&mint.token(claims), &keys, &expected()).map(drop);
    assert_eq!(read(&claims()), Ok(()));
    for (name, value, flaw) in [
        ("iss", json!("https://login.example.org/"), Flaw::OtherIssuer),
        ("iss", json!("https://evil.example"), Flaw::OtherIssuer),
        ("aud", json!("other"), Flaw::OtherAudience),
        ("aud", json!([]), Flaw::OtherAudience),
        ("aud", json!(["placet", "other"]), Flaw::OtherAudience),
        ("azp", json!("other"), Flaw::OtherAudience),
        ("nonce", json!("n-2"), Flaw::OtherNonce),
        ("nonce", Value::Null, Flaw::OtherNonce),
        ("exp", json!(940), Flaw::Expired),
        ("iat", json!(1_061), Flaw::Expired),
        ("iat", json!(339), Flaw::Expired),
        ("exp", json!("never"), Flaw::Malformed),
        ("exp", Value::Null, Flaw::Malformed),
        ("sub", json!(""), Flaw::Malformed),
        ("sub", json!("x".repeat(256)), Flaw::Malformed),
        ("sub", Value::Null, Flaw::Malformed),
        ("email_verified", json!("true"), Flaw::Malformed),
    ] {
        assert_eq!(read(&with(name, value.clone())), Err(flaw), "{name}: {value}");
    }
    assert_eq!(read(&with("aud", json!(["placet"]))), Ok(()));
    let mut several = with("aud", json!(["placet", "other"]));
    several["azp"] = json!("placet");
    assert_eq!(read(&several), Ok(()));
}

#[test]
fn t8_no_token_chooses_how_it_is_checked() {
    let (mint, other) = (Mint::new("k1"), Mint::new("k1"));
    let keys = keys(&[&mint]);
    let read = |token: &str| verify(token, &keys, &expected()).map(drop);
    let header = |alg: &str| json!({ "alg": alg, "kid": "k1" });
    for alg in ["none", "None", "HS256", "HS512", "RS512", "PS256", "ES384", "", "eddsa"] {
        assert_eq!(read(&mint.signs(&header(alg), &claims())), Err(Flaw::OtherAlgorithm), "{alg}");
    }
    // The public key taken for a shared secret, or for a key of another kind.
    assert_eq!(read(&mint.signs(&header("RS256"), &claims())), Err(Flaw::UnknownKey));
    assert_eq!(read(&other.token(&claims())), Err(Flaw::Forged), "of somebody else who calls their key the same");
    assert_eq!(read(&Mint::new("k2").token(&claims())), Err(Flaw::UnknownKey));
    let brought = json!({ "alg": "EdDSA", "kid": "k1", "jwk": other.jwk() });
    assert_eq!(read(&other.signs(&brought, &claims())), Err(Flaw::Forged), "a key that comes along");
    let critical = json!({ "alg": "EdDSA", "kid": "k1", "crit": ["b64"], "b64": false });
    assert_eq!(read(&mint.signs(&critical, &claims())), Err(Flaw::Malformed));
    let good = mint.token(&claims());
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (head, _) = signed.split_once('.').unwrap();
    let admin = encoded(with("sub", json!("somebody else")).to_string().as_bytes());
    assert_eq!(read(&format!("{head}.{admin}.{signature}")), Err(Flaw::Forged), "other words");
    assert_eq!(read(&format!("{signed}.")), Err(Flaw::Forged), "no signature");
    for bad in ["", ".", "..", "a.b", &format!("{good}.x"), &format!("{good}="), &"x".repeat(100_000)] {
        assert!(read(bad).is_err(), "{}", &bad[..bad.len().min(40)]);
    }
}

#[test]
fn t8_without_a_name_a_key_must_be_the_only_one_of_its_kind() {
    let (first, second) = (Mint::new("k1"), Mint::new("k2"));
    let token = first.signs(&json!({ "alg": "EdDSA" }), &claims());
    assert!(verify(&token, &keys(&[&first]), &expected()).is_ok());
    assert_eq!(verify(&token, &keys(&[&first, &second]), &expected()), Err(Flaw::UnknownKey));
}

#[test]
fn t8_keys_for_other_purposes_are_passed_over_and_floods_refused() {
    let mint = Mint::new("k1");
    let token = mint.token(&claims());
    for (name, value) in
        [("use", json!("enc")), ("alg", json!("HS256")), ("crv", json!("X25519")), ("kty", json!("oct"))]
    {
        let mut key = mint.jwk();
        key[name] = value;
        let keys = Keys::read(json!({ "keys": [key, { "kty": "RSA" }, 7] }).to_string().as_bytes()).unwrap();
        assert_eq!(verify(&token, &keys, &expected()), Err(Flaw::UnknownKey), "{name}");
    }
    let many: Vec<Value> = (0..65).map(|_| mint.jwk()).collect();
    assert!(Keys::read(json!({ "keys": many }).to_string().as_bytes()).is_err());
    assert!(Keys::read(b"[]").is_err());
}

/// Made with another program than ours.
#[test]
fn t8_what_openssl_signed_with_rsa_is_verified() {
    let vector: Value = serde_json::from_str(include_str!("sign_on_vector.json")).unwrap();
    let keys = Keys::read(vector["jwks"].to_string().as_bytes()).unwrap();
    let parts: Vec<&str> =
        vector["token_parts"].as_array().unwrap().iter().map(|part| part.as_str().unwrap()).collect();
    assert_eq!(verify(&parts.join("."), &keys, &expected()).unwrap().sub, "248289761001");
    let mut bent = URL_SAFE_NO_PAD.decode(parts[2]).unwrap();
    bent[100] ^= 1;
    let bent = format!("{}.{}.{}", parts[0], parts[1], encoded(&bent));
    assert_eq!(verify(&bent, &keys, &expected()), Err(Flaw::Forged));
}

fn person(who: Who, sub: Option<&str>, email: Option<&str>) -> KnownPerson {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    KnownPerson { identity: who.id().unwrap(), sub: owned(sub), email: owned(email) }
}

fn said(claims: &Value) -> Claims {
    let mint = Mint::new("k1");
    verify(&mint.token(claims), &keys(&[&mint]), &expected()).unwrap()
}

#[test]
fn c16_who_somebody_is_stands_in_the_settings_letter_by_letter() {
    let people = KnownPeople::new(vec![
        person(Who::Reviewer, Some("248289761001"), None),
        person(Who::Operator, None, Some("olga@example.org")),
    ])
    .unwrap();
    let find = |claims: &Value| people.find(&said(claims), NOW).map(|vouched| vouched.person());
    assert_eq!(find(&claims()), Who::Reviewer.id());
    assert_eq!(find(&with("sub", json!("248289761002"))), None);
    let olga = |email: &str, verified: bool| {
        let mut claims = with("sub", json!("o"));
        (claims["email"], claims["email_verified"]) = (json!(email), json!(verified));
        claims
    };
    assert_eq!(find(&olga("olga@example.org", true)), Who::Operator.id());
    assert_eq!(find(&olga("olga@example.org", false)), None, "an address that nobody verified");
    assert_eq!(find(&olga("Olga@example.org", true)), None);
    let mut both = claims();
    both["email"] = json!("olga@example.org");
    assert_eq!(find(&both), None, "two names that lead to two people");
}

#[test]
fn c16_settings_that_name_somebody_twice_or_by_nothing_are_refused() {
    let identity = Who::Reviewer.id().unwrap();
    for nameless in [
        person(Who::Reviewer, None, None),
        person(Who::Reviewer, Some("a"), Some("b")),
        person(Who::Reviewer, Some(" "), None),
    ] {
        assert_eq!(KnownPeople::new(vec![nameless]), Err(BadPeople::Nameless { identity }));
    }
    let twice = vec![person(Who::Reviewer, Some("a"), None), person(Who::Operator, Some("a"), None)];
    assert_eq!(KnownPeople::new(twice), Err(BadPeople::Twice { name: "a".to_owned() }));
}

#[test]
fn c16_whoever_is_vouched_for_comes_in_as_themselves_and_the_ledger_has_no_name_of_theirs() {
    let mut world = World::new();
    let people = KnownPeople::new(vec![person(Who::Reviewer, Some("248289761001"), None)]).unwrap();
    let vouched = Box::new(people.find(&said(&claims()), world.now).unwrap());
    let enter = |world: &World| DoorCommand::EnterVouched {
        visit: Digest::of(b"visit"),
        vouched: vouched.clone(),
        expires_at: world.now.plus_ms(60_000),
    };
    let door = |world: &mut World, who: Who, command: DoorCommand| {
        let (id, command) = (who.id().unwrap(), IdentityCommand::Door(command));
        world.submit(who, Command::Identity { id, command })
    };
    let command = enter(&world);
    assert!(door(&mut world, Who::SecondReviewer, command.clone()).is_err(), "somebody else");
    let records = door(&mut world, Who::Reviewer, command).unwrap();
    assert_eq!(records[0].kind(), "identity.entered");
    let body = records[0].body().to_string();
    assert!(body.contains(ISSUER) && !body.contains("248289761001") && !body.contains("ada@"), "{body}");
    let by = Entrance::Provider { issuer: ISSUER.to_owned(), subject: Digest::of(b"s") };
    let said = DoorCommand::Enter { visit: Digest::of(b"x"), by, expires_at: world.now.plus_ms(60_000) };
    assert!(door(&mut world, Who::Reviewer, said).is_err(), "said, not vouched for");
    world.wait_ms(10 * 60_000 + 1);
    let late = enter(&world);
    assert!(door(&mut world, Who::Reviewer, late).is_err(), "a while ago");
}

proptest! {
    #[test]
    fn t8_no_token_makes_it_panic(token in "[A-Za-z0-9_.=-]{0,200}") {
        let _ = verify(&token, &Keys::default(), &expected());
    }

    #[test]
    fn t8_no_keys_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Keys::read(&bytes);
    }
}
