//! Passkeys through the server: added, used to come in, and to sign what two people are asked about. The authenticator is software, the
//! forms and the questions are the real ones; a real browser with one is in `crates/cli/tests/browser`.

use placet_domain::passkey::{Assertion, Checked, Encoded};
use placet_wire::endpoint::ShowOrganisation;
use placet_wire::{Endpoint as _, api};
use serde_json::Value;

use crate::authenticator::{Authenticator, encoded};
use crate::browser::{Browser, Filled};
use crate::moves::{scan, sweep};
use crate::person::{Answer, Person};
use crate::scenario::{Scenario, checked, recorded};

/// What a page's script is told when it asks.
pub(crate) async fn question(browser: &Browser, path: &str) -> Value {
    browser.open(path).await.is(200).json()
}

pub(crate) fn bytes(question: &Value) -> Vec<u8> {
    let challenge: Encoded = question["challenge"].as_str().unwrap().parse().unwrap();
    challenge.as_bytes().to_vec()
}

/// The question, as the form carries it back.
fn with_question(form: Filled, question: &Value) -> Filled {
    form.with("nonce", question["nonce"].as_str().unwrap()).with("asked_at", question["asked_at"].as_str().unwrap())
}

pub(crate) fn with_answer(form: Filled, question: &Value, answer: &Assertion) -> Filled {
    with_question(form, question)
        .with("credential", &answer.credential.to_string())
        .with("client_data", &answer.client_data.to_string())
        .with("authenticator_data", &answer.authenticator_data.to_string())
        .with("signature", &answer.signature.to_string())
}

/// The filled form that adds this one, the first of all.
pub(crate) async fn adding(browser: &Browser, authenticator: &Authenticator) -> Filled {
    let form = browser.form(&browser.open("/settings").await.is(200), "add-passkey").with("name", "blue key");
    let question = question(browser, "/settings/passkeys/question").await;
    let made = authenticator.creates(&bytes(&question));
    form.with("made_nonce", question["nonce"].as_str().unwrap())
        .with("made_asked_at", question["asked_at"].as_str().unwrap())
        .with("made_client_data", &made.client_data.to_string())
        .with("made_attestation", &made.attestation.to_string())
}

/// Somebody in a browser at `localhost`, with a passkey that was just added.
pub(crate) async fn with_passkey(app: &Scenario, person: &Person) -> (Browser, Authenticator) {
    let mut browser = Browser::visiting(app, person).await.by_name(app);
    let authenticator = Authenticator::at(browser.origin());
    let form = adding(&browser, &authenticator).await;
    browser.send(&form).await.is(303);
    (browser, authenticator)
}

/// The form by which a passkey lets in, answered.
pub(crate) async fn entering(browser: &Browser, person: &Person, authenticator: &Authenticator) -> Filled {
    let form = browser.form(&browser.open("/enter").await.is(200), "enter-by-passkey");
    let question = question(browser, "/enter/passkey").await;
    let answer = authenticator.signs(&bytes(&question));
    with_answer(form, &question, &answer).with("user", &encoded(person.id.as_bytes()).to_string())
}

/// The filled form that approves what its page shows, signed.
pub(crate) async fn approving(browser: &Browser, action: &api::ActionView, authenticator: &Authenticator) -> Filled {
    let page = browser.open(&format!("/actions/{}", action.id)).await.is(200);
    let form = browser.form(&page, "approve").with("confirm", action.tool.as_ref());
    let seen = form.fields.iter().find(|(name, _)| name == "seen").unwrap().1.clone();
    let question = question(browser, &format!("/actions/{}/question?seen={seen}", action.id)).await;
    with_answer(form, &question, &authenticator.signs(&bytes(&question)))
}

pub(crate) async fn status(person: &Person, action: &api::ActionView) -> String {
    person.sees(action).await.action.status.to_string()
}

pub(crate) fn told(answer: &Answer, code: &str) {
    assert!(answer.text().contains(&format!("<code>{code}</code>")), "no `{code}`: {}", answer.text());
}

