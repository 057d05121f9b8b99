//! Webhooks, in and out, as others on the same machine see them. Signatures are computed here a second time, from RFC 2104
//! and the standard-webhooks format, without the code that is tested.

mod incoming;
mod outgoing;
mod receiver;

use axum::http::Method;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use placet_control::{Backoff, Hooks, IncomingHook, OutgoingHook};
use placet_dial::Dialer;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::person::{Answer, Person};
use crate::scenario::Scenario;

const KEY: [u8; 32] = [5; 32];

fn secret(key: &[u8]) -> String {
    format!("whsec_{}", STANDARD.encode(key))
}

/// HMAC-SHA256 (RFC 2104) for keys no longer than a block.
fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let padded = |pad: u8| {
        let mut block = [pad; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

fn signature(key: &[u8], id: &str, timestamp: &str, body: &[u8]) -> String {
    let signed = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body].concat();
    format!("v1,{}", STANDARD.encode(hmac(key, &signed)))
}

/// A hook by which somebody may be acted as.
pub(crate) fn hook_of(name: &str, person: &Person) -> IncomingHook {
    IncomingHook::new(name.parse().unwrap(), secret(&KEY).parse().unwrap(), person.id)
}

/// A hook that tells of these kinds, tried again quickly.
fn told(name: &str, url: &str, events: &[&str]) -> OutgoingHook {
    let events = events.iter().map(|pattern| pattern.parse().unwrap()).collect();
    let (url, dialer) = (url.parse().unwrap(), Dialer::new(None, vec![]).unwrap());
    OutgoingHook::new(name.parse().unwrap(), url, secret(&KEY).parse().unwrap(), events, dialer).unwrap()
}

fn telling(hooks: Vec<OutgoingHook>) -> Hooks {
    Hooks::new(hooks, vec![]).unwrap().retried(Backoff { first_ms: 5, most_ms: 20 })
}

/// A message to a hook, signed like everybody's unless a scenario says otherwise.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    id: String,
    body: Vec<u8>,
    key: Vec<u8>,
    /// How far the sender's clock is ahead.
    ahead_s: i64,
    /// Headers that replace those that belong there; an empty one is left out.
    instead: Vec<(&'static str, String)>,
}

impl Message {
    pub(crate) fn of(id: &str, body: &Value) -> Self {
        let body = serde_json::to_vec(body).unwrap();
        Self { id: id.to_owned(), body, key: KEY.to_vec(), ahead_s: 0, instead: vec![] }
    }

    fn ahead_s(self, ahead_s: i64) -> Self {
        Self { ahead_s, ..self }
    }

    fn with(mut self, header: &'static str, value: impl Into<String>) -> Self {
        self.instead.push((header, value.into()));
        self
    }

    fn headers(&self, app: &Scenario) -> Vec<(&'static str, String)> {
        let now_s = app.store().now().unix_ms() / 1_000;
        let timestamp = (now_s + self.ahead_s).to_string();
        let signature = signature(&self.key, &self.id, &timestamp, &self.body);
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("webhook-id", self.id.clone()),
            ("webhook-timestamp", timestamp),
            ("webhook-signature", signature),
        ];
        headers.retain(|(name, _)| !self.instead.iter().any(|(other, _)| other == name));
        headers.extend(self.instead.iter().filter(|(_, value)| !value.is_empty()).cloned());
        headers
    }

    pub(crate) async fn send(&self, app: &Scenario, hook: &str) -> Answer {
        let request = app.admin.anonymous(Method::POST, &format!("/api/v1/hooks/{hook}")).body(self.body.clone());
        let headers = self.headers(app);
        Answer::to(headers.iter().fold(request, |request, (name, value)| request.header(*name, value))).await
    }
}

#[test]
fn the_second_computation_agrees_with_the_published_examples() {
    let hex: String = hmac(b"Jefe", b"what do ya want for nothing?").iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", "RFC 4231, case 2");
    let key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
    let signed = signature(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", br#"{"test": 2432232314}"#);
    assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}
