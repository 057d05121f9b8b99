//! What a receiver of signed messages is told: checked by somebody else than us.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use bytes::Bytes;
use placet_control::{Channel, RouteParts, SignedHook};
use placet_dial::Dialer;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::moves::{scan, sweep};
use crate::scenario::PATIENCE;
use crate::telling::{parts, telling};

/// In pieces: whoever looks for secrets in this file finds none.
fn secret() -> String {
    ["whsec_", "MfKQ9r8GKYqrTwjU", "PD8ILPZIo2LaLaSw"].concat()
}

/// What came: the headers of the format, and the body to the byte.
#[derive(Debug, Clone)]
struct Got {
    id: String,
    timestamp: String,
    signature: String,
    body: String,
}

#[derive(Debug, Clone)]
struct Desk {
    got: Arc<Mutex<Vec<Got>>>,
    answers: Arc<Mutex<Vec<u16>>>,
    count: watch::Sender<usize>,
    url: String,
}

impl Desk {
    /// Answers with these first, and then with a yes.
    async fn open(answers: &[u16]) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/desk/canary", listener.local_addr().unwrap());
        let answers = Arc::new(Mutex::new(answers.iter().rev().copied().collect()));
        let desk = Self { got: Arc::default(), answers, count: watch::Sender::new(0), url };
        let router = Router::new().fallback(take).with_state(desk.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        desk
    }

    fn route(&self) -> RouteParts {
        let dialer = Dialer::new(None, vec![]).unwrap();
        let hook = SignedHook::new(self.url.parse().unwrap(), secret().parse().unwrap(), dialer);
        parts("desk", Channel::Hook(hook))
    }

    async fn until(&self, wanted: usize) -> Vec<Got> {
        let mut count = self.count.subscribe();
        let waited = tokio::time::timeout(PATIENCE, count.wait_for(|count| *count >= wanted)).await;
        assert!(waited.is_ok(), "waited in vain for {wanted}: {:#?}", self.got);
        self.got.lock().unwrap().clone()
    }
}

async fn take(State(desk): State<Desk>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    let (id, timestamp, signature) = (header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"));
    let body = String::from_utf8(body.to_vec()).unwrap();
    desk.got.lock().unwrap().push(Got { id, timestamp, signature, body });
    desk.count.send_modify(|count| *count += 1);
    let answer = desk.answers.lock().unwrap().pop().unwrap_or(204);
    StatusCode::from_u16(answer).unwrap()
}

/// As a stranger checks it who has read the format and nothing of ours.
const STRANGER: &str = "
import base64, hashlib, hmac, json, sys
got = json.load(sys.stdin)
key = base64.b64decode(got['secret'].removeprefix('whsec_'))
signed = '.'.join([got['id'], got['timestamp'], got['body']]).encode()
expected = 'v1,' + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
print(hmac.compare_digest(expected, got['signature']))
";

fn believed(got: &Got) -> bool {
    let told = json!({
        "secret": secret(), "id": got.id, "timestamp": got.timestamp, "body": got.body, "signature": got.signature,
    });
    let mut stranger = Command::new("/usr/bin/python3");
    let mut stranger = stranger.args(["-c", STRANGER]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    stranger.stdin.take().unwrap().write_all(told.to_string().as_bytes()).unwrap();
    String::from_utf8(stranger.wait_with_output().unwrap().stdout).unwrap().trim() == "True"
}

#[tokio::test]
async fn b12_a_receiver_of_signed_messages_is_told_with_a_link_and_a_stranger_can_check_from_whom() {
    let desk = Desk::open(&[]).await;
    let (app, agent, _) = telling(vec![desk.route()]).await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let got = desk.until(1).await.remove(0);
    assert!(believed(&got), "{got:#?}");
    assert!(!believed(&Got { body: got.body.replace("nmap", "cat"), ..got.clone() }), "nothing in it can be changed");
    assert!(!believed(&Got { timestamp: "1".to_owned(), ..got.clone() }), "nor when it was said");
    let told: Value = serde_json::from_str(&got.body).unwrap();
    let link = format!("http://{}/actions/{}", app.address(), action.id);
    assert_eq!((&told["type"], &told["data"]["lines"][0]["link"]), (&json!("notice"), &json!(link)));
    for secret in ["canary", "-sV", "10.0.0.5", "MfKQ"] {
        assert!(!got.body.contains(secret), "no argument, no target, no secret: {}", got.body);
    }
}

#[tokio::test]
async fn b12_a_signed_message_that_is_not_taken_is_sent_again_under_its_id_and_others_have_another() {
    let desk = Desk::open(&[500, 307, 410]).await;
    let (app, agent, _) = telling(vec![desk.route()]).await;
    agent.proposes(app.team.run, &scan()).await;
    let got = desk.until(4).await;
    assert!(got.iter().all(|each| each.id == got[0].id && believed(each)), "{got:#?}");
    agent.proposes(app.team.run, &sweep()).await;
    let got = desk.until(5).await;
    assert_ne!(got[4].id, got[0].id);
    assert!(got[4].body.contains("Placet: 1 decision waits"), "what was taken is not told again: {}", got[4].body);
}
