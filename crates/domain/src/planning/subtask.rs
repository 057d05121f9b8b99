//! A sub-task: one step of a plan, as agents, reviewers and estimates see it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::catalogue::Capability;
use crate::proposal::ActionKind;
use crate::prose::Prose;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subtask {
    /// Counted from 1.
    pub number: u32,
    pub title: Prose<300>,
    pub capability: Capability,
    /// The kinds of act it will likely propose. Not a permission: each act is judged when it is proposed.
    pub kinds: BTreeSet<ActionKind>,
    /// Whether the run stands still after it until a person decides.
    pub gate_after: bool,
    pub pages: u64,
    /// How often the agent thinks and proposes in it.
    pub turns: u64,
}
