//! Changes of doors by pages: passkeys, links, tokens and passwords. Where somebody has passkeys, the form brings what a passkey of whoever
//! sends it signed: the question is about exactly the change that the form makes.
//!
//! Nothing is decided here: a form without an answer goes to the domain as it is, which takes it where nobody has a passkey.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::flow::{self, No};
use placet_control::http::{Address, Failure, Path, Query};
use placet_domain::command::About;
use placet_domain::id::IdentityId;
use placet_domain::identity::has_come_in;
use placet_domain::passkey::{Attested, Change, Creation, Encoded, Proof, Purpose, Question, Site};
use placet_domain::refusal::PasskeyFlaw;
use serde_json::json;

use super::form::{Fields, Sent};
use super::guard::Visiting;
use super::passkey::{credentials, encoded, field, is_answered, needs_site, noted, prove, recall, told};
use super::settings::{self, Said};
use super::state::Web;
use crate::markup::Once;

fn bad_form() -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, "bad_form", "reload the page and choose again")
}

fn bad_change() -> Failure {
    let why = "`change` is one of `add`, `remove`, `link`, `token` and `password`";
    Failure::new(StatusCode::BAD_REQUEST, "bad_query", why)
}

/// What a passkey signs to change a door: one's own, or by `of` somebody else's. Whether one may is found out when it is changed.
pub(super) async fn ask(
    State(app): State<Web>,
    visiting: Visiting,
    address: Address,
    Query(asked): Query<Vec<(String, String)>>,
) -> Result<Response, Failure> {
    let (site, fields, by) = (needs_site(&address)?, Fields::of(asked), visiting.identity.id);
    let change = match fields.text("change")?.as_str() {
        "add" => {
            let (_, attested) =
                attested(&app, &visiting, site.clone(), &fields).map_err(|flaw| No::Refused(flaw.into()))?;
            Change::adding(&attested.named(&fields.text("name")?))
        }
        "remove" => Change::Remove { credential: removed(&fields)? },
        "link" => Change::Link,
        "token" => Change::Token,
        "password" => Change::Password,
        _ => return Err(bad_change()),
    };
    let of = fields.get("of")?.map(|of| of.parse().map_err(Failure::bad_id)).transpose()?.unwrap_or(by);
    let purpose = Purpose::Change { by, of, change };
    let question = app.memory().questions.ask(purpose, Some(visiting.visit), app.store().now());
    Ok(told(&question, &site, json!({ "credentials": credentials(&visiting.identity, &site) })))
}

/// What was made to become a passkey of whoever visits, and the question that it answers.
fn attested(app: &Web, visiting: &Visiting, site: Site, fields: &Fields) -> Result<(Question, Attested), PasskeyFlaw> {
    let purpose = Purpose::Register { person: visiting.identity.id };
    let said = (field(fields, "made_asked_at")?, encoded(fields, "made_nonce")?);
    let question = recall(app, purpose, Some(visiting.visit), said)?;
    let client_data = encoded(fields, "made_client_data")?;
    let made = Creation { client_data, attestation: encoded(fields, "made_attestation")? };
    Ok((question.clone(), made.attest(question, site)?))
}

fn removed(fields: &Fields) -> Result<Encoded, Failure> {
    fields.text("removed")?.parse().map_err(|_| bad_form())
}

/// What the form proves about this change; nothing, where no script put an answer in. A flaw is on the record.
pub(super) async fn signed(app: &Web, sent: &Sent, of: IdentityId, change: Change) -> Result<Option<Proof>, Failure> {
    let Sent { visiting, caller, fields } = sent;
    if !is_answered(fields) {
        return Ok(None);
    }
    let purpose = Purpose::Change { by: visiting.identity.id, of, change };
    match prove(app, &visiting.identity, purpose, Some(visiting.visit), fields) {
        Ok(proof) => Ok(Some(proof)),
        Err(flaw) => Err(noted(app, caller, About::default(), "change-door", flaw).await),
    }
}

pub(super) async fn add_passkey(State(app): State<Web>, address: Address, sent: Sent) -> Result<Response, Failure> {
    let Sent { visiting, caller, fields } = &sent;
    let site = needs_site(&address)?;
    // Before anything is remembered as answered, of which there is room for so many.
    has_come_in(&visiting.identity, visiting.visit, app.store().now()).map_err(No::from)?;
    let made = attested(&app, visiting, site, fields).and_then(|(question, attested)| {
        app.memory().questions.answer(&question, app.store().now()).map(|()| attested)
    });
    let attested = match made {
        Ok(attested) => attested,
        Err(flaw) => return Err(noted(&app, caller, About::default(), "add-passkey", flaw).await),
    };
    let name = fields.text("name")?;
    let proof = signed(&app, &sent, visiting.identity.id, Change::adding(&attested.named(&name))).await?;
    flow::add_passkey(&app, caller, visiting.visit, (attested, name), proof).await?;
    Ok(Redirect::to("/settings").into_response())
}

pub(super) async fn remove_passkey(State(app): State<Web>, sent: Sent) -> Result<Response, Failure> {
    let of = sent.visiting.identity.id;
    taken_away(&app, &sent, of).await
}

pub(super) async fn remove_passkey_of(
    State(app): State<Web>,
    Path(id): Path<String>,
    sent: Sent,
) -> Result<Response, Failure> {
    taken_away(&app, &sent, id.parse().map_err(Failure::bad_id)?).await
}

async fn taken_away(app: &Web, sent: &Sent, of: IdentityId) -> Result<Response, Failure> {
    let credential = removed(&sent.fields)?;
    let proof = signed(app, sent, of, Change::Remove { credential: credential.clone() }).await?;
    flow::remove_passkey(app, &sent.caller, of, credential, proof).await?;
    Ok(Redirect::to("/settings").into_response())
}

/// A link for somebody, shown this once.
pub(super) async fn make_link(
    State(app): State<Web>,
    Path(id): Path<String>,
    address: Address,
    sent: Sent,
) -> Result<Response, Failure> {
    let id = id.parse().map_err(Failure::bad_id)?;
    let proof = signed(&app, &sent, id, Change::Link).await?;
    let pass = flow::invite(&app, &sent.caller, id, proof).await?;
    let link = format!("{}/enter/{}", address.origin(), pass.told());
    settings::page(&app, &sent.visiting, &sent.caller, &address, Said::Once(Once::Link(pass.identity.name, link))).await
}

/// A new token for somebody, shown this once. Every door of theirs is closed by it.
pub(super) async fn new_token(
    State(app): State<Web>,
    Path(id): Path<String>,
    address: Address,
    sent: Sent,
) -> Result<Response, Failure> {
    let id = id.parse().map_err(Failure::bad_id)?;
    let proof = signed(&app, &sent, id, Change::Token).await?;
    let (person, token) = flow::replace_token(&app, &sent.caller, id, proof).await?;
    let once = Once::Token(person.name, token.reveal().to_owned());
    settings::page(&app, &sent.visiting, &sent.caller, &address, Said::Once(once)).await
}
