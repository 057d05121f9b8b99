//! One key, one effect, one answer: however often a request arrives, at once or after a restart.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::{CreateIdentity, CreateProject, CreateRun, LeaseJob, ProposeAction};
use std::collections::BTreeSet;

use axum::http::Method;
use futures_util::future::join_all;
use placet_domain::digest::Digest;
use placet_wire::api;
use serde_json::json;

use crate::moves::{reading, scan};
use crate::person::Answer;
use crate::scenario::Scenario;

#[tokio::test]
async fn the_same_request_under_the_same_key_has_one_effect_and_one_answer() {
    let (app, agent, _, _) = Scenario::start().await;
    let path = format!("/api/v1/runs/{}/actions", app.team.run);
    let first = agent.post_once(&path, "wish-1", &scan()).await.is(201);
    let size = app.size();
    for _ in 0..3 {
        assert_eq!(agent.post_once(&path, "wish-1", &scan()).await.is(201).body, first.body);
    }
    assert_eq!(app.size(), size);
}

#[tokio::test]
async fn i2_thirty_two_at_once_have_one_effect() {
    let (app, agent, _, _) = Scenario::start().await;
    let (path, wish) = (format!("/api/v1/runs/{}/actions", app.team.run), reading());
    let before = app.size();
    let answers = join_all((0..32).map(|_| agent.post_once(&path, "all-at-once", &wish))).await;
    let bodies: BTreeSet<_> = answers.into_iter().map(|answer| answer.is(201).body).collect();
    assert_eq!(bodies.len(), 1);
    assert_eq!(app.kinds_from(before).await, ["action.proposed", "action.judged"]);
}

#[tokio::test]
async fn the_same_key_for_another_request_is_refused() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let path = format!("/api/v1/runs/{}/actions", app.team.run);
    let action: api::ActionView = agent.post_once(&path, "k", &scan()).await.is(201).json();
    let size = app.size();
    agent.post_once(&path, "k", &reading()).await.problem(409, "key_reused");
    let reordered = json!({ "target": "10.0.0.5", "tool": "nmap" });
    agent.post_once(&path, "k", &reordered).await.problem(409, "key_reused");
    let other_path = format!("/api/v1/actions/{}/withdraw", action.id);
    agent.post_once(&other_path, "k", &scan()).await.any_problem();
    let other_run = app.team.start_run().await;
    let size = size + (app.size() - size);
    agent.post_once(&ProposeAction { run: other_run }.path(), "k", &scan()).await.problem(409, "key_reused");
    assert_eq!(app.size(), size);
    assert_eq!(reviewer.sees(&action).await.action.status.as_str(), "PENDING_APPROVAL");
}

#[tokio::test]
async fn a_key_binds_what_was_seen_too() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let approve = async |seen: Digest| {
        let request = reviewer.request(Method::POST, &format!("/api/v1/actions/{}/approve", action.id));
        Answer::to(request.header("idempotency-key", "yes").header("if-match", format!("\"{seen}\"")).json(&json!({})))
            .await
    };
    let first = approve(action.review).await.is(200);
    assert_eq!(approve(action.review).await.is(200).body, first.body);
    approve(Digest::of(b"something else")).await.problem(409, "key_reused");
}

#[tokio::test]
async fn the_answer_is_the_first_one_even_when_much_has_happened_since() {
    let (mut app, agent, reviewer, worker) = Scenario::start().await;
    let path = format!("/api/v1/runs/{}/actions", app.team.run);
    let first = agent.post_once(&path, "k", &scan()).await.is(201);
    let action: api::ActionView = first.json();
    reviewer.approves(&action).await.is(200);
    let leased = worker.post_once(&LeaseJob {}.path(), "give-me-one", &json!({})).await.is(200);
    let job: api::Job = leased.json();
    let redeem = format!("/api/v1/jobs/{}/redeem", job.action);
    let permit = json!({ "permit": job.permit });
    worker.post_once(&redeem, "start", &permit).await.is(200);
    let complete = format!("/api/v1/jobs/{}/complete", job.action);
    let manifest = json!({ "manifest": worker.manifest(&job, vec![]) });
    let done = worker.post_once(&complete, "done", &manifest).await.is(200);
    app.team.operator.cancels(app.team.run).await.is(200);
    app.restart().await;
    let size = app.size();
    assert_eq!(agent.post_once(&path, "k", &scan()).await.is(201).body, first.body);
    assert_eq!(worker.post_once(&LeaseJob {}.path(), "give-me-one", &json!({})).await.is(200).body, leased.body);
    worker.post_once(&redeem, "start", &permit).await.is(200);
    assert_eq!(worker.post_once(&complete, "done", &manifest).await.is(200).body, done.body);
    assert_eq!(app.size(), size, "nothing of it happened twice");
    app.assert_sound().await;
}

#[tokio::test]
async fn projects_scopes_and_runs_are_made_once() {
    let (app, _, _, _) = Scenario::start().await;
    let (admin, operator) = (&app.admin, &app.team.operator);
    let project = json!({ "name": "once" });
    let first = admin.post_once(&CreateProject {}.path(), "p", &project).await.is(201);
    assert_eq!(admin.post_once(&CreateProject {}.path(), "p", &project).await.is(201).body, first.body);
    admin.post_once(&CreateProject {}.path(), "p2", &project).await.problem(409, "exists");
    let run = json!({ "project": app.team.project, "goal": "g", "scope": "lab", "agent": app.team.agent.id });
    let first = operator.post_once(&CreateRun {}.path(), "r", &run).await.is(201);
    assert_eq!(operator.post_once(&CreateRun {}.path(), "r", &run).await.is(201).body, first.body);
}

#[tokio::test]
async fn keys_are_names_and_where_they_cannot_be_kept_they_are_refused() {
    let (app, agent, _, _) = Scenario::start().await;
    let path = format!("/api/v1/runs/{}/actions", app.team.run);
    let size = app.size();
    for key in ["", " ", "a b", "é", &"k".repeat(201)] {
        let request = agent.request(Method::POST, &path).header("idempotency-key", key.as_bytes()).json(&scan());
        assert_eq!(Answer::to(request).await.any_problem().status, 400, "{key:?}");
    }
    let twice = agent.request(Method::POST, &path).header("idempotency-key", "a").header("idempotency-key", "b");
    Answer::to(twice.json(&scan())).await.problem(400, "bad_header");
    let new = json!({ "name": "x", "roles": ["agent"] });
    app.admin.post_once(&CreateIdentity {}.path(), "k", &new).await.problem(422, "invalid");
    assert_eq!(app.size(), size);
    agent.post_once(&path, &"k".repeat(200), &scan()).await.is(201);
}
