//! Tunnels by CONNECT and SOCKS5: TLS must name the host that was asked for, and plain HTTP in a tunnel is read.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::world::{OK, Origin, World, head, heard, http_rule, refusal, rule};

/// A first message of TLS that names the host, in two records.
fn hello(name: Option<&str>, more: &[u8]) -> Vec<u8> {
    let prefixed = |bytes: &[u8]| [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat();
    let entry = |name: &str| [&[0][..], &prefixed(name.as_bytes())].concat();
    let names = name.map(|name| [&[0, 0][..], &prefixed(&prefixed(&entry(name)))].concat()).unwrap_or_default();
    let body = [&[3, 3][..], &[7; 32], &[0, 0, 2, 0x13, 1, 1, 0], &prefixed(&[&names[..], more].concat())].concat();
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    let message = [&[1, length[1], length[2], length[3]][..], &body].concat();
    let (first, second) = message.split_at(20);
    [first, second].iter().flat_map(|part| [&[22, 3, 1][..], &prefixed(part)].concat()).collect()
}

async fn tls_world() -> (World, Origin, String) {
    let origin = Origin::echoing().await;
    let world = World::with(&rule("api.test", "https", origin.port()));
    world.name("api.test", "127.0.0.1");
    let to = format!("api.test:{}", origin.port());
    (world, origin, to)
}

#[tokio::test]
async fn tls_for_the_host_that_was_asked_for_is_carried_byte_for_byte() {
    let (world, _origin, to) = tls_world().await;
    let (line, mut stream) = world.connect(&to).await;
    assert_eq!(line, "HTTP/1.1 200 Connection established");
    let said = [hello(Some("api.test"), &[]), b"\x17\x03\x03 and more".to_vec()].concat();
    for part in said.chunks(7) {
        stream.write_all(part).await.unwrap();
    }
    stream.shutdown().await.unwrap();
    let mut echo = Vec::new();
    stream.read_to_end(&mut echo).await.unwrap();
    assert_eq!(echo, said);
    let record = world.record().await;
    let count = said.len() as u64;
    assert_eq!((record.bytes_up, record.bytes_down, record.encrypted_hello), (count, count, false));
}

#[tokio::test]
async fn r18_tls_for_another_host_than_was_asked_for_is_refused() {
    for (said, number) in [
        (hello(Some("evil.test"), &[]), 32),
        (hello(Some("sub.api.test"), &[]), 32),
        (hello(None, &[]), 31),
        (hello(Some("api.test."), &[]), 33),
        (hello(Some("api.test\0evil"), &[]), 33),
        (b"GET / HTTP/1.1\r\nHost: api.test\r\n\r\n".to_vec(), 30),
        (b"SSH-2.0-x\r\n".to_vec(), 30),
        (vec![22, 9, 9, 0, 1], 30),
    ] {
        let (world, origin, to) = tls_world().await;
        let (line, mut stream) = world.connect(&to).await;
        assert!(line.contains(" 200 "), "{line}");
        stream.write_all(&said).await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let alert: &[u8] = if said[0] == 22 { &[21, 3, 3, 0, 2, 2, 49] } else { &[] };
        assert_eq!(answer, alert, "told in TLS, if that is what it speaks");
        let record = world.record().await;
        assert_eq!((refusal(&record), record.bytes_up), (number, 0), "{record:?}");
        assert!(origin.connections() <= 1);
    }
}

#[tokio::test]
async fn an_encrypted_part_of_the_first_message_is_recorded() {
    let (world, _origin, to) = tls_world().await;
    let (_, mut stream) = world.connect(&to).await;
    stream.write_all(&hello(Some("api.test"), &[0xfe, 0x0d, 0, 1, 0])).await.unwrap();
    stream.shutdown().await.unwrap();
    heard(&mut stream).await;
    assert!(world.record().await.encrypted_hello);
}

#[tokio::test]
async fn socks_carries_names_and_judges_them_like_connect() {
    let (world, origin, _) = tls_world().await;
    let mut stream = world.dial();
    stream.write_all(&[5, 2, 2, 0]).await.unwrap();
    let mut answer = [0; 2];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, [5, 0]);
    let port = origin.port().to_be_bytes();
    stream.write_all(&[&[5, 1, 0, 3, 8][..], b"api.test", &port].concat()).await.unwrap();
    let mut opened = [0; 10];
    stream.read_exact(&mut opened).await.unwrap();
    assert_eq!(opened[..2], [5, 0]);
    let said = hello(Some("api.test"), &[]);
    stream.write_all(&said).await.unwrap();
    let mut echo = vec![0; said.len()];
    stream.read_exact(&mut echo).await.unwrap();
    assert_eq!(echo, said);
}

