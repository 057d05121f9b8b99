//! What every request shares: the store, the rules in force, the permit key, and a cache of who is who.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use placet_domain::approval::Terms;
use placet_domain::canonical;
use placet_domain::command::{Command, IdempotencyKey, Submission};
use placet_domain::digest::Digest;
use placet_domain::id::IdentityId;
use placet_domain::identity::{Actor, Identity};
use placet_domain::permit::PermitSigner;
use placet_domain::policy::Policy;
use placet_domain::proposal::Tools;
use placet_store::{Extras, Receipt, Store, SubmitError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::flow::No;
use crate::telemetry::Metrics;

/// The policy and the tools in force. They come from files on the host and never change while the control plane runs.
#[derive(Debug)]
pub struct Rules {
    pub policy: Policy,
    pub tools: Tools,
}

impl Rules {
    pub fn tools_version(&self) -> Digest {
        let versions: Vec<_> = self.tools.iter().map(|(name, tool)| (name, tool.version())).collect();
        Digest::of(&canonical::to_bytes(&versions))
    }
}

/// What an operator sets.
#[derive(Debug, Clone, Copy, Default)]
pub struct Settings {
    pub terms: Terms,
    pub limits: Limits,
}

/// How much a caller may ask for at once.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub json_bytes: usize,
    pub evidence_bytes: usize,
    pub requests_in_flight: usize,
    pub streams: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { json_bytes: 256 << 10, evidence_bytes: 64 << 20, requests_in_flight: 1_024, streams: 2_048 }
    }
}

/// Shared by all requests; cheap to clone.
#[derive(Debug, Clone)]
pub struct App(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    rules: Arc<Rules>,
    signer: PermitSigner,
    settings: Settings,
    metrics: Metrics,
    /// Who a token belongs to. Emptied whenever an identity changes.
    known: RwLock<HashMap<Digest, Arc<Identity>>>,
    streams: Arc<Semaphore>,
    /// When each identity was last refused at the door, and how often since.
    refused: Mutex<HashMap<IdentityId, (Instant, u32)>>,
}

/// Enough to see that and what an identity tries; the rest is only counted.
const MOST_NOTED_PER_MINUTE: u32 = 20;
/// Beyond this the cache is emptied: memory stays bounded whatever tokens are tried.
const MOST_KNOWN: usize = 10_000;

impl App {
    pub fn new(store: Store, rules: impl Into<Arc<Rules>>, signer: PermitSigner, settings: Settings) -> Self {
        let streams = Arc::new(Semaphore::new(settings.limits.streams));
        let (metrics, known, refused) = (Metrics::default(), RwLock::default(), Mutex::default());
        Self(Arc::new(Inner { store, rules: rules.into(), signer, settings, metrics, known, streams, refused }))
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub fn policy(&self) -> &Policy {
        &self.0.rules.policy
    }

    pub fn tools(&self) -> &Tools {
        &self.0.rules.tools
    }

    pub fn rules(&self) -> &Rules {
        &self.0.rules
    }

    pub fn signer(&self) -> &PermitSigner {
        &self.0.signer
    }

    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// A command with everything a decision needs.
    pub(crate) fn submission(&self, actor: Actor, command: Command, idempotency: Option<IdempotencyKey>) -> Submission {
        Submission { actor, command, terms: self.settings().terms, policy: self.policy().version(), idempotency }
    }

    /// Decides and commits a command: the one way anything changes.
    pub(crate) async fn submit(&self, actor: Actor, command: Command, key: Option<IdempotencyKey>) -> Result<Receipt, No> {
        let (name, touches_identities) = (command.name(), matches!(command, Command::Identity { .. }));
        let outcome = self.store().submit(self.submission(actor, command, key), Extras::default()).await;
        if touches_identities {
            self.forget_identities();
        }
        self.settled(name, outcome)
    }

    /// Counts how a command ended, and turns a store's answer into ours.
    pub(crate) fn settled<T>(&self, name: &'static str, outcome: Result<T, SubmitError>) -> Result<T, No> {
        let (word, result) = match outcome {
            Ok(receipt) => ("done", Ok(receipt)),
            Err(SubmitError::Refused(refusal)) => ("refused", Err(No::Refused(refusal))),
            Err(SubmitError::KeyReused) => ("key_reused", Err(No::KeyReused)),
            Err(SubmitError::Fault(fault)) => ("fault", Err(No::Fault(fault))),
        };
        self.metrics().command(name, word);
        result
    }

    /// Who a token belongs to, if to anybody.
    pub(crate) async fn identify(&self, token: Digest) -> Result<Option<Arc<Identity>>, No> {
        if let Some(known) = self.0.known.read().unwrap_or_else(PoisonError::into_inner).get(&token) {
            return Ok(Some(Arc::clone(known)));
        }
        let found = self.store().identity_by_token(token).await.map_err(No::Fault)?;
        let found = found.filter(|identity| !identity.revoked).map(Arc::new);
        if let Some(identity) = &found {
            self.remember(token, identity);
        }
        Ok(found)
    }

    fn remember(&self, token: Digest, identity: &Arc<Identity>) {
        let mut known = self.0.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(token, Arc::clone(identity));
    }

    /// A place for one more viewer, if there is one.
    pub(crate) fn stream_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0.streams).try_acquire_owned().ok()
    }

    /// Whether one more refusal of this identity is recorded. A flood of forbidden requests must not flood the ledger.
    pub(crate) fn may_note_refusal_of(&self, identity: IdentityId) -> bool {
        let mut refused = self.0.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, count) = refused.entry(identity).or_insert_with(|| (Instant::now(), 0));
        if since.elapsed() >= Duration::from_secs(60) {
            (*since, *count) = (Instant::now(), 0);
        }
        *count += 1;
        *count <= MOST_NOTED_PER_MINUTE
    }

    fn forget_identities(&self) {
        self.0.known.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
