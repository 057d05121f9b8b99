//! Plain requests: carried as they were understood, judged one by one, with nobody's credential but the one a rule names.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::world::{CANARY, OK, Origin, World, get, head, heard, http_rule, refusal};

async fn api(more: &str, answer: &str) -> (World, Origin) {
    let origin = Origin::answering(answer).await;
    let world = World::with_credentials(&http_rule("api.test", origin.port(), more)).await;
    world.name("api.test", "127.0.0.1");
    (world, origin)
}

#[tokio::test]
async fn c5_an_allowed_request_is_carried_and_answered() {
    let (world, origin) = api("", OK).await;
    let said = world.get(&origin.url("api.test", "/a?b=c")).await;
    assert!(said.starts_with("HTTP/1.1 200 OK\r\n") && said.ends_with("\r\n\r\nhello"), "{said}");
    let heard = origin.heard().remove(0);
    assert!(heard.starts_with(&format!("GET /a?b=c HTTP/1.1\r\nHost: api.test:{}\r\n", origin.port())), "{heard}");
    assert!(heard.contains("Connection: close\r\n"), "{heard}");
    let record = world.record().await;
    assert_eq!((record.status, record.path.as_deref()), (Some(200), Some("/a")));
    assert!(record.bytes_up > 0 && record.bytes_down > 5, "{record:?}");
}

#[tokio::test]
async fn each_request_of_a_connection_is_judged_anew() {
    let (world, origin) = api("methods = [\"GET\"]\npaths = [\"/open\"]", OK).await;
    let mut stream = world.dial();
    let url = |path: &str| origin.url("api.test", path);
    let request =
        |method: &str, url: &str| format!("{method} {url} HTTP/1.1\r\nHost: api.test:{}\r\n\r\n", origin.port());
    stream.write_all(request("GET", &url("/open/1")).as_bytes()).await.unwrap();
    let first = head(&mut stream).await;
    assert!(first.contains("200 OK") && first.contains("Connection: keep-alive"), "{first}");
    stream.read_exact(&mut [0; 5]).await.unwrap();
    stream.write_all(request("GET", &url("/open/2")).as_bytes()).await.unwrap();
    assert!(head(&mut stream).await.contains("200 OK"));
    stream.read_exact(&mut [0; 5]).await.unwrap();
    stream.write_all(request("POST", &url("/open/3")).as_bytes()).await.unwrap();
    let refused = heard(&mut stream).await;
    assert!(refused.starts_with("HTTP/1.1 403 ") && refused.contains("(E13)"), "{refused}");
    let numbers: Vec<u16> = world.records(3).await.iter().map(refusal).collect();
    assert_eq!(numbers, [0, 0, 13]);
    assert_eq!(origin.connections(), 2);
}

#[tokio::test]
async fn r25_the_key_of_a_stranger_does_not_reach_an_allowed_host() {
    let (world, origin) = api("", OK).await;
    let with = |line: &str, query: &str| {
        let (url, port) = (origin.url("api.test", &format!("/upload{query}")), origin.port());
        format!("POST {url} HTTP/1.1\r\nHost: api.test:{port}\r\n{line}Content-Length: 0\r\nConnection: close\r\n\r\n")
    };
    let tricks = [
        with("Authorization: Bearer attacker\r\n", ""),
        with("authorization: Basic YTpi\r\n", ""),
        with("Proxy-Authorization: Basic YTpi\r\n", ""),
        with("Cookie: session=1\r\n", ""),
        with("X-Api-Key: attacker\r\n", ""),
        with("X_Api_Key: attacker\r\n", ""),
        with("PRIVATE-TOKEN: attacker\r\n", ""),
        with("Connection: Authorization\r\nAuthorization: x\r\n", ""),
        with("", "?api_key=attacker"),
        with("", "?a=b&access%5Ftoken=attacker"),
        with("", "?a=b;%61pikey=attacker"),
    ];
    for trick in &tricks {
        let said = world.ask(trick).await;
        assert!(said.starts_with("HTTP/1.1 403 ") && said.contains("(E15)"), "{trick}: {said}");
        assert!(!said.contains("attacker"), "the value is not repeated: {said}");
    }
    assert_eq!(origin.connections(), 0);
    let records = world.records(tricks.len()).await;
    assert!(!format!("{records:?}").contains("attacker"), "and not recorded");
    assert!(world.ask(with("", "")).await.contains("200 OK"), "without a key it may");
}

#[tokio::test]
async fn r25_where_the_rule_says_so_the_agent_brings_its_own() {
    let (world, origin) = api("credential = \"own\"", OK).await;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: api.test:{}\r\nAuthorization: Bearer mine\r\nConnection: close\r\n\r\n",
        origin.url("api.test", "/"),
        origin.port()
    );
    assert!(world.ask(request).await.contains("200 OK"));
    assert!(origin.heard()[0].contains("Authorization: Bearer mine\r\n"));
}

