//! A run that was planned with an agent of the catalogue is held to its entry, whatever policy, scope and reviewers would say (C4).

use placet_domain::catalogue::{Catalogue, shipped};
use placet_wire::api;
use serde_json::{Value, json};

use crate::moves::{deletion, reading, scan};
use crate::scenario::{Scenario, rules_planning_with};

/// An agent that scans, with this network, and deletes or not.
fn scanner(network: &str, blocks_deletion: bool) -> Catalogue {
    let (_, text) = shipped().iter().find(|(file, _)| *file == "browser_agent.toml").unwrap();
    let said = |line: &str| match line.split(" = ").next().unwrap() {
        "id" => "id = \"scanner\"".to_owned(),
        "tools" => "tools = [\"cat\", \"nmap\", \"rm\"]".to_owned(),
        "network" => format!("network = {network}"),
        "block_deletion" => format!("block_deletion = {blocks_deletion}"),
        "speaks" => format!("{line}\nprogram = \"/opt/agents/scanner\""),
        "capabilities" if line.contains("browse") => "capabilities = [\"scan_networks\", \"write_text\"]".to_owned(),
        _ => line.to_owned(),
    };
    let text: Vec<String> = text.lines().map(said).collect();
    Catalogue::with([("scanner.toml", text.join("\n").as_str())]).unwrap()
}

/// A run that is planned with that agent and is under way.
async fn planned(app: &Scenario) -> api::RunView {
    let team = &app.team;
    let intent = json!({ "goal": "Scan the lab and report", "agent": "scanner", "mode": "CHECKPOINT" });
    let new = json!({ "project": team.project, "scope": "lab", "agent": team.agent.id, "intent": intent });
    let made: api::ExecutionView = team.operator.post("/api/v1/autonomous/executions", &new).await.is(201).json();
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", made.execution_id);
    team.reviewer.post_if(&path("approve"), made.run.review, &json!({})).await.is(200);
    team.operator.post(&path("start"), &json!({})).await.is(200);
    team.agent.post(&path("attach"), &json!({})).await.is(200).json()
}

/// The laws of the entry that a proposal breaks, and what becomes of it.
async fn tried(app: &Scenario, run: &api::RunView, wish: Value) -> (String, Vec<String>) {
    let action = app.team.agent.proposes(run.id, &wish).await;
    let laws = action.verdict.reasons.iter().filter(|reason| reason.rule.starts_with("entry."));
    (action.status.to_string(), laws.map(|reason| reason.rule.clone()).collect())
}

fn denied(laws: &[&str]) -> (String, Vec<String>) {
    ("DENIED".to_owned(), laws.iter().map(|law| (*law).to_owned()).collect())
}

fn scan_of(target: &str) -> Value {
    json!({ "tool": "nmap", "arguments": ["-sV"], "target": target })
}

#[tokio::test]
async fn c4_an_agent_of_the_catalogue_stays_within_its_entry_whatever_scope_and_policy_permit() {
    let (mut app, ..) = Scenario::start().await;
    app.restart_under(rules_planning_with(scanner(r#"{ allow = ["10.0.0.5"] }"#, true))).await;
    let run = planned(&app).await;
    assert_eq!(tried(&app, &run, reading()).await.1, Vec::<String>::new());
    assert_eq!(tried(&app, &run, scan_of("10.0.0.5")).await, ("PENDING_APPROVAL".to_owned(), vec![]));
    assert_eq!(tried(&app, &run, scan_of("10.0.0.6")).await, denied(&["entry.network"]));
    assert_eq!(tried(&app, &run, deletion()).await, denied(&["entry.switch"]));
    let writing = json!({ "tool": "tee", "arguments": ["docs/a.md"], "outputs": ["docs/a.md"] });
    assert_eq!(tried(&app, &run, writing).await, denied(&["entry.tool"]));
    // Somebody who is not of the catalogue is judged by scope and policy alone.
    let other = app.team.agent.proposes(app.team.run, &scan_of("10.0.0.6")).await;
    assert_eq!(other.status.as_str(), "PENDING_APPROVAL");
    app.assert_sound().await;
}

#[tokio::test]
async fn c4_no_reviewer_can_amend_an_action_into_one_that_the_entry_does_not_allow() {
    let (mut app, _, reviewer, _) = Scenario::start().await;
    app.restart_under(rules_planning_with(scanner(r#"{ allow = ["10.0.0.5"] }"#, true))).await;
    let run = planned(&app).await;
    let waiting = app.team.agent.proposes(run.id, &scan()).await;
    assert_eq!(waiting.status.as_str(), "PENDING_APPROVAL");
    let no = reviewer.amends(&waiting, json!({ "target": "10.0.0.7" })).await.problem(403, "denied");
    assert!(no.detail.contains("10.0.0.7"), "{no:?}");
    assert_eq!(reviewer.sees(&waiting).await.action.status, waiting.status, "it waits as before");
}

#[tokio::test]
async fn c4_what_was_approved_with_the_plan_holds_although_the_entry_changes_later() {
    let (mut app, ..) = Scenario::start().await;
    app.restart_under(rules_planning_with(scanner(r#"{ allow = ["10.0.0.5"] }"#, true))).await;
    let run = planned(&app).await;
    let bounds = run.products.as_ref().unwrap().bounds().unwrap();
    assert_eq!(bounds.network.to_string(), "10.0.0.5");
    app.restart_under(rules_planning_with(scanner("\"filtered\"", false))).await;
    assert_eq!(tried(&app, &run, scan_of("10.0.0.6")).await, denied(&["entry.network"]));
    assert_eq!(tried(&app, &run, deletion()).await, denied(&["entry.switch"]));
    let wider = planned(&app).await;
    assert_eq!(tried(&app, &wider, scan_of("10.0.0.6")).await, ("PENDING_APPROVAL".to_owned(), vec![]));
    assert_eq!(tried(&app, &wider, deletion()).await, ("PENDING_APPROVAL".to_owned(), vec![]));
}