#[tokio::test]
async fn b4_two_people_sign_what_they_approve_and_a_stranger_checks_it_from_the_entries_alone() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &sweep()).await;
    for person in [&reviewer, &app.team.second] {
        let (mut browser, key) = with_passkey(&app, person).await;
        let form = approving(&browser, &action, &key).await;
        browser.send(&form).await.is(303);
        let page = browser.open(&format!("/actions/{}", action.id)).await.is(200);
        assert!(page.text().contains("id=\"card\""));
    }
    assert_eq!(status(&reviewer, &action).await, "APPROVED");
    let seen = reviewer.sees(&action).await.action;
    assert!(seen.approvals.iter().all(|approval| approval.signed));
    assert_eq!(checked(&recorded(&app).await), Checked { signed: 2, ..Checked::default() });
    app.assert_sound().await;
}

#[tokio::test]
async fn b4_a_token_does_not_approve_where_a_passkey_signs_and_a_page_without_one_neither() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &sweep()).await;
    let (mut browser, _) = with_passkey(&app, &reviewer).await;
    let before = app.size();
    let problem = reviewer.approves(&action).await.problem(403, "passkey_needed");
    assert!(problem.detail.contains("open its page in a browser"), "{}", problem.detail);
    assert_eq!(app.kinds_from(before).await, ["refused"]);
    // As a browser without a script sends it.
    let page = browser.open(&format!("/actions/{}", action.id)).await.is(200);
    assert!(page.text().contains("Passkeys need JavaScript"), "{}", page.text());
    let form = browser.form(&page, "approve").with("confirm", action.tool.as_ref());
    told(&browser.send(&form).await.is(403), "passkey_needed");
    assert_eq!(status(&reviewer, &action).await, "PENDING_APPROVAL");
    app.team.second.approves(&action).await.is(200);
    let one = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&one).await.is(200);
}

#[tokio::test]
async fn b4_passkeys_demanded_of_everybody_are_asked_of_those_who_have_none() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &sweep()).await;
    let mut root = Browser::visiting(&app, &app.admin).await;
    let demand = root.form(&root.open("/settings").await.is(200), "demand-passkeys").with("reason", "an audit");
    root.send(&demand).await.is(303);
    reviewer.approves(&action).await.problem(403, "passkey_needed");
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let page = browser.open(&format!("/actions/{}", action.id)).await.is(200);
    assert!(page.text().contains("you have none yet") && !page.text().contains("id=\"approve\""), "{}", page.text());
    let reject = browser.form(&page, "reject").with("reason", "not today");
    browser.send(&reject).await.is(303);
    let view: api::OrganisationView = reviewer.get(&ShowOrganisation {}.path()).await.is(200).json();
    assert_eq!(view.passkeys_demanded.as_deref(), Some("an audit"));
    let release = root.form(&root.open("/settings").await.is(200), "release-passkeys").with("reason", "over");
    root.send(&release).await.is(303);
    let next = agent.proposes(app.team.run, &sweep()).await;
    reviewer.approves(&next).await.is(200);
}

#[tokio::test]
async fn b4_an_answer_is_taken_once_from_its_visit_and_about_what_was_shown() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let (action, other) = (agent.proposes(app.team.run, &sweep()).await, agent.proposes(app.team.run, &sweep()).await);
    let (mut browser, key) = with_passkey(&app, &reviewer).await;
    let form = approving(&browser, &action, &key).await;
    let before = app.size();

    let elsewhere = Filled { to: format!("/actions/{}/approve", other.id), ..form.clone() };
    let elsewhere = elsewhere.with("seen", &other.review.to_string());
    told(&browser.send(&elsewhere).await.is(403), "passkey");
    told(&browser.send(&form.clone().with("asked_at", "1")).await.is(403), "passkey");
    told(&browser.send(&form.clone().with("signature", "AAAA")).await.is(403), "passkey");
    told(&browser.send(&form.clone().with("client_data", &"A".repeat(8_000))).await.is(403), "passkey");
    let mut again = Browser::of(&app, &reviewer).by_name(&app);
    let comes_in = entering(&again, &reviewer, &key).await;
    again.send(&comes_in).await.is(303);
    let page = again.open(&format!("/actions/{}", action.id)).await.is(200);
    let csrf = again.form(&page, "approve").fields.iter().find(|(name, _)| name == "csrf").unwrap().1.clone();
    told(&again.send(&form.clone().with("csrf", &csrf)).await.is(403), "passkey");
    let kinds = app.kinds_from(before).await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "refused").count(), 5, "each is on the record: {kinds:?}");

    browser.send(&form).await.is(303);
    told(&browser.send(&form).await.is(403), "passkey");
    let late = approving(&browser, &other, &key).await;
    app.pass_ms(5 * 60_000 + 1);
    told(&browser.send(&late).await.is(403), "passkey");
    assert_eq!(status(&reviewer, &other).await, "PENDING_APPROVAL");
}

