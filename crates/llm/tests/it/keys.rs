//! Real keys that are rotated while the gateway runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use placet_llm::wire::Wire;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::world::{Plan, REAL_KEY, World, question};

const ROTATED: &str = "sk-canary-of-next-month";
const ANSWER: &str = r#"{"type":"message","model":"m","content":[],"usage":{"input_tokens":10,"output_tokens":20}}"#;

/// An upstream that takes one key and no other, and says the one it refuses.
struct Picky {
    url: String,
    key: Arc<Mutex<&'static str>>,
    asked: Arc<AtomicUsize>,
}

impl Picky {
    async fn start(key: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (key, asked) = (Arc::new(Mutex::new(key)), Arc::new(AtomicUsize::default()));
        let (wanted, counted) = (Arc::clone(&key), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::Relaxed);
                let wanted = *wanted.lock().unwrap();
                tokio::spawn(answer(socket, wanted));
            }
        });
        Self { url, key, asked }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

async fn answer(mut socket: TcpStream, wanted: &str) {
    let mut heard = [0; 64 << 10];
    let size = socket.read(&mut heard).await.unwrap_or(0);
    let heard = String::from_utf8_lossy(&heard[..size]).into_owned();
    let (status, body) = if heard.contains(&format!("x-api-key: {wanted}\r\n")) {
        ("200 OK", ANSWER.to_owned())
    } else {
        ("401 Unauthorized", format!(r#"{{"error":{{"message":"not with {heard:?}"}}}}"#))
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = socket.write_all((head + &body).as_bytes()).await;
}

#[tokio::test]
async fn a_key_that_was_rotated_is_read_again_and_the_call_goes_on() {
    let upstream = Picky::start(ROTATED).await;
    let world = World::before(std::slice::from_ref(&upstream.url), Plan::default()).await;
    std::fs::write(world.key.path(), ROTATED).unwrap();
    let reply = world.agent.ask(&question(Wire::Messages, false)).await;
    assert_eq!((reply.status, upstream.asked()), (200, 2), "refused once, asked once more");
    assert_eq!(world.agent.ask(&question(Wire::Messages, false)).await.status, 200);
    assert_eq!(upstream.asked(), 3, "from then on it is the key");
    let records = world.records(2).await;
    assert!(records.iter().all(|record| (record.usd_micros, record.estimated) == (50, false)), "{records:?}");
}

#[tokio::test]
async fn a_key_of_a_command_is_read_again_too() {
    let upstream = Picky::start(REAL_KEY).await;
    let place = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(place.path(), REAL_KEY).unwrap();
    let text = format!(
        "[[upstream]]\nname = 'up'\nwire = ['messages']\nbase_url = '{}'\nmodels = ['m']\nkey = {{ command = ['cat', {:?}] }}\n\
         [[price]]\nmodel = 'm'\ninput = 1\noutput = 1\n",
        upstream.url,
        place.path()
    );
    let world = World::reading(&text, Plan::default()).await;
    assert_eq!(world.agent.ask(&question(Wire::Messages, false)).await.status, 200);
    std::fs::write(place.path(), ROTATED).unwrap();
    *upstream.key.lock().unwrap() = ROTATED;
    assert_eq!(world.agent.ask(&question(Wire::Messages, false)).await.status, 200);
    assert_eq!(upstream.asked(), 3);
}

#[tokio::test]
async fn r24_a_key_that_stays_refused_is_tried_once_more_at_most_and_told_to_nobody() {
    let upstream = Picky::start("sk-of-nobody").await;
    let world = World::before(std::slice::from_ref(&upstream.url), Plan::default()).await;
    let refused = async || {
        let reply = world.agent.ask(&question(Wire::Messages, false)).await;
        assert_eq!(reply.status, 502);
        assert!(!String::from_utf8_lossy(&reply.body).contains("canary"), "{:?}", reply.body);
    };
    refused().await;
    assert_eq!(upstream.asked(), 1, "the key is the same as before, so nobody is asked again");
    std::fs::write(world.key.path(), ROTATED).unwrap();
    refused().await;
    assert_eq!(upstream.asked(), 2, "a file that was just read is not read with every call");
    let records = world.records(2).await;
    let told = serde_json::to_string(&records).unwrap();
    assert!(!told.contains("canary") && records.iter().all(|record| record.usd_micros == 0), "{told}");
}
