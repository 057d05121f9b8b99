//! What is remembered at the door: whose token is whose, how much each has under way, how often each was turned away.
//!
//! All of it is bounded, and all of it may be forgotten at any time: the store knows better. Nothing here decides who may
//! do what.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

use placet_domain::digest::Digest;
use placet_domain::id::IdentityId;
use placet_domain::identity::Identity;

/// Enough to see that and what an identity tries; the rest is only counted.
const MOST_NOTED_PER_MINUTE: u32 = 20;
/// Beyond this the cache is emptied: memory stays bounded whatever tokens are tried.
const MOST_KNOWN: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Door {
    known: RwLock<Known>,
    /// When each identity was first refused in this minute, and how often since.
    refused: Mutex<HashMap<IdentityId, (Instant, u32)>>,
    under_way: Shares,
    /// When each identity last asked for something.
    heard: Mutex<HashMap<IdentityId, Instant>>,
}

#[derive(Debug, Default)]
struct Known {
    /// Counted up whenever an identity may have changed.
    generation: u64,
    /// How many identities are being changed right now. Until that is done, nothing is remembered.
    changing: usize,
    by_token: HashMap<Digest, Arc<Identity>>,
}

/// What the door knew when it was asked. Only an answer from the same time may be remembered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Generation(u64);

impl Door {
    /// Who holds this token, or since when the door does not know.
    pub(crate) fn recall(&self, token: &Digest) -> Result<Arc<Identity>, Generation> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.by_token.get(token).map(Arc::clone).ok_or(Generation(known.generation))
    }

    /// Remembers what was looked up, unless somebody was changed since: a lookup that was overtaken by a revocation would
    /// otherwise bring the revoked back.
    pub(crate) fn remember(&self, since: Generation, token: Digest, identity: &Arc<Identity>) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.generation != since.0 || known.changing > 0 {
            return;
        }
        if known.by_token.len() >= MOST_KNOWN {
            known.by_token.clear();
        }
        known.by_token.insert(token, Arc::clone(identity));
    }

    /// Forgets everybody, and remembers nobody until the change is over: whoever looks while it is written, and whoever is
    /// woken by it, asks the store.
    pub(crate) fn change(&self) -> Change<'_> {
        self.forget_everybody().changing += 1;
        Change(self)
    }

    fn forget_everybody(&self) -> RwLockWriteGuard<'_, Known> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.generation += 1;
        known.by_token.clear();
        known
    }

    /// Whether a refusal of this identity would be recorded, if it came now.
    pub(crate) fn has_room_for_refusal_of(&self, identity: IdentityId) -> bool {
        let refused = held(&self.refused);
        let full = |(since, count): &(Instant, u32)| {
            since.elapsed() < Duration::from_secs(60) && *count >= MOST_NOTED_PER_MINUTE
        };
        !refused.get(&identity).is_some_and(full)
    }

    /// Whether one more refusal of this identity is recorded. A flood of forbidden requests must not flood the ledger.
    pub(crate) fn may_note_refusal_of(&self, identity: IdentityId) -> bool {
        let mut refused = held(&self.refused);
        let (since, count) = refused.entry(identity).or_insert_with(|| (Instant::now(), 0));
        if since.elapsed() >= Duration::from_secs(60) {
            (*since, *count) = (Instant::now(), 0);
        }
        *count = count.saturating_add(1);
        *count <= MOST_NOTED_PER_MINUTE
    }

    /// One of the `most` requests that an identity may have under way, if there is one left.
    pub(crate) fn share_of(&self, identity: IdentityId, most: usize) -> Option<Share> {
        let share = self.under_way.take(identity, most)?;
        self.hear(identity);
        Some(share)
    }

    fn hear(&self, identity: IdentityId) {
        let mut heard = held(&self.heard);
        if heard.len() >= MOST_KNOWN {
            heard.clear();
        }
        heard.insert(identity, Instant::now());
    }

    /// How long ago an identity was last heard of, since this process began. Who waits for an answer is heard of now.
    pub(crate) fn silence_of(&self, identity: IdentityId) -> Option<Duration> {
        if held(&self.under_way.0).contains_key(&identity) {
            return Some(Duration::ZERO);
        }
        held(&self.heard).get(&identity).map(Instant::elapsed)
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An identity is being changed; dropped when that is done.
#[derive(Debug)]
pub(crate) struct Change<'a>(&'a Door);

impl Drop for Change<'_> {
    fn drop(&mut self) {
        self.0.forget_everybody().changing -= 1;
    }
}

/// How much of something each identity has.
#[derive(Debug, Default)]
pub(crate) struct Shares(Arc<Mutex<HashMap<IdentityId, usize>>>);

impl Shares {
    /// One more for an identity that has fewer than `most`.
    pub(crate) fn take(&self, identity: IdentityId, most: usize) -> Option<Share> {
        let mut had = held(&self.0);
        let count = had.entry(identity).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Share { of: Arc::clone(&self.0), identity })
    }
}

/// A request under way, or a stream that is open; dropped when it is over.
#[derive(Debug)]
pub struct Share {
    of: Arc<Mutex<HashMap<IdentityId, usize>>>,
    identity: IdentityId,
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut had = held(&self.of);
        match had.get_mut(&self.identity) {
            Some(count) if *count > 1 => *count -= 1,
            Some(_) | None => drop(had.remove(&self.identity)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use placet_domain::identity::{Lineage, Reach};

    use super::*;

    fn ada() -> Arc<Identity> {
        Arc::new(Identity {
            id: IdentityId::from_uuid(uuid::Uuid::nil()),
            name: "ada".to_owned(),
            roles: BTreeSet::new(),
            reach: Reach::Everywhere,
            lineage: Lineage::default(),
            token: Digest::of(b"token"),
            revoked: false,
            doors: Box::default(),
            away: None,
            declaration: None,
        })
    }

    #[test]
    fn a_lookup_that_a_revocation_overtook_is_not_remembered() {
        let (door, ada) = (Door::default(), ada());
        let since = door.recall(&ada.token).unwrap_err();
        let change = door.change();
        door.remember(since, ada.token, &ada);
        let meanwhile = door.recall(&ada.token).unwrap_err();
        door.remember(meanwhile, ada.token, &ada);
        drop(change);
        door.remember(meanwhile, ada.token, &ada);
        let since = door.recall(&ada.token).unwrap_err();
        door.remember(since, ada.token, &ada);
        assert_eq!(door.recall(&ada.token).unwrap(), ada);
    }

    #[test]
    fn a_share_comes_back_when_it_is_dropped() {
        let (door, id) = (Door::default(), ada().id);
        let first = door.share_of(id, 2).unwrap();
        let second = door.share_of(id, 2).unwrap();
        assert!(door.share_of(id, 2).is_none());
        drop(first);
        assert!(door.share_of(id, 2).is_some());
        drop(second);
        assert!(held(&door.under_way.0).is_empty(), "nothing is kept of those who have nothing under way");
    }

    #[test]
    fn refusals_beyond_the_twentieth_of_a_minute_are_not_noted() {
        let (door, id) = (Door::default(), ada().id);
        assert_eq!((0..100).filter(|_| door.may_note_refusal_of(id)).count(), 20);
    }
}
