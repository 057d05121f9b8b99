//! Keys and purses that live in memory alone: for trying things out, for measuring and for tests. Nothing of it survives the process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use placet_domain::budget::{Amounts, Resource};
use placet_domain::digest::Digest;
use placet_domain::id::RunId;

use super::key::{CallScope, KeyRefusal, Keys, VirtualKey};
use super::purse::{Allotment, Draw, NotDrawn, Purse};
use super::record::ModelCall;
use super::words::Words;

/// Keys by their digests.
#[derive(Debug, Default)]
pub struct Keyring(HashMap<Digest, CallScope>);

impl Keyring {
    #[must_use]
    pub fn with(mut self, key: &VirtualKey, scope: CallScope) -> Self {
        self.0.insert(Digest::of(key.expose().as_bytes()), scope);
        self
    }
}

impl Keys for Keyring {
    async fn scope(&self, key: &VirtualKey) -> Result<CallScope, KeyRefusal> {
        self.0.get(&Digest::of(key.expose().as_bytes())).cloned().ok_or(KeyRefusal::Unknown)
    }
}

/// One allotment for each run, and the records of all calls.
#[derive(Debug, Default)]
pub struct Wallet {
    allotments: HashMap<RunId, Arc<Allotment>>,
    records: Mutex<Vec<ModelCall>>,
    dry: Mutex<Vec<Resource>>,
    words: Mutex<Vec<(String, Words)>>,
}

impl Wallet {
    #[must_use]
    pub fn with(mut self, run: RunId, allotment: Arc<Allotment>) -> Self {
        self.allotments.insert(run, allotment);
        self
    }

    /// What was settled so far, in order.
    pub fn records(&self) -> Vec<ModelCall> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was said, call by call, where it was asked for.
    pub fn words(&self) -> Vec<(String, Words)> {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Of what there was too little, call by call.
    pub fn ran_dry_of(&self) -> Vec<Resource> {
        self.dry.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Purse for Wallet {
    async fn draw(&self, run: RunId, worst: Amounts) -> Result<Draw, NotDrawn> {
        let allotment = self.allotments.get(&run).ok_or_else(|| NotDrawn::Closed("it has no budget".to_owned()))?;
        allotment.draw(worst)
    }

    fn settle(&self, draw: Draw, spent: Amounts, record: ModelCall) {
        draw.spend(spent);
        self.records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
    }

    fn keep_words(&self, call: &str, words: Words) {
        self.words.lock().unwrap_or_else(PoisonError::into_inner).push((call.to_owned(), words));
    }

    fn ran_dry(&self, _run: RunId, short: Resource) {
        self.dry.lock().unwrap_or_else(PoisonError::into_inner).push(short);
    }
}
