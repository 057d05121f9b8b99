//! Plans under way: requests of one name take turns, and a stop waits for all of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use placet_domain::command::IdempotencyKey;
use placet_domain::id::IdentityId;
use tokio::sync::{OwnedMutexGuard, RwLock};

use crate::door::Shares;

/// Whose turn it is among requests of one name, and whether models are being asked at all.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    turns: Mutex<HashMap<Name, Turn>>,
    /// Shared by all plans that are being made.
    pub(crate) under_way: Arc<RwLock<()>>,
    /// How many of them are whose: a call goes on and is paid when its caller has left.
    pub(crate) asking: Shares,
}

/// Who asked, and how they call it.
type Name = (IdentityId, String);
type Turn = Arc<tokio::sync::Mutex<()>>;

impl Turns {
    /// Waits for the turn of a request. Requests without a name have nothing to wait for.
    pub(crate) async fn of(&self, identity: IdentityId, key: Option<&IdempotencyKey>) -> Option<OwnedMutexGuard<()>> {
        let key = key?;
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(turns.entry((identity, key.key.clone())).or_default())
        };
        Some(turn.lock_owned().await)
    }

    /// Returns when no plan is being made any more.
    pub(crate) async fn over(&self) {
        drop(self.under_way.write().await);
    }
}
