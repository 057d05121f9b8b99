//! Whose turn it is: workers are given to agents in turn, and to the runs of an agent in turn, so that nobody waits behind everything that
//! another has proposed. And when workers asked for work and found none.
//!
//! It is in memory alone and bounded. After a restart everybody has the first turn again, and no worker has been idle.

use std::collections::HashMap;

use placet_domain::id::IdentityId;
use placet_domain::identity::{Identity, Reach};
use placet_domain::run::Run;
use placet_domain::time::Timestamp;

use crate::sqlite::place::Place;

/// Beyond so many everybody has the first turn again.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Turns {
    given: u64,
    agents: HashMap<IdentityId, u64>,
    runs: HashMap<Place, u64>,
    idle: HashMap<IdentityId, (Reach, Timestamp)>,
}

/// Sorts those first who waited longest for a worker, and of those the one whose time runs out first.
pub(super) type Rank = (u64, u64, i64);

/// A run in which something waits for a worker.
#[derive(Debug, Clone, Copy)]
pub(super) struct WaitingRun {
    pub(super) place: Place,
    pub(super) agent: IdentityId,
    pub(super) due_ms: i64,
}

impl Turns {
    pub(super) fn rank(&self, waiting: &WaitingRun) -> Rank {
        let turn = |given: Option<&u64>| given.copied().unwrap_or(0);
        (turn(self.agents.get(&waiting.agent)), turn(self.runs.get(&waiting.place)), waiting.due_ms)
    }

    /// A worker was given to it.
    pub(super) fn take(&mut self, waiting: &WaitingRun) {
        self.given += 1;
        if self.agents.len() >= MOST || self.runs.len() >= MOST {
            self.agents.clear();
            self.runs.clear();
        }
        self.agents.insert(waiting.agent, self.given);
        self.runs.insert(waiting.place, self.given);
    }

    /// A worker asked and found nothing.
    pub(super) fn found_nothing(&mut self, worker: &Identity, now: Timestamp) {
        if self.idle.len() >= MOST {
            self.idle.clear();
        }
        self.idle.insert(worker.id, (worker.reach.clone(), now));
    }

    /// Whether a worker that may execute actions of this run found nothing at or after this time.
    pub(super) fn was_idle(&self, run: &Run, since: Timestamp) -> bool {
        let may = |worker: &IdentityId, reach: &Reach| {
            reach.includes(run.project) && (run.hosting.is_external() || run.host == Some(*worker))
        };
        self.idle.iter().any(|(worker, (reach, at))| *at >= since && may(worker, reach))
    }
}
