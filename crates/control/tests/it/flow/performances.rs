//! Simulation is the execution: what a run only rehearsed is done at its results, exactly as it was shown, by HTTP.

use placet_domain::policy::DEFAULT_TOOLS;
use placet_domain::proposal::ActionSpec;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::{FinishRun, PerformAction, ShowRun};
use serde_json::json;

use super::policy_change::STRICTER;
use crate::moves::{scan, working};
use crate::person::{Answer, Person};
use crate::scenario::{Scenario, rules_of, rules_with};

async fn finished(app: &Scenario, agent: &Person) -> (api::RunView, api::ActionView) {
    let run = working(app, json!({ "mode": "SIMULATION" })).await;
    let action = agent.proposes(run.id, &scan()).await;
    let run = agent.post(&FinishRun { run: run.id }.path(), &json!({ "summary": "done" })).await;
    (run.is(200).json(), action)
}

async fn performs(reviewer: &Person, action: &api::ActionView) -> Answer {
    reviewer.post_if(&PerformAction { action: action.id }.path(), action.review, &json!({})).await
}

async fn effects(reviewer: &Person, run: &api::RunView) -> Vec<api::ActionDetail> {
    let list: api::EffectList = reviewer.get(&format!("/api/v1/runs/{}/effects", run.id)).await.is(200).json();
    list.effects
}

#[tokio::test]
async fn c2_the_effects_of_a_simulation_are_shown_and_done_byte_for_byte() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let (run, action) = finished(&app, &agent).await;
    let shown = effects(&reviewer, &run).await;
    assert_eq!(shown.iter().map(|effect| effect.action.id).collect::<Vec<_>>(), [action.id]);
    assert!(shown[0].spec.argv[0].ends_with("nmap"), "everything that would be done: {:?}", shown[0].spec);
    assert!(worker.leases().await.is_none());
    let after: api::ActionView = performs(&reviewer, &action).await.is(200).json();
    assert_eq!((after.status.as_str(), after.digest), ("APPROVED", action.digest));
    let job = worker.leases().await.expect("there is something to do now");
    assert_eq!(serde_json::to_value(&shown[0].spec).unwrap(), serde_json::to_value(opened(&job)).unwrap());
    let complete = format!("/api/v1/runs/{}/complete", run.id);
    let seen: api::RunView = reviewer.get(&ShowRun { run: run.id }.path()).await.is(200).json();
    assert_eq!((seen.performing.as_slice(), seen.performed), (&[action.id][..], 0));
    reviewer.post_if(&complete, seen.review, &json!({})).await.problem(409, "not_now");
    worker.executes(&job).await;
    let seen: api::RunView = reviewer.get(&ShowRun { run: run.id }.path()).await.is(200).json();
    assert_eq!((seen.performing.len(), seen.performed), (0, 1));
    assert!(effects(&reviewer, &run).await.is_empty());
    reviewer.post_if(&complete, run.review, &json!({})).await.problem(412, "stale");
    reviewer.post_if(&complete, seen.review, &json!({})).await.is(200);
    app.assert_sound().await;
}

fn opened(job: &api::Job) -> ActionSpec {
    serde_json::from_str(&job.sealed).unwrap()
}

#[tokio::test]
async fn c2_only_reviewers_have_it_done_and_only_what_they_saw() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let (run, action) = finished(&app, &agent).await;
    let path = format!("/api/v1/actions/{}/perform", action.id);
    for other in [&agent, &app.team.operator, &app.team.worker] {
        other.post_if(&path, action.review, &json!({})).await.is(403);
    }
    reviewer.post(&path, &json!({})).await.is(428);
    reviewer.post_if(&path, run.review, &json!({})).await.problem(412, "stale");
    let neighbours = app.neighbours("others").await;
    neighbours.reviewer.post_if(&path, action.review, &json!({})).await.is(404);
    assert_eq!(reviewer.sees(&action).await.action.status.as_str(), "REHEARSED");
}

#[tokio::test]
async fn c2_a_policy_that_changed_since_asks_again() {
    let (mut app, agent, reviewer, worker) = Scenario::start().await;
    let (_, action) = finished(&app, &agent).await;
    app.restart_under(rules_with(STRICTER)).await;
    let again: api::ActionView = performs(&reviewer, &action).await.is(200).json();
    assert_eq!((again.status.as_str(), again.approvals_missing), ("REHEARSED", 2));
    assert_ne!(again.review, action.review);
    performs(&reviewer, &action).await.problem(412, "stale");
    let half: api::ActionView = performs(&reviewer, &again).await.is(200).json();
    assert_eq!((half.status.as_str(), half.approvals_missing), ("PENDING_APPROVAL", 1));
    assert!(worker.leases().await.is_none());
    let queue: api::ActionList = app.team.second.get("/api/v1/queue").await.is(200).json();
    assert_eq!(queue.actions.iter().map(|waiting| waiting.id).collect::<Vec<_>>(), [action.id], "it waits for them");
    app.team.second.approves(&half).await.is(200);
    assert_eq!(worker.leases().await.unwrap().action, action.id);
    app.assert_sound().await;
}

#[tokio::test]
async fn r4_a_tool_that_was_changed_since_is_not_what_was_rehearsed() {
    let (mut app, agent, reviewer, worker) = Scenario::start().await;
    let (run, action) = finished(&app, &agent).await;
    app.restart_under(rules_of(&DEFAULT_TOOLS.replace("limits.timeout_ms = 600000", "limits.timeout_ms = 300000"), ""))
        .await;
    let again: api::ActionView = performs(&reviewer, &action).await.is(200).json();
    assert_eq!(again.status.as_str(), "DENIED");
    assert!(worker.leases().await.is_none());
    let seen: api::RunView = reviewer.get(&ShowRun { run: run.id }.path()).await.is(200).json();
    let back = format!("/api/v1/runs/{}/reject-results", run.id);
    reviewer.post_if(&back, seen.review, &json!({ "reason": "propose it again" })).await.is(200);
}
