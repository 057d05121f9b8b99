//! A run that was planned with an agent of the catalogue is held to its entry, whatever policy, scope and reviewers would say (C4).

use placet_domain::catalogue::{Catalogue, shipped};
use placet_domain::digest::Digest;
use placet_domain::policy::DEFAULT_TOOLS;
use placet_domain::proposal::Cages;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::PlanExecution;
use serde_json::{Value, json};

use crate::moves::{deletion, reading, scan};
use crate::scenario::{Scenario, rules_in_cages, rules_planning_with};

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
    let made: api::ExecutionView = team.operator.post(&PlanExecution {}.path(), &new).await.is(201).json();
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

/// Profiles by name and by what they amount to here. Those that begin with `narrow` are within all others.
fn cages(known: &[(&str, &str)]) -> Cages {
    let known = known.iter().map(|(name, is)| ((*name).to_owned(), Digest::of(is.as_bytes())));
    known.collect::<Cages>().compared(|inner, _| inner.starts_with("narrow"))
}

/// The shipped tools, with `cat` in a cage of this kind.
fn cat_in(profile: &str) -> String {
    let cat = "[cat]\nprogram = \"/usr/bin/cat\"\n";
    assert!(DEFAULT_TOOLS.contains(cat));
    DEFAULT_TOOLS.replace(cat, &format!("{cat}profile = \"{profile}\"\n"))
}

#[tokio::test]
async fn c7_the_cage_that_was_approved_is_the_widest_that_anything_runs_in() {
    let (mut app, _, _, worker) = Scenario::start().await;
    let known = [("browser_automation", "b"), ("default", "d"), ("narrow", "n"), ("wide", "w")];
    let agents = || scanner("\"filtered\"", false);
    app.restart_under(rules_in_cages(&cat_in("narrow"), agents(), cages(&known))).await;
    let run = planned(&app).await;
    let shown = run.products.as_ref().unwrap().cage.as_ref().unwrap();
    let approved: Vec<&str> = shown.cages.as_ref().unwrap().keys().map(String::as_str).collect();
    assert_eq!((shown.profile.as_str(), approved), ("browser_automation", vec!["browser_automation", "narrow"]));
    assert_eq!(tried(&app, &run, reading()).await, ("APPROVED".to_owned(), vec![]));
    let job = worker.leases().await.unwrap();
    assert!(job.sealed.contains(r#""profile":"narrow""#), "what was approved is what a worker gets: {}", job.sealed);
    worker.executes(&job).await;

    // Somebody gives the tool another cage, after everything was approved.
    app.restart_under(rules_in_cages(&cat_in("wide"), agents(), cages(&known))).await;
    assert_eq!(tried(&app, &run, reading()).await, denied(&["entry.profile"]));
    // Or makes another cage of the one that it has.
    let changed = [("browser_automation", "b"), ("default", "d"), ("narrow", "open to the world")];
    app.restart_under(rules_in_cages(&cat_in("narrow"), agents(), cages(&changed))).await;
    assert_eq!(tried(&app, &run, reading()).await, denied(&["entry.profile"]));
    // Or lets everything be wider than anybody saw.
    let widened = [("browser_automation", "open to the world"), ("default", "d"), ("narrow", "n")];
    app.restart_under(rules_in_cages(&cat_in("browser_automation"), agents(), cages(&widened))).await;
    assert_eq!(tried(&app, &run, reading()).await, denied(&["entry.profile"]));
    app.restart_under(rules_in_cages(&cat_in("narrow"), agents(), cages(&known))).await;
    assert_eq!(tried(&app, &run, reading()).await, ("APPROVED".to_owned(), vec![]), "as it was approved");
    app.assert_sound().await;
}
