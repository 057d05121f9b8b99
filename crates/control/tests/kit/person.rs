//! Somebody with a token and what the control plane answers them. Nothing here knows what a good answer is.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use axum::http::{HeaderMap, Method};
use bytes::Bytes;
use placet_domain::id::IdentityId;
use placet_wire::endpoint::{EndpointRow, FollowRuns};
use placet_wire::{Client, Endpoint, EventStream, Problem, Token};
use reqwest::RequestBuilder;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Where the control plane is; after a restart it is somewhere else for everybody at once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place(Arc<RwLock<String>>);

impl Place {
    pub(crate) fn move_to(&self, url: String) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = url;
    }

    pub(crate) fn url(&self) -> String {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// `127.0.0.1:12345`, for those who speak TCP.
    pub(crate) fn address(&self) -> String {
        self.url().trim_start_matches("http://").to_owned()
    }
}

/// The stream at any path: a run has two.
#[derive(Debug)]
pub(crate) struct StreamAt(pub(crate) String);

impl Endpoint for StreamAt {
    type Params = ();
    type Query = ();
    type Body = ();
    type Seen = ();
    type Answer = EventStream;

    const PATH: &'static str = FollowRuns::PATH;
    const ROW: EndpointRow = FollowRuns::ROW;

    fn path(&self) -> String {
        self.0.clone()
    }

    fn query(&self) -> String {
        String::new()
    }
}

/// One holder of a credential.
#[derive(Debug, Clone)]
pub(crate) struct Person {
    pub(crate) id: IdentityId,
    pub(crate) token: String,
    place: Place,
    http: reqwest::Client,
}

impl Person {
    pub(crate) fn new(id: IdentityId, token: String, place: Place) -> Self {
        let http = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
        Self { id, token, place, http }
    }

    /// The same caller with another token in hand.
    pub(crate) fn holding(&self, token: &str) -> Self {
        Self { token: token.to_owned(), ..self.clone() }
    }

    /// The product's own client, as this person.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.place.url(), Token::new(&self.token))
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.anonymous(method, path).bearer_auth(&self.token)
    }

    /// A request without any token.
    pub(crate) fn anonymous(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("{}{path}", self.place.url()))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::to(self.request(Method::POST, path).json(body)).await
    }

    /// A decision on exactly what was seen.
    pub(crate) async fn post_if(&self, path: &str, seen: impl ToString, body: &Value) -> Answer {
        let seen = format!("\"{}\"", seen.to_string());
        Answer::to(self.request(Method::POST, path).header("if-match", seen).json(body)).await
    }

    /// A request under a name of its own.
    pub(crate) async fn post_once(&self, path: &str, key: &str, body: &Value) -> Answer {
        Answer::to(self.request(Method::POST, path).header("idempotency-key", key).json(body)).await
    }

    pub(crate) async fn put(&self, path: &str, bytes: impl Into<Bytes>) -> Answer {
        Answer::to(self.request(Method::PUT, path).body(bytes.into())).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        Answer::to(self.request(Method::DELETE, path)).await
    }
}

/// Panics if the API returns a success that its document does not list. Problems are documented once for all routes.
fn assert_documented(asked: &str, status: u16) {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    let (method, path) = asked.split_once(' ').expect("a method and a path");
    if status >= 400 || !path.starts_with("/api/") {
        return;
    }
    let document = DOCUMENT.get_or_init(|| serde_json::to_value(placet_control::api_document()).unwrap());
    let paths = document["paths"].as_object().unwrap();
    let (_, item) = paths
        .iter()
        .filter(|(template, _)| fits(template, path))
        .min_by_key(|(t, _)| t.matches('{').count())
        .unwrap_or_else(|| panic!("{asked}: answered, and not in the API document"));
    let responses = &item[method.to_ascii_lowercase()]["responses"];
    assert!(responses.get(status.to_string()).is_some(), "{asked}: {status} is not in the API document: {responses}");
}

/// True if the path matches a template with `{names}`.
fn fits(template: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (template.split('/'), path.split('/'));
    let alike = |(wanted, given): (&str, &str)| wanted.starts_with('{') || wanted == given;
    wanted.clone().count() == given.clone().count() && wanted.by_ref().zip(given.by_ref()).all(alike)
}

/// What came back, read to the end.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    asked: String,
}

impl Answer {
    pub(crate) async fn to(request: RequestBuilder) -> Self {
        let (http, request) = request.build_split();
        let request = request.unwrap();
        let asked = format!("{} {}", request.method(), request.url().path());
        let response = http.execute(request).await.unwrap_or_else(|error| panic!("{asked}: {error:?}"));
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        assert_documented(&asked, status);
        let body = response.bytes().await.unwrap_or_else(|error| panic!("{asked}: {error:?}"));
        Self { status, headers, body, asked }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Panics unless it has this status.
    #[track_caller]
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.asked, String::from_utf8_lossy(&self.body));
        self
    }

    #[track_caller]
    pub(crate) fn json<T: DeserializeOwned>(&self) -> T {
        let told = || format!("{}: {}: {}", self.asked, self.status, String::from_utf8_lossy(&self.body));
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", told()))
    }

    /// Panics unless it is a problem as RFC 9457 wants it, with this status and code and words for people.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Problem {
        let problem = self.any_problem();
        let told = format!("{}: {problem:?}", self.asked);
        assert_eq!((problem.status, problem.code.as_str()), (status, code), "{told}");
        problem
    }

    /// Panics unless it is a readable problem, whatever it says.
    #[track_caller]
    pub(crate) fn any_problem(&self) -> Problem {
        let told = || format!("{}: {}: {}", self.asked, self.status, String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", told());
        let problem: Problem = self.json();
        assert_eq!(problem.status, self.status, "{}", told());
        assert!(!problem.code.is_empty() && !problem.title.is_empty(), "{}", told());
        assert!((8..=600).contains(&problem.detail.len()), "{}", told());
        for internal in ["struct ", "enum ", "::", "Option<", "rusqlite", "panicked", ".rs:"] {
            assert!(!problem.detail.contains(internal), "{internal} in {}", told());
        }
        problem
    }
}
