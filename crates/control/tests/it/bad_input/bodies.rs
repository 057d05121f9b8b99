//! Bodies that are not what was asked for.

use axum::http::Method;
use reqwest::RequestBuilder;
use serde_json::json;

use super::{filled, names, ways};
use crate::moves::scan;
use crate::person::Answer;
use crate::scenario::{Scenario, Setup};

/// Texts that no route takes for JSON.
fn malformed() -> Vec<(&'static str, Vec<u8>)> {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels)).into_bytes();
    vec![
        ("nothing", b"".to_vec()),
        ("half an object", b"{".to_vec()),
        ("a word", b"nul".to_vec()),
        ("single quotes", b"{'reason':1}".to_vec()),
        ("a comma too many", b"[1,]".to_vec()),
        ("two values", b"{} {}".to_vec()),
        ("not unicode", b"{\"reason\":\"\xff\"}".to_vec()),
        ("half a surrogate", br#"{"reason":"\ud800"}"#.to_vec()),
        ("a byte order mark", b"\xef\xbb\xbf{}".to_vec()),
        ("a key twice", br#"{"reason":"a","reason":"b"}"#.to_vec()),
        ("a key twice, spelled differently", br#"{"reason":"a","\u0072eason":"b"}"#.to_vec()),
        ("an integer readers disagree on", br#"{"attempt":9007199254740993}"#.to_vec()),
        ("a number beyond all bounds", br#"{"attempt":1e999}"#.to_vec()),
        ("nesting", deep(33)),
        ("nesting without end", b"[".repeat(100_000)),
        ("a number", b"5".to_vec()),
        ("a list", b"[]".to_vec()),
        ("text", b"\"{}\"".to_vec()),
        ("null", b"null".to_vec()),
        ("an unknown field", br#"{"no such field":1}"#.to_vec()),
        ("not text at all", vec![0, 159, 146, 150]),
    ]
}

fn with_all_headers(request: RequestBuilder) -> RequestBuilder {
    let digest = placet_domain::digest::Digest::of(b"");
    request.header("if-match", format!("\"{digest}\"")).header("content-type", "application/json")
}

#[tokio::test]
async fn t8_every_route_that_takes_json_refuses_what_is_not() {
    let (app, agent, _, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let before = app.size();
    let mut tried = 0;
    for way in ways(&app, &app.team, &app.admin).iter().filter(|way| way.method == "POST") {
        let path = filled(&way.pattern, &names(&app.team, &action));
        for (what, body) in malformed() {
            let answer = Answer::to(with_all_headers(way.caller.request(Method::POST, &path)).body(body)).await;
            assert_eq!(answer.status, 400, "{what} to {path}: {}", String::from_utf8_lossy(&answer.body));
            answer.problem(400, "bad_json");
            tried += 1;
        }
    }
    assert!(tried > 400, "{tried}");
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn t8_only_json_is_taken_for_json() {
    let (app, agent, _, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let before = app.size();
    for way in ways(&app, &app.team, &app.admin).iter().filter(|way| way.method == "POST") {
        let path = filled(&way.pattern, &names(&app.team, &action));
        let request = || way.caller.request(Method::POST, &path).header("if-match", format!("\"{}\"", action.digest));
        for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "application", ""] {
            Answer::to(request().header("content-type", kind).body("{}")).await.problem(415, "not_json");
        }
        Answer::to(request().body("{}")).await.problem(415, "not_json");
    }
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn t8_what_is_too_long_is_refused_whatever_it_is() {
    let setup = || {
        let mut setup = Setup::default();
        (setup.settings.limits.json_bytes, setup.settings.limits.evidence_bytes) = (4_096, 10_000);
        setup
    };
    let (app, agent, _, worker) = Scenario::start_with(setup()).await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let before = app.size();
    for way in ways(&app, &app.team, &app.admin).iter().filter(|way| way.method == "POST") {
        let path = filled(&way.pattern, &names(&app.team, &action));
        let long = format!("{{\"reason\":\"{}\"}}", "x".repeat(4_096));
        let answer = Answer::to(with_all_headers(way.caller.request(Method::POST, &path)).body(long)).await;
        assert!(answer.problem(413, "too_long").detail.contains("4096"));
    }
    let bytes = vec![7; 10_001];
    let digest = placet_domain::digest::Digest::of(&bytes);
    let path = format!("/api/v1/projects/{}/evidence/{digest}", app.team.project);
    worker.put(&path, bytes.clone()).await.problem(413, "too_long");
    assert_eq!(app.size(), before);
    let digest = placet_domain::digest::Digest::of(&bytes[1..]);
    let path = format!("/api/v1/projects/{}/evidence/{digest}", app.team.project);
    worker.put(&path, bytes[1..].to_vec()).await.is(201);
}

#[tokio::test]
async fn t8_compressed_bodies_are_not_unpacked() {
    let (app, _, _, _) = Scenario::start().await;
    let request = app.admin.request(Method::POST, "/api/v1/projects").header("content-type", "application/json");
    let gzipped = [0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 0x05, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0];
    Answer::to(request.header("content-encoding", "gzip").body(gzipped.to_vec())).await.problem(400, "bad_json");
}

#[tokio::test]
async fn t8_text_that_hides_something_does_not_become_a_name() {
    let (app, _, _, _) = Scenario::start().await;
    let before = app.size();
    for name in ["", " ", "a\nb", "a\r\nHTTP/1.1 200 OK", "a\u{202e}b", "a\u{0}b", "\u{1b}[31mred", &"x".repeat(81)] {
        let new = json!({ "name": name, "roles": ["agent"] });
        app.admin.post("/api/v1/identities", &new).await.problem(422, "invalid");
        app.admin.post("/api/v1/projects", &json!({ "name": name })).await.problem(422, "invalid");
    }
    for name in ["../x", "a/b", "a b", "'; DROP TABLE ledger; --", "é"] {
        app.admin.post("/api/v1/projects", &json!({ "name": name })).await.problem(422, "invalid");
    }
    assert_eq!(app.size(), before);
    for name in ["'; DROP TABLE ledger; --", "ada!", "ada lovelace"] {
        let said = app.admin.post("/api/v1/identities", &json!({ "name": name, "roles": ["agent"] })).await;
        let problem = said.problem(422, "invalid");
        assert!(problem.detail.contains(name), "{problem:?}");
    }
    app.assert_sound().await;
}

#[tokio::test]
async fn t8_roles_are_kept_apart_and_scopes_name_what_exists() {
    let (app, _, _, _) = Scenario::start().await;
    let before = app.size();
    for roles in [json!([]), json!(["agent", "reviewer"]), json!(["worker", "admin"]), json!(["agent", "worker"])] {
        app.admin.post("/api/v1/identities", &json!({ "name": "x", "roles": roles })).await.problem(422, "invalid");
    }
    for roles in [json!(["root"]), json!("agent"), json!([1]), json!(null)] {
        app.admin.post("/api/v1/identities", &json!({ "name": "x", "roles": roles })).await.problem(400, "bad_json");
    }
    let child = json!({ "name": "x", "roles": ["reviewer"], "parent": app.team.agent.id });
    app.admin.post("/api/v1/identities", &child).await.problem(422, "invalid");
    let path = format!("/api/v1/projects/{}/scopes", app.team.project);
    let empty = app.team.operator.post(&path, &json!({ "name": "s", "rules": { "allow": ["**"] } })).await;
    assert!(empty.problem(422, "invalid").detail.contains("tools = ["));
    let tools = json!({ "name": "s", "rules": { "tools": ["rootkit"] } });
    app.team.operator.post(&path, &tools).await.problem(422, "unsealable");
    for rules in [json!({ "allow": ["../.."] }), json!({ "targets": ["not a target!"] }), json!({ "allow": [""] })] {
        app.team.operator.post(&path, &json!({ "name": "s", "rules": rules })).await.problem(400, "bad_json");
    }
    assert_eq!(app.size(), before);
}
