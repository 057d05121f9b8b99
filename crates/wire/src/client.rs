//! A thin client: JSON over HTTP with a bearer token. One method per verb; the path and the types come from the endpoint.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::permit::PermitVerifier;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::endpoint::Endpoint;
use crate::presence::{Presence, Unproven};
use crate::problem::Problem;
use crate::stream::EventStream;

/// A bearer token. Prints as dots.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    pub fn new(token: impl Into<String>) -> Self {
        Self(token.into())
    }

    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Why a call did not bring what was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("the control plane at {server} cannot be reached: {source}")]
    Unreachable { server: String, source: reqwest::Error },
    #[error("{0}")]
    Refused(Box<Problem>),
    #[error("the answer of {server} is not what was expected: {why}")]
    Garbled { server: String, why: String },
    /// Another server answers at the address of the control plane. The request and the token were not sent.
    #[error("what answers at {server} is not the control plane of this home: {why}; no token was sent to it")]
    Stranger { server: String, why: &'static str },
}

impl ClientError {
    pub const fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Refused(problem) => Some(problem),
            Self::Unreachable { .. } | Self::Garbled { .. } | Self::Stranger { .. } => None,
        }
    }
}

/// Talks to one control plane as one identity.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    server: String,
    token: Token,
    /// Proof of the server's identity, shared by all clones that use the same connections.
    presence: Option<Arc<Presence>>,
}

/// Long enough for a long poll, short enough to notice a dead server.
const TIMEOUT: Duration = Duration::from_secs(90);
/// Shorter than any server of ours keeps an idle connection, so that no request is sent into one that is being closed.
const IDLE: Duration = Duration::from_secs(20);

impl Client {
    /// # Panics
    /// When the operating system gives no entropy or sockets at all.
    pub fn new(server: impl Into<String>, token: Token) -> Self {
        let http = reqwest::Client::builder()
            .no_proxy()
            .pool_idle_timeout(IDLE)
            .redirect(reqwest::redirect::Policy::none())
            .build();
        let server = server.into().trim_end_matches('/').to_owned();
        Self {
            http: http.expect("an HTTP client without TLS needs nothing that can fail"),
            server,
            token,
            presence: None,
        }
    }

    /// Makes the client send its token only after the server has proven that it holds the key of this verifier. Over TLS the certificate
    /// already proves the server.
    #[must_use]
    pub fn proving(self, verifier: PermitVerifier) -> Self {
        let is_named = self.server.starts_with("https://");
        Self { presence: (!is_named).then(|| Arc::new(Presence::new(verifier))), ..self }
    }

    pub fn server(&self) -> &str {
        &self.server
    }

    pub const fn token(&self) -> &Token {
        &self.token
    }

    /// The same server as somebody else.
    #[must_use]
    pub fn with_token(&self, token: Token) -> Self {
        Self { token, ..self.clone() }
    }

    fn request<E: Endpoint>(&self, endpoint: &E) -> RequestBuilder {
        let url = format!("{}{}", self.server, endpoint.target());
        self.http.request(E::ROW.method, url).bearer_auth(&self.token.0)
    }

    fn request_with_body<E: Endpoint<Body: Serialize>>(&self, endpoint: &E, body: &E::Body) -> RequestBuilder {
        self.request(endpoint).timeout(TIMEOUT).json(body)
    }

    pub async fn get<E>(&self, endpoint: E) -> Result<E::Answer, ClientError>
    where
        E: Endpoint<Body = (), Answer: DeserializeOwned>,
    {
        self.json(self.request(&endpoint).timeout(TIMEOUT)).await
    }

    /// Returns the body of the response as it is.
    pub async fn get_bytes(&self, endpoint: impl Endpoint<Body = ()>) -> Result<Bytes, ClientError> {
        let response = self.send(self.request(&endpoint).timeout(TIMEOUT)).await?;
        response.bytes().await.map_err(|source| self.unreachable(source))
    }

    pub async fn post<E>(&self, endpoint: E, body: &E::Body) -> Result<E::Answer, ClientError>
    where
        E: Endpoint<Seen = (), Body: Serialize, Answer: DeserializeOwned>,
    {
        self.json(self.request_with_body(&endpoint, body)).await
    }

