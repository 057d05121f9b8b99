//! Headers that try to mean something else.

use axum::http::Method;
use serde_json::{Value, json};

use crate::moves::scan;
use crate::person::Answer;
use crate::scenario::Scenario;

#[tokio::test]
async fn t8_a_header_that_counts_is_sent_once() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let (path, before) = (format!("/api/v1/actions/{}/approve", action.id), app.size());
    let right = format!("\"{}\"", action.review);
    let request = || reviewer.request(Method::POST, &path).header("if-match", &right).json(&json!({}));
    Answer::to(request().header("if-match", &right)).await.problem(400, "bad_header");
    Answer::to(request().header("content-type", "application/json")).await.problem(400, "bad_header");
    Answer::to(request().header("authorization", format!("Bearer {}", app.admin.token)))
        .await
        .problem(401, "unauthorized");
    let list = format!("{right}, \"{}\"", action.digest);
    let either = reviewer.request(Method::POST, &path).header("if-match", list).json(&json!({}));
    Answer::to(either).await.problem(400, "bad_digest");
    assert_eq!(app.size(), before);
    Answer::to(request()).await.is(200);
}

#[tokio::test]
async fn t8_headers_of_proxies_and_frameworks_mean_nothing() {
    let (app, agent, _, _) = Scenario::start().await;
    let before = app.size();
    let tricks = [
        ("x-http-method-override", "POST"),
        ("x-original-url", "/api/v1/identities"),
        ("x-rewrite-url", "/api/v1/identities"),
        ("x-forwarded-user", "root"),
        ("x-forwarded-for", "127.0.0.1"),
        ("x-role", "admin"),
        ("x-placet-identity", "root"),
        ("cookie", "token=root"),
        ("forwarded", "for=127.0.0.1;host=localhost"),
    ];
    for (name, value) in tricks {
        let mine = Answer::to(agent.request(Method::GET, "/api/v1/whoami").header(name, value)).await.is(200);
        assert_eq!(mine.json::<Value>()["roles"], json!(["agent"]), "{name}");
        let nobody = Answer::to(agent.anonymous(Method::GET, "/api/v1/whoami").header(name, value)).await;
        nobody.problem(401, "unauthorized");
    }
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn t8_no_page_of_another_origin_is_let_in() {
    let (app, agent, _, _) = Scenario::start().await;
    let request = agent.request(Method::GET, "/api/v1/whoami").header("origin", "http://evil.example");
    let answer = Answer::to(request).await.is(200);
    assert_eq!(answer.header("access-control-allow-origin"), "");
    let preflight = agent.anonymous(Method::OPTIONS, "/api/v1/projects").header("origin", "http://evil.example");
    let preflight = Answer::to(preflight.header("access-control-request-method", "POST")).await;
    preflight.problem(405, "wrong_method");
    assert_eq!(preflight.header("access-control-allow-origin"), "");
    assert_eq!(app.admin.get("/api/v1/whoami").await.is(200).header("cache-control"), "no-store");
}

#[tokio::test]
async fn t8_a_bad_last_event_id_is_refused() {
    let (app, agent, _, _) = Scenario::start().await;
    let path = format!("/api/v1/runs/{}/stream", app.team.run);
    let beyond = app.size().to_string();
    for id in ["x", "-1", "", "1.5", "0x10", "18446744073709551616", "18446744073709551615", &beyond, " 1 2"] {
        let request = agent.request(Method::GET, &path).header("last-event-id", id);
        Answer::to(request).await.problem(400, "bad_event_id");
    }
    let twice = agent.request(Method::GET, &path).header("last-event-id", "1").header("last-event-id", "2");
    Answer::to(twice).await.problem(400, "bad_header");
}
