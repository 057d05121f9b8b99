//! What a terminal decides by: the rows and cards of the pages, and news of all runs, each within somebody's reach and no further.

use placet_wire::api::{self, StandsFor};
use placet_wire::{EventStream, StreamEvent};
use serde_json::json;

use crate::moves::{deletion, scan};
use crate::person::Person;
use crate::scenario::{PATIENCE, Scenario, scope};

async fn inbox(person: &Person) -> api::InboxView {
    person.get("/api/v1/inbox").await.is(200).json()
}

async fn card(person: &Person, action: &api::ActionView) -> api::CardView {
    person.get(&format!("/api/v1/actions/{}/card", action.id)).await.is(200).json()
}

async fn next(stream: &mut EventStream) -> Option<StreamEvent> {
    tokio::time::timeout(PATIENCE, stream.next()).await.expect("an event or the end")
}

#[tokio::test]
async fn b4_identical_actions_are_one_row_with_names_and_digests_and_runs_that_stand_still_follow() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let first = agent.proposes(app.team.run, &scan()).await;
    let twin = agent.proposes(app.team.run, &scan()).await;
    agent.proposes(app.team.run, &deletion()).await;
    app.team.draft(json!(["look"])).await;
    let inbox = inbox(&reviewer).await;
    assert_eq!(inbox.waiting, 3);
    let tiers: Vec<&str> = inbox.actions.iter().map(|row| row.action.verdict.tier.as_str()).collect();
    assert_eq!(tiers, ["C", "B"], "the riskiest first, identical ones once");
    let row = &inbox.actions[1];
    assert_eq!(
        (row.action.id, row.twins.len(), row.twins[0].id, row.twins[0].review),
        (first.id, 1, twin.id, twin.review)
    );
    assert!(row.agent.contains("alpha") && !row.goal.is_empty(), "{row:?}");
    assert!(inbox.runs.iter().any(|run| run.why == StandsFor::Plan), "{:?}", inbox.runs);
}

#[tokio::test]
async fn b4_a_card_tells_what_a_page_tells_and_who_decided_when() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let before = card(&reviewer, &action).await;
    assert!(before.may_decide && before.cannot.is_none() && before.approved_by.is_empty());
    assert_eq!(before.detail.action.review, action.review);
    let by_admin: api::CardView = app.admin.get(&format!("/api/v1/actions/{}/card", action.id)).await.is(200).json();
    assert!(!by_admin.may_decide && by_admin.cannot.is_some(), "who does not review is told so");
    reviewer.rejects(&action).await.is(200);
    let after = card(&reviewer, &action).await;
    assert!(!after.may_decide && after.cannot.is_none());
    let last = after.entries.iter().find(|entry| entry.event == "action_rejected").unwrap();
    assert!(last.by.contains("rita"), "{last:?}");
}

#[tokio::test]
async fn b2_rows_cards_workers_and_news_end_at_the_wall_of_a_project() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let action = agent.proposes(app.team.run, &scan()).await;
    assert_eq!(inbox(&others.reviewer).await.waiting, 0);
    others.reviewer.get(&format!("/api/v1/actions/{}/card", action.id)).await.problem(404, "unknown");
    let ours = format!("project={}", app.team.project);
    others.reviewer.get(&format!("/api/v1/inbox?{ours}")).await.problem(404, "unknown");
    others.reviewer.get(&format!("/api/v1/stream?{ours}")).await.problem(404, "unknown");
    let mut stream = others.reviewer.client().follow("/api/v1/stream", None).await.unwrap();
    agent.proposes(app.team.run, &scan()).await;
    let theirs = others.agent.proposes(others.run, &scan()).await;
    let event = next(&mut stream).await.unwrap();
    assert!(event.data.contains(&theirs.id.to_string()), "{event:?}");
    let workers: api::WorkerList = reviewer.get("/api/v1/workers").await.is(200).json();
    assert!(workers.workers.iter().all(|worker| worker.id != others.worker.id), "{workers:?}");
}

#[tokio::test]
async fn c16_all_runs_are_followed_from_now_on_and_nothing_is_missed_on_the_way() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let mut stream = reviewer.client().follow("/api/v1/stream", None).await.unwrap();
    let action = agent.proposes(app.team.run, &scan()).await;
    let first = next(&mut stream).await.unwrap();
    assert_eq!(first.event, "action_proposed", "not what was before");
    assert!(first.data.contains(&action.id.to_string()));
    drop(stream);
    reviewer.rejects(&action).await.is(200);
    let mut again = reviewer.client().follow("/api/v1/stream", Some(first.seq)).await.unwrap();
    let mut seen = Vec::new();
    while seen.last().map(String::as_str) != Some("action_rejected") {
        seen.push(next(&mut again).await.unwrap().event);
    }
    assert_eq!(seen, ["action_judged", "action_rejected"]);
}

#[tokio::test]
async fn b2_of_what_belongs_to_no_run_only_that_it_happened_is_told() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut stream = reviewer.client().follow("/api/v1/stream", None).await.unwrap();
    let mut named = scope();
    named["name"] = json!("secret-name");
    app.team.operator.post(&format!("/api/v1/projects/{}/scopes", app.team.project), &named).await.is(201);
    let event = next(&mut stream).await.unwrap();
    assert_eq!((event.event.as_str(), event.data.as_str()), ("other", "{}"));
}

#[tokio::test]
async fn b1_whoever_is_revoked_follows_no_more() {
    let (app, agent, _, _) = Scenario::start().await;
    let person = app.hire(json!({ "name": "eve", "roles": ["reviewer"], "projects": [app.team.project] })).await;
    let mut stream = person.client().follow("/api/v1/stream", None).await.unwrap();
    app.admin.post(&format!("/api/v1/identities/{}/revoke", person.id), &json!({})).await.is(200);
    agent.proposes(app.team.run, &scan()).await;
    assert_eq!(next(&mut stream).await, None);
}
