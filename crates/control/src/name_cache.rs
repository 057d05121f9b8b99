//! Names for ids, and goals of runs. Nobody is ever renamed and no goal changes, so an entry stays true; how much is remembered is bounded.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{PoisonError, RwLock};

use placet_domain::id::{IdentityId, ProjectId, RunId};

/// Limit of remembered names of each kind. Beyond it all are forgotten and looked up again.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct NameCache {
    pub(crate) people: Remembered<IdentityId>,
    pub(crate) projects: Remembered<ProjectId>,
    pub(crate) goals: Remembered<RunId>,
}

/// Texts by the id that they belong to.
#[derive(Debug)]
pub(crate) struct Remembered<K>(RwLock<HashMap<K, String>>);

impl<K> Default for Remembered<K> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Eq + Hash> Remembered<K> {
    pub(crate) fn recall(&self, id: &K) -> Option<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    pub(crate) fn remember(&self, id: K, name: &str) {
        let mut map = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if map.len() >= MOST {
            map.clear();
        }
        map.insert(id, name.to_owned());
    }
}
