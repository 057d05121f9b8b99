//! Agents that ask for much and take nothing: streams that nobody reads, bodies that fill the memory.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::Request;
use hyper::body::{Body, Frame};
use placet_llm::serve_connection;
use placet_llm::wire::Wire;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::world::{OTHERS, Plan, Talker, VIRTUAL_KEY, World, eventually, question};

fn limits(text: &str) -> Plan {
    Plan { more: format!("[limits]\n{text}\n"), ..Plan::default() }
}

/// A request as it goes over a connection, with a body of so many bytes of which so many are sent.
fn raw(key: &str, wire: Wire, body_bytes: usize, sent: usize) -> String {
    let asked = question(wire, true);
    let body = asked.body + &" ".repeat(body_bytes);
    let (path, body) = (asked.path, &body[..body_bytes.max(sent)]);
    format!(
        "POST {path} HTTP/1.1\r\nhost: x\r\nx-api-key: {key}\r\ncontent-length: {}\r\n\r\n{}",
        body.len(),
        &body[..sent]
    )
}

fn whole(key: &str, wire: Wire) -> String {
    let bytes = question(wire, true).body.len();
    raw(key, wire, bytes, bytes)
}

/// Somebody who asked over a connection that holds next to nothing, and does not read.
async fn unread(world: &World) -> DuplexStream {
    let (near, mut far) = tokio::io::duplex(2_048);
    tokio::spawn(serve_connection(Arc::clone(&world.gateway), near));
    far.write_all(whole(VIRTUAL_KEY, Wire::Chat).as_bytes()).await.unwrap();
    far
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_streams_that_nobody_reads_do_not_hold_the_gateway() {
    // 400 KB each: far more than a connection holds.
    let upstream = Talker::start(50).await;
    let plan = limits("unread_ms = 400\nhang_ups = 40");
    let world = World::before(std::slice::from_ref(&upstream.url), plan).await;
    let mut streams = Vec::new();
    for _ in 0..500 {
        streams.push(unread(&world).await);
    }
    let before = Instant::now();
    let other =
        world.agent.send("/v1/chat/completions", &[("x-api-key", OTHERS[0].key)], question(Wire::Chat, true).body);
    assert_eq!(other.await.status, 200, "somebody else is answered meanwhile");
    let meanwhile = before.elapsed();
    let records = world.records(501).await;
    let counted = records.iter().filter(|record| !record.estimated).count();
    let longest = records.iter().filter(|record| record.estimated && record.tokens.output == 1_000).count();
    assert_eq!(counted + longest, 501, "each is counted or estimated");
    assert!(counted > 1, "as many as there are places for are read to their ends");
    assert_eq!(world.allotment.held().usd_micros, 0);
    assert!(meanwhile < Duration::from_secs(20), "{meanwhile:?}");
    // Their connections are closed: there is an end to what can be read.
    for mut stream in streams {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert!(rest.len() < 400_000, "not all of it came");
    }
}

#[tokio::test]
async fn a_stream_that_nobody_reads_is_given_up_with_its_upstream() {
    let upstream = Talker::start(usize::MAX).await;
    let plan = limits("unread_ms = 300\nhang_ups = 0");
    let world = World::before(std::slice::from_ref(&upstream.url), plan).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let mut socket = socket.connect(world.agent.address).await.unwrap();
    socket.write_all(whole(VIRTUAL_KEY, Wire::Messages).as_bytes()).await.unwrap();
    let record = world.record().await;
    assert!(record.estimated && record.tokens.output == 1_000, "{record:?}");
    eventually("the upstream is hung up on", || upstream.left() == 1).await;
    let ended = tokio::time::timeout(Duration::from_secs(20), async {
        let mut taken = vec![0; 1 << 20];
        while matches!(socket.read(&mut taken).await, Ok(1..)) {}
    });
    assert!(ended.await.is_ok(), "the connection is closed");
}

#[tokio::test]
async fn c12_an_agent_that_reads_slowly_gets_everything() {
    let long = format!(
        "[[turn]]\nwhen = 'hello'\ntext = '{}'\nused = {{ input = 1, output = 2 }}\n",
        "many words ".repeat(2_000)
    );
    let world = World::planned(&[&long], limits("unread_ms = 2_000")).await;
    let (near, mut far) = tokio::io::duplex(16_384);
    tokio::spawn(serve_connection(Arc::clone(&world.gateway), near));
    far.write_all(whole(VIRTUAL_KEY, Wire::Messages).replace("host: x", "connection: close").as_bytes()).await.unwrap();
    let (mut all, mut taken) = (Vec::new(), [0; 4_096]);
    loop {
        let size = far.read(&mut taken).await.unwrap();
        if size == 0 {
            break;
        }
        all.extend_from_slice(&taken[..size]);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(all.ends_with(b"0\r\n\r\n"), "to the last chunk");
    assert!(!world.record().await.estimated);
}

/// Announces a body and sends a part of it.
async fn begins(world: &World, key: &str, body_bytes: usize, sent: usize) -> TcpStream {
    let mut socket = TcpStream::connect(world.agent.address).await.unwrap();
    socket.write_all(raw(key, Wire::Messages, body_bytes, sent).as_bytes()).await.unwrap();
    // Long enough that it has been read.
    tokio::time::sleep(Duration::from_millis(150)).await;
    socket
}

async fn status(socket: &mut TcpStream) -> String {
    let mut answer = [0; 64];
    let size = socket.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..size]).split(' ').nth(1).unwrap_or_default().to_owned()
}