#[tokio::test]
async fn socks_that_wants_a_password_or_to_listen_is_refused() {
    let (world, _origin, _) = tls_world().await;
    for (said, answer) in [
        (vec![5, 1, 2], vec![5, 0xff]),
        (vec![5, 1, 0, 5, 2, 0, 1, 127, 0, 0, 1, 0, 80], vec![5, 0, 5, 7]),
        (vec![5, 1, 0, 5, 3, 0, 1, 127, 0, 0, 1, 0, 80], vec![5, 0, 5, 7]),
        (vec![5, 1, 0, 5, 1, 0, 9, 0, 0, 0, 0], vec![5, 0, 5, 7]),
        (vec![5, 1, 0, 4, 1, 0, 1, 127, 0, 0, 1, 0, 80], vec![5, 0, 5, 1]),
        (vec![5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, 0, 0], vec![5, 0, 5, 1]),
    ] {
        let mut stream = world.dial();
        stream.write_all(&said).await.unwrap();
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard).await.unwrap();
        assert!(heard.starts_with(&answer), "{said:?}: {heard:?}");
    }
}

#[tokio::test]
async fn plain_requests_in_a_tunnel_are_read_and_judged_one_by_one() {
    let origin = Origin::answering(OK).await;
    let world = World::with(&http_rule("api.test", origin.port(), "methods = [\"GET\"]"));
    world.name("api.test", "127.0.0.1");
    let to = format!("api.test:{}", origin.port());
    let (line, mut stream) = world.connect(&to).await;
    assert!(line.contains(" 200 "), "{line}");
    assert_eq!(origin.connections(), 0, "nothing to carry yet");
    stream.write_all(format!("GET /a HTTP/1.1\r\nHost: {to}\r\n\r\n").as_bytes()).await.unwrap();
    assert!(head(&mut stream).await.contains("200 OK"));
    stream.read_exact(&mut [0; 5]).await.unwrap();
    stream.write_all(format!("POST /a HTTP/1.1\r\nHost: {to}\r\nContent-Length: 0\r\n\r\n").as_bytes()).await.unwrap();
    assert!(heard(&mut stream).await.contains("(E13)"));
    let (_, mut stream) = world.connect(&to).await;
    stream.write_all(b"GET /a HTTP/1.1\r\nHost: evil.test\r\n\r\n").await.unwrap();
    assert!(heard(&mut stream).await.contains("(E2)"));
    let (_, mut stream) = world.connect(&to).await;
    stream.write_all(&hello(Some("api.test"), &[])).await.unwrap();
    heard(&mut stream).await;
    let numbers: Vec<u16> = world.records(6).await.iter().map(refusal).collect();
    assert_eq!(numbers, [0, 0, 13, 0, 2, 12]);
}

