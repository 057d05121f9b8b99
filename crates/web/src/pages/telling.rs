//! What entries of the ledger are about, as people call it: who did it, in which undertaking, and what the action would do. Looked up, and
//! never taken from the entry: entries hold ids and digests, so that they can be shown to strangers.

use std::collections::BTreeMap;

use placet_control::App;
use placet_control::http::Failure;
use placet_control::read::actions::title;
use placet_control::read::names;
use placet_ledger::Entry;
use placet_store::StoredEntry;

use crate::markup::{Concerns, EntryRow, Named};

/// Remembers what was told already: many entries of a page are about one action.
pub(super) struct Telling<'app> {
    app: &'app App,
    actions: BTreeMap<String, String>,
}

impl<'app> Telling<'app> {
    pub(super) const fn new(app: &'app App) -> Self {
        Self { app, actions: BTreeMap::new() }
    }

    pub(super) async fn rows(mut self, found: &[(StoredEntry, Option<Entry>)]) -> Result<Vec<EntryRow>, Failure> {
        let mut rows = Vec::new();
        for (StoredEntry { seq, kind, at, .. }, entry) in found {
            let concerns = match entry {
                Some(entry) => self.concerns(entry).await?,
                None => Concerns::default(),
            };
            rows.push(EntryRow { seq: *seq, kind: kind.clone(), at: *at, concerns });
        }
        Ok(rows)
    }

    pub(super) async fn concerns(&mut self, entry: &Entry) -> Result<Concerns, Failure> {
        let actor = match entry.actor.parse() {
            Ok(id) => names::person(self.app, id).await?,
            Err(_) => entry.actor.clone(),
        };
        let run = match entry.run.as_ref() {
            Some(id) => Some(Named { told: self.run(id).await?, id: id.clone() }),
            None => None,
        };
        let action = match entry.action.as_ref() {
            Some(id) => Some(Named { told: self.action(id).await?, id: id.clone() }),
            None => None,
        };
        Ok(Concerns { actor: Named { id: entry.actor.clone(), told: actor }, run, action })
    }

    async fn run(&self, id: &str) -> Result<String, Failure> {
        let goal = match id.parse() {
            Ok(run) => names::goal(self.app, run).await?,
            Err(_) => String::new(),
        };
        Ok(if goal.is_empty() { id.to_owned() } else { goal })
    }

    /// In a line what it is; by its id, where it cannot be opened any more.
    async fn action(&mut self, id: &str) -> Result<String, Failure> {
        if let Some(told) = self.actions.get(id) {
            return Ok(told.clone());
        }
        let state = match id.parse() {
            Ok(action) => self.app.store().action(action).await?,
            Err(_) => None,
        };
        let told = match &state {
            Some(state) => title(self.app, state).await,
            None => id.to_owned(),
        };
        self.actions.insert(id.to_owned(), told.clone());
        Ok(told)
    }
}
