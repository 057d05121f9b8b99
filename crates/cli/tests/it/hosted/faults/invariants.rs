//! What must be so whenever a process ends, wherever that was: I1 to I10 as far as one run can break them. Looked at in the store itself,
//! while nobody has it open.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use placet_domain::command::About;
use placet_domain::record::{Event, Record};
use placet_domain::run::{Run, RunStatus, evolve};
use placet_domain::time::Timestamp;
use placet_ledger::Entry;
use placet_store::{Config, EntryFilter, RunFilter, Store};
use serde_json::Value;

use super::people::Books;
use crate::support::books::redeemed_twice;
use crate::support::ledger_key;

/// The reviewed page of what may follow what.
const STATES: &str = include_str!("../../../../../../docs/states.md");

pub(super) struct Invariants {
    home: PathBuf,
    books: Books,
    /// The bytes of all entries that were ever seen.
    known: Vec<Vec<u8>>,
}

/// What the ledger says, entry by entry.
struct Story(Vec<Value>);

impl Invariants {
    pub(super) fn new(home: PathBuf, books: Books) -> Self {
        Self { home, books, known: Vec::new() }
    }

    /// Ends the test that asks if anything is not as it must be.
    pub(super) async fn hold(&mut self) {
        let store = Store::open(Config::new(self.home.join("data"), ledger_key(&self.home))).await.unwrap();
        let entries = entries(&store).await;
        // I4: nothing that was there is gone or otherwise, and every hash is what it must be.
        assert!(entries.starts_with(&self.known), "the ledger shrank or was written over");
        assert!(store.scrub().await.unwrap().is_sound());
        assert_eq!(store.check_projections().await.unwrap(), [], "projections are not what the ledger says");
        // I5
        assert_eq!(store.check_evidence().await.unwrap().faults, Vec::<String>::new());
        let story = Story(entries.iter().map(|bytes| serde_json::from_slice(bytes).unwrap()).collect());
        story.keeps_what_was_acknowledged(&self.books);
        story.executes_once_what_was_approved();
        takes_lawful_edges(&entries);
        self.known = entries;
        let runs = store.runs(RunFilter { limit: 10, ..RunFilter::default() }).await.unwrap();
        assert!(runs.len() <= 1, "one run was asked for");
        if let Some(run) = runs.into_iter().next() {
            self.judge(&run);
        }
    }

    fn judge(&self, run: &Run) {
        // I6
        let overdrawn = run.budget.as_ref().and_then(placet_domain::budget::Budget::overdrawn);
        assert_eq!(overdrawn, None, "more was spent than there is");
        // I10: what the ledger says can be gone back to is there.
        let space = self.home.join("runs").join(run.id.to_string()).join("space/snapshots");
        for snapshot in run.snapshots.kept.iter().filter(|_| !run.status.is_final()) {
            assert!(space.join(snapshot.number.to_string()).is_dir(), "{} is not on its host", snapshot.number);
        }
    }

    /// How many entries of each kind there are.
    pub(super) fn counts(&self) -> BTreeMap<String, usize> {
        let kinds = self.known.iter().map(|bytes| serde_json::from_slice::<Value>(bytes).unwrap()["kind"].to_string());
        kinds.fold(BTreeMap::new(), |mut counts, kind| {
            *counts.entry(kind.trim_matches('"').to_owned()).or_default() += 1;
            counts
        })
    }
}

impl Story {
    fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.0.iter().filter(move |entry| entry["kind"] == kind)
    }

    /// I1
    fn keeps_what_was_acknowledged(&self, books: &Books) {
        for (kind, times) in books.lock().unwrap().iter() {
            assert!(self.of(kind).count() >= *times, "{kind} was acknowledged {times} times");
        }
    }

    /// I2, I3 and I7: each permit is spent once, each action is begun once, and what ran is what was proposed and cleared.
    fn executes_once_what_was_approved(&self) {
        let attempt = |entry: &Value| (entry["action"].to_string(), entry["body"]["attempt"].as_u64().unwrap());
        assert_eq!(redeemed_twice(self.of("permit.redeemed").map(attempt)), [], "a permit was accepted twice");
        let mut begun = BTreeSet::new();
        for redeemed in self.of("permit.redeemed") {
            let action = &redeemed["action"];
            assert!(begun.insert(action.to_string()), "{action} was begun twice, and nobody had said so");
            let proposed = self.about("action.proposed", action).unwrap();
            assert_eq!(redeemed["body"]["digest"], proposed["body"]["digest"], "{action}");
            let judged = self.about("action.judged", action).unwrap();
            let approved = self.about("action.approved", action).filter(|entry| entry["body"]["complete"] == true);
            let review = approved.map(|entry| &entry["body"]["approval"]["review"]);
            assert!(
                judged["body"]["verdict"]["tier"] == "A" || review == Some(&judged["body"]["review"]),
                "{action} ran without an approval of what it is"
            );
        }
        for completed in self.of("job.completed") {
            let proposed = self.about("action.proposed", &completed["action"]).unwrap();
            assert_eq!(completed["body"]["executed"], proposed["body"]["digest"]);
        }
    }

    fn about(&self, kind: &str, action: &Value) -> Option<&Value> {
        self.0.iter().find(|entry| entry["kind"] == kind && entry["action"] == *action)
    }
}

/// I9: a run comes from one state to another only as the reviewed page says.
fn takes_lawful_edges(entries: &[Vec<u8>]) {
    let mut run: Option<Run> = None;
    for bytes in entries {
        let entry = Entry::parse(bytes).unwrap();
        let parsed = |id: &Option<String>| id.as_ref().map(|id| id.parse().unwrap());
        let about = About { run: parsed(&entry.run), ..About::default() };
        let Some(id) = about.run.filter(|_| entry.kind.starts_with("run.")) else { continue };
        let Event::Run(_, event) = Record::read(about, &entry.kind, entry.body).unwrap().event else { continue };
        let (from, at) = (run.as_ref().map(|run| run.status), Timestamp::from_unix_ms(0));
        run = evolve(id, run, &event, at);
        let (from, to) = (from.map_or("[*]", RunStatus::as_str), run.as_ref().map_or("[*]", |run| run.status.as_str()));
        assert!(from == to || STATES.contains(&format!("{from} --> {to}")), "{} led from {from} to {to}", entry.kind);
    }
}

async fn entries(store: &Store) -> Vec<Vec<u8>> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = store.entries(EntryFilter { after, limit: 1_000, ..EntryFilter::default() }).await.unwrap();
        let Some(last) = page.last() else { return found };
        after = Some(last.seq);
        found.extend(page.into_iter().map(|stored| stored.bytes));
    }
}