    /// Posts a request that has one effect however often it arrives under this key.
    pub async fn post_once<E>(&self, endpoint: E, key: &str, body: &E::Body) -> Result<E::Answer, ClientError>
    where
        E: Endpoint<Seen = (), Body: Serialize, Answer: DeserializeOwned>,
    {
        self.json(self.request_with_body(&endpoint, body).header("idempotency-key", key)).await
    }

    /// Posts a request under a key to an endpoint that may have nothing to give (204).
    pub async fn post_maybe<E, T>(&self, endpoint: E, key: &str, body: &E::Body) -> Result<Option<T>, ClientError>
    where
        E: Endpoint<Seen = (), Body: Serialize, Answer = Option<T>>,
        T: DeserializeOwned,
    {
        let request = self.request_with_body(&endpoint, body).header("idempotency-key", key);
        let response = self.send(request).await?;
        if response.status() == StatusCode::NO_CONTENT {
            return Ok(None);
        }
        self.decode(response).await.map(Some)
    }

    /// Posts a decision on exactly the version that was seen.
    pub async fn post_if<E>(
        &self,
        endpoint: E,
        seen: impl fmt::Display,
        body: &E::Body,
    ) -> Result<E::Answer, ClientError>
    where
        E: Endpoint<Seen = Digest, Body: Serialize, Answer: DeserializeOwned>,
    {
        self.json(self.request_with_body(&endpoint, body).header("if-match", format!("\"{seen}\""))).await
    }

    pub async fn put_bytes<E>(&self, endpoint: E, bytes: Bytes) -> Result<E::Answer, ClientError>
    where
        E: Endpoint<Body = Bytes, Answer: DeserializeOwned>,
    {
        let request = self.request(&endpoint).timeout(TIMEOUT);
        self.json(request.header("content-type", "application/octet-stream").body(bytes)).await
    }

    pub async fn delete(&self, endpoint: impl Endpoint<Body = (), Answer = ()>) -> Result<(), ClientError> {
        self.send(self.request(&endpoint).timeout(TIMEOUT)).await.map(drop)
    }

    /// Follows server-sent events from after `last_seq`.
    pub async fn follow<E>(&self, endpoint: E, last_seq: Option<u64>) -> Result<EventStream, ClientError>
    where
        E: Endpoint<Body = (), Answer = EventStream>,
    {
        let mut request = self.request(&endpoint).header("accept", "text/event-stream");
        if let Some(seq) = last_seq {
            request = request.header("last-event-id", seq.to_string());
        }
        let response = self.send(request).await?;
        Ok(EventStream::new(response.bytes_stream()).ending(self.presence.clone()))
    }

    async fn json<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, ClientError> {
        let response = self.send(request).await?;
        self.decode(response).await
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        self.prove().await?;
        let response = request.send().await.map_err(|source| self.unreachable(source))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let problem = response.json().await;
        Err(problem.map(|problem| ClientError::Refused(Box::new(problem))).unwrap_or_else(|_| self.garbled(status)))
    }

    async fn decode<T: DeserializeOwned>(&self, response: Response) -> Result<T, ClientError> {
        let bytes = response.bytes().await.map_err(|source| self.unreachable(source))?;
        let garbled = |e: serde_json::Error| ClientError::Garbled { server: self.server.clone(), why: e.to_string() };
        serde_json::from_slice(&bytes).map_err(garbled)
    }

    /// Requires the proof of the server: again after a short time, and after a connection or an event stream was lost.
    async fn prove(&self) -> Result<(), ClientError> {
        let Some(presence) = self.presence.as_deref().filter(|presence| !presence.is_proven()) else { return Ok(()) };
        presence.prove(&self.http, &self.server).await.map_err(|unproven| match unproven {
            Unproven::Unreachable(source) => self.unreachable(source),
            Unproven::Stranger(why) => ClientError::Stranger { server: self.server.clone(), why },
        })
    }

    fn unreachable(&self, source: reqwest::Error) -> ClientError {
        self.presence.iter().for_each(|presence| presence.forget());
        ClientError::Unreachable { server: self.server.clone(), source: source.without_url() }
    }

    fn garbled(&self, status: StatusCode) -> ClientError {
        ClientError::Garbled { server: self.server.clone(), why: format!("status {status} without an explanation") }
    }
}