const SCRIPT: &str = "[[turn]]\nwhen = ''\ntext = 'hi'\n";

#[tokio::test]
async fn bodies_of_one_run_take_a_part_of_the_memory_and_each_agent_is_told_to_come_again() {
    // Twice 10,000 bytes for each run, four times as much for all of them.
    let world = World::planned(&[SCRIPT], limits("request_bytes = 10_000\nbytes_in_flight = 80_000")).await;
    let mut slow = begins(&world, VIRTUAL_KEY, 9_500, 9_400).await;
    for wire in Wire::ALL {
        let mut asked = question(wire, false);
        asked.body.push_str(&" ".repeat(2_000));
        let reply = world.agent.ask(&asked).await;
        assert_eq!(reply.status, 503, "{wire}");
        assert_eq!(reply.headers["retry-after"], "2", "{wire}");
        assert!(reply.message().contains("try again in a moment"), "{wire}: {}", reply.message());
    }
    let other = world.agent.send("/v1/messages", &[("x-api-key", OTHERS[0].key)], question(Wire::Messages, false).body);
    assert_eq!(other.await.status, 200, "another run has its own part");
    slow.write_all(&[b' '; 100]).await.unwrap();
    assert_eq!(status(&mut slow).await, "200");
    assert_eq!(world.agent.ask(&question(Wire::Chat, false)).await.status, 200, "there is room again");
    assert_eq!(world.wallet.records().len(), 3, "who was sent away has not called");
}

#[tokio::test]
async fn bodies_of_all_runs_together_are_bounded_too() {
    let world = World::planned(&[SCRIPT], limits("request_bytes = 10_000\nbytes_in_flight = 80_000")).await;
    let mut held = Vec::new();
    for other in &OTHERS[..4] {
        held.push(begins(&world, other.key, 9_990, 9_980).await);
    }
    let asked = question(Wire::Messages, false);
    assert_eq!(world.agent.ask(&asked).await.status, 503);
    held.pop();
    eventually_answered(&world).await;
}

/// A model that answers when its test says so.
struct Told(TcpListener);

impl Told {
    async fn start() -> (Self, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        (Self(listener), url)
    }

    /// The next call, when all of it has come.
    async fn call(&self, body_bytes: usize) -> TcpStream {
        let accepted = tokio::time::timeout(Duration::from_secs(20), self.0.accept());
        let (mut socket, _) = accepted.await.expect("a call comes").unwrap();
        let (mut heard, mut piece) = (Vec::new(), [0; 4_096]);
        while heard.len() < body_bytes {
            let size = socket.read(&mut piece).await.unwrap();
            heard.extend_from_slice(&piece[..size]);
        }
        socket
    }
}

#[tokio::test]
async fn c12_a_body_keeps_its_room_until_its_answer_begins_and_not_a_moment_longer() {
    let (model, url) = Told::start().await;
    // One of the largest requests, and nothing beside it.
    let world = World::before(&[url], limits("request_bytes = 10_000\nbytes_in_flight = 20_000")).await;
    let small = question(Wire::Messages, true);
    let mut large = small.clone();
    large.body.push_str(&" ".repeat(9_950 - large.body.len()));
    let agent = world.agent.clone();
    let call = tokio::spawn(async move { agent.begin(&large.path, &[("x-api-key", VIRTUAL_KEY)], large.body).await });
    let mut answering = model.call(9_950).await;
    let told = tokio::time::timeout(Duration::from_secs(20), world.agent.ask(&small));
    assert_eq!(
        told.await.expect("it is not sent").status,
        503,
        "the next upstream may have to be asked with the same body"
    );
    answering.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n").await.unwrap();
    let begun = call.await.unwrap();
    assert_eq!(begun.status(), 200);
    let (agent, bytes) = (world.agent.clone(), small.body.len());
    let next = tokio::spawn(async move { agent.ask(&small).await.status });
    let mut socket = model.call(bytes).await;
    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
    assert_eq!(next.await.unwrap(), 200, "its answer still comes, and its room is free");
    drop(begun);
}

