//! What only somebody with a bare socket sends: floods of headers, half requests, bodies that never come.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::scenario::{PATIENCE, Scenario, Setup};

/// Sends bytes and reads whatever comes until the other side hangs up or has answered once.
async fn told(app: &Scenario, bytes: &[u8]) -> String {
    let mut socket = TcpStream::connect(app.address()).await.unwrap();
    // The server may answer and hang up before everything is sent; what it said still counts.
    let _ = socket.write_all(bytes).await;
    let mut answer = Vec::new();
    let read = async {
        let mut piece = [0; 4_096];
        while let Ok(length @ 1..) = socket.read(&mut piece).await {
            answer.extend_from_slice(&piece[..length]);
            if answer.windows(4).any(|four| four == b"\r\n\r\n") {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, read).await.expect("an answer or an end");
    String::from_utf8_lossy(&answer).into_owned()
}

fn head(app: &Scenario, request_line: &str, more: &str) -> Vec<u8> {
    let token = &app.admin.token;
    format!("{request_line}\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n{more}\r\n").into_bytes()
}

#[tokio::test]
async fn t8_ten_thousand_headers_are_refused() {
    let (app, _, _, _) = Scenario::start().await;
    let many: String = (0..10_000).map(|number| format!("x-{number}: y\r\n")).collect();
    let answer = told(&app, &head(&app, "GET /api/v1/whoami HTTP/1.1", &many)).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer}");
    let long = format!("x: {}\r\n", "y".repeat(2_000_000));
    let answer = told(&app, &head(&app, "GET /api/v1/whoami HTTP/1.1", &long)).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431"), "{answer:.100}");
    app.admin.get("/api/v1/whoami").await.is(200);
}

#[tokio::test]
async fn t8_requests_that_are_none_are_refused() {
    let (app, _, _, _) = Scenario::start().await;
    let before = app.size();
    let post = "POST /api/v1/projects HTTP/1.1";
    let requests = [
        b"\x16\x03\x01\x02\x00\x01\x00".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        head(&app, post, "content-length: 2\r\ncontent-length: 3\r\n"),
        head(&app, post, "content-length: -1\r\n"),
        head(&app, post, "content-length: 99999999999999999999\r\n"),
        head(&app, "GET /api/v1/\0whoami HTTP/1.1", ""),
        head(&app, "GET /api/v1/who ami HTTP/1.1", ""),
        head(&app, post, "transfer-encoding: gzip\r\n"),
        head(&app, post, "x\0y: z\r\n"),
    ];
    for request in requests {
        let answer = told(&app, &request).await;
        let refused = answer.is_empty() || answer.starts_with("HTTP/1.1 400") || answer.starts_with("HTTP/1.1 505");
        assert!(refused, "{}: {answer}", String::from_utf8_lossy(&request));
    }
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn t8_traversal_on_the_wire_leads_nowhere() {
    let (app, _, _, _) = Scenario::start().await;
    for path in [
        "/api/v1/../../health/../api/v1/runs",
        "/api/v1/runs/../whoami",
        "/api/v1/runs/%2e%2e/whoami",
        "/api/v1/projects/../../../etc/passwd",
        "/api/v1/projects/%2e%2e/evidence/%2e%2e%2fpasswd",
        "/..%2f..%2fetc%2fpasswd",
        "/health%00",
    ] {
        let answer = told(&app, &head(&app, &format!("GET {path} HTTP/1.1"), "connection: close\r\n")).await;
        assert!(answer.starts_with("HTTP/1.1 404") || answer.starts_with("HTTP/1.1 400"), "{path}: {answer}");
        assert!(answer.contains("application/problem+json"), "{path}: {answer}");
    }
}

#[tokio::test]
async fn t8_a_body_announced_too_long_is_refused_before_it_comes() {
    let (app, _, _, _) = Scenario::start().await;
    let gigabyte = "content-type: application/json\r\ncontent-length: 1073741824\r\n";
    let answer = told(&app, &head(&app, "POST /api/v1/projects HTTP/1.1", gigabyte)).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

#[tokio::test]
async fn t8_a_body_that_never_comes_is_not_waited_for() {
    let mut setup = Setup::default();
    setup.settings.limits.request_ms = 2_000;
    let (app, _, _, _) = Scenario::start_with(setup).await;
    let before = app.size();
    let mut slow =
        head(&app, "POST /api/v1/projects HTTP/1.1", "content-type: application/json\r\ncontent-length: 50\r\n");
    slow.extend_from_slice(b"{\"name\":");
    let answer = told(&app, &slow).await;
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn t8_nobody_without_a_token_makes_the_server_read() {
    let (app, _, _, _) = Scenario::start().await;
    let request =
        b"POST /api/v1/projects HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 50\r\n\r\n{";
    let answer = told(&app, request).await;
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
}

#[tokio::test]
async fn t8_a_request_that_a_revocation_overtakes_changes_nothing() {
    let (app, _, _, _) = Scenario::start().await;
    let other = app.hire(serde_json::json!({ "name": "eve", "roles": ["admin"] })).await;
    let (body, token) = (r#"{"name":"too-late"}"#, &other.token);
    let head = format!(
        "POST /api/v1/projects HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut socket = TcpStream::connect(app.address()).await.unwrap();
    socket.write_all(format!("{head}{}", &body[..5]).as_bytes()).await.unwrap();
    // By the time this is answered, the other request was let in and waits for the rest of its body.
    other.get("/api/v1/whoami").await.is(200);
    let path = format!("/api/v1/identities/{}/revoke", other.id);
    app.admin.post(&path, &serde_json::json!({})).await.is(200);
    let before = app.size();
    socket.write_all(&body.as_bytes()[5..]).await.unwrap();
    let mut answer = [0; 12];
    socket.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 401");
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn t8_a_request_that_never_ends_is_hung_up_on() {
    let mut setup = Setup::default();
    setup.settings.limits.head_ms = 200;
    let (app, _, _, _) = Scenario::start_with(setup).await;
    for half in ["", "GET /api/v1/whoami HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: "] {
        let mut socket = TcpStream::connect(app.address()).await.unwrap();
        socket.write_all(half.as_bytes()).await.unwrap();
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, socket.read_to_end(&mut rest)).await;
        assert!(ended.is_ok(), "`{half}` keeps a connection for ever");
    }
}

#[tokio::test]
async fn t8_connections_without_end_wait_their_turn() {
    let mut setup = Setup::default();
    setup.settings.limits.head_ms = 1_000;
    setup.settings.limits.connections = 8;
    let (app, _, _, _) = Scenario::start_with(setup).await;
    let mut idle = Vec::new();
    for _ in 0..40 {
        idle.push(TcpStream::connect(app.address()).await.unwrap());
    }
    // They are hung up on one after the other, and whoever has something to say gets a turn.
    app.admin.get("/api/v1/whoami").await.is(200);
}
