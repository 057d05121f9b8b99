//! Many connections that send nothing, or half a request: callers with a token still get through.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::{HaltEverything, LeaseJob, ShowCaller};
use std::time::Duration;

use axum::http::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::person::Answer;
use crate::scenario::{Scenario, Setup};

/// Far below any timeout of a request head: an answer within this time did not wait for one.
const SOON: Duration = Duration::from_secs(4);

fn with_places(connections: usize) -> Setup {
    let mut setup = Setup::default();
    setup.settings.limits.connections = connections;
    setup
}

/// Opens connections, and sends the same beginning of a request on each.
async fn flood(app: &Scenario, count: usize, beginning: &str) -> Vec<TcpStream> {
    let mut sockets = Vec::new();
    for _ in 0..count {
        let mut socket = TcpStream::connect(app.address()).await.unwrap();
        // The server may have closed it already.
        let _ = socket.write_all(beginning.as_bytes()).await;
        sockets.push(socket);
    }
    sockets
}

async fn soon(answer: impl Future<Output = Answer>) -> Answer {
    tokio::time::timeout(SOON, answer).await.expect("answered at once, whoever else holds connections")
}

#[tokio::test]
async fn half_open_connections_leave_room_for_people() {
    let (app, ..) = Scenario::start_with(with_places(32)).await;
    let (operator, reviewer) = (app.another("operator", 1).await, app.another("reviewer", 1).await);
    for beginning in ["", "GET /api/v1/whoami HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "] {
        let held = flood(&app, 200, beginning).await;
        soon(reviewer.get(&ShowCaller {}.path())).await.is(200);
        drop(held);
    }
    let held = flood(&app, 200, "").await;
    soon(operator.post(&HaltEverything {}.path(), &json!({ "reason": "flood" }))).await.is(200);
    drop(held);
}

#[tokio::test]
async fn flood_of_anonymous_requests_leaves_room_for_people() {
    let (app, ..) = Scenario::start_with(with_places(32)).await;
    let reviewer = app.another("reviewer", 1).await;
    let held = flood(&app, 200, "GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").await;
    soon(reviewer.get(&ShowCaller {}.path())).await.is(200);
    drop(held);
}

#[tokio::test]
async fn authenticated_connection_survives_flood_of_half_open() {
    let (app, ..) = Scenario::start_with(with_places(32)).await;
    let ask =
        format!("GET /api/v1/whoami HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {}\r\n\r\n", app.admin.token);
    let mut kept = TcpStream::connect(app.address()).await.unwrap();
    for _ in 0..2 {
        kept.write_all(ask.as_bytes()).await.unwrap();
        let mut answer = [0; 2_048];
        let read = tokio::time::timeout(SOON, kept.read(&mut answer)).await.unwrap().unwrap();
        assert!(answer[..read].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer[..read]));
        drop(flood(&app, 200, "").await);
    }
}

#[tokio::test]
async fn slow_anonymous_bodies_leave_room_for_requests() {
    let mut setup = Setup::default();
    setup.settings.limits.requests_in_flight = 16;
    let (app, ..) = Scenario::start_with(setup).await;
    let reviewer = app.another("reviewer", 1).await;
    let form = "POST /enter HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: http://127.0.0.1\r\n\
        content-type: application/x-www-form-urlencoded\r\ncontent-length: 60\r\n\r\nname=";
    let held = flood(&app, 64, form).await;
    // By now the server reads each of them or has refused it.
    let mut first = [0; 64];
    let _ = tokio::time::timeout(Duration::from_millis(300), held[0].peek(&mut first)).await;
    for _ in 0..5 {
        soon(reviewer.get(&ShowCaller {}.path())).await.is(200);
    }
    drop(held);
}

#[tokio::test]
async fn first_request_head_has_less_time_than_later_ones() {
    let (app, ..) = Scenario::start().await;
    let mut silent = TcpStream::connect(app.address()).await.unwrap();
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(15), silent.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "a connection on which nothing is asked is ended within seconds");
}

#[tokio::test]
async fn api_refuses_foreign_host_names() {
    let (app, _, reviewer, _) = Scenario::start().await;
    for path in ["/api/v1/whoami", "/health", "/ready", "/metrics", "/api/v1/openapi.json", "/api/v1/nothing"] {
        let rebound = reviewer.request(Method::GET, path).header("host", "rebound.example:7070");
        Answer::to(rebound).await.problem(421, "bad_host");
    }
    let before = app.size();
    let rebound = reviewer.request(Method::POST, "/api/v1/halt").header("host", "rebound.example");
    Answer::to(rebound.json(&json!({ "reason": "" }))).await.problem(421, "bad_host");
    assert_eq!(app.size(), before);
    let port = app.address().rsplit_once(':').unwrap().1.to_owned();
    for host in ["localhost".to_owned(), format!("localhost:{port}"), "127.0.0.1".to_owned(), format!("[::1]:{port}")] {
        Answer::to(reviewer.request(Method::GET, "/api/v1/whoami").header("host", host)).await.is(200);
    }
}

#[tokio::test]
async fn answers_without_content_are_documented() {
    let (app, agent, _, worker) = Scenario::start().await;
    worker.post(&LeaseJob {}.path(), &json!({ "wait_ms": 0 })).await.is(204);
    let bytes = b"known to the caller".to_vec();
    let digest = placet_domain::digest::Digest::of(&bytes);
    let path = format!("/api/v1/projects/{}/evidence/{digest}", app.team.project);
    agent.put(&path, bytes).await.is(201);
    let known = app.admin.request(Method::GET, &path).header("if-none-match", format!("\"{digest}\""));
    Answer::to(known).await.is(304);
}
