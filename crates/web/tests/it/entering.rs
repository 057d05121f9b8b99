//! Coming in by a browser, and going: links open once, passwords are guarded, and whoever loses their rights is in nowhere.

use serde_json::json;

use crate::browser::{Browser, Filled, link_of};
use crate::moves::scan;
use crate::person::{Answer, Person};
use crate::scenario::Scenario;

const SENTENCE: &str = "the cat sat on the ledger";

fn sign_in(name: &str, password: &str) -> Filled {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Filled { to: "/enter".to_owned(), fields: vec![pair("name", name), pair("password", password)] }
}

/// A reviewer with a password, and the browser it was set in.
async fn with_password(app: &Scenario, person: &Person) -> Browser {
    let mut browser = Browser::visiting(app, person).await;
    let page = browser.open("/settings").await.is(200);
    let form = browser.form(&page, "set-password").with("password", SENTENCE);
    browser.send(&form).await.is(303);
    browser
}

async fn is_in(browser: &Browser) -> bool {
    browser.open("/").await.status == 200
}

#[tokio::test]
async fn c16_a_link_lets_in_once_and_not_by_being_looked_at() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let link = link_of(&reviewer).await;
    let (mut first, mut second) = (Browser::of(&app, &reviewer), Browser::of(&app, &reviewer));
    for _ in 0..3 {
        first.open(&link).await.is(200);
    }
    let form = first.form(&second.open(&link).await.is(200), "");
    first.send(&form).await.is(303);
    assert!(is_in(&first).await);
    let refused = second.send(&form).await.is(404);
    assert!(refused.text().contains("Ask for a new one") && second.visit.is_none());
    assert!(app.kinds_from(0).await.iter().filter(|kind| *kind == "identity.entered").count() == 1);
}

#[tokio::test]
async fn c16_whoever_follows_a_link_to_a_decision_signs_in_and_lands_on_it() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut browser = with_password(&app, &reviewer).await;
    browser.visit = None;
    let wanted = format!("/actions/{}", action.id);
    let asked = browser.open(&wanted).await.is(303);
    let page = browser.open(asked.header("location")).await.is(200);
    let form = browser.form(&page, "").with("name", "rita-alpha").with("password", SENTENCE);
    assert_eq!(browser.send(&form).await.is(303).header("location"), wanted);
    // What somebody else wrote into such a link leads nowhere.
    browser.visit = None;
    for strange in ["//evil.example", "https://evil.example", "/%5Cevil.example"] {
        let page = browser.open(&format!("/enter?to={strange}")).await.is(200);
        assert!(!page.text().contains("evil"), "{strange}");
        let form = sign_in("rita-alpha", SENTENCE).with("to", strange);
        assert_eq!(
            browser.send(&form).await.is(303).header("location"),
            if strange.starts_with("/%") { strange } else { "/" }
        );
    }
}

#[tokio::test]
async fn c16_what_is_not_there_is_a_page_and_the_address_of_a_form_leads_to_where_it_stood() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let missing = browser.open("/nothing/here").await.is(404);
    assert!(missing.header("content-type").starts_with("text/html") && missing.text().contains("nothing here"));
    assert!(missing.header("content-security-policy").contains("default-src 'none'"));
    let around = |page: &str| page.contains("href=\"/settings\"") && page.contains("action=\"/leave\"");
    assert!(around(&missing.text()), "the way to other pages is there: {}", missing.text());
    let stranger = Browser::of(&app, &reviewer).open("/setings").await.is(404).text();
    assert!(!around(&stranger), "{stranger}");
    let reloaded = browser.open(&format!("/actions/{}/approve", action.id)).await.is(303);
    assert_eq!(reloaded.header("location"), format!("/actions/{}", action.id));
    let wrong = browser.send(&Filled { to: "/runs".to_owned(), fields: Vec::new() }).await.is(405).text();
    assert!(around(&wrong), "{wrong}");
    reviewer.get("/api/v1/nothing").await.problem(404, "unknown_route");
}

#[tokio::test]
async fn c16_a_link_that_nobody_used_is_void_after_an_hour() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let link = link_of(&reviewer).await;
    app.pass_ms(3_600_000);
    Browser::of(&app, &reviewer).open(&link).await.is(404);
}

#[tokio::test]
async fn c16_a_visit_ends_after_a_working_day() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let browser = Browser::visiting(&app, &reviewer).await;
    app.pass_ms(12 * 3_600_000 - 1);
    assert!(is_in(&browser).await);
    app.pass_ms(1);
    assert_eq!(browser.open("/").await.is(303).header("location"), "/enter");
}

