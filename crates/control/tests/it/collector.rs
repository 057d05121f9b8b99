//! A collector of OpenTelemetry on a port of its own: it takes traces and metrics, and can be told to have no time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use bytes::Bytes;
use serde_json::Value;

use crate::scenario::{PATIENCE, Setup};

#[derive(Debug, Clone, Default)]
pub(crate) struct Collector {
    traces: Arc<Mutex<Vec<Value>>>,
    metrics: Arc<Mutex<Vec<Value>>>,
    busy: Arc<Mutex<u32>>,
    slow: Arc<Mutex<Duration>>,
    strange: Arc<Mutex<Vec<String>>>,
    url: String,
}

impl Collector {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let collector = Self { url, ..Self::default() };
        let router = Router::new().fallback(take).with_state(collector.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        collector
    }

    pub(crate) fn setup(&self) -> Setup {
        let mut setup = Setup::default();
        setup.settings.collector = Some(self.url.parse().unwrap());
        setup
    }

    /// It refuses so many requests for now.
    pub(crate) fn has_no_time_for(&self, requests: u32) {
        *self.busy.lock().unwrap() = requests;
    }

    /// It thinks so long about every request.
    pub(crate) fn takes(&self, time: Duration) {
        *self.slow.lock().unwrap() = time;
    }

    /// All spans that were taken.
    pub(crate) fn spans(&self) -> Vec<Value> {
        assert_eq!(*self.strange.lock().unwrap(), [""; 0]);
        let got = self.traces.lock().unwrap();
        let of = |body: &Value| body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone();
        got.iter().flat_map(of).collect()
    }

    pub(crate) async fn until(&self, name: &str) -> Vec<Value> {
        let came = async {
            while !self.spans().iter().any(|span| span["name"].as_str().unwrap().starts_with(name)) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, came).await.unwrap_or_else(|_| panic!("no `{name}`: {:#?}", self.spans()));
        self.spans()
    }

    /// All requests with metrics that were taken.
    pub(crate) fn metrics(&self) -> Vec<Value> {
        assert_eq!(*self.strange.lock().unwrap(), [""; 0]);
        self.metrics.lock().unwrap().clone()
    }
}

async fn take(State(collector): State<Collector>, uri: Uri, headers: HeaderMap, body: Bytes) -> StatusCode {
    let shelf = match (uri.path(), headers.get("content-type").map(|kind| kind.as_bytes())) {
        ("/v1/traces", Some(b"application/json")) => &collector.traces,
        ("/v1/metrics", Some(b"application/json")) => &collector.metrics,
        (path, kind) => {
            collector.strange.lock().unwrap().push(format!("{path} {kind:?}"));
            return StatusCode::NOT_FOUND;
        }
    };
    let slow = *collector.slow.lock().unwrap();
    tokio::time::sleep(slow).await;
    let mut busy = collector.busy.lock().unwrap();
    if *busy > 0 {
        *busy -= 1;
        return StatusCode::SERVICE_UNAVAILABLE;
    }
    shelf.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
    StatusCode::OK
}
