//! MODELS: calls of language models, with the tokens of agents as keys and the budgets of runs as purses.
//!
//! ```text
//! keys     whose call it is: the token of an agent names its run
//! purse    a part of the run's budget, held in the ledger once and drawn from in memory
//! account  what is held for one run, and what of it is free
//! counts   calls that were refused or took nothing, where they are too many for an entry each
//! recorder each call becomes an entry, after it, in batches
//! words    what was said, without secrets, where a project keeps it
//! planner  a model splits what somebody wants into steps
//! ```
//!
//! The gateway itself knows nothing of runs. What is said is read nowhere, but where a project keeps its words.

mod account;
mod counts;
mod keys;
mod planner;
mod purse;
mod recorder;
mod words;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http_body_util::BodyExt as _;
use placet_llm::Gateway;
use placet_llm::config::Settings;
use placet_llm::upstream::OpenError;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::connections::Place;
use crate::names::token_digest;
use keys::TokenKeys;
use purse::RunPurse;

pub(crate) use planner::{MOST as MOST_FOR_A_PLAN, NoPlan, Steps, ask, speaks};
pub(crate) use recorder::settle_what_was_lost;
pub(crate) use words::body_of as words_in;

/// Headers in which the wire formats carry a key.
const KEY_HEADERS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];

/// The gateway of this control plane.
#[derive(Debug, Clone)]
pub(crate) struct Models {
    gateway: Arc<Gateway<TokenKeys, RunPurse>>,
    /// For calls at once (`connections` of its settings). Who comes beyond waits, as before a door.
    places: Arc<Semaphore>,
}

impl Models {
    /// Reads the real keys, and starts to record. The recorder ends when the control plane stops and the last call is recorded.
    pub(crate) async fn open(app: &App, settings: Settings) -> Result<(Self, JoinHandle<()>), OpenError> {
        let (purse, calls) = RunPurse::open(app.clone());
        let places = Arc::new(Semaphore::new(settings.limits.connections.get().min(Semaphore::MAX_PERMITS)));
        let gateway = Gateway::open(settings, TokenKeys::of(app.clone()), Arc::clone(&purse)).await?;
        let recording = tokio::spawn(recorder::record(purse, calls));
        Ok((Self { gateway: Arc::new(gateway), places }, recording))
    }

    /// Whether a path is one that libraries of language models use. Everything of ours begins otherwise.
    pub(crate) fn serves(path: &str) -> bool {
        path.starts_with("/v1/") || path.starts_with("/v1beta/")
    }

    /// Assigns the connection to an identity if the key is one of its tokens. The permissions of the key are checked later.
    pub(crate) fn note_holder(app: &App, request: &Request) -> impl Future<Output = ()> + Send + use<> {
        let place = request.extensions().get::<Place>().cloned();
        let shown = KEY_HEADERS.iter().find_map(|name| request.headers().get(*name)?.to_str().ok());
        let token = shown.map(|key| token_digest(key.strip_prefix("Bearer ").unwrap_or(key)));
        let app = app.clone();
        async move {
            let (Some(place), Some(token)) = (place, token) else { return };
            if let Ok(Some(identity)) = app.identify(token).await {
                place.belongs_to(identity.id);
            }
        }
    }

    /// Lets calls finish for a while, then has the rest estimated. Returns when each is settled and on its way into the ledger.
    pub(crate) async fn stop(&self, grace: Duration) {
        self.gateway.stop(grace).await;
    }

    /// Once there is a place for it, which it has until the last byte of its answer is on its way, or whoever asked is gone.
    pub(crate) async fn answer(&self, request: Request) -> Response {
        let place = Arc::clone(&self.places).acquire_owned().await.expect("nobody closes it");
        let holding = move |frame| {
            let _held = &place;
            frame
        };
        self.gateway.handle(request).await.map(|body| Body::new(body.map_frame(holding)))
    }
}
