//! Passkeys by pages: what they are asked, what they answer, and which ones somebody has. Which doors they change is in [`super::doors`].
//!
//! Here bytes from a browser become what the domain checks ([`placet_domain::passkey`]); nothing is decided here. A flaw that is found before
//! there is a command is put on the record like a refusal of the domain.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use placet_control::flow::{self, Caller, No};
use placet_control::http::{Address, Failure, Path, Query};
use placet_domain::action::ActionState;
use placet_domain::command::About;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId};
use placet_domain::identity::{Identity, Reach, Role, has_come_in};
use placet_domain::passkey::{ALGORITHMS, Assertion, Encoded, Passkey, Proof, Purpose, Question, Site};
use placet_domain::refusal::PasskeyFlaw;
use placet_domain::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::form::{Fields, Sent};
use super::guard::Visiting;
use super::state::Web;
use crate::markup::{Key, Keys, Place};

/// Where the page is, if passkeys can be used there.
fn site(address: &Address) -> Option<Site> {
    address.origin().parse().ok()
}

/// Whether passkeys can be used here, or where the same page is found under a name.
pub(super) fn place(address: &Address, path: &str) -> Place {
    match (site(address), address.public()) {
        (Some(_), _) => Place::Here,
        (None, Some(public)) => Place::Elsewhere(format!("{public}{path}")),
        (None, None) => {
            let port = address.origin().rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
            let port = port.map_or_else(String::new, |port| format!(":{port}"));
            Place::Elsewhere(format!("http://localhost{port}{path}"))
        }
    }
}

/// What a script needs to ask a browser.
pub(super) fn told(question: &Question, site: &Site, more: Value) -> Response {
    let challenge = Encoded::new(question.challenge().as_bytes().to_vec());
    let mut told = json!({
        "challenge": challenge, "nonce": question.nonce, "asked_at": question.asked_at.unix_ms().to_string(),
        "rp_id": site.rp_id(), "credentials": [],
    });
    if let (Value::Object(told), Value::Object(more)) = (&mut told, more) {
        told.extend(more);
    }
    Json(told).into_response()
}

pub(super) fn needs_site(address: &Address) -> Result<Site, Failure> {
    let why = "browsers know passkeys by a name, not by a number; open the page at `localhost`";
    site(address).ok_or_else(|| Failure::new(StatusCode::CONFLICT, "no_passkeys_here", why))
}

pub(super) async fn ask_to_enter(State(app): State<Web>, address: Address) -> Result<Response, Failure> {
    let question = app.memory().questions.ask(Purpose::Enter, None, app.store().now());
    Ok(told(&question, &needs_site(&address)?, json!({})))
}

