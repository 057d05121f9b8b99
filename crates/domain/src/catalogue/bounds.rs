//! Bounds: what an agent of the catalogue is held to in a run that was planned with it. They are approved with the plan and
//! judged as laws, so that neither a policy nor a later change of the entry makes them wider.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{CageCapability, Capability, Entry, NetworkUse, Switches};
use crate::digest::Digest;
use crate::proposal::ToolName;

/// What an agent may propose at all. A scope and a policy must permit it too; neither replaces the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    pub capabilities: BTreeSet<Capability>,
    pub tools: BTreeSet<ToolName>,
    /// What its cage is good for.
    pub cage: BTreeSet<CageCapability>,
    pub network: NetworkUse,
    pub switches: Switches,
    /// The kinds of cage that its actions may run in, by what each amounts to. A plan says it; plans of older builds did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cages: Option<BTreeMap<String, Digest>>,
}

impl Entry {
    pub fn bounds(&self) -> Bounds {
        Bounds {
            capabilities: self.capabilities.clone(),
            tools: self.tools.clone(),
            cage: self.cage.capabilities.clone(),
            network: self.cage.network.clone(),
            switches: self.switches,
            cages: None,
        }
    }
}
