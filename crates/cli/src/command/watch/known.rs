//! What actions are called: what would be done by each, as the control plane tells it. Entries of the ledger have digests and no contents, so a
//! name is asked for once and remembered; how much is remembered is bounded.

use std::collections::{BTreeMap, BTreeSet};

use placet_wire::Client;
use placet_wire::api::InboxView;
use placet_wire::endpoint::ShowAction;

use crate::card;

/// Beyond this everything is forgotten and asked for again.
const MOST: usize = 1_000;

#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    titles: BTreeMap<String, String>,
    unknown: BTreeSet<String>,
}

impl Known {
    /// What is called so, marked; nothing where nobody told yet, and then it is to be asked for.
    pub(super) fn title(&mut self, action: &str) -> Option<String> {
        let title = self.titles.get(action).cloned();
        if title.is_none() {
            self.unknown.insert(action.to_owned());
        }
        title
    }

    pub(super) fn get(&self, action: &str) -> Option<&String> {
        self.titles.get(action)
    }

    pub(super) fn learn(&mut self, action: String, title: String) {
        if self.titles.len() >= MOST {
            self.titles.clear();
        }
        self.unknown.remove(&action);
        self.titles.insert(action, title);
    }

    /// What waits is told with its name.
    pub(super) fn learn_from(&mut self, inbox: &InboxView) {
        for row in inbox.actions.iter().chain(&inbox.interrupted) {
            self.learn(row.action.id.to_string(), card::title(&row.action));
        }
    }

    /// What is to be asked for.
    pub(super) fn take_unknown(&mut self) -> Vec<String> {
        std::mem::take(&mut self.unknown).into_iter().collect()
    }
}

/// What these are called. Of what cannot be looked at nothing is said.
pub(super) async fn asked(client: &Client, actions: Vec<String>) -> Vec<(String, String)> {
    let mut told = Vec::new();
    for action in actions {
        let Ok(id) = action.parse() else { continue };
        if let Ok(detail) = client.get(ShowAction { action: id }).await {
            told.push((action, card::title(&detail.action)));
        }
    }
    told
}
