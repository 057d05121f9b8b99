//! Requests that hide another request: refused as a whole, and nothing of them reaches the host.

use placet_egress::Limits;

use super::world::{OK, Origin, World, http_rule, refusal};

/// What is said, with the number of the reason. `HOST` stands for the host with its port.
pub(super) const CORPUS: &[(&str, u16)] = &[
    ("GET http://HOST/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", 2),
    ("GET http://HOST/ HTTP/1.1\r\n\r\n", 2),
    ("GET http://HOST/ HTTP/1.1\r\nHost: HOST.\r\n\r\n", 2),
    ("GET http://HOST/ HTTP/1.1\r\nHost: HOST, evil.test\r\n\r\n", 2),
    ("GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nHost: evil.test\r\n\r\n", 3),
    ("GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nHost: HOST\r\n\r\n", 3),
    ("GET http://HOST/ HTTP/1.1\r\nhost: HOST\r\nhOsT: evil.test\r\n\r\n", 3),
    ("GET http://evil.test@HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 1),
    ("GET http://HOST@evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n", 1),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4, 4\r\n\r\nbody", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length: +4\r\n\r\nbody", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent-Length : 4\r\n\r\nbody", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nContent_Length: 4\r\n\r\nbody", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: x, chunked\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding : chunked\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding:\x0bchunked\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX: y\r\n Transfer-Encoding: chunked\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX: y\nTransfer-Encoding: chunked\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX: y\rTransfer-Encoding: chunked\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: Content-Length\r\nContent-Length: 4\r\n\r\nbody", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nConnection: close, host\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nExpect: 200-ok\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.0\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 3),
    ("GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX-HTTP-Method-Override: DELETE\r\n\r\n", 3),
    ("POST http://HOST/ HTTP/1.1\r\nHost: HOST\r\nx_http_method: DELETE\r\n\r\n", 3),
    ("GET http://HOST/ HTTP/1.1\r\nHost: HOST\r\nX-Original-URL: /admin\r\n\r\n", 3),
    ("GET http://HOST/\tx HTTP/1.1\r\nHost: HOST\r\n\r\n", 3),
    ("GET http://HOST/ x HTTP/1.1\r\nHost: HOST\r\n\r\n", 3),
    ("GET http://HOST/#x HTTP/1.1\r\nHost: HOST\r\n\r\n", 3),
    ("\r\nGET http://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 3),
    ("GET http://HOST/ HTTP/1.1\nHost: HOST\n\n\r\n\r\n", 3),
    ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 3),
    ("CONNECT HOST HTTP/1.1\r\nHost: HOST\r\nContent-Length: 4\r\n\r\nbody", 3),
    ("CONNECT HOST HTTP/1.1\r\nHost: evil.test\r\n\r\n", 2),
    ("CONNECT HOST HTTP/1.1\r\nHost: HOST\r\nHost: evil.test\r\n\r\n", 3),
    ("CONNECT http://HOST/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 1),
];

#[tokio::test]
async fn a_request_that_could_be_two_is_none() {
    let origin = Origin::answering(OK).await;
    let host = format!("api.test:{}", origin.port());
    for (text, number) in CORPUS {
        let world = World::with(&http_rule("api.test", origin.port(), ""));
        world.name("api.test", "127.0.0.1");
        let said = world.ask(text.replace("HOST", &host)).await;
        assert!(said.starts_with("HTTP/1.1 400 "), "{text:?}: {said}");
        assert_eq!(world.refused().await, *number, "{text:?}");
        assert_eq!(world.lookups(), 0, "{text:?}");
    }
    assert_eq!(origin.connections(), 0, "the host heard nothing of any of them");
}

/// Bodies that end in another place for one reader than for another.
pub(super) const CHUNKS: &[&str] = &[
    "4;ext=1\r\nbody\r\n0\r\n\r\n",
    "4 \r\nbody\r\n0\r\n\r\n",
    "0x4\r\nbody\r\n0\r\n\r\n",
    "+4\r\nbody\r\n0\r\n\r\n",
    "4\nbody\r\n0\r\n\r\n",
    "4\r\nbodyX\r\n0\r\n\r\n",
    "4\r\nbody\n0\r\n\r\n",
    "4\r\nbody\r\n0\r\nTrailer: x\r\n\r\n",
    "4\r\nbody\r\n0\r\nGET http://api.test/ HTTP/1.1\r\n\r\n",
    "ffffffffffffffff\r\nbody\r\n0\r\n\r\n",
    "\r\nbody\r\n0\r\n\r\n",
];

#[tokio::test]
async fn a_body_with_tricks_in_its_chunks_never_arrives_as_a_whole_request() {
    for chunks in CHUNKS {
        let origin = Origin::answering(OK).await;
        let world = World::with(&http_rule("api.test", origin.port(), ""));
        world.name("api.test", "127.0.0.1");
        let host = format!("api.test:{}", origin.port());
        let said =
            format!("POST http://{host}/ HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
        let answer = world.ask(said).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{chunks:?}: {answer}");
        assert_eq!(world.ended().await, 3, "{chunks:?}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let whole = origin.heard().iter().any(|heard| heard.ends_with("0\r\n\r\n"));
        assert!(!whole, "{chunks:?}: {:?}", origin.heard());
    }
}

#[tokio::test]
async fn what_follows_a_request_is_judged_as_a_request_and_not_passed_on_with_it() {
    let origin = Origin::answering(OK).await;
    let world = World::with(&http_rule("api.test", origin.port(), "methods = [\"POST\"]\npaths = [\"/open\"]"));
    world.name("api.test", "127.0.0.1");
    let host = format!("api.test:{}", origin.port());
    let hidden = format!("DELETE http://{host}/admin HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let said = format!("POST http://{host}/open HTTP/1.1\r\nHost: {host}\r\nContent-Length: 4\r\n\r\nbody{hidden}");
    let answer = world.ask(said).await;
    assert!(answer.contains("200 OK") && answer.contains("403 Forbidden"), "{answer}");
    let numbers: Vec<u16> = world.records(2).await.iter().map(refusal).collect();
    assert_eq!(numbers, [0, 13]);
    assert!(origin.heard().iter().all(|heard| !heard.contains("DELETE")), "{:?}", origin.heard());
}

/// Pieces of requests, good and bad; `HOST` stands for the host with its port.
const PIECES: &[&str] = &[
    "GET http://HOST/open HTTP/1.1\r\n",
    "GET http://HOST/open/x?y HTTP/1.1\r\n",
    "POST http://HOST/admin HTTP/1.1\r\n",
    "GET http://evil.test/ HTTP/1.1\r\n",
    "Host: HOST\r\n",
    "Host: evil.test\r\n",
    "Content-Length: 4\r\n",
    "Content-Length: 0\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Connection: close\r\n",
    "X: y\r\n",
    " folded\r\n",
    "\r\n",
    "\r\n",
    "\n",
    "\r",
    "body",
    "4\r\nbody\r\n0\r\n\r\n",
    "0\r\n\r\n",
    "DELETE /admin HTTP/1.1\r\nHost: HOST\r\n\r\n",
    "\0",
];

/// What a host may hear: one request, as the rule allows it, with one host and one end.
fn is_one_allowed_request(heard: &str, host: &str) -> bool {
    let Some((head, body)) = heard.split_once("\r\n\r\n") else { return false };
    let hosts = head.lines().filter(|line| line.to_ascii_lowercase().starts_with("host:")).count();
    let allowed = head.starts_with("GET /open HTTP/1.1\r\n") || head.starts_with("GET /open/x?y HTTP/1.1\r\n");
    let framed = match (head.contains("Content-Length: 4"), head.contains("Transfer-Encoding: chunked")) {
        (true, false) => body.len() == 4,
        (false, true) => body.is_empty() || body.ends_with("0\r\n\r\n"),
        (false, false) => body.is_empty(),
        (true, true) => false,
    };
    allowed && framed && hosts == 1 && head.contains(&format!("\r\nHost: {host}\r\n"))
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(150))]
    #[test]
    fn whatever_is_put_together_a_host_hears_allowed_requests_alone(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 1..14),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (heard, host) = runtime.block_on(async {
            let origin = Origin::answering(OK).await;
            let limits = Limits { head_ms: 20, idle_ms: 50, ..Limits::default() };
            let world = World::within(
                &http_rule("api.test", origin.port(), "methods = [\"GET\"]\npaths = [\"/open\"]"),
                limits,
            );
            world.name("api.test", "127.0.0.1");
            let host = format!("api.test:{}", origin.port());
            world.ask(pieces.concat().replace("HOST", &host)).await;
            (origin.heard(), host)
        });
        for said in heard {
            // A host that heard the beginning of a body and then its end has not been asked for anything.
            let is_whole = !said.contains("Content-Length: 4") || !said.ends_with('\0');
            proptest::prop_assert!(!is_whole || is_one_allowed_request(&said, &host), "{said:?}");
        }
    }
}
