//! How freely a run works, and what it may touch. No mode is without a person: plan and results always pass one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How often a run asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Mode {
    /// Shows what would be done; nothing outside its own layer changes.
    Simulation,
    /// Every action asks.
    Supervised,
    /// Free between checkpoints.
    Checkpoint,
}

impl Mode {
    pub const ALL: &[Self] = &[Self::Simulation, Self::Supervised, Self::Checkpoint];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Simulation => "SIMULATION",
            Self::Supervised => "SUPERVISED",
            Self::Checkpoint => "CHECKPOINT",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a run may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Nothing: it is planned and recorded only.
    DryRun,
    /// Nothing changes; what is there is read.
    Observe,
    /// What its scope and its approvals permit.
    Execute,
}

impl Effect {
    pub const ALL: &[Self] = &[Self::DryRun, Self::Observe, Self::Execute];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DryRun => "dry_run",
            Self::Observe => "observe",
            Self::Execute => "execute",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_effects_print_as_they_are_written() {
        for mode in Mode::ALL {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
        }
        for effect in Effect::ALL {
            assert_eq!(serde_json::to_value(effect).unwrap(), effect.as_str());
        }
    }
}
