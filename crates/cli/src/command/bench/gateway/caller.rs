//! HTTP client that sends the same call again and again.

use std::io;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE};
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;

/// Builds a request body of about this size. As in requests of agents, most of it is earlier conversation.
fn request_body(bytes: usize) -> Bytes {
    let before = "the same words again ".repeat(bytes / 21);
    let messages = format!(r#"[{{"role":"user","content":"{before}"}},{{"role":"user","content":"answer"}}]"#);
    format!(r#"{{"model":"m","max_tokens":1000,"messages":{messages}}}"#).into()
}

/// Client of one address.
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
        Self { client, uri, bearer, body: request_body(request_bytes) }
    }

    async fn send(&self, body: Bytes) -> io::Result<Response<Incoming>> {
        let request = Request::post(&self.uri).header(AUTHORIZATION, &self.bearer);
        let request = request.header(CONTENT_TYPE, "application/json");
        let request = request.body(Full::new(body)).map_err(io::Error::other)?;
        self.client.request(request).await.map_err(io::Error::other)
    }

    /// Sends one call and reads the answer to its end.
    pub(super) async fn call(&self) -> io::Result<()> {
        let response = self.send(self.body.clone()).await?;
        let status = response.status();
        response.into_body().collect().await.map_err(io::Error::other)?;
        if status.is_success() { Ok(()) } else { Err(io::Error::other(format!("status {status}"))) }
    }

    /// Opens a stream and waits for its first piece. The script delays the next one.
    pub(super) async fn stream(&self) -> io::Result<Incoming> {
        let body =
            r#"{"model":"m","max_tokens":1000,"stream":true,"messages":[{"role":"user","content":"stream slowly"}]}"#;
        let mut body = self.send(Bytes::from_static(body.as_bytes())).await?.into_body();
        body.frame().await.transpose().map_err(io::Error::other)?;
        Ok(body)
    }
}
