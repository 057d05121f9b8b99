//! Facts that never change once they are: in which run and project an action is, its sealed bytes, and the scope and agent
//! of a run.
//!
//! Kept in memory so that a decision need not read them again and again. What can change (status, approvals, leases) is
//! never here: that is decided inside the store's transaction.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use placet_domain::action::ActionState;
use placet_domain::catalogue::Bounds;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::policy::Frame;
use placet_domain::proposal::Action;
use placet_domain::run::{Posture, Run};
use placet_domain::scope::Scope;

/// Beyond this a shelf is emptied: memory stays bounded, and what is asked for again is read again.
const MOST_KEPT: usize = 50_000;
/// Sealed bytes are needed once more soon after they were sealed, and they are larger.
const MOST_SEALED: usize = 2_000;

/// Where an action is, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) project: ProjectId,
    pub(crate) run: RunId,
    pub(crate) agent: IdentityId,
}

/// What a run was made with.
#[derive(Debug, PartialEq, Eq)]
pub struct Ground {
    pub id: RunId,
    pub project: ProjectId,
    pub agent: IdentityId,
    pub scope: Scope,
    pub posture: Posture,
    pub bounds: Option<Bounds>,
    /// Whether it has files of its own, at a worker.
    pub hosted: bool,
}

impl From<&ActionState> for Place {
    fn from(action: &ActionState) -> Self {
        Self { project: action.project, run: action.run, agent: action.proposer }
    }
}

impl Ground {
    /// What its actions are judged within.
    pub const fn frame(&self) -> Frame<'_> {
        Frame { scope: &self.scope, posture: &self.posture, bounds: self.bounds.as_ref() }
    }
}

impl From<Run> for Ground {
    fn from(run: Run) -> Self {
        let (hosted, bounds) = (!run.hosting.is_external(), run.bounds());
        let Run { id, project, agent, scope, posture, .. } = run;
        Self { id, project, agent, scope, posture, bounds, hosted }
    }
}

#[derive(Debug)]
struct Shelf<K, V>(RwLock<HashMap<K, V>>);

impl<K, V> Default for Shelf<K, V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Eq + Hash, V: Clone> Shelf<K, V> {
    fn get(&self, key: &K) -> Option<V> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }

    fn put(&self, key: K, value: V, most: usize) {
        let mut kept = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= most {
            kept.clear();
        }
        kept.insert(key, value);
    }
}

/// All facts that were needed lately.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    actions: Shelf<ActionId, Place>,
    runs: Shelf<RunId, Arc<Ground>>,
    sealed: Shelf<Digest, Arc<[u8]>>,
}

impl Facts {
    pub(crate) fn place(&self, action: ActionId) -> Option<Place> {
        self.actions.get(&action)
    }

    pub(crate) fn learn_action(&self, action: &ActionState) -> Place {
        let place = Place::from(action);
        self.actions.put(action.id, place, MOST_KEPT);
        place
    }

    /// The bytes that were sealed under this digest, if that was lately.
    pub(crate) fn sealed(&self, digest: Digest) -> Option<Arc<[u8]>> {
        self.sealed.get(&digest)
    }

    pub(crate) fn learn_sealed(&self, action: &Action) {
        if self.sealed.get(&action.digest()).is_none() {
            self.sealed.put(action.digest(), action.bytes().into(), MOST_SEALED);
        }
    }

    pub(crate) fn ground(&self, run: RunId) -> Option<Arc<Ground>> {
        self.runs.get(&run)
    }

    pub(crate) fn learn_run(&self, run: Run) -> Arc<Ground> {
        let ground = Arc::new(Ground::from(run));
        self.runs.put(ground.id, Arc::clone(&ground), MOST_KEPT);
        ground
    }
}
