//! Coming in and going: by a link, by a password, by a passkey; a cookie is all a browser keeps.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::flow::{self, Caller, No, Pass};
use placet_control::http::{Address, Failure, Path, Query};
use placet_control::token_digest;
use placet_domain::command::About;
use placet_domain::identity::{Entrance, Identity};
use placet_domain::refusal::Refusal;
use placet_lang::Lang;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::form::{Fields, Sent};
use super::guard::{self, Speaks, VISIT, html};
use super::passkey::{self, place};
use super::state::Web;
use crate::markup::{Refused, Ways};

/// More people of one name with a password than there can be by accident.
const MOST_NAMESAKES: usize = 4;
const LONGEST_NAME: usize = 80;

/// Longer than any page's address; what is longer leads to what waits.
const LONGEST_WAY: usize = 300;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EnterQuery {
    /// Where somebody wanted to go.
    pub(super) to: Option<String>,
}

/// What is shown to somebody who is not in: the sign-in, that leads where they wanted to go. Whoever sent a form is told that it decided
/// nothing.
pub(super) fn first(app: &Web, address: &Address, request: &Request, lang: Lang) -> Response {
    if *request.method() != Method::GET {
        return refused(app, lang, address, None, (StatusCode::FORBIDDEN, Refused::NotIn));
    }
    let asked = request.uri().path_and_query().map(ToString::to_string);
    let Some(to) = asked.filter(|asked| asked != "/").and_then(way) else {
        return Redirect::to("/enter").into_response();
    };
    let to: String = form_urlencoded::byte_serialize(to.as_bytes()).collect();
    Redirect::to(&format!("/enter?to={to}")).into_response()
}

/// A page of ours, never an address that somebody else chose.
pub(super) fn way(to: String) -> Option<String> {
    let plain = to.len() <= LONGEST_WAY && to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    // The stream of news is no page.
    let is_ours = to.starts_with('/') && !to.starts_with("//") && !to.starts_with("/live");
    (plain && is_ours).then_some(to)
}

pub(super) async fn show(
    State(app): State<Web>,
    Speaks(lang): Speaks,
    address: Address,
    Query(query): Query<EnterQuery>,
) -> Response {
    html(crate::markup::enter(lang, &ways(&app, &address, query.to.and_then(way)), None))
}

/// The ways in besides a password, at this address; all of them lead where somebody wanted to go.
fn ways(app: &Web, address: &Address, to: Option<String>) -> Ways {
    let provider = app.settings().provider.as_ref().map(|provider| provider.name().to_owned());
    let asked = to.as_ref().map(|to| form_urlencoded::byte_serialize(to.as_bytes()).collect::<String>());
    let asked = asked.map_or_else(String::new, |to| format!("?to={to}"));
    Ways { place: place(address, &format!("/enter{asked}")), provider: provider.map(|name| (name, asked)), to }
}

/// Not in yet; where somebody wanted to go is not forgotten by that.
pub(super) fn refused(
    app: &Web,
    lang: Lang,
    address: &Address,
    to: Option<String>,
    (status, why): (StatusCode, Refused),
) -> Response {
    (status, html(crate::markup::enter(lang, &ways(app, address, to), Some(why)))).into_response()
}

/// What a link shows: whose it is. It is used by the button below, never by looking.
pub(super) async fn invitation(
    State(app): State<Web>,
    Path(code): Path<String>,
    Speaks(lang): Speaks,
    address: Address,
) -> Result<Response, Failure> {
    let Some((id, secret)) = guard::split_secret(&code) else {
        return Ok(refused(&app, lang, &address, None, (StatusCode::NOT_FOUND, Refused::Spent)));
    };
    Ok(match flow::invited(&app, id, &secret).await? {
        Some(identity) => html(crate::markup::invitation(lang, &code, &identity.name)),
        None => refused(&app, lang, &address, None, (StatusCode::NOT_FOUND, Refused::Spent)),
    })
}

