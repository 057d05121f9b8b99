//! A chat on a port of its own that takes incoming webhooks: it keeps what it gets and answers as it is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::watch;

use crate::scenario::PATIENCE;

#[derive(Debug, Default)]
struct Inner {
    next: Mutex<VecDeque<u16>>,
    always: Mutex<Option<u16>>,
    got: Mutex<Vec<(bool, String)>>,
    count: watch::Sender<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Room {
    inner: Arc<Inner>,
    pub(super) url: String,
}

impl Room {
    pub(super) async fn open() -> Self {
        let inner = Arc::new(Inner::default());
        let router = Router::new().fallback(take).with_state(Arc::clone(&inner));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/services/T0/B0/canary", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { inner, url }
    }

    pub(super) fn always(&self, status: u16) {
        *self.inner.always.lock().unwrap() = Some(status);
    }

    pub(super) fn answers(&self, statuses: &[u16]) {
        self.inner.next.lock().unwrap().extend(statuses);
    }

    /// The texts of all messages that were answered with a yes.
    pub(super) fn taken(&self) -> Vec<String> {
        self.inner.got.lock().unwrap().iter().filter(|(taken, _)| *taken).map(|(_, text)| text.clone()).collect()
    }

    pub(super) fn tries(&self) -> usize {
        self.inner.got.lock().unwrap().len()
    }

    pub(super) async fn until_taken(&self, wanted: usize) -> Vec<String> {
        self.until(|room| room.taken().len() >= wanted, &format!("{wanted} messages")).await;
        self.taken()
    }

    pub(super) async fn until_tried(&self, wanted: usize) {
        self.until(|room| room.tries() >= wanted, &format!("{wanted} tries")).await;
    }

    pub(super) async fn until(&self, is_enough: impl Fn(&Self) -> bool, what: &str) {
        let mut count = self.inner.count.subscribe();
        let waited = tokio::time::timeout(PATIENCE, count.wait_for(|_| is_enough(self))).await;
        assert!(waited.is_ok(), "waited in vain for {what}; got {:#?}", self.inner.got.lock().unwrap());
    }
}

async fn take(State(inner): State<Arc<Inner>>, uri: Uri, body: Bytes) -> Response {
    assert_eq!(uri.path(), "/services/T0/B0/canary", "nobody was sent elsewhere");
    let message: Value = serde_json::from_slice(&body).unwrap();
    assert!(message["blocks"].as_array().is_some_and(|blocks| blocks.len() >= 2), "{message}");
    let next = inner.next.lock().unwrap().pop_front().or(*inner.always.lock().unwrap()).unwrap_or(200);
    let text = message["text"].as_str().unwrap().to_owned();
    inner.got.lock().unwrap().push(((200..300).contains(&next), text));
    inner.count.send_modify(|count| *count += 1);
    (StatusCode::from_u16(next).unwrap(), [("location", "/elsewhere")], "ok").into_response()
}
