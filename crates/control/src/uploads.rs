//! Counts uploads in progress towards the limits for unnamed bytes, from before they are written until the ledger counts them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use placet_domain::id::{IdentityId, ProjectId};
use placet_store::Unnamed;

/// A small file also occupies a block of the disk.
const LEAST_COUNTED_BYTES: u64 = 4_096;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Holder {
    Identity(IdentityId),
    Project(ProjectId),
}

#[derive(Debug, Default)]
pub(crate) struct Uploads(Arc<Mutex<HashMap<Holder, u64>>>);

/// Bytes of an upload in progress; dropped when the ledger counts them or the upload fails.
#[derive(Debug)]
pub(crate) struct Upload {
    under_way: Arc<Mutex<HashMap<Holder, u64>>>,
    holders: [Holder; 2],
    size_bytes: u64,
}

impl Uploads {
    /// Counts an upload from here on. The caller must read the store's unnamed bytes after this call: an upload that has just finished is
    /// then counted twice at worst, and never missed.
    pub(crate) fn begin(&self, identity: IdentityId, project: ProjectId, size_bytes: u64) -> Upload {
        let holders = [Holder::Identity(identity), Holder::Project(project)];
        let size_bytes = size_bytes.max(LEAST_COUNTED_BYTES);
        let mut under_way = held(&self.0);
        holders.iter().for_each(|holder| *under_way.entry(*holder).or_default() += size_bytes);
        Upload { under_way: Arc::clone(&self.0), holders, size_bytes }
    }
}

impl Upload {
    /// Returns the unnamed bytes including this upload and all others in progress.
    pub(crate) fn together_with(&self, stored: Unnamed) -> Unnamed {
        let under_way = held(&self.under_way);
        let [identity, project] = self.holders.map(|holder| under_way.get(&holder).copied().unwrap_or(0));
        Unnamed { of_identity: stored.of_identity + identity, of_project: stored.of_project + project }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut under_way = held(&self.under_way);
        for holder in self.holders {
            match under_way.get_mut(&holder) {
                Some(bytes) if *bytes > self.size_bytes => *bytes -= self.size_bytes,
                Some(_) | None => drop(under_way.remove(&holder)),
            }
        }
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
