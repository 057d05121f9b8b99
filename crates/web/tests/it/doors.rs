//! Doors of those who have passkeys, through the server: what a cookie or a token alone does not change, what a signature does, and what a
//! stranger finds of it in the entries.

use placet_domain::action::ActionCommand;
use placet_domain::approval::Terms;
use placet_domain::command::{Command, Submission};
use placet_domain::digest::Digest;
use placet_domain::id::IdentityId;
use placet_domain::identity::Actor;
use placet_domain::passkey::Checked;
use placet_domain::refusal::Refusal;
use placet_store::{Extras, SubmitError};
use placet_wire::Endpoint as _;
use placet_wire::endpoint::{RevokeIdentity, ShowCaller};
use serde_json::json;

use crate::authenticator::Authenticator;
use crate::browser::{Browser, Filled};
use crate::moves::sweep;
use crate::passkeys::{adding, approving, bytes, entering, question, status, told, with_answer, with_passkey};
use crate::person::Person;
use crate::scenario::{Scenario, checked, recorded};

/// The form to that address that whoever looks at their settings could send, without an answer.
async fn door(browser: &Browser, to: &str) -> Filled {
    let page = browser.open("/settings").await.is(200);
    let csrf = browser.form(&page, "halt").fields.into_iter().filter(|(name, _)| name == "csrf").collect();
    Filled { to: to.to_owned(), fields: csrf }
}

/// The same with what a passkey signed about that change.
async fn signed(browser: &Browser, form: Filled, change: &str, key: &Authenticator) -> Filled {
    let question = question(browser, &format!("/settings/doors/question?change={change}")).await;
    with_answer(form, &question, &key.signs(&bytes(&question)))
}

/// A further passkey, signed with one that is there: as the script asks, first for the new one and then about it.
async fn adding_signed(browser: &Browser, new: &Authenticator, key: &Authenticator) -> Filled {
    let form = adding(browser, new).await;
    let about = form.fields.iter().filter(|(name, _)| name == "name" || name.starts_with("made_"));
    let mut query = form_urlencoded::Serializer::new("add".to_owned());
    let query = query.extend_pairs(about).finish();
    signed(browser, form, &query, key).await
}

async fn removing(
    browser: &Browser,
    to: &str,
    of: Option<IdentityId>,
    gone: &Authenticator,
    key: &Authenticator,
) -> Filled {
    let form = door(browser, to).await.with("removed", &gone.credential().to_string());
    let of = of.map_or_else(String::new, |of| format!("&of={of}"));
    signed(browser, form, &format!("remove&removed={}{of}", gone.credential()), key).await
}

fn person_path(person: &Person, what: &str) -> String {
    format!("/settings/people/{}/{what}", person.id)
}

#[tokio::test]
async fn c16_a_first_passkey_is_added_right_after_coming_in_and_every_other_is_signed_with_one_that_is_there() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut left = Browser::visiting(&app, &reviewer).await.by_name(&app);
    let form = adding(&left, &Authenticator::at(left.origin())).await;
    app.pass_ms(10 * 60_000);
    assert!(left.open("/settings").await.is(200).text().contains("Sign out and in again"));
    told(&left.send(&form).await.is(403), "stale_visit");

    let (mut browser, key) = with_passkey(&app, &reviewer).await;
    let second = Authenticator::at(browser.origin());
    let before = app.size();
    let stolen = adding(&browser, &second).await;
    told(&browser.send(&stolen).await.is(403), "door_unsigned");
    assert_eq!(app.kinds_from(before).await, ["refused"], "that it was tried is on the record");
    app.pass_ms(30 * 60_000);
    let other = Authenticator::at(browser.origin());
    let exchanged = adding_signed(&browser, &second, &key).await.with("name", "another name");
    told(&browser.send(&exchanged).await.is(403), "passkey");
    let by_nobody = adding_signed(&browser, &second, &other).await;
    told(&browser.send(&by_nobody).await.is(403), "passkey");
    let form = adding_signed(&browser, &second, &key).await;
    browser.send(&form).await.is(303);
    told(&browser.send(&form).await.is(403), "passkey");

    let remove = removing(&browser, "/settings/passkeys/remove", None, &key, &second).await;
    browser.send(&remove).await.is(303);
    let mut again = Browser::of(&app, &reviewer).by_name(&app);
    let gone = entering(&again, &reviewer, &key).await;
    again.send(&gone).await.is(403);
    assert_eq!(checked(&recorded(&app).await), Checked { doors: 2, ..Checked::default() });
    app.assert_sound().await;
}