#[tokio::test]
async fn one_port_with_rules_for_both_languages_goes_by_what_is_spoken() {
    let origin = Origin::answering(OK).await;
    let world =
        World::with(&[http_rule("api.test", origin.port(), ""), rule("api.test", "https", origin.port())].concat());
    world.name("api.test", "127.0.0.1");
    let to = format!("api.test:{}", origin.port());
    let (_, mut stream) = world.connect(&to).await;
    stream.write_all(format!("GET /a HTTP/1.1\r\nHost: {to}\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
    assert!(heard(&mut stream).await.ends_with("hello"));
    let (_, mut stream) = world.connect(&to).await;
    stream.write_all(&hello(Some("api.test"), &[])).await.unwrap();
    stream.shutdown().await.unwrap();
    heard(&mut stream).await;
    assert!(world.records(3).await.iter().all(|record| refusal(record) == 0));
}

#[tokio::test]
async fn a_side_that_is_done_with_sending_still_receives() {
    let (origin, listener) = Origin::bind().await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let asked = heard(&mut stream).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
        stream.write_all(format!("after the end of {asked}").as_bytes()).await.unwrap();
    });
    let world = World::with(&rule("127.0.0.1", "tcp", origin.port()));
    let (_, mut stream) = world.connect(&format!("127.0.0.1:{}", origin.port())).await;
    stream.write_all(b"the question").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(heard(&mut stream).await, "after the end of the question");
    assert_eq!(world.ended().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_tunnels_at_once_carry_each_its_own() {
    const TUNNELS: usize = 200;
    const BYTES: usize = 100_000;
    let origin = Origin::echoing().await;
    let world = std::sync::Arc::new(World::with(&rule("127.0.0.1", "tcp", origin.port())));
    let to = format!("127.0.0.1:{}", origin.port());
    let mut open = tokio::task::JoinSet::new();
    for index in 0..TUNNELS {
        let (world, to) = (std::sync::Arc::clone(&world), to.clone());
        open.spawn(async move {
            let (line, stream) = world.connect(&to).await;
            assert!(line.contains(" 200 "), "{line}");
            let said = vec![u8::try_from(index % 251).unwrap(); BYTES];
            let (mut from, mut out) = tokio::io::split(stream);
            let (mut echo, expected) = (Vec::new(), said.clone());
            let sending = tokio::spawn(async move {
                out.write_all(&said).await.unwrap();
                out.shutdown().await.unwrap();
            });
            from.read_to_end(&mut echo).await.unwrap();
            sending.await.unwrap();
            assert!(echo == expected, "tunnel {index}");
        });
    }
    while let Some(done) = open.join_next().await {
        done.unwrap();
    }
    assert_eq!(origin.connections(), TUNNELS);
    let records = world.records(TUNNELS).await;
    assert!(records.iter().all(|record| record.bytes_up == BYTES as u64 && record.bytes_down == BYTES as u64));
    let used = world.egress.meter().used();
    assert_eq!((used.bytes_up, used.requests), ((TUNNELS * BYTES) as u64, TUNNELS as u64));
}

#[tokio::test]
async fn r18_another_protocol_in_a_tunnel_for_plain_requests_reaches_nobody() {
    let origin = Origin::answering(OK).await;
    let world = World::with(&http_rule("127.0.0.1", origin.port(), ""));
    let to = format!("127.0.0.1:{}", origin.port());
    let old = format!(
        "GET / HTTP/1.1\r\nHost: {to}\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nConnection: close, Upgrade, HTTP2-Settings\r\n\r\n"
    );
    for said in ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "SSH-2.0-x\r\n\r\n", "\u{5}\u{1}\u{0}\r\n\r\n"] {
        let (line, mut stream) = world.connect(&to).await;
        assert!(line.contains(" 200 "), "{line}");
        stream.write_all(said.as_bytes()).await.unwrap();
        assert!(heard(&mut stream).await.contains("(E3)"), "{said:?}");
    }
    assert_eq!(origin.connections(), 0);
    let (_, mut stream) = world.connect(&to).await;
    stream.write_all(old.as_bytes()).await.unwrap();
    assert!(heard(&mut stream).await.contains("200 OK"));
    let heard = origin.heard().concat().to_ascii_lowercase();
    assert!(!heard.contains("upgrade") && !heard.contains("settings"), "{heard}");
}
