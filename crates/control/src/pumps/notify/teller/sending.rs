//! Messages on their way: one for each recipient at most, each by itself, and what becomes of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use placet_domain::time::Timestamp;
use placet_store::StoreError;
use tokio::task::{self, JoinError};
use tokio::time::Instant;

use super::super::round::{Behind, Bundle, Round};
use super::{Flight, Teller};
use crate::notify::{Debt, Effort, Framing, Message, Told, Unanswered};

/// A server of mail is not called by everybody of a route at once.
const MOST_SENDINGS: usize = 32;
/// Those who failed before leave places for those who did not.
const MOST_SENDINGS_TO_FAILING: usize = 16;

impl Teller {
    /// Everybody who is owed something, gets nothing just now, and did not fail to take it a moment ago.
    fn ready(&self) -> Vec<String> {
        let now = Instant::now();
        let is_ready =
            |key: &str, debt: &Debt| debt.is_owed() && !self.is_on_its_way(key) && !self.retries.rests(key, now);
        let mut ready: Vec<String> =
            self.debts.iter().filter(|(key, debt)| is_ready(key, debt)).map(|(key, _)| key.clone()).collect();
        // Whoever takes messages does not wait for those who do not.
        ready.sort_by_key(|key| self.retries.failures(key));
        let failing = self.flights.values().filter(|flight| self.retries.failures(&flight.key) > 0).count();
        let (mut places, mut places_of_failing) =
            (MOST_SENDINGS.saturating_sub(self.flights.len()), MOST_SENDINGS_TO_FAILING.saturating_sub(failing));
        ready.retain(|key| {
            let has_place = places > 0 && (self.retries.failures(key) == 0 || places_of_failing > 0);
            if has_place {
                places -= 1;
                places_of_failing -= usize::from(self.retries.failures(key) > 0);
            }
            has_place
        });
        ready
    }

    /// Begins a message for everybody who is ready, writes that down, and sends them.
    pub(super) async fn send_out(&mut self, now: Timestamp) -> Result<(), StoreError> {
        let ready = self.ready();
        if ready.is_empty() {
            return Ok(());
        }
        self.is_dirty = true;
        let (app, route) = (self.app.clone(), Arc::clone(&self.route));
        let mut round = Round::begin(&app, &route).await?;
        let mut bundles = Vec::new();
        for key in ready {
            match self.bundle(&mut round, &key).await? {
                Some(bundle) => bundles.push((key, bundle)),
                None => self.retries.worked(&key),
            }
        }
        let sendings: Vec<_> = bundles.into_iter().filter_map(|(key, bundle)| self.begun(key, bundle)).collect();
        self.write().await?;
        for (key, bundle, message, effort) in sendings {
            self.send(key, bundle, message, effort, now);
        }
        Ok(())
    }

    /// What somebody is told now. Where nothing is left of what they are owed one by one, what was only counted is looked for.
    async fn bundle(&mut self, round: &mut Round<'_>, key: &str) -> Result<Option<Bundle>, StoreError> {
        loop {
            let bundle = self.still_owed(round, key).await?;
            let Some(debt) = self.debts.get_mut(key).filter(|_| bundle.is_none()) else { return Ok(bundle) };
            let Some(folded) = debt.only_counted() else { return Ok(None) };
            debt.unfold(round.unfolded(folded).await?);
        }
    }

    /// What is still so of what they are owed. What is not theirs any more, because they are gone or may not decide it, is owed to whom it
    /// concerns now: to nobody who had it.
    async fn still_owed(&mut self, round: &mut Round<'_>, key: &str) -> Result<Option<Bundle>, StoreError> {
        let Some(owed) = self.debts.get(key).map(|debt| debt.next().clone()) else { return Ok(None) };
        let bundle = round.bundle(key, &owed).await?;
        let left: BTreeSet<u64> = bundle.iter().flat_map(|bundle| &bundle.items).map(|item| item.seq).collect();
        self.debts.entry(key.to_owned()).or_default().keep(|seq| left.contains(&seq));
        for seq in owed.difference(&left) {
            for other in round.recipients(*seq) {
                self.debts.entry(other).or_default().owe(*seq);
            }
        }
        Ok(bundle.filter(|_| !left.is_empty()))
    }

    /// The message for somebody, under the id that it was begun with.
    fn begun(&mut self, key: String, bundle: Bundle) -> Option<(String, Bundle, Message, Effort)> {
        let framing = self.route.framing(&self.base, &key);
        let begun = self.debts.get_mut(&key)?.begin(|seqs| framing.id(seqs));
        let absent: Vec<_> = bundle.absent.iter().cloned().collect();
        let framing = Framing { left_out: begun.folded.count, ..framing };
        let message = Message::of(&bundle.items, &absent, framing).under(begun.id);
        let effort = if begun.unsure == 0 { Effort::First } else { Effort::Last };
        Some((key, bundle, message, effort))
    }

    fn send(&mut self, key: String, bundle: Bundle, message: Message, effort: Effort, now: Timestamp) {
        let (route, to) = (Arc::clone(&self.route), bundle.to);
        let sending = async move { route.channel().send(&to, &message, now.unix_ms(), effort).await };
        let id = self.sendings.spawn(sending).id();
        self.flights.insert(id, Flight { key, behind: bundle.behind });
    }

    /// What became of a message is known, and written down with the next turn.
    pub(super) fn landed(&mut self, landed: Result<(task::Id, Told), JoinError>) {
        let (id, told) = match landed {
            Ok(landed) => landed,
            Err(error) => (error.id(), Told::NotYet("a sending broke off".to_owned())),
        };
        let Some(Flight { key, behind }) = self.flights.remove(&id) else { return };
        self.is_dirty = true;
        self.app.metrics().notified(self.route.name(), &told);
        let now = self.app.store().now();
        self.app.health().told(self.route.name(), &key, &told, now);
        let debt = self.debts.entry(key.clone()).or_default();
        match told {
            Told::Yes => debt.taken(now),
            Told::NotYet(why) => {
                debt.not_taken();
                return self.failed(&key, &why);
            }
            Told::Unsure(why) => match debt.unanswered() {
                Unanswered::SentAgain => return self.failed(&key, &why),
                Unanswered::GivenUp => {
                    tracing::error!(route = %self.route.name(), why, "a message may have arrived twice or not at all; it is not sent again");
                }
            },
            Told::Refused(why) => {
                tracing::error!(route = %self.route.name(), why, "a message was refused; it is not sent again");
                debt.give_up();
                self.fall_back(behind);
            }
        }
        self.retries.worked(&key);
    }

    fn failed(&mut self, key: &str, why: &str) {
        self.retries.failed(key, Instant::now());
        let failures = self.retries.failures(key);
        tracing::warn!(route = %self.route.name(), failures, why, "a message was not delivered; trying again");
    }

    /// Whoever is away is told themselves of what their stand-in refused.
    fn fall_back(&mut self, behind: Vec<Behind>) {
        for each in behind {
            self.debts.entry(each.away.to_string()).or_default().owe(each.seq);
            if !self.unreached.iter().any(|known| (known.away, known.stand_in) == (each.away, each.stand_in)) {
                self.unreached.push(each);
            }
        }
    }
}