#[tokio::test]
async fn r24_the_credential_of_the_team_is_put_in_outside_and_seen_by_nobody_inside() {
    let (world, origin) = api("credential = { inject = \"team\" }", OK).await;
    let said = world.get(&origin.url("api.test", "/")).await;
    assert!(said.contains("200 OK") && !said.contains(CANARY), "{said}");
    assert!(origin.heard()[0].contains(&format!("Authorization: Bearer {CANARY}\r\n")));
    assert!(!format!("{:?}{:?}", world.records(1).await, world.before()).contains("canary"));
    let foreign = get(&origin.url("api.test", "/")).replace("Connection", "Authorization: Bearer x\r\nConnection");
    assert!(world.ask(foreign).await.contains("(E15)"), "and no other beside it");
}

#[tokio::test]
async fn r25_a_header_that_the_gateway_puts_in_is_not_sent_twice() {
    let (world, origin) = api("credential = { inject = \"unusual\" }", OK).await;
    let doubled = get(&origin.url("api.test", "/")).replace("Connection", "x-pass: mine\r\nConnection");
    assert!(world.ask(doubled).await.contains("(E15)"));
    assert!(world.get(&origin.url("api.test", "/")).await.contains("200 OK"));
    assert_eq!(origin.heard()[0].matches("X-Pass").count(), 1);
}

#[tokio::test]
async fn a_credential_that_is_not_there_refuses_instead_of_going_without() {
    let (world, origin) = api("credential = { inject = \"absent\" }", OK).await;
    let said = world.get(&origin.url("api.test", "/")).await;
    assert!(said.starts_with("HTTP/1.1 403 ") && said.contains("(E17)"), "{said}");
    assert_eq!((origin.connections(), world.refused().await), (0, 17));
}

#[tokio::test]
async fn bodies_go_up_by_length_and_by_chunks() {
    let (world, origin) = api("", OK).await;
    let start = format!("POST {} HTTP/1.1\r\nHost: api.test:{}\r\n", origin.url("api.test", "/"), origin.port());
    let by_length = format!("{start}Content-Length: 4\r\nConnection: close\r\n\r\nbody");
    let by_chunks =
        format!("{start}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n");
    assert!(world.ask(by_length).await.contains("200 OK"));
    assert!(world.ask(by_chunks).await.contains("200 OK"));
    let heard = origin.heard();
    assert!(heard[0].ends_with("\r\n\r\nbody"), "{heard:?}");
    assert!(heard[1].ends_with("2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n"), "{heard:?}");
}

#[tokio::test]
async fn who_waits_for_a_go_ahead_gets_it_once_the_request_is_allowed() {
    let (world, origin) = api("methods = [\"PUT\"]", OK).await;
    let mut stream = world.dial();
    let start = |method: &str| {
        let (url, port) = (origin.url("api.test", "/"), origin.port());
        format!("{method} {url} HTTP/1.1\r\nHost: api.test:{port}\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
    };
    stream.write_all(start("PUT").as_bytes()).await.unwrap();
    assert_eq!(head(&mut stream).await, "HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"body").await.unwrap();
    assert!(head(&mut stream).await.contains("200 OK"));
    assert!(world.ask(start("POST")).await.starts_with("HTTP/1.1 403 "), "and not before");
}

#[tokio::test]
async fn answers_are_streamed_in_the_way_they_came() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    let (world, origin) = api("", chunked).await;
    assert!(world.get(&origin.url("api.test", "/")).await.ends_with("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"));
    let old = format!("GET {} HTTP/1.0\r\n\r\n", origin.url("api.test", "/"));
    assert!(world.ask(old).await.ends_with("\r\n\r\nabcde"), "an old client gets no chunks");
    let (world, origin) = api("", "HTTP/1.0 200 OK\r\n\r\nuntil the end").await;
    let said = world.get(&origin.url("api.test", "/")).await;
    assert!(said.contains("Connection: close") && said.ends_with("until the end"), "{said}");
    let (world, origin) = api("", "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n").await;
    assert!(world.get(&origin.url("api.test", "/")).await.starts_with("HTTP/1.1 204 No Content\r\n"));
}

#[tokio::test]
async fn an_answer_that_is_malformed_or_asks_for_a_password_is_trouble() {
    for answer in [
        "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n",
        "SSH-2.0-OpenSSH\r\n\r\n",
        "",
    ] {
        let (world, origin) = api("", answer).await;
        let said = world.get(&origin.url("api.test", "/")).await;
        assert!(said.starts_with("HTTP/1.1 502 ") && !said.contains("407"), "{answer:?}: {said}");
        assert_eq!(world.ended().await, 53, "{answer:?}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_not_made_whole() {
    let (world, origin) = api("", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf").await;
    let said = world.get(&origin.url("api.test", "/")).await;
    assert!(said.ends_with("half"), "{said}");
    assert_eq!(world.ended().await, 53);
}

#[tokio::test]
async fn what_is_no_request_to_a_proxy_is_told_what_is() {
    let (world, _origin) = api("", OK).await;
    for (said, status) in [
        ("GET / HTTP/1.1\r\nHost: api.test\r\n\r\n", "400"),
        ("GET https://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n", "400"),
        ("OPTIONS * HTTP/1.1\r\nHost: api.test\r\n\r\n", "400"),
        ("hello\r\n\r\n", "400"),
        ("\x16\x03\x01\r\n\r\n", "400"),
    ] {
        let answer = world.ask(said).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{said:?}: {answer}");
    }
    assert_eq!(world.lookups(), 0);
}
