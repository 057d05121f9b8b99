//! What programs say while they work, for people who watch. In memory only: nothing of it is recorded, nothing of it is evidence, and all
//! of it may be forgotten.
//!
//! Bounded for one program ([`log`]) and for all of them: a program that says much costs no other one anything but its place among those
//! that are remembered, and whoever was not heard for longest is forgotten first.

mod ear;
mod log;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use placet_domain::id::{ActionId, RunId};
use placet_domain::time::Timestamp;
use placet_wire::api::{LogReport, LogView};
use tokio::sync::watch;

use log::Log;

/// As many programs as a busy control plane has under way.
const MOST_LOGS: usize = 512;
/// A few hundred programs that say as much as is kept of one.
const MOST_BYTES: usize = 32 << 20;

/// Whose words they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Speaker {
    /// The agent of a run.
    Agent(RunId),
    /// The program of an action.
    Action(ActionId),
}

#[derive(Debug)]
struct Kept {
    log: Arc<Mutex<Log>>,
    cost_bytes: usize,
    /// The how-many-th report it was that was heard last.
    heard_at: u64,
    /// Tells those who wait that there is more.
    news: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct All {
    kept: BTreeMap<Speaker, Kept>,
    reports: u64,
}

/// Everything that programs said.
#[derive(Debug, Default)]
pub(crate) struct Logs(Mutex<All>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Logs {
    /// Takes a report, and gives how much of this start was heard.
    pub(crate) fn hear(&self, speaker: Speaker, report: &LogReport, now: Timestamp) -> u64 {
        let log = Arc::clone(&lock(&self.0).of(speaker, now).log);
        // Looking for secrets takes a while: nobody but this speaker waits for it.
        let (heard, cost_bytes, next) = {
            let mut log = lock(&log);
            (log.hear(report), log.cost_bytes(), log.next())
        };
        let mut all = lock(&self.0);
        all.reports += 1;
        let heard_at = all.reports;
        let kept = all.of(speaker, now);
        (kept.cost_bytes, kept.heard_at) = (cost_bytes, heard_at);
        kept.news.send_replace(next);
        all.make_room(speaker);
        heard
    }

    /// What is kept after a place. Nothing of somebody who was never heard.
    pub(crate) fn after(&self, speaker: Speaker, place: u64) -> LogView {
        let log = lock(&self.0).kept.get(&speaker).map(|kept| Arc::clone(&kept.log));
        log.map_or_else(LogView::default, |log| lock(&log).after(place))
    }

    /// Tells when there is more, also of somebody who was not heard yet.
    pub(crate) fn subscribe(&self, speaker: Speaker, now: Timestamp) -> watch::Receiver<u64> {
        let mut all = lock(&self.0);
        let news = all.of(speaker, now).news.subscribe();
        all.make_room(speaker);
        news
    }

    /// What it said is told elsewhere from now on.
    pub(crate) fn forget(&self, speaker: Speaker) {
        let mut all = lock(&self.0);
        all.forget(speaker);
    }
}

impl All {
    fn of(&mut self, speaker: Speaker, now: Timestamp) -> &mut Kept {
        self.kept.entry(speaker).or_insert_with(|| Kept {
            log: Arc::new(Mutex::new(Log::begun_at(now))),
            cost_bytes: 0,
            heard_at: 0,
            news: watch::Sender::new(0),
        })
    }

    /// Whom somebody follows keeps the place, so that they hear of it when there is more.
    fn forget(&mut self, speaker: Speaker) {
        let Some(kept) = self.kept.get_mut(&speaker) else { return };
        if kept.news.receiver_count() == 0 {
            self.kept.remove(&speaker);
            return;
        }
        lock(&kept.log).forget();
        kept.cost_bytes = 0;
        kept.news.send_modify(|_| {});
    }

    fn make_room(&mut self, but: Speaker) {
        if self.kept.len() > MOST_LOGS {
            self.kept.retain(|speaker, kept| *speaker == but || kept.cost_bytes > 0 || kept.news.receiver_count() > 0);
        }
        while self.is_too_much()
            && let Some(oldest) = self.oldest(but)
        {
            self.forget(oldest);
        }
    }

    fn is_too_much(&self) -> bool {
        let told = self.kept.values().filter(|kept| kept.cost_bytes > 0);
        let (count, bytes) = told.fold((0, 0), |(count, bytes), kept| (count + 1, bytes + kept.cost_bytes));
        count > MOST_LOGS || bytes > MOST_BYTES
    }

    fn oldest(&self, but: Speaker) -> Option<Speaker> {
        let others = self.kept.iter().filter(|(speaker, kept)| **speaker != but && kept.cost_bytes > 0);
        others.min_by_key(|(_, kept)| kept.heard_at).map(|(speaker, _)| *speaker)
    }
}

#[cfg(test)]
mod tests {
    use placet_wire::api::{LogStream, Said};

    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_000);

    fn speaker(number: u128) -> Speaker {
        Speaker::Agent(RunId::from_uuid(uuid::Uuid::from_u128(number)))
    }

    fn report(at: u64, text: &str) -> LogReport {
        let said = vec![Said { stream: LogStream::Stdout, bytes: text.as_bytes().to_vec() }];
        LogReport { start: 1, at, said, ended: false }
    }

    #[test]
    fn c16_over_all_runs_as_much_is_kept_as_there_is_room_and_the_oldest_is_forgotten_first() {
        let (logs, long) = (Logs::default(), ("x".repeat(99) + "\n").repeat(600));
        let watched = logs.subscribe(speaker(1), NOW);
        for number in 0..700 {
            logs.hear(speaker(number), &report(0, &long), NOW);
        }
        let all = lock(&logs.0);
        let bytes: usize = all.kept.values().map(|kept| kept.cost_bytes).sum();
        assert!(bytes <= MOST_BYTES && all.kept.len() <= MOST_LOGS + 1, "{bytes} of {}", all.kept.len());
        drop(all);
        assert!(logs.after(speaker(0), 0).pieces.is_empty() && !logs.after(speaker(699), 0).pieces.is_empty());
        // Somebody follows it: they are told that it was forgotten, and of what comes.
        assert_eq!(logs.after(speaker(1), 0).forgotten_bytes, 60_000);
        logs.hear(speaker(1), &report(60_000, "more\nand more\n"), NOW);
        assert!(watched.has_changed().unwrap());
        let pieces = logs.after(speaker(1), 0).pieces;
        assert_eq!(pieces.last().unwrap().text, "and more\n", "the line in which it was forgotten is not whole");
    }

    #[test]
    fn c16_those_who_only_wait_take_no_room_once_they_are_gone() {
        let logs = Logs::default();
        for number in 0..2_000 {
            drop(logs.subscribe(speaker(number), NOW));
        }
        assert!(lock(&logs.0).kept.len() <= MOST_LOGS + 1);
    }
}
