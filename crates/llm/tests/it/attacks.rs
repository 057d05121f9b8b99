//! What a hostile agent tries: foreign keys, requests that can be read in two ways, and more than there is room for.

use placet_llm::wire::Wire;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::world::{Plan, VIRTUAL_KEY, World, question};

const SCRIPT: &str = "[[turn]]\nwhen = 'hello'\ntext = 'hi'\n";

/// Sends bytes as they are and reads until the other side hangs up.
async fn raw(world: &World, request: &str) -> String {
    let mut socket = TcpStream::connect(world.agent.address).await.unwrap();
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer).await;
    answer
}

fn request(headers: &str, body: &str) -> String {
    format!(
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: {VIRTUAL_KEY}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}

#[tokio::test]
async fn r25_a_key_of_somebody_else_is_refused() {
    let world = World::of(&[SCRIPT]).await;
    for wire in Wire::ALL {
        let question = question(wire, false);
        for headers in [
            &[("x-api-key", "sk-ant-of-an-attacker")][..],
            &[],
            &[("x-api-key", VIRTUAL_KEY), ("authorization", "Bearer sk-other")],
        ] {
            let reply = world.agent.send(&question.path, headers, question.body.clone()).await;
            assert_eq!(reply.status, 401, "{wire} {headers:?}");
            assert!(!reply.message().is_empty(), "{wire}");
        }
    }
    assert!(world.upstreams[0].heard().is_empty());
}

#[tokio::test]
async fn a_request_that_can_be_read_in_two_ways_is_not_passed_on() {
    let world = World::of(&[SCRIPT]).await;
    let odd = [
        ("/v1/messages", r#"{"model":"m","model":"dear","max_tokens":1}"#),
        ("/v1/messages", r#"{"model":"m","MAX_TOKENS":100000,"max_tokens":1}"#),
        ("/v1/messages", r#"{"model":"m","max_tokens":1,"max_t\u006fkens":100000}"#),
        ("/v1/chat/completions", r#"{"model":"m","n":1,"n":1000}"#),
        ("/v1/chat/completions", r#"{"model":"m","n":-1}"#),
        ("/v1/chat/completions", r#"{"model":"m","max_tokens":"many"}"#),
        ("/v1/chat/completions", r#"{"model":"m","max_tokens":1e9}"#),
        ("/v1/responses", r#"{"model":"m\r\nx: y"}"#),
        ("/v1/responses", r#"{"model":["m"]}"#),
        ("/v1/responses", r#"{}"#),
        ("/v1/responses", r#"[]"#),
        ("/v1/responses", r#"{"model":"m""#),
        ("/v1beta/models/m:generateContent", r#"{"generationConfig":{},"generation_config":{"maxOutputTokens":9}}"#),
        ("/v1beta/models/m:generateContent", r#"{"model":"models/dear"}"#),
    ];
    for (path, body) in odd {
        let reply = world.agent.send(path, &[("x-api-key", VIRTUAL_KEY)], body).await;
        assert_eq!(reply.status, 400, "{body}");
        assert!(!reply.message().is_empty(), "{body}");
    }
    assert!(world.upstreams[0].heard().is_empty());
}

#[tokio::test]
async fn what_has_another_price_or_reaches_past_the_cage_is_refused() {
    let world = World::of(&[SCRIPT]).await;
    for (path, body, status) in [
        ("/v1/messages", r#"{"model":"m","service_tier":"priority"}"#, 400),
        ("/v1/messages", r#"{"model":"m","speed":"fast"}"#, 400),
        ("/v1/messages", r#"{"model":"m","mcp_servers":[{"url":"https://x"}]}"#, 400),
        ("/v1/messages", r#"{"model":"m","tools":[{"type":"web_search_20250305","name":"web_search"}]}"#, 403),
        ("/v1/messages", r#"{"model":"m","tools":[{"type":"web_fetch_20250910","name":"web_fetch"}]}"#, 403),
        ("/v1/chat/completions", r#"{"model":"m","web_search_options":{}}"#, 403),
        ("/v1/responses", r#"{"model":"m","tools":[{"type":"web_search"}]}"#, 403),
        ("/v1/responses", r#"{"model":"m","tools":[{"type":"mcp","server_url":"https://x"}]}"#, 403),
        ("/v1/responses", r#"{"model":"m","tools":[{"type":"shell","environment":{"type":"container_auto"}}]}"#, 403),
        ("/v1/responses", r#"{"model":"m","tools":[{"type":"namespace","tools":[{"type":"web_search"}]}]}"#, 403),
        ("/v1/responses", r#"{"model":"m","background":true}"#, 400),
        // A second pass over everything, which the sums of the answer leave out.
        (
            "/v1/messages",
            r#"{"model":"m","max_tokens":9,"context_management":{"edits":[{"type":"compact_20260112"}]}}"#,
            400,
        ),
        (
            "/v1/messages",
            r#"{"model":"m","max_tokens":9,"context_management":{"edits":[{"type":"clear_tool_uses_20250919"},{"type":"of_tomorrow"}]}}"#,
            400,
        ),
        ("/v1/messages", r#"{"model":"m","max_tokens":9,"compaction":{"type":"enabled"}}"#, 400),
        ("/v1/responses", r#"{"model":"m","context_management":[{"type":"compaction","compact_threshold":9}]}"#, 400),
        ("/v1beta/models/m:generateContent", r#"{"tools":[{"functionDeclarations":[]},{"googleSearch":{}}]}"#, 403),
        ("/v1beta/models/m:generateContent", r#"{"generationConfig":{"responseModalities":["IMAGE"]}}"#, 400),
    ] {
        let reply = world.agent.send(path, &[("x-api-key", VIRTUAL_KEY)], body).await;
        assert_eq!(reply.status, status, "{body}: {}", reply.message());
    }
    assert!(world.upstreams[0].heard().is_empty());
    let open = World::planned(
        &["[[turn]]\ntext = 'hi'"],
        Plan { upstream: "server_tools = true".to_owned(), ..Plan::default() },
    )
    .await;
    let body = r#"{"model":"m","tools":[{"type":"web_search"},{"type":"shell","environment":{"type":"local"}}]}"#;
    assert_eq!(open.agent.send("/v1/responses", &[("x-api-key", VIRTUAL_KEY)], body).await.status, 200);
}

#[tokio::test]
async fn a_request_that_is_too_large_is_refused_in_the_agents_own_shape() {
    let world =
        World::planned(&[SCRIPT], Plan { more: "[limits]\nrequest_bytes = 1000\n".to_owned(), ..Plan::default() })
            .await;
    for wire in Wire::ALL {
        let mut question = question(wire, false);
        question.body.push_str(&" ".repeat(1_001 - question.body.len()));
        let reply = world.agent.ask(&question).await;
        assert_eq!(
            (reply.status, reply.message().as_str()),
            (413, "the request is larger than 1000 bytes; send less at once"),
            "{wire}"
        );
        question.body.pop();
        assert_eq!(world.agent.ask(&question).await.status, 200, "{wire}");
    }
}

#[tokio::test]
async fn a_request_cannot_carry_a_second_one() {
    let world = World::of(&[SCRIPT]).await;
    let body = question(Wire::Messages, false).body;
    let length = format!("content-length: {}\r\n", body.len());
    for (headers, why) in [
        (format!("{length}content-length: 5\r\n"), "two lengths"),
        (format!("content-length: {}, 5\r\n", body.len()), "two lengths in one"),
        (format!("content-length: +{}\r\n", body.len()), "a sign"),
        (format!("{length}transfer-encoding: chunked, identity\r\n"), "an unknown coding"),
        (format!("{length}x-a: b\r\n c: d\r\n"), "a folded line"),
        (format!("{length}x-a: b\0c\r\n"), "a NUL"),
        (format!("{length}x a: b\r\n"), "a blank in a name"),
    ] {
        let answer = raw(&world, &request(&headers, &body)).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{why}: {answer}");
    }
    assert!(world.upstreams[0].heard().is_empty());
    // With both a length and chunks the chunks count; the upstream gets one plain request with one length.
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\nPOST /v1/messages HTTP/1.1\r\nhost: evil\r\n\r\n", body.len());
    let answer = raw(&world, &request(&format!("{length}transfer-encoding: chunked\r\n"), &chunked)).await;
    assert!(answer.starts_with("HTTP/1.1 200") || answer.starts_with("HTTP/1.1 400"), "{answer}");
    for heard in world.upstreams[0].heard() {
        let count = |wanted: &str| heard.headers.iter().filter(|(name, _)| name == wanted).count();
        assert_eq!((count("content-length"), count("transfer-encoding"), count("connection")), (1, 0, 0));
        assert_eq!(heard.body, body.as_bytes());
    }
    assert!(world.upstreams[0].heard().len() <= 1);
}

#[tokio::test]
async fn only_the_listed_paths_lead_anywhere() {
    let world = World::of(&[SCRIPT]).await;
    for path in
        ["/", "/v1/files", "/v1/messages/batches", "/v1/organizations", "/admin", "/v1beta/files", "//v1/messages"]
    {
        let reply = world.agent.send(path, &[("x-api-key", VIRTUAL_KEY)], "{}").await;
        assert_eq!(reply.status, 404, "{path}");
    }
    let answer = raw(&world, &format!("POST http://evil.example/v1/messages HTTP/1.1\r\nhost: evil.example\r\nx-api-key: {VIRTUAL_KEY}\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}")).await;
    assert!(
        answer.starts_with("HTTP/1.1 400"),
        "a foreign address is read as the path it holds, and goes to our upstream: {answer}"
    );
    assert!(world.upstreams[0].heard().is_empty());
}

#[tokio::test]
async fn many_agents_at_once_each_get_their_own_answer() {
    let script: String = (0..50)
        .map(|n| format!("[[turn]]\nwhen = 'question {n}.'\ntext = 'answer {n}.'\npiece_delay_ms = 1\n"))
        .collect();
    let world = World::of(&[&script]).await;
    let mut calls = tokio::task::JoinSet::new();
    for n in 0..200 {
        let agent = world.agent.clone();
        calls.spawn(async move {
            let mut asked = question(Wire::ALL[n % 4], n % 8 < 4);
            asked.body = asked.body.replace("hello", &format!("question {}.", n % 50));
            let reply = agent.ask(&asked).await;
            (reply.status, String::from_utf8_lossy(&reply.body).contains(&format!("answer {}.", n % 50)))
        });
    }
    assert!(calls.join_all().await.into_iter().all(|found| found == (200, true)));
    assert_eq!(world.records(200).await.len(), 200);
}
