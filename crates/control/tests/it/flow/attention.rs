//! ATTENTION over HTTP: who should look at a question, and who set it aside. Whoever decides, decides as before.

use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::FollowRun;
use placet_wire::endpoint::{AssignAction, DeferAction, ShowCard};
use serde_json::{Value, json};

use crate::moves::scan;
use crate::person::{Answer, Person};
use crate::scenario::{PATIENCE, Scenario};

async fn assign(person: &Person, on: &api::ActionView, body: Value) -> Answer {
    person.post(&AssignAction { action: on.id }.path(), &body).await
}

async fn defer(person: &Person, on: &api::ActionView, body: Value) -> Answer {
    person.post(&DeferAction { action: on.id }.path(), &body).await
}

async fn inbox(person: &Person, whose: &str) -> api::InboxView {
    person.get(&format!("/api/v1/inbox?whose={whose}")).await.is(200).json()
}

async fn ids(person: &Person, whose: &str) -> Vec<String> {
    inbox(person, whose).await.actions.iter().map(|row| row.action.id.to_string()).collect()
}

#[tokio::test]
async fn b4_what_somebody_is_named_for_comes_first_and_stands_with_others_as_theirs() {
    let (app, agent, rita, _) = Scenario::start().await;
    let (ralf, run) = (&app.team.second, app.team.run);
    let _risky = agent.proposes(run, &crate::moves::sweep()).await;
    let action = agent.proposes(run, &scan()).await;
    let before = app.size();
    let said: api::AttentionView =
        assign(&rita, &action, json!({ "to": "ralf-alpha", "note": "you know it" })).await.is(200).json();
    assert_eq!(app.kinds_from(before).await, ["action.assigned"]);
    let assigned = said.assigned.unwrap();
    assert_eq!((assigned.to.as_str(), assigned.by.as_str(), assigned.is_yours), ("ralf-alpha", "rita-alpha", false));
    let first = &inbox(ralf, "mine").await.actions[0];
    assert_eq!(first.action.id, action.id, "before what is riskier");
    let told = first.attention.assigned.clone().unwrap();
    assert_eq!((told.is_yours, told.note.as_str()), (true, "you know it"));
    assert_eq!(ids(&rita, "others").await, [action.id.to_string()]);
    assert_eq!(ids(&rita, "mine").await.len(), 1);
    let card: api::CardView = rita.get(&ShowCard { action: action.id }.path()).await.is(200).json();
    assert!(card.may_decide && card.attention.assigned.is_some(), "she may decide as before");
    rita.approves(&action).await.is(200);
    assert_eq!(ids(ralf, "mine").await.len(), 1, "it ended with the question");
    app.assert_sound().await;
}

#[tokio::test]
async fn b4_only_somebody_who_could_decide_it_is_named_and_only_by_people_of_the_project() {
    let (app, agent, rita, worker) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let action = agent.proposes(app.team.run, &scan()).await;
    for (to, code) in [("olga-alpha", "invalid"), ("rita-beta", "unknown"), ("nobody", "unknown")] {
        let said = assign(&rita, &action, json!({ "to": to })).await.any_problem();
        assert_eq!(said.code, code, "{to}: {}", said.detail);
    }
    for who in [&agent, &worker, &app.auditor, &app.admin] {
        assign(who, &action, json!({ "to": "rita-alpha" })).await.problem(403, "role");
        defer(who, &action, json!({ "until": "2026-01-31T10:00:00Z" })).await.problem(403, "role");
    }
    assign(&others.reviewer, &action, json!({ "to": "rita-beta" })).await.problem(404, "unknown");
    defer(&app.team.operator, &action, json!({ "until": "2026-01-31T10:00:00Z" })).await.problem(403, "role");
    assign(&app.team.operator, &action, json!({ "to": rita.id })).await.is(200);
    assign(&rita, &action, json!({ "to": "ralf-alpha", "note": "x".repeat(281) })).await.problem(422, "invalid");
    assign(&rita, &action, json!({ "whom": "ralf-alpha" })).await.any_problem();
    assign(&rita, &action, json!({})).await.is(200);
    assign(&rita, &action, json!({})).await.problem(409, "not_now");
}

#[tokio::test]
async fn b4_what_was_set_aside_counts_for_others_only_and_is_back_by_the_stores_clock() {
    let (app, agent, rita, _) = Scenario::start().await;
    let ralf = &app.team.second;
    let action = agent.proposes(app.team.run, &scan()).await;
    // Scenarios begin on 31 January at half past nine.
    for bad in ["2026-01-31T09:00:00Z", "2026-02-05T00:00:00Z"] {
        defer(&rita, &action, json!({ "until": bad })).await.problem(422, "invalid");
    }
    defer(&rita, &action, json!({ "until": "soon" })).await.problem(400, "bad_body");
    defer(&rita, &action, json!({ "until": "2026-01-31T10:30:00Z" })).await.is(200);
    assert_eq!(ids(&rita, "mine").await, [""; 0]);
    assert_eq!(ids(&rita, "aside").await, [action.id.to_string()]);
    assert_eq!((inbox(&rita, "mine").await.waiting, inbox(ralf, "mine").await.waiting), (0, 1));
    let seen = &inbox(ralf, "mine").await.actions[0].attention.aside[0];
    assert_eq!((seen.who.as_str(), seen.is_yours), ("rita-alpha", false), "others are told who set it aside");
    let before = app.size();
    app.pass_ms(60 * 60_000);
    assert_eq!((ids(&rita, "mine").await.len(), ids(&rita, "aside").await.len()), (1, 0));
    assert_eq!(app.size(), before, "nothing had to happen for it");
    defer(&rita, &action, json!({ "until": "2026-01-31T11:30:00Z" })).await.is(200);
    defer(&rita, &action, json!({})).await.is(200);
    assert_eq!(ids(&rita, "mine").await.len(), 1);
    app.assert_sound().await;
}

#[tokio::test]
async fn r7_an_agent_is_not_told_who_looks_at_what() {
    let (app, agent, rita, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    assign(&rita, &action, json!({ "to": "ralf-alpha", "note": "a secret between us" })).await.is(200);
    defer(&rita, &action, json!({ "until": "2026-01-31T10:00:00Z" })).await.is(200);
    let last = app.size() - 1;
    for path in [format!("/api/v1/actions/{}", action.id), format!("/api/v1/runs/{}/actions", app.team.run)] {
        let seen = agent.get(&path).await.is(200).text();
        assert!(!seen.contains("secret between") && !seen.contains("aside") && !seen.contains("ralf"), "{seen}");
    }
    agent.get("/api/v1/inbox").await.problem(403, "role");
    agent.get(&ShowCard { action: action.id }.path()).await.problem(403, "role");
    let mut stream = agent.client().follow(FollowRun { run: app.team.run }, None).await.unwrap();
    loop {
        let event = tokio::time::timeout(PATIENCE, stream.next()).await.unwrap().unwrap();
        assert!(!event.data.contains("secret between") && !event.data.contains("assigned"), "{event:?}");
        if event.seq == last {
            break;
        }
    }
}
