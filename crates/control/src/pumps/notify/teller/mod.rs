//! One route: reads the ledger on, decides who is owed what and when, and writes that down.
//!
//! It alone holds what is owed; a sending ([`sending`]) holds nothing but its message. So whoever does not answer holds up nobody else.

mod sending;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use placet_store::{Debts, EntryFilter, MOST_ROWS, StoreError};
use tokio::sync::watch;
use tokio::task::{self, JoinSet};
use tokio::time::Instant;

use super::cursor;
use super::round::{Behind, Round};
use crate::app::App;
use crate::flow::note_unreached;
use crate::notify::{Debt, Notice, Retries, Route, Told};

/// How often it is looked whether something is due. Much shorter than any pace.
const PERIOD: Duration = Duration::from_millis(500);
/// More than anybody is told of at once; what is beyond waits in the ledger.
const MOST_PENDING: usize = 10_000;
/// Under which it is written down what is settled beyond the cursor. No recipient has this key.
const SETTLED: &str = "";

pub(super) struct Teller {
    app: App,
    route: Arc<Route>,
    base: String,
    /// The first entry that was not read; nothing, before it is known what was written down.
    next: Option<u64>,
    is_at_end: bool,
    /// What was read and is not due.
    pending: Vec<Notice>,
    /// What was due and came after something that is not.
    settled: BTreeSet<u64>,
    /// What is owed, by the keys of recipients.
    debts: BTreeMap<String, Debt>,
    /// As it was last written down, and for which cursor.
    written: BTreeMap<String, String>,
    written_next: u64,
    /// Whether it may have changed since.
    is_dirty: bool,
    retries: Retries,
    sendings: JoinSet<Told>,
    flights: BTreeMap<task::Id, Flight>,
    /// Stand-ins that refused what was for somebody else, until that is on the record.
    unreached: Vec<Behind>,
    /// How often in a row the store failed.
    faults: u32,
    /// Names in the settings that were complained of.
    unclear: BTreeSet<String>,
}

/// A message on its way.
struct Flight {
    key: String,
    behind: Vec<Behind>,
}

impl Teller {
    pub(super) fn new(app: App, route: Arc<Route>, base: String) -> Self {
        let retries = Retries::new(app.settings().notify.retry());
        Self {
            app,
            route,
            base,
            next: None,
            is_at_end: false,
            pending: Vec::new(),
            settled: BTreeSet::new(),
            debts: BTreeMap::new(),
            written: BTreeMap::new(),
            written_next: 0,
            is_dirty: false,
            retries,
            sendings: JoinSet::new(),
            flights: BTreeMap::new(),
            unreached: Vec::new(),
            faults: 0,
            unclear: BTreeSet::new(),
        }
    }

    pub(super) async fn run(mut self) {
        let mut changes = self.app.store().subscribe();
        loop {
            changes.mark_unchanged();
            match self.turn().await {
                Ok(()) => self.faults = 0,
                Err(fault) => {
                    self.faults = self.faults.saturating_add(1);
                    tracing::error!(route = %self.route.name(), %fault, "a route cannot use the store; trying again");
                    tokio::time::sleep(self.app.settings().notify.retry().after(self.faults)).await;
                    continue;
                }
            }
            if !self.wait(&mut changes).await {
                return;
            }
        }
    }

    /// Until something is to be done; says no when nothing will be any more.
    async fn wait(&mut self, changes: &mut watch::Receiver<u64>) -> bool {
        let is_held = !self.is_at_end || !self.pending.is_empty() || !self.unreached.is_empty() || self.owes_somebody();
        let nap = self.retries.next_in(Instant::now()).map_or(PERIOD, |next| next.min(PERIOD));
        let landed = tokio::select! {
            Some(landed) = self.sendings.join_next_with_id() => landed,
            changed = changes.changed(), if !is_held => return changed.is_ok(),
            () = tokio::time::sleep(nap), if is_held => return true,
        };
        self.landed(landed);
        true
    }

    /// Whether somebody is owed something that is not on its way.
    fn owes_somebody(&self) -> bool {
        self.debts.iter().any(|(key, debt)| debt.is_owed() && !self.is_on_its_way(key))
    }

    fn is_on_its_way(&self, key: &str) -> bool {
        self.flights.values().any(|flight| flight.key == key)
    }

    async fn turn(&mut self) -> Result<(), StoreError> {
        // What was taken is known before anything else is done; what is on the record before that, so that an end between the two repeats it.
        self.record().await;
        self.write().await?;
        self.read().await?;
        let now = self.app.store().now();
        let last_told = self.debts.values().filter_map(Debt::told_at).max();
        let ripe: Vec<Notice> =
            self.route.schedule().ripe(&self.pending, last_told, now).into_iter().cloned().collect();
        if !ripe.is_empty() {
            self.decide(&ripe).await?;
        }
        self.write().await?;
        if self.route.schedule().is_quiet(now) { Ok(()) } else { self.send_out(now).await }
    }

