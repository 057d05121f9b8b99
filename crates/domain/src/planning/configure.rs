//! Step 5: the cage for it. Never more than the entry of the agent allows, and of that only what the work takes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::criterion::visits_pages;
use super::encode::Task;
use super::subtask::Subtask;
use crate::budget::Amounts;
use crate::catalogue::{CageCapability, Entry, NetworkUse, ProfileName};
use crate::digest::Digest;
use crate::proposal::ActionKind;

/// What the cage of a run shall be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CageChoice {
    /// The widest kind of cage that an action may run in. The agent's own cage is part of what is launched.
    pub profile: ProfileName,
    /// That kind and all that are at most as wide, by what each amounts to: no action runs in any other. Older builds did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cages: Option<BTreeMap<String, Digest>>,
    /// The most the run may use: the less of the agent's limits and what was granted.
    pub limits: Amounts,
    pub network: NetworkUse,
    pub capabilities: BTreeSet<CageCapability>,
}

pub fn configure(entry: &Entry, task: &Task, subtasks: &[Subtask]) -> CageChoice {
    let kinds = subtasks.iter().flat_map(|subtask| &subtask.kinds);
    let needed: BTreeSet<CageCapability> = kinds.filter_map(|kind| CageCapability::needed_for(*kind)).collect();
    CageChoice {
        profile: entry.cage.profile.clone(),
        cages: None,
        limits: limits(entry, task),
        network: network(entry, task, subtasks),
        capabilities: needed.intersection(&entry.cage.capabilities).copied().collect(),
    }
}

fn limits(entry: &Entry, task: &Task) -> Amounts {
    let (most, granted) = (entry.limits, task.ceiling);
    let less = |most: u64, granted: Option<u64>| granted.map_or(most, |granted| granted.min(most));
    Amounts {
        tokens: less(most.tokens, granted.tokens),
        usd_micros: less(most.usd_micros, granted.usd_micros),
        wall_ms: less(most.wall_ms, granted.wall_ms),
        actions: less(most.actions, granted.actions),
        pages: less(most.pages, granted.pages),
        disk_bytes: less(most.disk_bytes, granted.disk_bytes),
    }
}

/// Only what the work has to reach, and of that only what the agent may. Work that visits pages or otherwise turns to others
/// without saying to whom gets what the agent may reach; the scope of the run is then all that says which.
fn network(entry: &Entry, task: &Task, subtasks: &[Subtask]) -> NetworkUse {
    let (targets, may) = (&task.constraints.targets, &entry.cage.network);
    if targets.is_empty() {
        return if visits_pages(subtasks) || turns_to_others(subtasks) { may.clone() } else { NetworkUse::None };
    }
    let reached: Vec<_> = targets.iter().filter(|target| may.reaches(target)).cloned().collect();
    if reached.is_empty() { NetworkUse::None } else { NetworkUse::Allow(reached) }
}

fn turns_to_others(subtasks: &[Subtask]) -> bool {
    let mut kinds = subtasks.iter().flat_map(|subtask| &subtask.kinds);
    kinds.any(|kind| kind.reaches_others() || *kind == ActionKind::SearchWeb)
}
