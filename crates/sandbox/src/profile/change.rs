//! What a profile changes of the one it is built on, for people who read what a cage is; and what it asks and offers.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Text;

/// One thing in which a profile differs from its parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Which profile says so.
    pub profile: Text,
    /// Whether the cage becomes tighter.
    pub effect: Effect,
    /// What is different.
    pub what: String,
    /// Why.
    pub reason: Text,
}

/// What a [`Change`] does to a cage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Less is possible than in the parent.
    Tightens,
    /// Something is there besides.
    Adds,
    /// More is possible than in the parent.
    Loosens,
}

/// What a profile demands of a host: at least a cage of this tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeastTier {
    /// The cage stands, and a second layer may be missing.
    Degraded,
    /// Every layer.
    Full,
}

/// What a tool may be for, beyond reading and writing files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// Running programs and scripts that an agent chose.
    ExecuteCode,
    /// Taking pictures of pages and screens.
    Screenshots,
}

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Tightens => "tightens",
            Self::Adds => "adds",
            Self::Loosens => "loosens",
        })
    }
}

impl fmt::Display for LeastTier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Degraded => "degraded",
            Self::Full => "full",
        })
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::ExecuteCode => "execute_code",
            Self::Screenshots => "screenshots",
        })
    }
}
