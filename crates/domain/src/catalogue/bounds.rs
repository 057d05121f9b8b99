//! Bounds: what an agent of the catalogue is held to in a run that was planned with it. They are approved with the plan and
//! judged as laws, so that neither a policy nor a later change of the entry makes them wider.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{CageCapability, Capability, Entry, NetworkUse, Switches};
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
}

impl Entry {
    pub fn bounds(&self) -> Bounds {
        Bounds {
            capabilities: self.capabilities.clone(),
            tools: self.tools.clone(),
            cage: self.cage.capabilities.clone(),
            network: self.cage.network.clone(),
            switches: self.switches,
        }
    }
}
