//! What the writer read or wrote a moment ago, so that it need not be read from JSON again. Runs, actions and the organisation only: they
//! are what one thing after another is asked of. And the places of everything that entries were about.
//!
//! It holds what the current transaction would show. When that one fails, everything is forgotten.

use std::collections::HashMap;

use placet_domain::action::ActionState;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, RunId};
use placet_domain::organisation::Organisation;
use placet_domain::run::Run;

use crate::sqlite::place::Place;
use crate::unit::Thing;

/// A few megabytes at most. When it is full, all of it goes: which of them is needed next, nobody knows.
const MOST: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct Cache {
    runs: HashMap<RunId, Run>,
    actions: HashMap<ActionId, ActionState>,
    places: HashMap<Thing, Place>,
    organisation: Option<Organisation>,
    /// The token that opens the door for an identity, if there is one.
    tokens: HashMap<IdentityId, Option<Digest>>,
}

impl Cache {
    pub(super) fn run(&self, id: RunId) -> Option<&Run> {
        self.runs.get(&id)
    }

    pub(super) fn action(&self, id: ActionId) -> Option<&ActionState> {
        self.actions.get(&id)
    }

    pub(super) fn keep_run(&mut self, run: &Run) {
        if self.runs.len() >= MOST {
            self.runs.clear();
        }
        self.runs.insert(run.id, run.clone());
    }

    pub(super) fn keep_action(&mut self, action: &ActionState) {
        if self.actions.len() >= MOST {
            self.actions.clear();
        }
        self.actions.insert(action.id, action.clone());
    }

    pub(super) fn organisation(&self) -> Option<&Organisation> {
        self.organisation.as_ref()
    }

    pub(super) fn keep_organisation(&mut self, organisation: &Organisation) {
        self.organisation = Some(organisation.clone());
    }

    pub(super) fn token(&self, id: IdentityId) -> Option<Option<Digest>> {
        self.tokens.get(&id).copied()
    }

    pub(super) fn keep_token(&mut self, id: IdentityId, token: Option<Digest>) {
        if self.tokens.len() >= MOST {
            self.tokens.clear();
        }
        self.tokens.insert(id, token);
    }

    pub(super) fn place(&self, thing: Thing) -> Option<Place> {
        self.places.get(&thing).copied()
    }

    pub(super) fn keep_place(&mut self, thing: Thing, place: Place) {
        if self.places.len() >= MOST {
            self.places.clear();
        }
        self.places.insert(thing, place);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}