pub(super) async fn by_link(
    State(app): State<Web>,
    Path(code): Path<String>,
    Speaks(lang): Speaks,
    address: Address,
) -> Result<Response, Failure> {
    let spent = || refused(&app, lang, &address, None, (StatusCode::NOT_FOUND, Refused::Spent));
    let Some((id, secret)) = guard::split_secret(&code) else { return Ok(spent()) };
    let Some(identity) = flow::invited(&app, id, &secret).await? else { return Ok(spent()) };
    let link = token_digest(&secret);
    match flow::enter(&app, identity, Entrance::Link { link }).await {
        Ok(pass) => Ok(visiting(&address, &pass, "/settings")),
        // Somebody else was faster with the same link.
        Err(No::Refused(Refusal::Invalid { .. })) => Ok(spent()),
        Err(no) => Err(no.into()),
    }
}

pub(super) async fn by_password(
    State(app): State<Web>,
    Speaks(lang): Speaks,
    address: Address,
    fields: Fields,
) -> Result<Response, Failure> {
    let (name, password) = (fields.text("name")?, Zeroizing::new(fields.text("password")?));
    let (passwords, to) = (&app.memory().passwords, fields.get("to")?.and_then(way));
    // Nobody has a longer name; what strangers send is not remembered.
    if name.len() > LONGEST_NAME {
        return Ok(refused(&app, lang, &address, to, (StatusCode::FORBIDDEN, Refused::Wrong)));
    }
    if !passwords.may_try(&name) {
        return Ok(refused(&app, lang, &address, to, (StatusCode::TOO_MANY_REQUESTS, Refused::TooOften)));
    }
    let Some((identity, by)) = recognised(&app, &name, &password).await? else {
        return Ok(refused(&app, lang, &address, to, (StatusCode::FORBIDDEN, Refused::Wrong)));
    };
    let pass = flow::enter(&app, identity, by).await?;
    passwords.came_in(&name);
    Ok(visiting(&address, &pass, to.as_deref().unwrap_or("/")))
}

/// Whoever a passkey knows as its person, once it signed. Why not is told to nobody but the record.
pub(super) async fn by_passkey(
    State(app): State<Web>,
    Speaks(lang): Speaks,
    address: Address,
    fields: Fields,
) -> Result<Response, Failure> {
    let to = fields.get("to")?.and_then(way);
    let unknown = || refused(&app, lang, &address, to.clone(), (StatusCode::FORBIDDEN, Refused::Passkey));
    let Some(identity) = passkey::person(&app, &fields).await? else { return Ok(unknown()) };
    let proof = match passkey::prove_entrance(&app, &identity, &fields) {
        Ok(proof) => proof,
        Err(flaw) => {
            note_failed(app.clone(), identity, flaw.into()).await;
            return Ok(unknown());
        }
    };
    match flow::enter_by_passkey(&app, identity, proof).await {
        Ok(pass) => Ok(visiting(&address, &pass, to.as_deref().unwrap_or("/"))),
        Err(No::Refused(_)) => Ok(unknown()),
        Err(no) => Err(no.into()),
    }
}

/// The person of this name whose password it is.
async fn recognised(
    app: &Web,
    name: &str,
    password: &Zeroizing<String>,
) -> Result<Option<(Identity, Entrance)>, Failure> {
    let everybody = app.store().identities().await?;
    let has_password =
        |identity: &Identity| identity.name == name && !identity.revoked && identity.doors.password().is_some();
    let namesakes: Vec<Identity> = everybody.into_iter().filter(has_password).take(MOST_NAMESAKES).collect();
    if namesakes.is_empty() {
        app.memory().passwords.is_right(password.clone(), None).await;
    }
    for identity in namesakes {
        let Some(verifier) = identity.doors.password() else { continue };
        let known = app.store().password_verifier(identity.id, verifier).await?;
        if app.memory().passwords.is_right(password.clone(), known).await {
            return Ok(Some((identity, Entrance::Password { verifier })));
        }
        // Beside the answer: how long it takes must not tell who has a password.
        tokio::spawn(note_failed(app.clone(), identity, Refusal::invalid("a wrong password was given")));
    }
    Ok(None)
}

