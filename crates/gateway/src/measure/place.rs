//! What is measured: a scripted upstream, a gateway before it, and somebody who calls either.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use placet_domain::budget::Ceiling;
use placet_domain::id::RunId;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use crate::llm::config::Settings;
use crate::llm::key::{CallScope, VirtualKey};
use crate::llm::memory::{Keyring, Wallet};
use crate::llm::models::Models;
use crate::llm::purse::Allotment;
use crate::llm::{Gateway, serve};
use crate::model_script::{Running, Script, start};

const KEY: &str = "vk-measured";
/// What is answered to everybody who measures.
pub const SCRIPT: &str = "[[turn]]\nwhen = 'stream slowly'\ntext = 'a text that comes in a few pieces, one by one, very slowly'\n\
    piece_delay_ms = 30_000\n[[turn]]\nwhen = 'answer'\ntext = 'an answer of one sentence'\n";

pub(super) struct Place {
    upstream: Running,
    gateway: String,
    serving: AbortHandle,
    request_bytes: usize,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Place {
    pub(super) async fn start(request_bytes: usize) -> io::Result<Self> {
        let upstream = start(Script::read(SCRIPT).map_err(io::Error::other)?).await?;
        let text = format!(
            "[[upstream]]\nname = 'script'\nwire = ['chat']\nbase_url = '{}'\nmodels = ['m']\n\
             [limits]\nconnections = 10_000\n[[price]]\nmodel = 'm'\ninput = 1\noutput = 1\n",
            upstream.url()
        );
        let run = RunId::from_bytes([1; 16]);
        let purse = Arc::new(Wallet::default().with(run, Allotment::new(run, Ceiling::default())));
        let keys = Keyring::default().with(&VirtualKey::new(KEY), CallScope::new(run, Models::all()));
        let settings = Settings::read(&text).map_err(io::Error::other)?;
        let gateway = Gateway::open(settings, keys, purse).await.map_err(io::Error::other)?;
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = format!("http://{}", listener.local_addr()?);
        let serving = tokio::spawn(serve(Arc::new(gateway), listener, std::future::pending())).abort_handle();
        Ok(Self { upstream, gateway: address, serving, request_bytes })
    }

    pub(super) fn direct(&self) -> Caller {
        Caller::new(&self.upstream.url(), KEY, self.request_bytes)
    }

    pub(super) fn through(&self) -> Caller {
        Caller::new(&self.gateway, KEY, self.request_bytes)
    }
}

/// About so many bytes, as agents send them: most of it is what was said before.
fn body(bytes: usize) -> Bytes {
    let before = "the same words again ".repeat(bytes / 21);
    let messages = format!(r#"[{{"role":"user","content":"{before}"}},{{"role":"user","content":"answer"}}]"#);
    format!(r#"{{"model":"m","max_tokens":1000,"messages":{messages}}}"#).into()
}

/// Somebody who calls one address again and again.
#[derive(Clone)]
pub(super) struct Caller {
    client: Client<HttpConnector, Full<Bytes>>,
    uri: String,
    bearer: String,
    body: Bytes,
}

impl Caller {
    pub(super) fn new(address: &str, key: &str, request_bytes: usize) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let (uri, bearer) = (format!("{address}/v1/chat/completions"), format!("Bearer {key}"));
        Self { client, uri, bearer, body: body(request_bytes) }
    }

    async fn send(&self, body: Bytes) -> io::Result<Response<Incoming>> {
        let request = Request::post(&self.uri).header(AUTHORIZATION, &self.bearer);
        let request = request.header(CONTENT_TYPE, "application/json");
        let request = request.body(Full::new(body)).map_err(io::Error::other)?;
        self.client.request(request).await.map_err(io::Error::other)
    }

    /// One call, answered and read to its end.
    pub(super) async fn call(&self) -> io::Result<()> {
        let response = self.send(self.body.clone()).await?;
        let status = response.status();
        response.into_body().collect().await.map_err(io::Error::other)?;
        if status.is_success() { Ok(()) } else { Err(io::Error::other(format!("status {status}"))) }
    }

    /// A stream of which the first piece has come, and the next will not soon.
    pub(super) async fn stream(&self) -> io::Result<Incoming> {
        let body =
            r#"{"model":"m","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"stream slowly"}]}"#;
        let mut body = self.send(Bytes::from_static(body.as_bytes())).await?.into_body();
        body.frame().await.transpose().map_err(io::Error::other)?;
        Ok(body)
    }
}
