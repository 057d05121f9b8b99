//! One entry: an agent as the catalogue knows it.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Averages, CageCapability, Capability, EntryId, Launch, Level, NetworkUse, ProfileName, Speaks, Switches};
use crate::budget::Amounts;
use crate::canonical;
use crate::digest::Digest;
use crate::proposal::ToolName;
use crate::prose::Prose;

/// An agent: what it can do, what it is held to, and how it is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub id: EntryId,
    pub name: Prose<100>,
    pub about: Prose<500>,
    pub level: Level,
    /// Who makes it.
    pub provider: Prose<100>,
    pub capabilities: BTreeSet<Capability>,
    /// What it may propose, where the scope of a run permits it too.
    pub tools: BTreeSet<ToolName>,
    /// The most that one run with it may use.
    pub limits: Amounts,
    pub checkpoint: CheckpointEvery,
    pub cage: Cage,
    pub laws: Laws,
    pub switches: Switches,
    pub launch: Launch,
    pub averages: Averages,
}

impl Entry {
    /// Names the entry by its content; comments and the order of keys do not count.
    pub fn version(&self) -> Digest {
        Digest::of(&canonical::to_bytes(self))
    }

    /// Whether Placet can start it for a run, or what stands in the way.
    pub fn is_startable(&self) -> Result<(), &'static str> {
        match (self.launch.speaks, &self.launch.program) {
            (Speaks::External, _) => Err("external: a person starts it"),
            (Speaks::PlacetApi, None) => Err("no program: none ships, a team brings it"),
            (Speaks::PlacetApi, Some(_)) => Ok(()),
        }
    }
}

/// How often an agent stands still by itself. What always asks (C9) is not touched by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CheckpointEvery {
    Steps(u32),
    Minutes(u32),
    Pages(u32),
}

impl CheckpointEvery {
    pub const fn count(self) -> u32 {
        match self {
            Self::Steps(count) | Self::Minutes(count) | Self::Pages(count) => count,
        }
    }
}

impl fmt::Display for CheckpointEvery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (count, unit) = match self {
            Self::Steps(count) => (count, "step"),
            Self::Minutes(count) => (count, "minute"),
            Self::Pages(count) => (count, "page"),
        };
        if *count == 1 { write!(f, "every {unit}") } else { write!(f, "every {count} {unit}s") }
    }
}

/// The cage an agent's work is done in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cage {
    pub profile: ProfileName,
    /// What that profile is good for; the shell checks that the profile agrees.
    pub capabilities: BTreeSet<CageCapability>,
    pub network: NetworkUse,
}

/// The five laws, each with how the agent keeps it. None can be left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Laws {
    pub safe: Prose<500>,
    pub non_autonomous: Prose<500>,
    pub representational: Prose<500>,
    pub privacy: Prose<500>,
    pub transparency: Prose<500>,
}

impl Laws {
    /// Each law by its name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Prose<500>)> {
        [
            ("SAFE", &self.safe),
            ("NON_AUTONOMOUS", &self.non_autonomous),
            ("REPRESENTATIONAL", &self.representational),
            ("PRIVACY", &self.privacy),
            ("TRANSPARENCY", &self.transparency),
        ]
        .into_iter()
    }
}
