//! A provider of OpenID Connect on this machine that does as it is told: it hands out tokens that hold and tokens that do not.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::minted::Mint;

/// What it does next.
#[derive(Debug)]
pub(crate) struct Doing {
    pub(crate) mint: Mint,
    /// What it publishes, if not the key it signs with.
    pub(crate) published: Option<Value>,
    pub(crate) claims: Value,
    /// What it says of itself, where that is not so.
    pub(crate) issuer: Option<String>,
    pub(crate) jwks_uri: Option<String>,
    pub(crate) status: StatusCode,
    pub(crate) padding: usize,
    /// The form that came with the last code.
    pub(crate) asked: Vec<(String, String)>,
    pub(crate) looks_at_keys: usize,
}

#[derive(Debug, Clone)]
pub(crate) struct FakeProvider {
    pub(crate) url: String,
    doing: Arc<Mutex<Doing>>,
}

impl FakeProvider {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let doing = Doing {
            mint: Mint::new("k1"),
            published: None,
            claims: json!({}),
            issuer: None,
            jwks_uri: None,
            status: StatusCode::OK,
            padding: 0,
            asked: Vec::new(),
            looks_at_keys: 0,
        };
        let provider = Self { url, doing: Arc::new(Mutex::new(doing)) };
        let router = Router::new()
            .route("/.well-known/openid-configuration", get(discovery))
            .route("/jwks", get(keys))
            .route("/token", post(token))
            .with_state(provider.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        provider
    }

    pub(crate) fn told<T>(&self, change: impl FnOnce(&mut Doing) -> T) -> T {
        change(&mut self.doing.lock().unwrap())
    }
}

async fn discovery(State(provider): State<FakeProvider>) -> Json<Value> {
    let url = &provider.url;
    let said = provider.told(|doing| (doing.issuer.clone(), doing.jwks_uri.clone(), " ".repeat(doing.padding)));
    Json(json!({
        "issuer": said.0.unwrap_or_else(|| url.clone()),
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "jwks_uri": said.1.unwrap_or_else(|| format!("{url}/jwks")),
        "padding": said.2,
    }))
}

async fn keys(State(provider): State<FakeProvider>) -> Json<Value> {
    Json(provider.told(|doing| {
        doing.looks_at_keys += 1;
        doing.published.clone().unwrap_or_else(|| json!({ "keys": [doing.mint.jwk()] }))
    }))
}

async fn token(State(provider): State<FakeProvider>, asked: String) -> Response {
    provider.told(|doing| {
        doing.asked = form_urlencoded::parse(asked.as_bytes()).into_owned().collect();
        let token = doing.mint.token(&doing.claims);
        (doing.status, Json(json!({ "id_token": token, "access_token": "x", "token_type": "Bearer" }))).into_response()
    })
}
