//! Everything is visible by API: nothing needs a look into the database.

use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::{ListIdentities, ListProjects, ListScopes, ShowPolicy};
use serde_json::{Value, json};

use crate::moves::{reading, scan, scan_of_strangers, sweep};
use crate::scenario::Scenario;

#[tokio::test]
async fn b11_run_actions_verdicts_approvals_evidence_and_ledger_are_visible() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let run = app.team.run;
    let action = agent.proposes(run, &scan()).await;
    let queue: api::ActionList = reviewer.get("/api/v1/queue").await.is(200).json();
    assert_eq!(queue.actions[0].id, action.id);
    reviewer.approves(&action).await.is(200);
    let job = worker.leases().await.unwrap();
    let done = worker.executes(&job).await;
    let auditor = &app.auditor;
    let runs: api::RunList = auditor.get("/api/v1/runs").await.is(200).json();
    assert_eq!(runs.runs[0].id, run);
    let actions: api::ActionList = auditor.get(&format!("/api/v1/runs/{run}/actions")).await.is(200).json();
    let [seen] = &actions.actions[..] else { panic!("{actions:?}") };
    assert_eq!((seen.status.as_str(), seen.verdict.risk), ("SUCCEEDED", 0.35));
    assert_eq!(seen.approvals[0].reviewer, reviewer.id);
    let manifest: Value = auditor.get(&format!("/api/v1/actions/{}/evidence", action.id)).await.is(200).json();
    let digest = manifest["items"][0]["digest"].as_str().unwrap();
    let output = auditor.get(&format!("/api/v1/projects/{}/evidence/{digest}", app.team.project)).await.is(200);
    assert_eq!(&output.body[..], b"22/tcp open ssh\n");
    let trail: api::AuditTrail = auditor.get(&format!("/api/v1/runs/{run}/audit")).await.is(200).json();
    assert!(trail.rows.iter().any(|row| row.output_digest == Some(done.evidence.to_string())));
    let entries: api::EntryList = auditor.get("/api/v1/ledger/entries").await.is(200).json();
    assert_eq!(entries.entries.len() as u64, app.size());
    let projects: api::ProjectList = auditor.get(&ListProjects {}.path()).await.is(200).json();
    assert_eq!(projects.projects[0].id, app.team.project);
    let scopes: api::ScopeList = auditor.get(&ListScopes { project: app.team.project }.path()).await.is(200).json();
    assert_eq!(scopes.scopes[0].version, runs.runs[0].scope);
    let identities: api::IdentityList = auditor.get(&ListIdentities {}.path()).await.is(200).json();
    assert_eq!(identities.identities.len(), 7);
    let policy: api::PolicyView = worker.get(&ShowPolicy {}.path()).await.is(200).json();
    assert_eq!(policy.version, action.verdict.policy);
    assert!(policy.rules.iter().any(|rule| rule.id == "scan.host" && rule.line > 0));
}

#[tokio::test]
async fn b11_lists_are_paged_to_their_end() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    for number in 0..7 {
        agent.proposes(app.team.run, &json!({ "tool": "cat", "arguments": [number.to_string()] })).await;
    }
    let path = format!("/api/v1/runs/{}/actions?limit=3", app.team.run);
    let mut pages = Vec::new();
    let mut page: api::ActionList = reviewer.get(&path).await.is(200).json();
    loop {
        pages.push(page.actions.len());
        let Some(next) = page.next else { break };
        page = reviewer.get(&format!("{path}&after={next}")).await.is(200).json();
    }
    assert_eq!(pages, [3, 3, 1]);
    for _ in 0..3 {
        app.team.start_run().await;
    }
    let first: api::RunList = reviewer.get("/api/v1/runs?limit=3").await.is(200).json();
    let next = first.next.expect("there is one more");
    let rest: api::RunList = reviewer.get(&format!("/api/v1/runs?limit=3&after={next}")).await.is(200).json();
    assert_eq!((rest.runs.len(), rest.runs[0].id, rest.next), (1, app.team.run, None));
}

#[tokio::test]
async fn b4_the_queue_shows_the_riskiest_first_and_only_what_the_caller_may_see() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    for wish in [scan(), sweep(), reading(), scan_of_strangers()] {
        agent.proposes(app.team.run, &wish).await;
    }
    others.agent.proposes(others.run, &scan()).await;
    let queue: api::ActionList = reviewer.get("/api/v1/queue").await.is(200).json();
    let tiers: Vec<_> = queue.actions.iter().map(|action| action.verdict.tier.as_str()).collect();
    assert_eq!(tiers, ["C", "B"]);
    assert!(queue.actions.iter().all(|action| action.project == app.team.project));
    reviewer.get(&format!("/api/v1/queue?project={}", others.project)).await.problem(404, "unknown");
    let all: api::ActionList = app.auditor.get("/api/v1/queue").await.is(200).json();
    assert_eq!(all.actions.len(), 3);
    let one: api::ActionList =
        app.auditor.get(&format!("/api/v1/queue?project={}", others.project)).await.is(200).json();
    assert_eq!(one.actions.len(), 1);
}