#[tokio::test]
async fn c16_a_passkey_lets_in_without_a_name_and_one_that_is_not_known_does_not() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let (_, key) = with_passkey(&app, &reviewer).await;
    let mut browser = Browser::of(&app, &reviewer).by_name(&app);
    let form = entering(&browser, &reviewer, &key).await;
    let before = app.size();
    assert_eq!(browser.send(&form).await.is(303).header("location"), "/");
    assert_eq!(browser.open("/").await.status, 200);
    assert!(app.bodies_from(before).await.contains("\"shown\":\"passkey\""));

    let mut thief = Browser::of(&app, &reviewer).by_name(&app);
    assert_eq!(thief.send(&form).await.status, 403, "an answer is used once");
    let stranger = entering(&thief, &reviewer, &Authenticator::at(thief.origin())).await;
    let unknown = thief.send(&stranger).await.is(403).text();
    let nobody = entering(&thief, &reviewer, &key).await.with("user", &encoded(&[7; 16]).to_string());
    assert_eq!(thief.send(&nobody).await.is(403).text(), unknown, "who is here is told to nobody");
    let other = entering(&thief, &app.team.second, &key).await;
    assert_eq!(thief.send(&other).await.is(403).text(), unknown, "a key of somebody else");
    assert!(thief.visit.is_none());
}

#[tokio::test]
async fn c16_by_a_number_pages_say_where_passkeys_work_and_ask_none() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &sweep()).await;
    let (by_name, _) = with_passkey(&app, &reviewer).await;
    // Browsers send a cookie to a name and not to a number; one that does is shown no more.
    let mut browser = Browser::of(&app, &reviewer);
    browser.visit.clone_from(&by_name.visit);
    let port = app.address().rsplit(':').next().unwrap().to_owned();
    for path in ["/enter".to_owned(), "/settings".to_owned(), format!("/actions/{}", action.id)] {
        let page = browser.open(&path).await.is(200).text();
        assert!(page.contains(&format!("href=\"http://localhost:{port}{path}\"")), "{path}: {page}");
        assert!(!page.contains("data-passkey"), "{path}");
    }
    let asked = browser.open("/settings/passkeys/question").await.is(409);
    assert!(asked.text().contains("no_passkeys_here"));
}

#[tokio::test]
async fn t8_every_flaw_of_a_signed_form_is_refused_by_the_server_too() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &sweep()).await;
    let (mut browser, mut key) = with_passkey(&app, &reviewer).await;
    let origin = key.origin.clone();
    for (change, what) in [
        ((|key| key.origin = "http://evil.example".into()) as fn(&mut Authenticator), "another origin"),
        (|key| key.rp_id = "evil.example".into(), "another site"),
        (|key| key.flags = 1, "nobody proved who they are"),
        (|key| key.cross_origin = true, "inside of another page"),
    ] {
        change(&mut key);
        let form = approving(&browser, &action, &key).await;
        told(&browser.send(&form).await.is(403), "passkey");
        (key.origin, key.rp_id, key.flags, key.cross_origin) = (origin.clone(), "localhost".to_owned(), 5, false);
        assert_eq!(status(&reviewer, &action).await, "PENDING_APPROVAL", "{what}");
    }
    let mut impostor = Authenticator::at(&origin);
    impostor.pretends_to_be(&key);
    let form = approving(&browser, &action, &impostor).await;
    told(&browser.send(&form).await.is(403), "passkey");
    let form = approving(&browser, &action, &key).await;
    browser.send(&form).await.is(303);
}

#[tokio::test]
async fn c16_what_a_restart_forgets_is_the_question_and_not_the_passkey() {
    let (mut app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &sweep()).await;
    let (browser, key) = with_passkey(&app, &reviewer).await;
    let open = approving(&browser, &action, &key).await;
    app.restart().await;
    let mut again = Browser::of(&app, &reviewer).by_name(&app);
    again.visit.clone_from(&browser.visit);
    told(&again.send(&open).await.is(403), "passkey");
    reviewer.approves(&action).await.problem(403, "passkey_needed");
}
