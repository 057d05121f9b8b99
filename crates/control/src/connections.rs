//! Limits open connections, and chooses the connection to close when all places are taken.
//!
//! Below half of the places every connection is accepted. Strangers, which are callers that have not shown a token yet, never hold more
//! than half of them. If no place is left for a new connection, the holder with the most connections loses one, the longest idle first. A
//! stranger can therefore open connections quickly but keeps none for long, and a holder of few connections keeps them.
//!
//! This module does not authorize: the code that checks a token reports the identity of the caller.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use placet_domain::id::IdentityId;
use tokio::sync::Notify;

use crate::peer::Peer;

/// Holder of a connection, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Holder {
    /// A caller that has not shown a valid token on this connection.
    Stranger(Peer),
    Known(IdentityId),
}

/// Activity of a connection. Idle ones are closed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Activity {
    Idle,
    Answering,
}

/// Order in which connections of one holder are closed: idle ones first, the oldest of them first. Those of strangers
/// always count as idle since they were opened: a stranger that does not read its answer must not outrank new
/// connections.
type Rank = (Activity, u64);

/// All connections of a control plane. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Connections(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    most: usize,
    table: Mutex<Table>,
    /// Signals that a connection is closed and its place is free.
    freed: Notify,
}

#[derive(Debug, Default)]
struct Table {
    /// Places taken, including connections that are closing but not closed yet.
    taken: usize,
    strangers: usize,
    /// Counter that increases with every change, to order connections by age.
    moment: u64,
    held: HashMap<Holder, BTreeMap<Rank, Arc<Signals>>>,
}

/// Signals to the task that serves a connection.
#[derive(Debug, Default)]
struct Signals {
    ended: Notify,
    first_head: Notify,
}

/// Place of one connection; freed when the last copy is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Place(Arc<Seat>);

#[derive(Debug)]
struct Seat {
    connections: Connections,
    signals: Arc<Signals>,
    /// `None` once the connection was asked to close.
    entry: Mutex<Option<(Holder, Rank)>>,
}

impl Connections {
    pub(crate) fn new(most: usize) -> Self {
        Self(Arc::new(Shared { most: most.max(2), table: Mutex::default(), freed: Notify::new() }))
    }

    /// Waits until a place is free for one more connection, and closes another one if necessary.
    pub(crate) async fn make_room(&self) {
        loop {
            let freed = self.0.freed.notified();
            {
                let mut table = self.table();
                if table.taken < self.0.most {
                    return;
                }
                table.end_one(|_| true);
            }
            freed.await;
        }
    }

    /// Takes a place for a new connection. If strangers hold their half already, closes one of theirs.
    pub(crate) fn admit(&self, peer: Peer) -> Place {
        let mut table = self.table();
        if table.strangers >= self.0.most / 2 {
            table.end_one(|holder| matches!(holder, Holder::Stranger(_)));
        }
        table.taken += 1;
        let signals = Arc::<Signals>::default();
        let entry = table.enter(Holder::Stranger(peer), Activity::Idle, &signals);
        drop(table);
        Place(Arc::new(Seat { connections: self.clone(), signals, entry: Mutex::new(Some(entry)) }))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn enter(&mut self, holder: Holder, activity: Activity, signals: &Arc<Signals>) -> (Holder, Rank) {
        self.moment += 1;
        self.enter_at(holder, (activity, self.moment), signals)
    }

    fn enter_at(&mut self, holder: Holder, rank: Rank, signals: &Arc<Signals>) -> (Holder, Rank) {
        self.strangers += usize::from(matches!(holder, Holder::Stranger(_)));
        self.held.entry(holder).or_default().insert(rank, Arc::clone(signals));
        (holder, rank)
    }

    /// Removes a connection from the table; returns false if it was removed before.
    fn leave(&mut self, holder: Holder, rank: Rank) -> bool {
        let Some(held) = self.held.get_mut(&holder) else { return false };
        if held.remove(&rank).is_none() {
            return false;
        }
        if held.is_empty() {
            self.held.remove(&holder);
        }
        self.strangers -= usize::from(matches!(holder, Holder::Stranger(_)));
        true
    }

    /// Closes one connection of the matching holder with the most: its oldest idle one or, if all are busy, the oldest.
    /// Strangers are never busy.
    fn end_one(&mut self, counts: impl Fn(&Holder) -> bool) {
        let most = self.held.iter().filter(|(holder, _)| counts(holder)).max_by_key(|(_, held)| held.len());
        let Some((holder, held)) = most else { return };
        let Some((rank, signals)) = held.first_key_value() else { return };
        let (holder, rank, signals) = (*holder, *rank, Arc::clone(signals));
        self.leave(holder, rank);
        signals.ended.notify_one();
    }
}

impl Place {
    /// Marks the connection as busy. Returns false if it was closed at the same moment; the request must not begin then.
    pub(crate) fn begin(&self) -> bool {
        self.0.signals.first_head.notify_one();
        self.0.change(|holder| (holder, Activity::Answering))
    }