#[tokio::test]
async fn c16_whoever_has_a_password_comes_in_by_it_and_what_is_kept_is_no_password() {
    let (app, _, reviewer, _) = Scenario::start().await;
    with_password(&app, &reviewer).await;
    let mut browser = Browser::of(&app, &reviewer);
    browser.send(&sign_in("rita-alpha", SENTENCE)).await.is(303);
    assert!(is_in(&browser).await);
    let ledger = app.bodies_from(0).await;
    assert!(!ledger.contains(SENTENCE) && !ledger.contains("argon2"), "nothing to guess at is in the ledger");
    app.assert_sound().await;
}

#[tokio::test]
async fn t8_a_wrong_password_a_wrong_name_and_nobody_are_told_alike_and_the_first_is_on_the_record() {
    let (app, _, reviewer, _) = Scenario::start().await;
    with_password(&app, &reviewer).await;
    let before = app.size();
    let told = async |name: &str| {
        let answer = Browser::of(&app, &reviewer).send(&sign_in(name, "not the password")).await.is(403);
        answer.text()
    };
    let (known, unknown, without) = (told("rita-alpha").await, told("nobody").await, told("ralf-alpha").await);
    assert_eq!(known, unknown);
    assert_eq!(known, without);
    app.until(before, "refused").await;
    assert_eq!(app.kinds_from(before).await, ["refused"]);
    assert!(app.bodies_from(before).await.contains("a wrong password was given"));
}

#[tokio::test]
async fn t8_a_name_is_not_tried_without_end() {
    let (app, _, reviewer, _) = Scenario::start().await;
    with_password(&app, &reviewer).await;
    let mut last: Option<Answer> = None;
    for _ in 0..6 {
        last = Some(Browser::of(&app, &reviewer).send(&sign_in("rita-alpha", "guess")).await);
    }
    assert_eq!(last.unwrap().status, 429);
    let right = Browser::of(&app, &reviewer).send(&sign_in("rita-alpha", SENTENCE)).await;
    assert_eq!(right.status, 429, "not even the right one, for a minute");
}

#[tokio::test]
async fn c16_a_new_password_ends_every_other_visit() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let other = Browser::visiting(&app, &reviewer).await;
    let link = link_of(&reviewer).await;
    let this = with_password(&app, &reviewer).await;
    assert!(is_in(&this).await && !is_in(&other).await);
    Browser::of(&app, &reviewer).open(&link).await.is(404);
}

#[tokio::test]
async fn c16_a_password_is_changed_by_whoever_knows_the_one_before() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut browser = with_password(&app, &reviewer).await;
    let form =
        browser.form(&browser.open("/settings").await.is(200), "set-password").with("password", "another sentence");
    browser.send(&form).await.is(403);
    browser.send(&form.clone().with("current", "a guess of mine")).await.is(403);
    browser.send(&form.with("current", SENTENCE)).await.is(303);
    Browser::of(&app, &reviewer).send(&sign_in("rita-alpha", "another sentence")).await.is(303);
}

#[tokio::test]
async fn c16_a_short_password_is_refused_with_what_to_do() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let form = browser.form(&browser.open("/settings").await.is(200), "set-password");
    let before = app.size();
    let refused = browser.send(&form.with("password", "hunter2")).await.is(422);
    assert!(refused.text().contains("12 to 200 characters"), "{}", refused.text());
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn c16_whoever_signs_out_is_out_and_so_is_whoever_holds_their_cookie() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let thief = browser.clone();
    let page = browser.open("/").await.is(200);
    let leave = browser.form(&page, "leave");
    browser.send(&leave).await.is(303);
    assert!(!is_in(&browser).await && !is_in(&thief).await);
}

#[tokio::test]
async fn c16_whoever_is_revoked_or_gets_a_new_token_is_in_nowhere_any_more() {
    let (app, _, reviewer, _) = Scenario::start().await;
    for verb in ["token", "revoke"] {
        let person = app.hire(json!({ "name": format!("p-{verb}"), "roles": ["reviewer"] })).await;
        let browser = Browser::visiting(&app, &person).await;
        assert!(is_in(&browser).await);
        app.admin.post(&format!("/api/v1/identities/{}/{verb}", person.id), &json!({})).await.is(200);
        assert!(!is_in(&browser).await, "{verb}");
    }
    assert!(is_in(&Browser::visiting(&app, &reviewer).await).await, "others stay");
}

#[tokio::test]
async fn b1_nothing_in_a_cage_gets_a_link_and_nobody_makes_one_for_somebody_else_but_an_administrator() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let link = |who: &Person| format!("/api/v1/identities/{}/link", who.id);
    agent.post(&link(&agent), &json!({})).await.problem(403, "role");
    worker.post(&link(&worker), &json!({})).await.problem(403, "role");
    app.admin.post(&link(&agent), &json!({})).await.problem(422, "invalid");
    reviewer.post(&link(&app.team.second), &json!({})).await.problem(404, "unknown");
    app.admin.post(&link(&app.team.second), &json!({})).await.is(201);
}
