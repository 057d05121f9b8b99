//! Ids of another project, on every id of every route. They must be answered exactly like ids that nobody has.

use std::collections::BTreeMap;

use axum::http::Method;
use placet_domain::digest::Digest;
use serde_json::{Value, json};

use super::{Way, filled, names, ways};
use crate::moves::scan;
use crate::person::Answer;
use crate::scenario::Scenario;

/// Well-formed ids that nobody has.
fn nobodys() -> BTreeMap<&'static str, String> {
    let zeros = "0".repeat(32);
    [("project", "prj"), ("run", "run"), ("action", "act"), ("identity", "idn")]
        .map(|(name, prefix)| (name, format!("{prefix}_{zeros}")))
        .into()
}

async fn call(way: &Way<'_>, names: &BTreeMap<&'static str, String>) -> Answer {
    let request = way.caller.request(way.method.parse::<Method>().unwrap(), &filled(&way.pattern, names));
    let request = request.header("if-match", format!("\"{}\"", Digest::of(b"")));
    Answer::to(if way.method == "GET" { request } else { request.json(&way.body) }).await
}

#[tokio::test]
async fn i8_ids_of_another_project_do_not_exist_on_any_route() {
    let (app, agent, _, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let theirs = others.agent.proposes(others.run, &scan()).await;
    let limited = json!({ "name": "ann", "roles": ["admin", "auditor"], "projects": [app.team.project] });
    let admin = app.hire(limited).await;
    let (mine, theirs, nobodys) = (names(&app.team, &action), names(&others, &theirs), nobodys());
    let before = app.size();
    let mut tried = 0;
    for way in ways(&app, &app.team, &admin) {
        for name in nobodys.keys().filter(|name| way.pattern.contains(&format!("{{{name}}}"))) {
            let with = |id: &String| BTreeMap::from_iter(mine.clone().into_iter().chain([(*name, id.clone())]));
            let (foreign, unknown) = (call(&way, &with(&theirs[name])).await, call(&way, &with(&nobodys[name])).await);
            let told = format!("{} {} with another's {name}", way.method, way.pattern);
            let problem = foreign.any_problem();
            if problem.code != "immutable" {
                assert_eq!((problem.status, problem.code.as_str()), (404, "unknown"), "{told}: {problem:?}");
            }
            assert_eq!(foreign.body, unknown.body, "{told} tells that it exists");
            tried += 1;
        }
    }
    assert!(tried >= 30, "{tried}");
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn i8_lists_hold_nothing_of_others() {
    let (app, _, _, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    others.agent.proposes(others.run, &scan()).await;
    let limited =
        json!({ "name": "ann", "roles": ["admin", "auditor", "reviewer", "operator"], "projects": [app.team.project] });
    let everything_here = app.hire(limited).await;
    let secrets = [others.project.to_string(), others.run.to_string(), others.agent.id.to_string(), "beta".to_owned()];
    for path in ["/api/v1/projects", "/api/v1/runs", "/api/v1/queue", "/api/v1/ledger/entries", "/api/v1/identities"] {
        let body = everything_here.get(path).await.is(200).body;
        let text = String::from_utf8_lossy(&body);
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "{path}: {text}");
    }
}

#[tokio::test]
async fn i8_a_worker_of_one_project_gets_nothing_of_another() {
    let (app, _, _, worker) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let action = others.agent.proposes(others.run, &json!({ "tool": "cat", "arguments": ["x"] })).await;
    assert_eq!(action.status.as_str(), "APPROVED");
    assert!(worker.leases().await.is_none());
    assert_eq!(others.worker.leases().await.unwrap().action, action.id);
}

#[tokio::test]
async fn i8_what_one_project_uploaded_is_no_operand_in_another() {
    let (app, agent, _, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let digest = Digest::of(b"secret");
    let path = format!("/api/v1/projects/{}/evidence/{digest}", others.project);
    others.agent.put(&path, &b"secret"[..]).await.is(201);
    let wish = json!({ "tool": "cat", "files": [{ "path": "docs/a", "digest": digest, "size_bytes": 6 }] });
    agent.post(&format!("/api/v1/runs/{}/actions", app.team.run), &wish).await.problem(422, "missing_evidence");
    let entries: Value = app.auditor.get("/api/v1/ledger/entries").await.is(200).json();
    assert!(entries["entries"].as_array().is_some_and(|entries| !entries.is_empty()));
}