    /// Marks the connection as idle after the last byte of a response.
    pub(crate) fn finish(&self) {
        self.0.change(|holder| (holder, Activity::Idle));
    }

    /// Assigns the connection to an identity after its token was checked.
    pub(crate) fn belongs_to(&self, identity: IdentityId) {
        self.0.change(|_| (Holder::Known(identity), Activity::Answering));
    }

    /// Waits until the connection is asked to close.
    pub(crate) async fn ended(&self) {
        self.0.signals.ended.notified().await;
    }

    /// Waits for the first request on the connection.
    pub(crate) async fn first_head(&self) {
        self.0.signals.first_head.notified().await;
    }
}

impl Seat {
    /// Changes the entry in the table; returns false if the connection was already removed.
    fn change(&self, to: impl FnOnce(Holder) -> (Holder, Activity)) -> bool {
        let mut entry = self.entry.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((holder, rank)) = *entry else { return false };
        let mut table = self.connections.table();
        if !table.leave(holder, rank) {
            *entry = None;
            return false;
        }
        *entry = Some(match to(holder) {
            (Holder::Stranger(peer), _) => table.enter_at(Holder::Stranger(peer), rank, &self.signals),
            (holder @ Holder::Known(_), activity) => table.enter(holder, activity, &self.signals),
        });
        true
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let entry = self.entry.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let mut table = self.connections.table();
        if let Some((holder, rank)) = entry {
            table.leave(holder, rank);
        }
        table.taken -= 1;
        drop(table);
        self.connections.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> IdentityId {
        IdentityId::from_uuid(uuid::Uuid::from_u128(number))
    }

    /// True if the connection was asked to close.
    fn is_ended(place: &Place) -> bool {
        let entry = *place.0.entry.lock().unwrap();
        let Some((holder, rank)) = entry else { return true };
        !place.0.connections.table().held.get(&holder).is_some_and(|held| held.contains_key(&rank))
    }

    #[test]
    fn strangers_take_half_and_the_oldest_gives_way() {
        let connections = Connections::new(8);
        let strangers: Vec<Place> = (0..6).map(|_| connections.admit(Peer::User(1_000))).collect();
        let ended: Vec<bool> = strangers.iter().map(is_ended).collect();
        assert_eq!(ended, [true, true, false, false, false, false]);
    }

    #[test]
    fn user_with_most_connections_gives_way() {
        let connections = Connections::new(8);
        let other = connections.admit(Peer::User(1));
        let flood: Vec<Place> = (0..20).map(|_| connections.admit(Peer::User(2))).collect();
        assert!(!is_ended(&other), "who has one keeps it");
        assert_eq!(flood.iter().filter(|place| !is_ended(place)).count(), 3);
    }

    #[test]
    fn known_callers_keep_connections_while_strangers_flood() {
        let connections = Connections::new(8);
        let known: Vec<Place> = (1..4).map(|_| connections.admit(Peer::User(1))).collect();
        for (number, place) in (1..).zip(&known) {
            assert!(place.begin());
            place.belongs_to(id(number));
            place.finish();
        }
        let flood: Vec<Place> = (0..50).map(|_| connections.admit(Peer::User(1))).collect();
        assert!(!known.iter().any(is_ended));
        assert!(flood.iter().rev().take(4).all(|place| !is_ended(place)));
    }

    #[test]
    fn idle_connection_is_ended_before_busy_one() {
        let connections = Connections::new(4);
        let hold = || {
            let place = connections.admit(Peer::Local);
            assert!(place.begin());
            place.belongs_to(id(1));
            place
        };
        let (busy, idle) = (hold(), hold());
        idle.finish();
        connections.table().end_one(|_| true);
        assert_eq!([&busy, &idle].map(is_ended), [false, true]);
        assert!(!idle.begin(), "a request that comes too late is not begun");
    }

    #[test]
    fn busy_stranger_gives_way_to_newcomers() {
        let connections = Connections::new(4);
        let busy = connections.admit(Peer::Local);
        assert!(busy.begin());
        let (idle, next) = (connections.admit(Peer::Local), connections.admit(Peer::Local));
        assert_eq!([&busy, &idle, &next].map(is_ended), [true, false, false]);
        assert!(idle.begin());
        idle.finish();
        let last = connections.admit(Peer::Local);
        assert_eq!([&idle, &next, &last].map(is_ended), [true, false, false], "a request does not renew its age");
    }

    #[tokio::test]
    async fn largest_holder_makes_room() {
        let connections = Connections::new(4);
        let hold = |identity| {
            let place = connections.admit(Peer::Local);
            assert!(place.begin());
            place.belongs_to(id(identity));
            place.finish();
            place
        };
        let (one, two) = (hold(1), [hold(2), hold(2), hold(2)]);
        let [oldest, others @ ..] = two;
        let leaves = async {
            assert!(is_ended(&oldest));
            drop(oldest);
        };
        tokio::join!(connections.make_room(), leaves);
        assert!(!is_ended(&one) && !others.iter().any(is_ended));
    }
}