#[tokio::test]
async fn c16_no_token_and_no_cookie_gets_around_somebodys_passkeys_and_each_try_is_on_the_record() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let (mut own, key) = with_passkey(&app, &reviewer).await;
    let mut root = Browser::visiting(&app, &app.admin).await.by_name(&app);
    let before = app.size();
    let link = format!("/api/v1/identities/{}/link", reviewer.id);
    for person in [&app.admin, &reviewer] {
        let problem = person.post(&link, &json!({})).await.problem(403, "door_unsigned");
        assert!(problem.detail.contains("under Settings in a browser"), "{}", problem.detail);
        assert!(problem.detail.contains("placet identity end-passkeys"), "{}", problem.detail);
    }
    let token = format!("/api/v1/identities/{}/token", reviewer.id);
    app.admin.post(&token, &json!({})).await.problem(403, "door_unsigned");
    for what in ["link", "token", "passkeys/remove"] {
        let form = door(&root, &person_path(&reviewer, what)).await.with("removed", &key.credential().to_string());
        told(&root.send(&form).await.is(403), "door_unsigned");
    }
    let form = door(&own, "/settings/passkeys/remove").await.with("removed", &key.credential().to_string());
    told(&own.send(&form).await.is(403), "door_unsigned");
    let password = door(&own, "/settings/password").await.with("password", "a sentence nobody guesses");
    told(&own.send(&password).await.is(403), "door_unsigned");
    assert_eq!(app.kinds_from(before).await, ["refused"; 8]);
    let page = root.open("/settings").await.is(200).text();
    assert!(page.contains("has passkeys") && page.contains("placet identity end-passkeys"), "{page}");
    assert!(!page.contains(&person_path(&reviewer, "link")), "nothing is offered that would be refused");
    app.admin.post(&RevokeIdentity { identity: reviewer.id }.path(), &json!({})).await.is(200);
}

#[tokio::test]
async fn c16_an_administrator_with_a_passkey_signs_what_changes_anothers_doors() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let ((own, key), (mut root, mut master)) =
        (with_passkey(&app, &reviewer).await, with_passkey(&app, &app.admin).await);
    let of = reviewer.id;
    let page = root.open("/settings").await.is(200).text();
    assert!(page.contains("Passkeys of others") && page.contains(&person_path(&reviewer, "token")), "{page}");

    let before = app.size();
    let link =
        signed(&root, door(&root, &person_path(&reviewer, "link")).await, &format!("link&of={of}"), &master).await;
    let elsewhere = Filled { to: person_path(&reviewer, "token"), ..link.clone() };
    told(&root.send(&elsewhere).await.is(403), "passkey");
    let another = Filled { to: person_path(&app.team.second, "link"), ..link.clone() };
    told(&root.send(&another).await.is(403), "passkey");
    let shown = root.send(&link).await.is(200).text();
    assert!(shown.contains(&format!("/enter/{of}.")), "{shown}");
    told(&root.send(&link).await.is(403), "passkey");
    let kinds = app.kinds_from(before).await;
    assert_eq!(kinds, ["refused", "refused", "identity.invited", "refused"]);

    let remove = removing(&root, &person_path(&reviewer, "passkeys/remove"), Some(of), &key, &master).await;
    root.send(&remove).await.is(303);
    let mut browser = Browser::of(&app, &reviewer).by_name(&app);
    let form = entering(&browser, &reviewer, &key).await;
    browser.send(&form).await.is(403);
    assert_eq!(own.open("/settings").await.is(200).text().matches("blue key").count(), 0);

    with_passkey(&app, &reviewer).await;
    // Both people change by it: one has a new token, and the key of the other has counted on.
    master.count = 7;
    let token =
        signed(&root, door(&root, &person_path(&reviewer, "token")).await, &format!("token&of={of}"), &master).await;
    let shown = root.send(&token).await.is(200).text();
    assert!(shown.contains("shown this once"), "{shown}");
    reviewer.get(&ShowCaller {}.path()).await.is(401);
    assert_eq!(checked(&recorded(&app).await), Checked { doors: 3, ..Checked::default() });
    app.assert_sound().await;
}

