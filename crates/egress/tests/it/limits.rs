//! Limits that really hold: slow heads, large heads, silence, age, bytes of a run, connections at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use placet_egress::{Limits, accept};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::world::{Origin, World, heard, http_rule, refusal, rule};

#[tokio::test]
async fn who_sends_a_head_byte_by_byte_is_told_so_and_let_go() {
    let world = World::within(&rule("a.test", "https", 443), Limits { head_ms: 200, ..Limits::default() });
    let mut stream = world.dial();
    let began = Instant::now();
    let (mut from, mut out) = tokio::io::split(&mut stream);
    let dripping = async {
        for byte in b"GET http://a.test/ HTTP/1.1\r\nX: ".iter().chain(std::iter::repeat(&b'x')) {
            if out.write_all(&[*byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let answer = tokio::select! { answer = heard(&mut from) => answer, () = dripping => panic!("it was not let go") };
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(world.refused().await, 45);
}

#[tokio::test]
async fn who_says_nothing_or_stops_half_way_is_let_go() {
    let world = World::within(&rule("a.test", "https", 443), Limits { head_ms: 100, ..Limits::default() });
    let mut silent = world.dial();
    assert_eq!(heard(&mut silent).await, "");
    let mut half = world.dial();
    half.write_all(&[5, 3, 0]).await.unwrap();
    let mut answer = Vec::new();
    half.read_to_end(&mut answer).await.unwrap();
    assert_eq!(world.refused().await, 45);
}

#[tokio::test]
async fn a_tunnel_whose_client_never_begins_ends() {
    let origin = Origin::echoing().await;
    let limits = Limits { head_ms: 100, ..Limits::default() };
    let world = World::within(&rule("127.0.0.1", "https", origin.port()), limits);
    let (line, mut stream) = world.connect(&format!("127.0.0.1:{}", origin.port())).await;
    assert!(line.contains(" 200 "), "{line}");
    stream.write_all(&[22, 3, 1, 0]).await.unwrap();
    assert_eq!(heard(&mut stream).await.len(), 7, "an alert of TLS");
    assert_eq!(world.ended().await, 45);
}

#[tokio::test]
async fn a_giant_head_is_refused_before_it_is_whole() {
    let world = World::within(&rule("a.test", "https", 443), Limits { head_bytes: 4096, ..Limits::default() });
    let giant = format!("GET http://a.test/ HTTP/1.1\r\nX: {}", "x".repeat(8_000));
    let answer = world.ask(giant).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    assert_eq!(world.refused().await, 4);
}

#[tokio::test]
async fn a_giant_answer_head_is_trouble() {
    let origin = Origin::answering(format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(8_000))).await;
    let limits = Limits { head_bytes: 4096, ..Limits::default() };
    let world = World::within(&http_rule("127.0.0.1", origin.port(), ""), limits);
    assert!(world.get(&origin.url("127.0.0.1", "/")).await.starts_with("HTTP/1.1 502 "));
    assert_eq!(world.ended().await, 53);
}

#[tokio::test]
async fn a_host_that_never_answers_is_not_waited_for_longer_than_the_limit() {
    let (origin, _listener) = Origin::bind().await;
    let limits = Limits { idle_ms: 150, ..Limits::default() };
    let world = World::within(&http_rule("127.0.0.1", origin.port(), ""), limits);
    let answer = world.get(&origin.url("127.0.0.1", "/")).await;
    assert!(answer.starts_with("HTTP/1.1 504 "), "{answer}");
    assert_eq!(world.ended().await, 41);
}

#[tokio::test]
async fn a_tunnel_that_carries_nothing_ends_and_one_that_carries_lives_on_until_it_is_too_old() {
    let origin = Origin::echoing().await;
    let to = format!("127.0.0.1:{}", origin.port());
    let idle = World::within(&rule("127.0.0.1", "tcp", origin.port()), Limits { idle_ms: 150, ..Limits::default() });
    let (_, mut stream) = idle.connect(&to).await;
    assert_eq!(heard(&mut stream).await, "");
    assert_eq!(idle.ended().await, 41);
    let limits = Limits { idle_ms: 300, total_ms: 900, ..Limits::default() };
    let busy = World::within(&rule("127.0.0.1", "tcp", origin.port()), limits);
    let (_, mut stream) = busy.connect(&to).await;
    let began = Instant::now();
    while stream.write_all(b"x").await.is_ok() && began.elapsed() < Duration::from_secs(10) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(began.elapsed() >= Duration::from_millis(800), "it lived longer than the idle limit");
    assert_eq!(busy.ended().await, 42);
}

#[tokio::test]
async fn the_bytes_of_a_run_are_cut_at_the_limit_and_not_one_later() {
    let origin = Origin::echoing().await;
    let limits = Limits { run_bytes: 100_000, ..Limits::default() };
    let world = World::within(&rule("127.0.0.1", "tcp", origin.port()), limits);
    let (_, stream) = world.connect(&format!("127.0.0.1:{}", origin.port())).await;
    let (mut from, mut out) = tokio::io::split(stream);
    tokio::spawn(async move { while out.write_all(&[0; 1000]).await.is_ok() {} });
    heard(&mut from).await;
    assert_eq!(world.ended().await, 40);
    let used = world.egress.meter().used();
    assert!(used.bytes_up + used.bytes_down <= 100_000 && used.bytes_up > 10_000, "{used:?}");
}

#[tokio::test]
async fn a_plain_request_is_cut_by_the_limit_of_its_run_too() {
    let origin =
        Origin::answering(format!("HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n{}", "x".repeat(9000))).await;
    let limits = Limits { run_bytes: 10_000, ..Limits::default() };
    let world = World::within(&http_rule("127.0.0.1", origin.port(), ""), limits);
    assert!(world.get(&origin.url("127.0.0.1", "/")).await.ends_with("xxx"));
    let second = world.get(&origin.url("127.0.0.1", "/")).await;
    assert!(!second.ends_with(&"x".repeat(9000)), "not whole again");
    let records = world.records(2).await;
    assert_eq!(records[1].ended.as_ref().unwrap().number, 40);
}

#[tokio::test]
async fn more_connections_than_allowed_are_turned_away_with_a_reason() {
    let origin = Origin::echoing().await;
    let limits = Limits { connections: 2, ..Limits::default() };
    let world = World::within(&rule("127.0.0.1", "tcp", origin.port()), limits);
    let to = format!("127.0.0.1:{}", origin.port());
    let (_, first) = world.connect(&to).await;
    let (_, _second) = world.connect(&to).await;
    let (line, _) = world.connect(&to).await;
    assert!(line.starts_with("HTTP/1.1 503 "), "{line}");
    assert_eq!(refusal(&world.records(1).await[0]), 44);
    drop(first);
    world.records(2).await;
    let (line, _) = world.connect(&to).await;
    assert!(line.contains(" 200 "), "a place is free again: {line}");
}

#[tokio::test]
async fn a_slow_reader_makes_a_slow_sender_and_no_full_memory() {
    let (origin, listener) = Origin::bind().await;
    let sent = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&sent);
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        while stream.write_all(&[0; 1 << 16]).await.is_ok() {
            counting.fetch_add(1 << 16, Ordering::SeqCst);
        }
    });
    let world = World::with(&rule("127.0.0.1", "tcp", origin.port()));
    let (_, stream) = world.connect(&format!("127.0.0.1:{}", origin.port())).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let stalled = sent.load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(sent.load(Ordering::SeqCst), stalled, "it waits for the reader");
    assert!(world.egress.meter().used().bytes_down < 1 << 20);
    drop(stream);
    assert!(world.record().await.bytes_down < 1 << 20);
}

