//! Rehearsal facet of a run: actions that were only simulated and that a reviewer has performed after all. The events come from the actions
//! ([`super::follow`]); nobody commands them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::state::Run;
use crate::event_meta::EventMeta;
use crate::id::ActionId;
use crate::refusal::{Obstacle, Refusal};

/// State of the facet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rehearsal {
    /// Rehearsed actions that are being performed.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub performing: BTreeSet<ActionId>,
    /// Number of rehearsed actions that were performed.
    pub performed: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum RehearsalEvent {
    /// A reviewer has a rehearsed action performed.
    Performing { action: ActionId },
    /// The performance ended; `ran` is false if nothing was started.
    Performed { action: ActionId, ran: bool },
}

impl RehearsalEvent {
    pub(super) fn meta(&self) -> EventMeta {
        EventMeta::new(match self {
            Self::Performing { .. } => "run.performing",
            Self::Performed { .. } => "run.performed",
        })
    }
}

impl Rehearsal {
    pub(super) fn evolve(&mut self, event: &RehearsalEvent) {
        match event {
            RehearsalEvent::Performing { action } => drop(self.performing.insert(*action)),
            RehearsalEvent::Performed { action, ran } => {
                self.performing.remove(action);
                self.performed = self.performed.saturating_add(u32::from(*ran));
            }
        }
    }
}

/// Refuses a decision on the results while they may still change.
pub(super) fn performs_nothing(run: &Run, what: &'static str) -> Result<(), Refusal> {
    if run.rehearsal.performing.is_empty() {
        return Ok(());
    }
    Err(Refusal::not_now(what, Obstacle::Performing))
}
