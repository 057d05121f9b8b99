//! Server-sent events: every entry of a run, in order, without gaps, to those who may see them and as long as they may.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::{LeaseJob, RevokeIdentity, ShowRun};
use std::time::Duration;

use axum::http::Method;
use placet_domain::headline::headline;
use placet_ledger::leaf_hash;
use placet_store::{EntryFilter, MOST_ROWS};
use placet_wire::endpoint::FollowRun;
use placet_wire::{EventStream, api};
use serde_json::json;

use crate::moves::{reading, scan};
use crate::person::{Answer, Person, StreamAt};
use crate::scenario::{PATIENCE, Scenario, Setup};

async fn follow(person: &Person, app: &Scenario, last: Option<u64>) -> EventStream {
    person.client().follow(FollowRun { run: app.team.run }, last).await.unwrap()
}

/// The numbers of the run's entries, as the ledger has them.
async fn numbers(app: &Scenario) -> Vec<u64> {
    let filter = EntryFilter { run: Some(app.team.run), limit: MOST_ROWS, ..EntryFilter::default() };
    app.store().entries(filter).await.unwrap().iter().map(|entry| entry.seq).collect()
}

async fn next(stream: &mut EventStream) -> Option<placet_wire::StreamEvent> {
    tokio::time::timeout(PATIENCE, stream.next()).await.expect("an event or the end")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_entry_comes_once_and_in_order_across_reconnects_while_writes_go_on() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let (run, other_run) = (app.team.run, others.run);
    let writing = tokio::spawn(async move {
        for _ in 0..60 {
            agent.proposes(run, &reading()).await;
            others.agent.proposes(other_run, &reading()).await;
        }
    });
    let mut seen: Vec<u64> = Vec::new();
    let wanted = 4 + 1 + 60 * 2;
    while seen.len() < wanted {
        let mut stream = follow(&reviewer, &app, seen.last().copied()).await;
        for _ in 0..7 {
            if seen.len() < wanted {
                seen.push(next(&mut stream).await.expect("the stream goes on").seq);
            }
        }
    }
    writing.await.unwrap();
    assert_eq!(seen, numbers(&app).await);
}

#[tokio::test]
async fn an_event_is_the_entry_byte_for_byte() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    agent.proposes(app.team.run, &scan()).await;
    let mut stream = follow(&reviewer, &app, None).await;
    for seq in numbers(&app).await {
        let event = next(&mut stream).await.unwrap();
        let entry = app.store().entry(seq).await.unwrap().unwrap();
        assert_eq!((event.seq, event.event.as_str()), (seq, &*headline(&entry.kind)));
        assert_eq!(leaf_hash(event.data.as_bytes()), entry.leaf);
    }
}

/// The headlines of everything after this entry, until the run is completed.
async fn headlines(person: &Person, path: String, last: Option<u64>) -> Vec<String> {
    let mut stream = person.client().follow(StreamAt(path), last).await.unwrap();
    let mut seen = Vec::new();
    while seen.last().map(String::as_str) != Some("completed") {
        let event = next(&mut stream).await.expect("the run completes");
        let entry: serde_json::Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!(headline(entry["kind"].as_str().unwrap()), event.event, "the kind is in the entry");
        seen.push(event.event);
    }
    seen
}

#[tokio::test]
async fn c13_whoever_follows_is_told_in_headlines_under_both_names_of_a_run() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let run = app.team.run;
    let last = numbers(&app).await.last().copied();
    let path = format!("/api/v1/runs/{run}");
    agent.proposes(run, &reading()).await;
    worker.executes(&worker.leases().await.unwrap()).await;
    agent.post(&format!("{path}/checkpoints"), &json!({ "summary": "have a look" })).await.is(200);
    let seen: api::CheckpointView = reviewer.get(&format!("{path}/checkpoint")).await.is(200).json();
    reviewer.post_if(&format!("{path}/checkpoints/1/approve"), seen.review, &json!({})).await.is(200);
    let done: api::RunView = agent.post(&format!("{path}/finish"), &json!({ "summary": "read" })).await.is(200).json();
    reviewer.post_if(&format!("{path}/complete"), done.review, &json!({})).await.is(200);
    let told = headlines(&reviewer, format!("{path}/stream"), last).await;
    let told_again = headlines(&reviewer, format!("/api/v1/autonomous/executions/{run}/stream"), last).await;
    assert_eq!(told, told_again);
    for name in ["action_proposed", "action_started", "action_finished", "checkpoint_reached", "checkpoint_passed"] {
        assert_eq!(told.iter().filter(|told| *told == name).count(), 1, "{name}: {told:?}");
    }
}

#[tokio::test]
async fn a_run_of_others_has_no_stream() {
    let (app, _, _, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let path = format!("/api/v1/runs/{}/stream", app.team.run);
    others.reviewer.get(&path).await.problem(404, "unknown");
    others.agent.get("/api/v1/runs/run_00000000000000000000000000000000/stream").await.problem(404, "unknown");
}

#[tokio::test]
async fn one_viewer_too_many_is_told_so_and_may_come_when_another_goes() {
    let mut setup = Setup::default();
    // One for each person, four for everybody.
    setup.settings.limits.streams = 4;
    let (app, _, reviewer, _) = Scenario::start_with(setup).await;
    let first = follow(&reviewer, &app, None).await;
    let path = format!("/api/v1/runs/{}/stream", app.team.run);
    reviewer.get(&path).await.problem(503, "busy");
    reviewer.get(&ShowRun { run: app.team.run }.path()).await.is(200);
    drop(first);
    let again = async {
        while reviewer.request(Method::GET, &path).send().await.unwrap().status() != 200 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, again).await.expect("the place is free again");
}

#[tokio::test]
async fn t8_a_viewer_who_is_revoked_sees_nothing_more() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let last = numbers(&app).await.last().copied();
    let mut stream = follow(&reviewer, &app, last).await;
    agent.proposes(app.team.run, &reading()).await;
    assert_eq!(next(&mut stream).await.unwrap().event, "action_proposed");
    assert_eq!(next(&mut stream).await.unwrap().event, "action_judged");
    app.admin.post(&RevokeIdentity { identity: reviewer.id }.path(), &json!({})).await.is(200);
    agent.proposes(app.team.run, &reading()).await;
    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams_and_does_not_wait_for_viewers() {
    let (mut app, _, reviewer, worker) = Scenario::start().await;
    let last = numbers(&app).await.last().copied();
    let mut stream = follow(&reviewer, &app, last).await;
    let waiting = tokio::spawn(async move { worker.post(&LeaseJob {}.path(), &json!({ "wait_ms": 30_000 })).await });
    // The worker waits once its request is under way; until then it would only be turned away.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let stopped = tokio::time::timeout(Duration::from_secs(5), app.stop()).await;
    assert!(stopped.is_ok(), "it stops although somebody watches and somebody waits");
    assert_eq!(next(&mut stream).await, None);
    let answer: Answer = waiting.await.unwrap();
    assert_eq!(answer.status, 204);
    app.restart().await;
    let mut stream = follow(&reviewer, &app, last).await;
    app.team.agent.proposes(app.team.run, &reading()).await;
    assert_eq!(next(&mut stream).await.unwrap().event, "action_proposed", "and goes on where it was");
}