/// That somebody tried a door of theirs in vain is for the person to see on the record.
async fn note_failed(app: Web, identity: Identity, refusal: Refusal) {
    if app.may_note_refusal_of(identity.id) {
        let caller = Caller { identity, key: None };
        if let Err(no) = flow::note_refusal(&app, &caller, About::default(), "enter", refusal).await {
            tracing::error!(%no, "a failed sign-in could not be recorded");
        }
    }
}

/// With the cookie that stands for the visit: out of reach of scripts, and not sent along from elsewhere.
pub(super) fn visiting(address: &Address, pass: &Pass, to: &str) -> Response {
    let (name, told, end) = (address.cookie_name(VISIT), pass.told(), address.cookie_end());
    let cookie = format!("{name}={told}; Path=/; HttpOnly; SameSite=Lax; Max-Age=43200{end}");
    ([(header::SET_COOKIE, cookie)], Redirect::to(to)).into_response()
}

pub(super) async fn leave(State(app): State<Web>, address: Address, sent: Sent) -> Result<Response, Failure> {
    flow::leave(&app, &sent.caller, sent.visiting.visit).await?;
    let (name, end) = (address.cookie_name(VISIT), address.cookie_end());
    let cookie = format!("{name}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0{end}");
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/enter")).into_response())
}

/// Remembers the language in the browser and goes back to where it was chosen.
pub(super) async fn language(
    Path(code): Path<String>,
    address: Address,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let unknown = || Failure::new(StatusCode::NOT_FOUND, "unknown", "there is no such language");
    let lang = Lang::parse(&code).ok_or_else(unknown)?;
    let (name, code, end) = (address.cookie_name(guard::LANGUAGE), lang.code(), address.cookie_end());
    let cookie = format!("{name}={code}; Path=/; SameSite=Lax; Max-Age=31536000{end}");
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to(&came_from(&address, &headers))).into_response())
}

/// The path of the page before, if it was one of ours: never an address that somebody else chose.
fn came_from(address: &Address, headers: &HeaderMap) -> String {
    let referer = headers.get(header::REFERER).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let path = referer.strip_prefix(address.origin()).filter(|path| path.starts_with('/')).unwrap_or_default();
    format!("/{}", path.trim_start_matches(['/', '\\']))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn t8_a_sign_in_leads_to_no_address_of_strangers() {
        for ours in ["/actions/act_1", "/runs?after=3", "/ledger/7"] {
            assert_eq!(way(ours.to_owned()).as_deref(), Some(ours));
        }
        let long = format!("/{}", "x".repeat(LONGEST_WAY));
        for strange in [
            "//evil.example",
            "/\\evil.example",
            "http://evil.example",
            "",
            "/a b",
            "/a\n",
            "/é",
            "/live?of=inbox",
            &long,
        ] {
            assert_eq!(way(strange.to_owned()), None, "{strange:?}");
        }
    }

    #[test]
    fn t8_a_choice_of_language_leads_to_no_address_of_strangers() {
        for (referer, to) in [
            ("http://127.0.0.1:1/runs?x=1", "/runs?x=1"),
            ("http://evil.example/x", "/"),
            ("http://127.0.0.1:1//evil.example", "/evil.example"),
            ("http://127.0.0.1:1.evil.example/x", "/"),
            ("", "/"),
        ] {
            let address = Address::of("127.0.0.1:1", None).unwrap();
            let headers = HeaderMap::from_iter([(header::REFERER, HeaderValue::from_str(referer).unwrap())]);
            assert_eq!(came_from(&address, &headers), to, "{referer}");
        }
    }
}
