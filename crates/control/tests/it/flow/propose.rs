//! PROPOSE and JUDGE: what the shipped policy says, and what an agent cannot do.

use placet_domain::digest::Digest;
use placet_wire::Endpoint as _;
use placet_wire::endpoint::{ShowAction, ShowRun, StoreEvidence};
use serde_json::json;

use crate::moves::{reading, scan, scan_of_strangers, sweep};
use crate::scenario::Scenario;

#[tokio::test]
async fn b3_the_nmap_example_waits_for_one_person_and_its_reasons_add_up() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    assert_eq!((action.verdict.tier.as_str(), action.verdict.risk), ("B", 0.35));
    assert_eq!((action.status.as_str(), action.approvals_missing), ("PENDING_APPROVAL", 1));
    let sum: f64 = action.verdict.reasons.iter().map(|reason| reason.weight).sum();
    assert!((sum - action.verdict.risk).abs() < 1e-9, "{:?}", action.verdict.reasons);
    let rules: Vec<_> = action.verdict.reasons.iter().map(|reason| reason.rule.as_str()).collect();
    for rule in ["scan.host", "scan.version", "scan.blind"] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
    assert!(action.verdict.reasons.iter().all(|reason| !reason.because.is_empty()));
    let shown = reviewer.sees(&action).await;
    assert_eq!(shown.spec.argv, ["/usr/bin/nmap", "-sV", "-Pn", "-p", "1-1000", "10.0.0.5"]);
    assert_eq!(shown.justification.as_deref(), Some("the inventory is from last year"));
}

#[tokio::test]
async fn b3_each_tier_leads_where_it_should() {
    let (app, agent, _, _) = Scenario::start().await;
    let cases = [
        (reading(), "A", "APPROVED", 0),
        (scan(), "B", "PENDING_APPROVAL", 1),
        (sweep(), "C", "PENDING_APPROVAL", 2),
        (scan_of_strangers(), "D", "DENIED", 0),
    ];
    for (wish, tier, status, missing) in cases {
        let action = agent.proposes(app.team.run, &wish).await;
        let seen = (action.verdict.tier.as_str(), action.status.as_str(), action.approvals_missing);
        assert_eq!(seen, (tier, status, missing), "{wish}");
        assert!(!action.verdict.reasons.is_empty(), "{wish}");
    }
}

#[tokio::test]
async fn b3_what_cannot_be_sealed_is_refused_with_what_to_change() {
    let (app, agent, _, _) = Scenario::start().await;
    let path = format!("/api/v1/runs/{}/actions", app.team.run);
    let before = app.size();
    let bad = [
        json!({ "tool": "telnet" }),
        json!({ "tool": "nmap", "arguments": ["--script", "all"], "target": "10.0.0.5" }),
        json!({ "tool": "cat", "arguments": ["a\u{0}b"] }),
        json!({ "tool": "cat", "environment": { "LD_PRELOAD": "x.so" } }),
        json!({ "tool": "tee", "outputs": ["../../etc/passwd"] }),
        json!({ "tool": "cat", "timeout_ms": 0 }),
    ];
    for wish in bad {
        agent.post(&path, &wish).await.problem(422, "unsealable");
    }
    let long = json!({ "tool": "cat", "justification": "x".repeat(8_001) });
    agent.post(&path, &long).await.problem(422, "invalid");
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn r1_a_file_operand_must_be_here_before_it_is_proposed() {
    let (app, agent, _, _) = Scenario::start().await;
    let (path, bytes) = (format!("/api/v1/runs/{}/actions", app.team.run), b"#!/bin/sh\n");
    let digest = Digest::of(bytes);
    let with_size = |size: usize| json!({ "tool": "cat", "files": [{ "path": "docs/run.sh", "digest": digest, "size_bytes": size }] });
    agent.post(&path, &with_size(10)).await.problem(422, "missing_evidence");
    agent.put(&StoreEvidence { project: app.team.project, digest }.path(), &bytes[..]).await.is(201);
    agent.post(&path, &with_size(11)).await.problem(422, "missing_evidence");
    agent.post(&path, &with_size(10)).await.is(201);
}

#[tokio::test]
async fn b1_the_work_of_another_agent_does_not_exist_for_an_agent() {
    let (app, agent, _, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let stranger = app.another("agent", 1).await;
    let before = app.size();
    let run = |verb: &str| format!("/api/v1/runs/{}{verb}", app.team.run);
    stranger.post(&run("/actions"), &scan()).await.problem(404, "unknown");
    for verb in ["/attach", "/finish"] {
        stranger.post(&run(verb), &json!({})).await.problem(404, "unknown");
    }
    for verb in ["", "/actions", "/stream"] {
        stranger.get(&run(verb)).await.problem(404, "unknown");
    }
    stranger.get(&ShowAction { action: action.id }.path()).await.problem(404, "unknown");
    stranger.get(&format!("/api/v1/actions/{}/evidence", action.id)).await.problem(404, "unknown");
    stranger.withdraws(&action).await.problem(404, "unknown");
    let list: placet_wire::api::RunList = stranger.get("/api/v1/runs").await.is(200).json();
    assert!(list.runs.is_empty());
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn b2_a_scope_locked_later_does_not_change_a_run() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let wider = json!({ "name": "lab", "rules": { "targets": ["192.0.2.0/24"], "tools": ["nmap"] } });
    let path = format!("/api/v1/projects/{}/scopes", app.team.project);
    let locked = app.team.operator.post(&path, &wider).await.is(201).json::<serde_json::Value>();
    let run = reviewer.get(&ShowRun { run: app.team.run }.path()).await.is(200).json::<serde_json::Value>();
    assert_ne!(run["scope"], locked["version"]);
    assert_eq!(agent.proposes(app.team.run, &scan_of_strangers()).await.status.as_str(), "DENIED");
    let new_run = app.team.start_run().await;
    assert_eq!(agent.proposes(new_run, &scan_of_strangers()).await.status.as_str(), "PENDING_APPROVAL");
}
