//! What programs say while they work: told by whoever runs them and by nobody else, read by people within reach, recorded nowhere.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use placet_wire::api::{self, LogView};
use serde_json::{Value, json};

use crate::hosting::at_work;
use crate::moves::reading;
use crate::person::Person;
use crate::scenario::Scenario;

/// Looks like a real one, and is none.
const SECRET: &str = "ghp_Zq8TnV3xWc5RkL7mPb2YdJf9HsGa4Ue6NiKo";

fn said(start: u64, at: usize, text: &str) -> Value {
    json!({ "start": start, "at": at, "said": [{ "stream": "stdout", "bytes": STANDARD.encode(text) }] })
}

async fn read(person: &Person, path: &str) -> LogView {
    person.get(path).await.is(200).json()
}

fn text(view: &LogView) -> String {
    view.pieces.iter().map(|piece| piece.text.as_str()).collect()
}

#[tokio::test]
async fn c16_only_the_host_of_a_run_tells_what_its_agent_says_and_nothing_is_recorded() {
    let (app, ..) = Scenario::start().await;
    let (run, agent) = at_work(&app).await;
    let (team, path) = (&app.team, format!("/api/v1/runs/{}/log", run.id));
    let other = app.hire(json!({ "name": "w9", "roles": ["worker"], "projects": [team.project] })).await;
    let before = app.size();
    let heard: api::LogHeard = team.worker.post(&path, &said(1, 0, "looking\nfound it\nand n")).await.is(200).json();
    assert_eq!(heard.heard, 22);
    other.post(&path, &said(2, 0, "lies\n")).await.problem(403, "other_host");
    let view = read(&team.reviewer, &path).await;
    assert_eq!((text(&view).as_str(), view.waiting_bytes), ("looking\nfound it\n", 5));
    let view = read(&team.reviewer, &format!("{path}?after={}", view.next)).await;
    assert!(view.pieces.is_empty());
    assert_eq!(app.size(), before, "it is no entry");
    for wrong in [json!({ "start": 1, "at": 0, "said": [{ "stream": "stdout", "bytes": "%" }] }), json!({ "start": 1 })]
    {
        team.worker.post(&path, &wrong).await.problem(400, "bad_json");
    }
    agent.get(&path).await.is(403);
    let others = app.neighbours("beta").await;
    others.reviewer.get(&path).await.problem(404, "unknown");
    app.assert_sound().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c16_a_reader_waits_for_more_and_gets_it_without_secrets() {
    let (app, ..) = Scenario::start().await;
    let (run, _) = at_work(&app).await;
    let (team, path) = (&app.team, format!("/api/v1/runs/{}/log", run.id));
    let waits = {
        let (reader, path) = (team.reviewer.clone(), format!("{path}?wait_ms=20000"));
        tokio::spawn(async move { read(&reader, &path).await })
    };
    let line = format!("token {SECRET}\nnext\n");
    team.worker.post(&path, &said(1, 0, &line[..20])).await.is(200);
    team.worker.post(&path, &said(1, 20, &line[20..])).await.is(200);
    let mut view = waits.await.unwrap();
    if view.pieces.is_empty() {
        view = read(&team.reviewer, &format!("{path}?after={}&wait_ms=20000", view.next)).await;
    }
    let told = text(&view);
    assert!(told.starts_with("token [redacted ") && told.ends_with("next\n") && !told.contains("Zq8"), "{told}");
}

#[tokio::test]
async fn c16_only_who_is_at_an_attempt_tells_what_its_program_says_and_then_it_is_evidence() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &reading()).await;
    let (tell, path) = (format!("/api/v1/jobs/{}/log", action.id), format!("/api/v1/actions/{}/log", action.id));
    worker.post(&tell, &said(1, 0, "too early\n")).await.problem(409, "lost_lease");
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    let other = app.hire(json!({ "name": "w9", "roles": ["worker"], "projects": [app.team.project] })).await;
    let before = app.size();
    worker.post(&tell, &said(1, 0, "half done\n")).await.is(200);
    worker.post(&tell, &said(2, 0, "another attempt\n")).await.problem(409, "lost_lease");
    worker.post(&tell, &said(1 << 40, 0, "no attempt\n")).await.problem(422, "invalid");
    other.post(&tell, &said(1, 0, "lies\n")).await.problem(409, "lost_lease");
    let view = read(&reviewer, &path).await;
    assert_eq!((text(&view).as_str(), view.ended), ("half done\n", false));
    assert_eq!(app.size(), before);
    worker.reports(&job, &worker.manifest(&job, Vec::new())).await.is(200);
    let view = read(&reviewer, &path).await;
    assert!(view.pieces.is_empty() && view.ended, "what it said is evidence from here on: {view:?}");
}