#[tokio::test]
async fn d9_a_cage_that_opens_connections_without_end_takes_no_more_of_this_process_than_it_may() {
    let world = World::within(&rule("a.test", "https", 443), Limits { connections: 4, ..Limits::default() });
    let door = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = door.local_addr().unwrap();
    let egress = Arc::clone(&world.egress);
    let (held, most) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let (now, highest) = (Arc::clone(&held), Arc::clone(&most));
    tokio::spawn(async move {
        loop {
            let (accepted, now) = (accept(&door, &egress).await, Arc::clone(&now));
            highest.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::spawn(async move {
                accepted.serve().await;
                now.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    let mut silent = Vec::new();
    for _ in 0..60 {
        silent.push(tokio::net::TcpStream::connect(at).await.unwrap());
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(most.load(Ordering::SeqCst), 5, "four that are served, and one that is turned away");
    drop(silent);
    let mut one = tokio::net::TcpStream::connect(at).await.unwrap();
    one.write_all(b"GET http://b.test/ HTTP/1.1\r\nHost: b.test\r\n\r\n").await.unwrap();
    assert!(heard(&mut one).await.starts_with("HTTP/1.1 403 "), "room is given back");
}

#[tokio::test]
async fn d9_who_is_turned_away_is_not_waited_for() {
    let world = World::within(&rule("a.test", "https", 443), Limits { connections: 1, ..Limits::default() });
    let _first = world.dial();
    tokio::task::yield_now().await;
    let began = Instant::now();
    assert_eq!(heard(&mut world.dial()).await, "");
    assert!(began.elapsed() < Duration::from_secs(5), "less than a head may take");
}

#[tokio::test]
async fn a_body_that_comes_drop_by_drop_is_carried_until_it_is_too_old_and_not_longer() {
    let (origin, _listener) = Origin::bind().await;
    let limits = Limits { idle_ms: 300, total_ms: 900, ..Limits::default() };
    let world = World::within(&http_rule("127.0.0.1", origin.port(), ""), limits);
    let (to, mut stream, began) = (format!("127.0.0.1:{}", origin.port()), world.dial(), Instant::now());
    let head = format!("POST http://{to}/ HTTP/1.1\r\nHost: {to}\r\nContent-Length: 100000\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    while stream.write_all(b"x").await.is_ok() && began.elapsed() < Duration::from_secs(10) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    assert_eq!(world.ended().await, 42);
}
