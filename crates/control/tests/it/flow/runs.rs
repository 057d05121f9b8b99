//! The states of a run, by HTTP.

use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::{CreateRun, RevokeIdentity, ShowRun};
use serde_json::{Value, json};

use crate::person::Person;
use crate::scenario::Scenario;

/// Every command about a run: its name, a body that is in order, and who gives it.
const COMMANDS: &[(&str, &str, &str)] = &[
    ("submit", r#"{"plan":["p"]}"#, "operator"),
    ("approve", "{}", "reviewer"),
    ("reject", r#"{"reason":"no"}"#, "reviewer"),
    ("start", "{}", "operator"),
    ("attach", "{}", "agent"),
    ("pause", r#"{"reason":"wait"}"#, "reviewer"),
    ("resume", "{}", "operator"),
    ("cancel", r#"{"reason":"enough"}"#, "operator"),
    ("finish", r#"{"summary":"done"}"#, "agent"),
    ("complete", "{}", "reviewer"),
    ("reject-results", r#"{"reason":"more"}"#, "reviewer"),
];

fn actor<'a>(app: &'a Scenario, role: &str) -> &'a Person {
    match role {
        "operator" => &app.team.operator,
        "reviewer" => &app.team.reviewer,
        "agent" => &app.team.agent,
        other => panic!("nobody here is a {other}"),
    }
}

async fn give(app: &Scenario, run: &api::RunView, command: &str) -> crate::person::Answer {
    let (_, body, role) = COMMANDS.iter().find(|(name, ..)| *name == command).unwrap();
    let body: Value = serde_json::from_str(body).unwrap();
    actor(app, role).post_if(&format!("/api/v1/runs/{}/{command}", run.id), run.review, &body).await
}

#[tokio::test]
async fn c8_a_run_walks_through_its_states_each_one_ledger_event() {
    let (app, _, _, _) = Scenario::start().await;
    let run = app.team.draft(json!([])).await;
    assert_eq!(run.status.as_str(), "DRAFT");
    let way = [
        ("submit", "PENDING_APPROVAL", "run.submitted"),
        ("reject", "DRAFT", "run.plan_rejected"),
        ("submit", "PENDING_APPROVAL", "run.submitted"),
        ("approve", "APPROVED", "run.plan_approved"),
        ("start", "SPAWNING_SANDBOX", "run.started"),
        ("attach", "EXECUTING", "run.attached"),
        ("pause", "PAUSED", "run.paused"),
        ("resume", "EXECUTING", "run.resumed"),
        ("finish", "PENDING_EXPORT", "run.finished"),
        ("reject-results", "EXECUTING", "run.results_rejected"),
        ("finish", "PENDING_EXPORT", "run.finished"),
        ("complete", "COMPLETED", "run.completed"),
    ];
    let mut run = run;
    for (command, status, event) in way {
        let before = app.size();
        // A plan that was submitted has a digest of its own; decisions are on what stands now.
        run = app.auditor.get(&ShowRun { run: run.id }.path()).await.is(200).json();
        run = give(&app, &run, command).await.is(200).json();
        assert_eq!(run.status.as_str(), status, "{command}");
        assert!(!run.meaning.is_empty());
        assert_eq!(app.kinds_from(before).await, [event], "{command}");
    }
}

#[tokio::test]
async fn c8_unlawful_commands_are_refused_with_what_to_do_instead() {
    let (app, _, _, _) = Scenario::start().await;
    let mut refused = 0;
    for steps in [&[][..], &["submit"], &["submit", "approve"], &["submit", "approve", "start"], &["cancel"]] {
        let mut run = app.team.draft(json!([])).await;
        for step in steps {
            run = give(&app, &run, step).await.is(200).json();
        }
        let lawful: &[&str] = match run.status.as_str() {
            "DRAFT" => &["submit", "cancel"],
            "PENDING_APPROVAL" => &["approve", "reject", "cancel"],
            "APPROVED" => &["start", "cancel"],
            "SPAWNING_SANDBOX" => &["attach", "cancel"],
            "CANCELLED" => &[],
            other => panic!("{other} is not visited here"),
        };
        let before = app.size();
        for (command, ..) in COMMANDS.iter().filter(|(name, ..)| !lawful.contains(name)) {
            let no = give(&app, &run, command).await.problem(409, "not_now");
            let hint = run.status.hint();
            assert!(no.detail.contains(hint) && no.detail.contains(run.status.as_str()), "{no:?}");
            refused += 1;
        }
        assert_eq!(app.size(), before, "a refused command changes nothing");
    }
    assert!(refused > 40, "only {refused}");
}

#[tokio::test]
async fn r29_what_a_run_needs_is_checked_when_it_is_made() {
    let (app, _, _, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let whole = json!({ "project": app.team.project, "goal": "g", "scope": "lab", "agent": app.team.agent.id });
    let before = app.size();
    let changed = |key: &str, value: Value| {
        let mut run = whole.clone();
        run[key] = value;
        run
    };
    let cases = [
        (changed("scope", json!("nowhere")), 404),
        (changed("goal", json!(" ")), 422),
        (changed("goal", json!("x".repeat(2_001))), 422),
        (changed("plan", json!(vec!["step"; 201])), 422),
        (changed("plan", json!([""])), 422),
        (changed("agent", json!(app.team.reviewer.id)), 422),
        (changed("project", json!(others.project)), 404),
        (changed("agent", json!(others.agent.id)), 404),
        (changed("agent", json!("idn_00000000000000000000000000000000")), 404),
    ];
    for (run, status) in cases {
        let no = app.team.operator.post(&CreateRun {}.path(), &run).await.any_problem();
        assert_eq!(no.status, status, "{run}: {no:?}");
    }
    assert_eq!(app.size(), before);
    let revoked = app.another("agent", 1).await;
    app.admin.post(&RevokeIdentity { identity: revoked.id }.path(), &json!({})).await.is(200);
    app.team.operator.post(&CreateRun {}.path(), &changed("agent", json!(revoked.id))).await.problem(422, "invalid");
}
