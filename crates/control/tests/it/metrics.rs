//! What `/metrics` tells of runs after people, an agent and a worker did something (C17).

use placet_wire::api;
use serde_json::{Value, json};

use crate::moves::{deletion, reading, scan};
use crate::scenario::Scenario;

const MINUTE_MS: u64 = 60_000;

/// All metrics, as an operator reads them.
pub(crate) async fn metrics(app: &Scenario) -> String {
    let answer = app.team.operator.get("/metrics").await.is(200);
    String::from_utf8(answer.body.to_vec()).unwrap()
}

/// The value of one series, given by how its line begins.
#[track_caller]
pub(crate) fn value(metrics: &str, series: &str) -> f64 {
    let found = metrics.lines().find_map(|line| line.strip_prefix(&format!("placet_{series} ")));
    found.unwrap_or_else(|| panic!("no `{series}` in\n{metrics}")).parse().unwrap()
}

/// A run at work that stands still after every step, whose plan waited a minute for a reviewer.
async fn working(app: &Scenario) -> api::RunView {
    let team = &app.team;
    let limits = json!({ "limits": { "actions": 9, "tokens": 1_000 } });
    let new = json!({
        "project": team.project, "goal": "g", "scope": "lab", "agent": team.agent.id, "plan": ["look", "tell"],
        "checkpoints": { "every_steps": 1 }, "budget": limits,
    });
    let run: api::RunView = team.operator.post("/api/v1/runs", &new).await.is(201).json();
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id);
    app.pass_ms(MINUTE_MS);
    team.reviewer.post_if(&path("approve"), run.review, &json!({})).await.is(200);
    team.operator.post(&path("start"), &json!({})).await.is(200);
    team.agent.post(&path("attach"), &json!({})).await.is(200).json()
}

#[tokio::test]
async fn c17_metrics_tell_durations_waits_checkpoints_and_actions_of_runs() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let run = working(&app).await;
    let base = format!("/api/v1/runs/{}", run.id);
    let read = agent.proposes(run.id, &reading()).await;
    let job = worker.leases().await.unwrap();
    assert_eq!(job.action, read.id);
    worker.redeems(&job).await.is(200);
    let mut manifest = worker.manifest(&job, Vec::new());
    (manifest.usage.cpu_ms, manifest.usage.peak_memory_bytes) = (1_250, 7 * 1_048_576);
    for _ in 0..2 {
        worker.reports(&job, &manifest).await.is(200);
    }
    let looked = agent.proposes(run.id, &scan()).await;
    app.pass_ms(2 * MINUTE_MS);
    reviewer.rejects(&looked).await.is(200);
    agent.post(&format!("{base}/steps"), &json!({ "step": 1, "summary": "looked" })).await.is(200);
    app.pass_ms(5 * MINUTE_MS);
    let seen: api::CheckpointView = reviewer.get(&format!("{base}/checkpoint")).await.is(200).json();
    reviewer.post_if(&format!("{base}/checkpoints/1/approve"), seen.review, &json!({})).await.is(200);
    let deletion = agent.proposes(run.id, &deletion()).await;
    reviewer.rejects(&deletion).await.is(200);
    agent.post(&format!("{base}/finish"), &json!({ "summary": "done" })).await.is(200);
    let done: api::RunView = reviewer.get(&base).await.is(200).json();
    reviewer.post_if(&format!("{base}/complete"), done.review, &json!({})).await.is(200);

    let told = metrics(&app).await;
    assert_eq!(value(&told, "runs_duration_seconds_count{status=\"COMPLETED\"}"), 1.0);
    assert_eq!(value(&told, "runs_duration_seconds_sum{status=\"COMPLETED\"}"), 8.0 * 60.0);
    assert_eq!(value(&told, "runs_worked_seconds_sum{status=\"COMPLETED\"}"), 2.0 * 60.0, "waiting is no work");
    for (kind, outcome) in [("STEP", "reached"), ("STEP", "approved"), ("ACTION", "reached"), ("ACTION", "rejected")] {
        let series = format!("checkpoints_total{{kind=\"{kind}\",outcome=\"{outcome}\"}}");
        assert_eq!(value(&told, &series), 1.0, "{series}");
    }
    assert_eq!(value(&told, "approval_wait_seconds_sum{about=\"STEP\"}"), 5.0 * 60.0);
    assert_eq!(value(&told, "approval_wait_seconds_count{about=\"results\"}"), 1.0);
    assert!(value(&told, "approval_wait_seconds_sum{about=\"plan\"}") >= 60.0);
    assert_eq!(value(&told, "approval_wait_seconds_sum{about=\"action\"}"), 2.0 * 60.0);
    assert_eq!(value(&told, "actions_total{status=\"SUCCEEDED\"}"), 1.0);
    assert_eq!(value(&told, "actions_total{status=\"REJECTED\"}"), 2.0);
    assert_eq!(value(&told, "actions_total{status=\"EXECUTING\"}"), 1.0);
    assert_eq!(value(&told, "sandbox_cpu_ms_total"), 1_250.0, "told twice, counted once");
    assert_eq!(value(&told, "sandbox_peak_memory_bytes_count"), 1.0);
    assert_eq!(value(&told, "sandbox_peak_memory_bytes_sum"), 7.0 * 1_048_576.0);
    assert_eq!(value(&told, "runs_rollbacks_total"), 0.0, "it never went back");
}

#[tokio::test]
async fn c17_metrics_name_nobody_and_nothing_is_counted_twice() {
    let (app, _, _, _) = Scenario::start().await;
    let run = app.team.draft(json!(["look"])).await;
    let path = format!("/api/v1/runs/{}/cancel", run.id);
    let before: Value = json!({ "reason": "enough" });
    app.team.operator.post_once(&path, "once", &before).await.is(200);
    app.team.operator.post_once(&path, "once", &before).await.is(200);
    let told = metrics(&app).await;
    assert_eq!(value(&told, "runs_duration_seconds_count{status=\"CANCELLED\"}"), 1.0);
    for private in [run.id.to_string(), app.team.project.to_string(), app.team.agent.id.to_string()] {
        assert!(!told.contains(&private), "{private}");
    }
}
