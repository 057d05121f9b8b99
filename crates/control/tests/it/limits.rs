//! How much is too much, and what can be seen of it from outside.

use std::fs;
use std::time::Duration;

use axum::http::Method;
use placet_domain::identity::Role;
use placet_wire::Endpoint as _;
use placet_wire::endpoint::{CreateProject, RevokeIdentity, ShowApiDocument, ShowCaller};
use serde_json::{Value, json};

use crate::moves::{scan, until_status, waiting};
use crate::person::Answer;
use crate::scenario::{PATIENCE, Scenario, Setup};

fn at_once(requests: usize) -> Setup {
    let mut setup = Setup::default();
    setup.settings.limits.requests_in_flight = requests;
    setup
}

#[tokio::test]
async fn too_many_requests_at_once_are_refused_politely() {
    let (app, _, reviewer, _) = Scenario::start_with(at_once(4)).await;
    let mut workers = Vec::new();
    for number in 0..4 {
        workers.push(app.another("worker", number).await);
    }
    let before = app.size();
    let all = waiting(&workers);
    let answer = until_status(&reviewer, "/api/v1/whoami", 503).await;
    answer.problem(503, "busy");
    reviewer.get("/health").await.is(200);
    drop(all);
    until_status(&reviewer, "/api/v1/whoami", 200).await;
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn nobody_can_take_all_places_and_shut_out_those_who_would_stop_them() {
    let (app, _, reviewer, worker) = Scenario::start_with(at_once(8)).await;
    let flood = waiting(&vec![worker.clone(); 4]);
    let answer = until_status(&worker, "/api/v1/whoami", 429).await;
    answer.problem(429, "too_many");
    for _ in 0..20 {
        reviewer.get(&ShowCaller {}.path()).await.is(200);
    }
    app.admin.post(&RevokeIdentity { identity: worker.id }.path(), &json!({})).await.is(200);
    let ended = flood.join_all().await;
    ended.iter().for_each(|answer| drop(answer.problem(401, "unauthorized")));
}

#[tokio::test]
async fn r28_a_flood_of_forbidden_requests_does_not_flood_the_ledger() {
    let (app, agent, _, worker) = Scenario::start().await;
    let before = app.size();
    for _ in 0..100 {
        agent.post(&CreateProject {}.path(), &json!({})).await.problem(403, "role");
    }
    let noted = app.size() - before;
    assert_eq!(noted, 20, "enough to see what is going on");
    worker.get("/api/v1/queue").await.problem(403, "role");
    assert_eq!(app.size(), before + noted + 1, "others are still recorded");
    let last = app.entries_from(before).await.pop().unwrap();
    let entry: Value = serde_json::from_slice(&last.bytes).unwrap();
    assert_eq!((&entry["kind"], &entry["actor"]), (&json!("refused"), &json!(worker.id)));
    assert_eq!(entry["body"]["code"], "role");
    for _ in 0..50 {
        Answer::to(agent.anonymous(Method::POST, "/api/v1/projects")).await.problem(401, "unauthorized");
    }
    assert_eq!(app.size(), before + noted + 1, "strangers leave no trace in it");
}

#[tokio::test]
async fn health_and_readiness_tell_strangers_nothing_but_that() {
    let (app, agent, _, _) = Scenario::start().await;
    let health = Answer::to(agent.anonymous(Method::GET, "/health")).await.is(200);
    assert_eq!(health.json::<Value>(), json!({ "status": "ok" }));
    let ready = Answer::to(agent.anonymous(Method::GET, "/ready")).await.is(200);
    assert_eq!(ready.json::<Value>(), json!({ "status": "ready", "ledger_size": app.size() }));
}

#[tokio::test]
async fn d13_metrics_count_by_route_and_name_nobody() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    let job = worker.leases().await.unwrap();
    worker.executes(&job).await;
    agent.post(&CreateProject {}.path(), &json!({})).await.problem(403, "role");
    agent.get("/api/v1/secret-path-of-mine").await.problem(404, "unknown_route");
    Answer::to(agent.request("BREW".parse::<Method>().unwrap(), "/api/v1/runs")).await.problem(405, "wrong_method");
    let metrics = app.auditor.get("/metrics").await.is(200);
    assert!(metrics.header("content-type").starts_with("application/openmetrics-text"));
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    let people = [&agent, &reviewer, &worker, &app.admin, &app.auditor];
    let mut secrets: Vec<String> =
        people.iter().flat_map(|person| [person.token.clone(), person.id.to_string()]).collect();
    secrets.extend([app.team.run.to_string(), action.id.to_string(), action.digest.to_string(), job.permit]);
    secrets.extend(
        ["ada", "rita", "alpha", "BREW", "secret-path", "nmap", "10.0.0.5", "plc_", "idn_", "run_"].map(str::to_owned),
    );
    for secret in secrets {
        assert!(!text.contains(&secret), "{secret} in the metrics");
    }
    assert!(text.contains(&format!("placet_ledger_entries {}", app.size())), "{text}");
    assert!(text.contains("route=\"/api/v1/actions/{action}/approve\""), "{text}");
    assert!(text.contains("command=\"approve\",outcome=\"done\""), "{text}");
    assert!(text.ends_with("# EOF\n"));
    assert!(Role::ALL.len() == 6, "another role may need another look at what is told here");
}

