//! What strangers and other pages try: forms in somebody's name, pages under a name of theirs, cookies of others, rights they do not have.

use axum::http::Method;
use placet_domain::identity::Role;
use placet_web::page_table;
use serde_json::json;

use crate::browser::{Browser, Filled};
use crate::moves::scan;
use crate::person::{Answer, Person};
use crate::scenario::Scenario;

/// A path that leads somewhere.
fn filled(app: &Scenario, action: &str, path: &str) -> String {
    let run = app.team.run.to_string();
    let part = |part: &str| match part {
        "{action}" => action.to_owned(),
        "{run}" => run.clone(),
        "{project}" => app.team.project.to_string(),
        "{digest}" => placet_domain::digest::Digest::of(b"x").to_string(),
        "{identity}" => app.team.second.id.to_string(),
        "{number}" | "{seq}" => "1".to_owned(),
        "{code}" => "en".to_owned(),
        "{name}" => "none".to_owned(),
        other => other.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn t8_without_a_visit_every_page_leads_to_the_sign_in_and_every_form_too() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await.id.to_string();
    let (before, mut browser) = (app.size(), Browser::of(&app, &reviewer));
    browser.visit = Some(format!("{}.plc_guessed", reviewer.id));
    for (method, path, access) in page_table().into_iter().filter(|(_, _, access)| access != "public") {
        let to = filled(&app, &action, &path);
        if method == "GET" {
            let answer = browser.open(&to).await.is(303);
            assert!(answer.header("location").starts_with("/enter"), "{path} ({access})");
        } else {
            let answer = browser.send(&Filled { to, fields: Vec::new() }).await.is(403);
            assert!(answer.text().contains("nothing was decided"), "{path} ({access}): {}", answer.text());
        }
    }
    assert_eq!(app.size(), before, "and nothing happened");
}

#[tokio::test]
async fn t8_no_form_counts_from_elsewhere_without_its_secret_or_with_that_of_another_visit() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let (mut browser, other) =
        (Browser::visiting(&app, &reviewer).await, Browser::visiting(&app, &app.team.second).await);
    let path = format!("/actions/{}", action.id);
    let page = browser.open(&path).await.is(200);
    let form = browser.form(&page, "approve");
    let before = app.size();
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", ""] {
        browser.send_from(origin, &form).await.is(403);
    }
    browser.send(&form.clone().with("csrf", "")).await.is(403);
    let foreign = other.form(&other.open(&path).await.is(200), "approve");
    browser.send(&foreign).await.is(403);
    let silent = reviewer
        .anonymous(Method::POST, &form.to)
        .header("cookie", format!("placet_visit={}", browser.visit.clone().unwrap()));
    Answer::to(form.filled_into(silent)).await.is(403);
    assert_eq!(app.size(), before, "nothing was decided");
    browser.send(&form).await.is(303);
}

/// Every form, sent by somebody who is in and has no secret of a form.
#[tokio::test]
async fn t8_every_form_needs_its_secret() {
    let (app, agent, _, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await.id.to_string();
    let all = app.hire(json!({ "name": "all", "roles": ["reviewer", "operator", "admin", "auditor"] })).await;
    let mut browser = Browser::visiting(&app, &all).await;
    let before = app.size();
    for (method, path, access) in page_table() {
        if method == "POST" && access != "public" {
            let to = filled(&app, &action, &path);
            let answer = browser.send(&Filled { to, fields: vec![("reason".to_owned(), "x".to_owned())] }).await;
            assert_eq!(answer.status, 403, "{path}: {}", answer.text());
            assert!(answer.text().contains("csrf"), "{path}");
        }
    }
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn r28_pages_and_forms_are_for_those_whom_the_table_names_and_nobody_else() {
    let (app, agent, _, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await.id.to_string();
    for role in [Role::Reviewer, Role::Operator, Role::Admin, Role::Auditor] {
        let person: Person = app.hire(json!({ "name": format!("only-{role}"), "roles": [role] })).await;
        let mut browser = Browser::visiting(&app, &person).await;
        for (method, path, access) in
            page_table().into_iter().filter(|(_, path, _)| path != "/live" && path != "/leave")
        {
            let to = filled(&app, &action, &path);
            let answer = match method.as_str() {
                "GET" => browser.open(&to).await,
                _ => browser.send(&Filled { to, fields: Vec::new() }).await,
            };
            let named = access == "public" || access.split(' ').any(|one| one == role.as_str());
            let refused_by_role = answer.text().contains("this needs one of the roles");
            assert_eq!(refused_by_role, !named, "{role}: {method} {path}: {}", answer.status);
        }
    }
}

#[tokio::test]
async fn t8_every_page_carries_the_strictest_policy_and_nothing_of_its_own_would_break_it() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await.id.to_string();
    let browser = Browser::visiting(&app, &reviewer).await;
    for (_, path, _) in page_table().into_iter().filter(|(method, path, _)| method == "GET" && path != "/live") {
        let page = browser.open(&filled(&app, &action, &path)).await;
        let policy = page.header("content-security-policy").to_owned();
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert_eq!(page.header("x-content-type-options"), "nosniff", "{path}");
        // The one whole address: this machine by its name, where passkeys work.
        let html = page.text().replace("http://localhost:", "");
        for inline in [" style=", " onclick=", " onload=", "<style", "javascript:", "http://", "https://"] {
            assert!(!html.contains(inline), "{path} has `{inline}`");
        }
        assert_eq!(
            html.matches("<script").count(),
            usize::from(page.status != 303 && html.contains("<html")),
            "{path}"
        );
    }
}

#[tokio::test]
async fn t8_a_name_of_strangers_for_this_address_gets_no_page() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let browser = Browser::visiting(&app, &reviewer).await;
    let cookie = format!("placet_visit={}", browser.visit.clone().unwrap());
    let rebound = reviewer.anonymous(Method::GET, "/").header("host", "rebound.example").header("cookie", cookie);
    let answer = Answer::to(rebound).await;
    assert_eq!(answer.status, 421, "{}", answer.text());
    assert!(!answer.text().contains("rita"));
}

#[tokio::test]
async fn b2_a_page_shows_nothing_of_projects_beyond_ones_reach() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let hidden = others.agent.proposes(others.run, &scan()).await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    for path in [format!("/actions/{}", hidden.id), format!("/runs/{}", others.run), format!("/?action={}", hidden.id)]
    {
        browser.open(&path).await.is(404);
    }
    assert!(!browser.open("/").await.is(200).text().contains(&hidden.id.to_string()));
    let own = browser.form(&browser.open("/settings").await.is(200), "set-password");
    let to = format!("/actions/{}/approve", hidden.id);
    let forged = Filled { to, fields: own.fields }.with("seen", &hidden.review.to_string());
    browser.send(&forged).await.is(404);
}