#[tokio::test]
async fn c16_a_password_of_somebody_with_a_passkey_is_signed_too() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let (mut browser, key) = with_passkey(&app, &reviewer).await;
    let form = browser.form(&browser.open("/settings").await.is(200), "set-password");
    let form = form.with("password", "a sentence nobody guesses");
    let form = signed(&browser, form, "password", &key).await;
    browser.send(&form).await.is(303);
    assert_eq!(checked(&recorded(&app).await), Checked { doors: 1, ..Checked::default() });
}

#[tokio::test]
async fn t8_an_answer_about_a_door_is_of_its_visit() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let (browser, key) = with_passkey(&app, &reviewer).await;
    let form = removing(&browser, "/settings/passkeys/remove", None, &key, &key).await;
    let mut thief = Browser::of(&app, &reviewer).by_name(&app);
    let comes_in = entering(&thief, &reviewer, &key).await;
    thief.send(&comes_in).await.is(303);
    let csrf = door(&thief, "/").await.fields[0].1.clone();
    told(&thief.send(&form.with("csrf", &csrf)).await.is(403), "passkey");
    thief.open("/settings/doors/question?change=everything").await.is(400);
    let nothing = thief.open("/settings/doors/question?change=add&name=x").await.is(403);
    assert!(nothing.text().contains("passkey"), "{}", nothing.text());
}

/// A request is let in, and waits; meanwhile its person gets a passkey by another one.
#[tokio::test]
async fn b4_who_got_a_passkey_after_they_were_let_in_signs_with_it() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &sweep()).await;
    let let_in = app.store().identity(reviewer.id).await.unwrap().unwrap();
    assert!(let_in.doors.passkeys().is_empty());
    let (mut browser, key) = with_passkey(&app, &reviewer).await;
    let approval = |actor| Submission {
        actor: Actor::Identity(actor),
        command: Command::Action {
            id: action.id,
            run: app.team.run,
            command: ActionCommand::Approve { seen: action.review, proof: None },
        },
        terms: Terms::default(),
        policy: Digest::of(b"whichever"),
        idempotency: None,
    };
    let policy = app.store().action(action.id).await.unwrap().unwrap().verdict.policy();
    let waited = Submission { policy, ..approval(let_in) };
    let late = app.store().submit(waited, Extras::default()).await;
    assert!(matches!(late, Err(SubmitError::Refused(Refusal::PasskeyNeeded))), "{late:?}");
    let form = approving(&browser, &action, &key).await;
    browser.send(&form).await.is(303);
    assert_eq!(status(&reviewer, &action).await, "PENDING_APPROVAL", "one of two");
    assert_eq!(checked(&recorded(&app).await), Checked { signed: 1, ..Checked::default() });
}

#[tokio::test]
async fn c16_a_passkey_leads_to_the_page_that_somebody_wanted_also_by_the_other_name_and_after_a_failure() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let (_, key) = with_passkey(&app, &reviewer).await;
    let port = app.address().rsplit(':').next().unwrap().to_owned();
    let by_number = Browser::of(&app, &reviewer);
    let page = by_number.open("/enter?to=%2Fruns%3Fafter%3D3").await.is(200).text();
    assert!(page.contains(&format!("href=\"http://localhost:{port}/enter?to=%2Fruns%3Fafter%3D3\"")), "{page}");
    let mut browser = Browser::of(&app, &reviewer).by_name(&app);
    let stranger = entering(&browser, &reviewer, &Authenticator::at(browser.origin())).await;
    let failed = browser.send(&stranger.with("to", "/runs?after=3")).await.is(403).text();
    assert!(failed.contains("name=\"to\" value=\"/runs?after=3\""), "{failed}");
    let form = entering(&browser, &reviewer, &key).await.with("to", "/runs?after=3");
    assert_eq!(browser.send(&form).await.is(303).header("location"), "/runs?after=3");
    let form = entering(&browser, &reviewer, &key).await.with("to", "//evil.example");
    assert_eq!(browser.send(&form).await.is(303).header("location"), "/");
}
