//! How far an agent may go by itself. There is no level without a person: plan and results always pass one.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::run::Mode;

/// The levels of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Level {
    /// Proposes, and every action asks: fit for the modes SIMULATION and SUPERVISED.
    L2,
    /// May also go on by itself from one checkpoint to the next: fit for CHECKPOINT too.
    L3,
}

impl Level {
    pub const ALL: &[Self] = &[Self::L2, Self::L3];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::L2 => "L2",
            Self::L3 => "L3",
        }
    }

    /// The least level for a mode.
    pub const fn needed_for(mode: Mode) -> Self {
        match mode {
            Mode::Simulation | Mode::Supervised => Self::L2,
            Mode::Checkpoint => Self::L3,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