/// The database refuses to grow: changes fail cleanly, reading goes on, and nothing half-done remains.
#[tokio::test]
async fn r34_when_there_is_no_room_changes_are_refused_and_reading_goes_on() {
    let full = Setup { most_database_bytes: Some(600 << 10), ..Setup::default() };
    let (app, agent, reviewer, _) = Scenario::start_with(full).await;
    let path = format!("/api/v1/runs/{}/actions", app.team.run);
    let words = "x".repeat(7_000);
    let mut taken = 0;
    let refused = loop {
        let wish =
            json!({ "tool": "cat", "arguments": [taken.to_string()], "justification": format!("{words}{taken}") });
        let answer = agent.post(&path, &wish).await;
        if answer.status != 201 {
            break answer;
        }
        taken += 1;
    };
    let problem = refused.problem(503, "no_room");
    assert!(
        problem.detail.contains("nothing was changed") && problem.detail.contains("free some space"),
        "{problem:?}"
    );
    let size = app.size();
    let list: Value = reviewer.get(&path).await.is(200).json();
    assert_eq!(list["actions"].as_array().unwrap().len(), taken);
    agent.post(&CreateProject {}.path(), &json!({})).await.any_problem();
    assert!(app.size() <= size + 1, "a refusal is recorded or it is not, but nothing else");
    app.assert_sound().await;
}

/// Somebody overwrites the database under the running control plane.
#[tokio::test]
async fn r34_when_the_disk_fails_it_says_that_it_is_not_ready_and_why() {
    let (app, agent, _, _) = Scenario::start().await;
    let (before, file) = (app.size(), app.folder().join("placet.db"));
    // A stranger's change makes everybody read from the disk again; then there is nothing to read.
    let stranger = rusqlite::Connection::open(&file).unwrap();
    stranger.execute_batch("CREATE TABLE mischief (x); PRAGMA wal_checkpoint(TRUNCATE);").unwrap();
    let length = fs::metadata(&file).unwrap().len();
    fs::write(&file, vec![0xff; usize::try_from(length).unwrap()]).unwrap();
    // Nothing has to be read to record that somebody was refused at the door, so this is the first write.
    agent.post(&CreateProject {}.path(), &json!({})).await.problem(503, "fault");
    let ready = Answer::to(agent.anonymous(Method::GET, "/ready")).await.problem(503, "read_only");
    assert!(ready.detail.contains("cannot be written"), "{ready:?}");
    Answer::to(agent.anonymous(Method::GET, "/health")).await.is(200);
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn who_asks_and_never_reads_is_hung_up_on() {
    use tokio::io::AsyncWriteExt as _;
    let mut setup = Setup::default();
    setup.settings.limits.unread_ms = 300;
    let (app, ..) = Scenario::start_with(setup).await;
    let mut socket = tokio::net::TcpStream::connect(app.address()).await.unwrap();
    // One after the other on one connection, without taking an answer, until more was answered than any buffer holds.
    let asked = "GET /api/v1/openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
    let asks = async {
        while socket.write_all(asked.repeat(20).as_bytes()).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(3 * PATIENCE, asks).await.expect("nobody listens any more");
    app.admin.get(&ShowApiDocument {}.path()).await.is(200);
}