#[tokio::test]
async fn c12_words_of_open_calls_take_of_the_same_room_and_are_cut_where_there_is_none() {
    let (model, url) = Told::start().await;
    let plan = Plan { keeps_words: true, ..limits("request_bytes = 10_000\nbytes_in_flight = 120_000") };
    // A run has a quarter of the room, 30,000 bytes; the largest request keeps 20,000 of them, which leaves 10,000 for words.
    let world = World::before(&[url], plan).await;
    for round in 0..3 {
        let mut asked = question(Wire::Chat, false);
        asked.body.push_str(&" ".repeat(6_000 - asked.body.len()));
        let agent = world.agent.clone();
        let call = tokio::spawn(async move { agent.ask(&asked).await });
        let mut socket = model.call(6_000).await;
        let said = "x".repeat(30_000);
        socket.write_all(format!("HTTP/1.1 200 OK\r\ncontent-length: 30000\r\n\r\n{said}").as_bytes()).await.unwrap();
        assert_eq!(call.await.unwrap().body.len(), 30_000, "the agent gets all of it");
        world.records(round + 1).await;
        let (_, words) = world.wallet.words().pop().unwrap();
        assert_eq!((words.request.bytes.len(), words.request.is_cut()), (6_000, false), "the rest is free again");
        let heard = &words.response;
        assert_eq!((heard.is_cut(), heard.size_bytes), (true, 30_000));
        assert!(heard.bytes.len() <= 4_000, "{}", heard.bytes.len());
    }
}

/// Who went away gives its room back a moment later.
async fn eventually_answered(world: &World) {
    for _ in 0..500 {
        if world.agent.ask(&question(Wire::Messages, false)).await.status == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("there is no room again");
}

#[tokio::test]
async fn who_announces_much_and_sends_little_holds_little() {
    let world = World::planned(&[SCRIPT], limits("request_bytes = 10_000\nbytes_in_flight = 20_000")).await;
    let _slow = [begins(&world, VIRTUAL_KEY, 9_000, 10).await, begins(&world, VIRTUAL_KEY, 9_000, 10).await];
    assert_eq!(world.agent.ask(&question(Wire::Messages, false)).await.status, 200);
}

/// A body that comes a byte at a time, and counts how many of its pieces somebody keeps.
struct Dripping {
    left: std::vec::IntoIter<u8>,
    kept: Arc<AtomicUsize>,
    most_kept: Arc<AtomicUsize>,
}

struct Piece([u8; 1], Arc<AtomicUsize>);

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Body for Dripping {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let Some(byte) = self.left.next() else { return Poll::Ready(None) };
        let kept = self.kept.fetch_add(1, Ordering::Relaxed) + 1;
        self.most_kept.fetch_max(kept, Ordering::Relaxed);
        let piece = Bytes::from_owner(Piece([byte], Arc::clone(&self.kept)));
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
}

#[tokio::test]
async fn a_body_that_comes_a_byte_at_a_time_takes_no_more_than_its_bytes() {
    let world = World::planned(&[SCRIPT], Plan::default()).await;
    let asked = question(Wire::Messages, false);
    let (left, kept, most_kept) = (asked.body.into_bytes().into_iter(), Arc::default(), Arc::default());
    let body = Dripping { left, kept, most_kept: Arc::clone(&most_kept) };
    let request = Request::post(asked.path).header("x-api-key", VIRTUAL_KEY).body(body).unwrap();
    assert_eq!(world.gateway.handle(request).await.status().as_u16(), 200);
    assert_eq!(most_kept.load(Ordering::Relaxed), 1, "each is taken over before the next one comes");
}

#[tokio::test]
async fn what_is_announced_as_too_large_is_refused_before_it_comes() {
    let world = World::planned(&[SCRIPT], limits("request_bytes = 10_000\nbytes_in_flight = 20_000")).await;
    let mut socket = begins(&world, VIRTUAL_KEY, 10_001, 0).await;
    assert_eq!(status(&mut socket).await, "413");
}