    /// Goes on where it was written down that it had come to.
    async fn recall(&mut self) -> Result<u64, StoreError> {
        let name = cursor(&self.route);
        let kept = self.app.store().cursor(&name).await?.unwrap_or(0);
        for (key, state) in self.app.store().debts(&name).await? {
            if key == SETTLED {
                self.settled = self.understood(&state);
            } else {
                self.debts.insert(key.clone(), self.understood(&state));
            }
            self.written.insert(key, state);
        }
        (self.next, self.written_next) = (Some(kept), kept);
        Ok(kept)
    }

    /// What cannot be read was written by nobody we know: the ledger has what still waits.
    fn understood<T: Default + serde::de::DeserializeOwned>(&self, state: &str) -> T {
        serde_json::from_str(state).unwrap_or_else(|error| {
            tracing::error!(route = %self.route.name(), %error, "what a route wrote down cannot be read");
            T::default()
        })
    }

    async fn read(&mut self) -> Result<(), StoreError> {
        let mut next = match self.next {
            Some(next) => next,
            None => self.recall().await?,
        };
        self.is_at_end = false;
        while self.pending.len() < MOST_PENDING && !self.is_at_end {
            let filter = EntryFilter { after: next.checked_sub(1), limit: MOST_ROWS, ..EntryFilter::default() };
            let page = self.app.store().entries(filter).await?;
            let fresh = page.iter().filter(|entry| !self.settled.contains(&entry.seq)).filter_map(Notice::of);
            self.pending.extend(fresh.filter(|notice| self.route.wants(notice)));
            next = page.last().map_or(next, |last| last.seq + 1);
            self.next = Some(next);
            self.is_at_end = (page.len() as u64) < u64::from(MOST_ROWS);
        }
        Ok(())
    }

    /// What is due is owed from now on, to those whom it concerns now.
    async fn decide(&mut self, ripe: &[Notice]) -> Result<(), StoreError> {
        let (app, route) = (self.app.clone(), Arc::clone(&self.route));
        let mut round = Round::begin(&app, &route).await?;
        let owed = round.owed(ripe).await?;
        self.complain_of(round.unclear());
        for (key, seqs) in owed {
            let debt = self.debts.entry(key).or_default();
            seqs.into_iter().for_each(|seq| debt.owe(seq));
        }
        self.is_dirty = true;
        self.settled.extend(ripe.iter().map(|notice| notice.seq));
        self.pending.retain(|notice| !self.settled.contains(&notice.seq));
        Ok(())
    }

    /// Writes down what changed: what is owed, and that everything before the first that is not due is settled.
    async fn write(&mut self) -> Result<(), StoreError> {
        let Some(next) = self.next else { return Ok(()) };
        let first = self.pending.first().map_or(next, |notice| notice.seq);
        // A cursor alone is worth a write only now and then: behind it is nothing but reading.
        if !self.is_dirty && first < self.written_next.saturating_add(u64::from(MOST_ROWS)) {
            return Ok(());
        }
        self.settled.retain(|seq| *seq > first);
        let mut states: Vec<(String, String)> =
            self.debts.iter().map(|(key, debt)| (key.clone(), spelled(debt))).collect();
        if !self.settled.is_empty() || self.written.contains_key(SETTLED) {
            states.push((SETTLED.to_owned(), spelled(&self.settled)));
        }
        states.retain(|(key, state)| self.written.get(key) != Some(state));
        let debts = Debts { follower: cursor(&self.route), next_seq: first, states: states.clone() };
        self.app.store().keep_debts(debts).await?;
        self.written.extend(states);
        (self.written_next, self.is_dirty) = (first, false);
        Ok(())
    }

    /// That somebody was told because their stand-in could not be is on the record; what fails is tried again.
    async fn record(&mut self) {
        let mut left = Vec::new();
        for behind in std::mem::take(&mut self.unreached) {
            if let Err(no) = note_unreached(&self.app, behind.away, behind.stand_in).await {
                tracing::error!(route = %self.route.name(), ?no, "that a stand-in was not reached is not recorded yet");
                left.push(behind);
            }
        }
        self.unreached = left;
    }

    /// Once for each name: what is wrong is in the settings, and stays so until somebody changes them.
    fn complain_of(&mut self, unclear: Vec<String>) {
        for name in unclear {
            if self.unclear.insert(name.clone()) {
                tracing::warn!(route = %self.route.name(), name, "this name in `people` is of no identity or of more than one, so nobody is told by it");
            }
        }
    }
}

fn spelled(state: &impl serde::Serialize) -> String {
    // Numbers and digests: there is nothing in it that cannot be written.
    serde_json::to_string(state).unwrap_or_default()
}
