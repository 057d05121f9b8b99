//! Fair scheduling: workers are assigned to agents in turn, and to the runs of an agent in turn, so that no agent waits behind all
//! actions of another. It also records when workers asked for work and got none.
//!
//! The state is bounded and kept in memory only. After a restart all agents have the first turn again, and no worker counts as idle.

use std::collections::HashMap;

use placet_domain::id::{IdentityId, RunId};
use placet_domain::identity::{Identity, Reach};
use placet_domain::run::Run;
use placet_domain::time::Timestamp;

use super::WaitingRun;

/// Maximum number of agents, runs or idle workers. Beyond it the turns, or the idle workers, start anew.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Turns {
    given: u64,
    agents: HashMap<IdentityId, u64>,
    runs: HashMap<RunId, u64>,
    idle: HashMap<IdentityId, (Reach, Timestamp)>,
}

/// Sort key: the turn of the agent, the turn of the run, then the earliest deadline. The longest wait sorts first.
pub(super) type Rank = (u64, u64, i64);

impl Turns {
    pub(super) fn rank(&self, waiting: &WaitingRun) -> Rank {
        let turn = |given: Option<&u64>| given.copied().unwrap_or(0);
        (turn(self.agents.get(&waiting.agent)), turn(self.runs.get(&waiting.id)), waiting.due_ms)
    }

    /// Records that a worker was assigned to this run.
    pub(super) fn take(&mut self, waiting: &WaitingRun) {
        self.given += 1;
        if self.agents.len() >= MOST || self.runs.len() >= MOST {
            self.agents.clear();
            self.runs.clear();
        }
        self.agents.insert(waiting.agent, self.given);
        self.runs.insert(waiting.id, self.given);
    }

    /// Records that a worker asked for work and got none.
    pub(super) fn found_nothing(&mut self, worker: &Identity, now: Timestamp) {
        if self.idle.len() >= MOST {
            self.idle.clear();
        }
        self.idle.insert(worker.id, (worker.reach.clone(), now));
    }

    /// Checks whether a worker that may execute actions of this run got no work at or after this time.
    pub(super) fn was_idle(&self, run: &Run, since: Timestamp) -> bool {
        let may = |worker: &IdentityId, reach: &Reach| {
            reach.includes(run.project) && (run.hosting.is_external() || run.host.worker == Some(*worker))
        };
        self.idle.iter().any(|(worker, (reach, at))| *at >= since && may(worker, reach))
    }
}
