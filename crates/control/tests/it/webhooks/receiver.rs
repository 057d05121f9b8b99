//! A receiver of webhooks on a port of its own: it keeps what it gets and answers as it is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::watch;

use super::{KEY, signature};
use crate::scenario::PATIENCE;

/// How to answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reply {
    Status(u16),
    /// Send the sender elsewhere on the same machine.
    Redirect,
    /// Say yes, and go on talking without end.
    Endless,
}

/// One message as it came.
#[derive(Debug, Clone)]
pub(super) struct Got {
    pub(super) path: String,
    pub(super) id: String,
    pub(super) body: Value,
    pub(super) taken: bool,
}

impl Got {
    pub(super) fn seq(&self) -> u64 {
        self.body["data"]["seq"].as_u64().unwrap()
    }

    pub(super) fn kind(&self) -> &str {
        self.body["type"].as_str().unwrap()
    }
}

#[derive(Debug, Default)]
struct Inner {
    /// Answers to the next messages; after them, `always`.
    next: Mutex<VecDeque<Reply>>,
    always: Mutex<Option<Reply>>,
    got: Mutex<Vec<Got>>,
    count: watch::Sender<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct Receiver {
    inner: Arc<Inner>,
    pub(super) url: String,
}

impl Receiver {
    pub(super) async fn start() -> Self {
        let inner = Arc::new(Inner::default());
        let router = Router::new().fallback(take).with_state(Arc::clone(&inner));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { inner, url }
    }

    pub(super) fn replies(&self, replies: &[Reply]) {
        self.inner.next.lock().unwrap().extend(replies);
    }

    pub(super) fn always(&self, reply: Reply) {
        *self.inner.always.lock().unwrap() = Some(reply);
    }

    pub(super) fn got(&self) -> Vec<Got> {
        self.inner.got.lock().unwrap().clone()
    }

    pub(super) fn taken(&self) -> Vec<Got> {
        self.got().into_iter().filter(|got| got.taken).collect()
    }

    /// Waits until what has come is enough.
    pub(super) async fn until(&self, what: &str, is_enough: impl Fn(&[Got]) -> bool) -> Vec<Got> {
        let mut count = self.inner.count.subscribe();
        let waited = tokio::time::timeout(PATIENCE, count.wait_for(|_| is_enough(&self.got()))).await;
        assert!(waited.is_ok(), "waited in vain: {what}; got {:#?}", self.got());
        self.got()
    }

    /// Waits until it has said yes to this many.
    pub(super) async fn until_taken(&self, count: usize) -> Vec<Got> {
        let enough = |got: &[Got]| got.iter().filter(|got| got.taken).count() >= count;
        self.until(&format!("{count} messages taken"), enough).await;
        self.taken()
    }
}

/// Whatever comes must be signed, whether it is taken or not.
async fn take(State(inner): State<Arc<Inner>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    let (id, timestamp) = (header("webhook-id"), header("webhook-timestamp"));
    assert_eq!(header("webhook-signature"), signature(&KEY, &id, &timestamp, &body), "signed by the sender");
    assert_eq!(header("content-type"), "application/json");
    let reply = inner.next.lock().unwrap().pop_front().or(*inner.always.lock().unwrap()).unwrap_or(Reply::Status(204));
    let taken = matches!(reply, Reply::Status(200..300) | Reply::Endless);
    let got = Got { path: uri.path().to_owned(), id, body: serde_json::from_slice(&body).unwrap(), taken };
    inner.got.lock().unwrap().push(got);
    inner.count.send_modify(|count| *count += 1);
    match reply {
        Reply::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Reply::Redirect => (StatusCode::TEMPORARY_REDIRECT, [("location", "/elsewhere")]).into_response(),
        Reply::Endless => {
            let chunks =
                futures_util::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 1_024])));
            Body::from_stream(chunks).into_response()
        }
    }
}
