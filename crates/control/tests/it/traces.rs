//! Traces of runs, as a collector of OpenTelemetry gets them: one for each run, across failures and restarts (C17).

use std::collections::BTreeSet;
use std::time::Duration;

use placet_wire::api;
use serde_json::{Value, json};

use crate::collector::Collector;
use crate::moves::{deletion, reading, scan};
use crate::scenario::Scenario;

/// What a span says of this.
fn says(span: &Value, key: &str) -> Option<String> {
    let found = span["attributes"].as_array().unwrap().iter().find(|attribute| attribute["key"] == key)?;
    Some(found["value"]["stringValue"].as_str().unwrap().to_owned())
}

fn named<'s>(spans: &'s [Value], name: &str) -> Vec<&'s Value> {
    spans.iter().filter(|span| span["name"] == name).collect()
}

/// An action that a person approves and a worker executes, a checkpoint, and results that are accepted.
async fn carried_out(app: &Scenario) {
    let (team, path) = (&app.team, format!("/api/v1/runs/{}", app.team.run));
    let action = team.agent.proposes(team.run, &scan()).await;
    app.pass_ms(60_000);
    team.reviewer.approves(&action).await.is(200);
    team.worker.executes(&team.worker.leases().await.unwrap()).await;
    team.agent.post(&format!("{path}/checkpoints"), &json!({ "summary": "have a look" })).await.is(200);
    app.pass_ms(5_000);
    let seen: api::CheckpointView = team.reviewer.get(&format!("{path}/checkpoint")).await.is(200).json();
    team.reviewer.post_if(&format!("{path}/checkpoints/1/approve"), seen.review, &json!({})).await.is(200);
    let done: api::RunView =
        team.agent.post(&format!("{path}/finish"), &json!({ "summary": "ok" })).await.is(200).json();
    team.reviewer.post_if(&format!("{path}/complete"), done.review, &json!({})).await.is(200);
}

#[tokio::test]
async fn c17_a_run_is_one_trace_with_what_took_time_in_it_and_nothing_that_anybody_wrote() {
    let collector = Collector::start().await;
    let (app, ..) = Scenario::start_with(collector.setup()).await;
    carried_out(&app).await;
    let spans = collector.until("invoke_agent").await;
    let trace = app.team.run.to_string().replace("run_", "");
    assert!(spans.iter().all(|span| span["traceId"] == trace.as_str()), "one run, one trace: {spans:#?}");
    let (root, act) =
        (named(&spans, &format!("invoke_agent {}", app.team.agent.id))[0], named(&spans, "execute_tool nmap")[0]);
    assert!(root["parentSpanId"].is_null() && act["parentSpanId"] == root["spanId"]);
    assert_eq!(says(root, "placet.outcome").as_deref(), Some("completed"));
    assert_eq!(says(act, "gen_ai.tool.name").as_deref(), Some("nmap"));
    assert_eq!((says(act, "placet.action.tier").as_deref(), act["status"]["code"].as_u64()), (Some("B"), Some(1)));
    for (name, parent, least_ms) in [
        ("plan", root, 0),
        ("spawn", root, 0),
        ("checkpoint", root, 5_000),
        ("results", root, 0),
        ("approval", act, 60_000),
        ("job", act, 0),
    ] {
        let [span] = named(&spans, name)[..] else { panic!("one `{name}`: {spans:#?}") };
        assert_eq!(span["parentSpanId"], parent["spanId"], "{name}");
        let at = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
        assert!(at("endTimeUnixNano") - at("startTimeUnixNano") >= least_ms * 1_000_000, "{span}");
    }
    let ids: BTreeSet<&str> = spans.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), spans.len(), "each has an id of its own");
    let text = serde_json::to_string(&spans).unwrap();
    for written in ["-sV", "10.0.0.5", "inventory", "survey the lab", "have a look", "22/tcp"] {
        assert!(!text.contains(written), "{written} is nobody's business: {text}");
    }
}

#[tokio::test]
async fn c17_what_was_refused_ends_at_once_and_what_still_waits_is_not_told() {
    let collector = Collector::start().await;
    let (app, agent, ..) = Scenario::start_with(collector.setup()).await;
    agent.proposes(app.team.run, &json!({ "tool": "nmap", "arguments": ["-sV"], "target": "192.0.2.1" })).await;
    agent.proposes(app.team.run, &reading()).await;
    agent.proposes(app.team.run, &deletion()).await;
    let spans = collector.until("execute_tool nmap").await;
    let refused = named(&spans, "execute_tool nmap")[0];
    assert_eq!(says(refused, "placet.action.tier").as_deref(), Some("D"));
    tokio::time::sleep(Duration::from_millis(50)).await;
    let spans = collector.spans();
    assert!(named(&spans, "execute_tool rm").is_empty() && named(&spans, "checkpoint").is_empty(), "{spans:#?}");
}

#[tokio::test]
async fn c17_a_collector_without_time_and_a_restart_lose_and_double_nothing() {
    let collector = Collector::start().await;
    let (mut app, ..) = Scenario::start_with(collector.setup()).await;
    collector.has_no_time_for(2);
    let action = app.team.agent.proposes(app.team.run, &scan()).await;
    app.team.reviewer.approves(&action).await.is(200);
    collector.until("approval").await;
    app.restart().await;
    app.team.worker.executes(&app.team.worker.leases().await.unwrap()).await;
    let spans = collector.until("execute_tool").await;
    app.restart().await;
    app.team.operator.cancels(app.team.run).await.is(200);
    let all = collector.until("invoke_agent").await;
    let ids: BTreeSet<&str> = all.iter().map(|span| span["spanId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), all.len(), "nothing is told twice: {all:#?}");
    assert!(all.len() > spans.len() && named(&all, "job").len() == 1);
}