pub(super) async fn ask_to_add(
    State(app): State<Web>,
    visiting: Visiting,
    address: Address,
) -> Result<Response, Failure> {
    let (site, who) = (needs_site(&address)?, &visiting.identity);
    let purpose = Purpose::Register { person: who.id };
    let question = app.memory().questions.ask(purpose, Some(visiting.visit), app.store().now());
    let user = Encoded::new(who.id.as_bytes().to_vec());
    let more = json!({
        "user": user, "name": who.name, "algorithms": ALGORITHMS, "credentials": credentials(who, &site),
    });
    Ok(told(&question, &site, more))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shown {
    /// The review digest of what the page shows.
    seen: String,
}

/// Asked about what the page shows: whether that still stands is found out when it is approved.
pub(super) async fn ask_to_approve(
    State(app): State<Web>,
    Path(id): Path<String>,
    visiting: Visiting,
    caller: Caller,
    address: Address,
    Query(shown): Query<Shown>,
) -> Result<Response, Failure> {
    let site = needs_site(&address)?;
    let action = flow::find_action(&app, &caller, id.parse().map_err(Failure::bad_id)?).await?.id;
    let (person, review) = (visiting.identity.id, shown.seen.parse().map_err(Failure::bad_id)?);
    let purpose = Purpose::Approve { person, action, review };
    let question = app.memory().questions.ask(purpose, Some(visiting.visit), app.store().now());
    Ok(told(&question, &site, json!({ "credentials": credentials(&visiting.identity, &site) })))
}

/// Those that a browser may use here.
pub(super) fn credentials(who: &Identity, site: &Site) -> Vec<Encoded> {
    let here = |passkey: &&Passkey| passkey.site == *site;
    who.doors.passkeys().iter().filter(here).map(|passkey| passkey.credential.clone()).collect()
}

/// The question that a form says it answers by these fields, if we asked it of this visit.
pub(super) fn recall(
    app: &Web,
    purpose: Purpose,
    visit: Option<Digest>,
    (asked_at, nonce): (String, Encoded),
) -> Result<Question, PasskeyFlaw> {
    let asked_at = asked_at.parse().map_err(|_| PasskeyFlaw::Malformed)?;
    let question = Question { purpose, asked_at: Timestamp::from_unix_ms(asked_at), nonce };
    app.memory().questions.recall(question, visit, app.store().now())
}

pub(super) fn field(fields: &Fields, name: &str) -> Result<String, PasskeyFlaw> {
    fields.text(name).map_err(|_| PasskeyFlaw::Malformed)
}

pub(super) fn encoded(fields: &Fields, name: &str) -> Result<Encoded, PasskeyFlaw> {
    field(fields, name)?.parse().map_err(|_| PasskeyFlaw::Malformed)
}

fn assertion(fields: &Fields) -> Result<Assertion, PasskeyFlaw> {
    Ok(Assertion {
        credential: encoded(fields, "credential")?,
        client_data: encoded(fields, "client_data")?,
        authenticator_data: encoded(fields, "authenticator_data")?,
        signature: encoded(fields, "signature")?,
    })
}

/// Whether a script put an answer into the form at all.
pub(super) fn is_answered(fields: &Fields) -> bool {
    fields.all("signature").any(|value| !value.is_empty())
}

/// What a form proves about this person; the question it answers is answered then.
pub(super) fn prove(
    app: &Web,
    who: &Identity,
    purpose: Purpose,
    visit: Option<Digest>,
    fields: &Fields,
) -> Result<Proof, PasskeyFlaw> {
    let question = recall(app, purpose, visit, (field(fields, "asked_at")?, encoded(fields, "nonce")?))?;
    let proof = who.prove(question.clone(), assertion(fields)?)?;
    app.memory().questions.answer(&question, app.store().now())?;
    Ok(proof)
}

/// Whom a passkey calls its person. Nobody that is not there, revoked or in a cage.
pub(super) async fn person(app: &Web, fields: &Fields) -> Result<Option<Identity>, Failure> {
    let Ok(handle) = encoded(fields, "user") else { return Ok(None) };
    let Ok(id) = <[u8; 16]>::try_from(handle.as_bytes()) else { return Ok(None) };
    let found = app.store().identity(IdentityId::from_bytes(id)).await?;
    Ok(found.filter(|identity| !identity.revoked && !identity.is_caged()))
}

pub(super) fn prove_entrance(app: &Web, who: &Identity, fields: &Fields) -> Result<Proof, PasskeyFlaw> {
    prove(app, who, Purpose::Enter, None, fields)
}

/// Approves what was shown, with what the passkey signed if the form brings it.
pub(super) async fn approve(app: &Web, sent: &Sent, state: &ActionState, seen: Digest) -> Result<ActionState, Failure> {
    let Sent { visiting, caller, fields } = sent;
    if !is_answered(fields) {
        return Ok(flow::approve(app, caller, state.id, seen).await?);
    }
    let purpose = Purpose::Approve { person: visiting.identity.id, action: state.id, review: seen };
    match prove(app, &visiting.identity, purpose, Some(visiting.visit), fields) {
        Ok(proof) => Ok(flow::approve_signed(app, caller, state.id, seen, Some(proof)).await?),
        Err(flaw) => {
            let about = About { project: Some(state.project), run: Some(state.run), action: Some(state.id) };
            Err(noted(app, caller, about, "approve", flaw).await)
        }
    }
}

/// A flaw that was found before there was a command, on the record.
pub(super) async fn noted(app: &Web, caller: &Caller, about: About, tried: &'static str, flaw: PasskeyFlaw) -> Failure {
    match flow::note_refusal(app, caller, about, tried, flaw.into()).await {
        Ok(()) => No::Refused(flaw.into()).into(),
        Err(no) => no.into(),
    }
}

fn key(passkey: &Passkey) -> Key {
    let (credential, origin) = (passkey.credential.to_string(), passkey.site.origin().to_owned());
    Key { credential, name: passkey.name.clone(), origin }
}

/// What settings show of them.
pub(super) async fn keys(app: &Web, visiting: &Visiting, caller: &Caller, address: &Address) -> Result<Keys, Failure> {
    let (who, now) = (&visiting.identity, app.store().now());
    let organisation = app.store().organisation().await?;
    Ok(Keys {
        place: place(address, "/settings"),
        own: who.doors.passkeys().iter().map(key).collect(),
        may_add: has_come_in(who, visiting.visit, now).is_ok(),
        may_sign: site(address).is_some_and(|site| !credentials(who, &site).is_empty()),
        of_others: of_others(app, caller).await?,
        demanded: organisation.passkeys.map(|demanded| demanded.reason),
        may_demand: who.has(Role::Admin) && who.reach == Reach::Everywhere,
    })
}

/// Those of everybody whom an administrator may change; nobody's for anybody else.
async fn of_others(app: &Web, caller: &Caller) -> Result<Vec<(IdentityId, String, Key)>, Failure> {
    if !caller.identity.has(Role::Admin) {
        return Ok(Vec::new());
    }
    let mut found = flow::identities(app, caller).await?;
    found.retain(|person| person.id != caller.identity.id && person.reach.is_within(&caller.identity.reach));
    let named = |person: &Identity| {
        let (id, name) = (person.id, person.name.clone());
        person.doors.passkeys().iter().map(move |passkey| (id, name.clone(), key(passkey))).collect::<Vec<_>>()
    };
    Ok(found.iter().flat_map(named).collect())
}

/// Where the card of an action is, under a name that passkeys know.
pub(super) fn place_of(address: &Address, action: ActionId) -> Place {
    place(address, &format!("/actions/{action}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_control::PublicUrl;

    #[test]
    fn c16_whoever_comes_by_a_number_is_led_to_the_name_at_which_passkeys_are_made() {
        let public: PublicUrl = "https://placet.example.org".parse().unwrap();
        let led = |host: &str, public| match place(&Address::of(host, public).unwrap(), "/settings") {
            Place::Here => None,
            Place::Elsewhere(address) => Some(address),
        };
        assert_eq!(led("127.0.0.1:7070", None).as_deref(), Some("http://localhost:7070/settings"));
        assert_eq!(led("127.0.0.1:7070", Some(&public)).as_deref(), Some("https://placet.example.org/settings"));
        assert_eq!([led("localhost:7070", Some(&public)), led("placet.example.org", Some(&public))], [None, None]);
    }
}
