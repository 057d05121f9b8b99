//! How an agent is started. Names of variables only: an entry holds no secret.

use serde::{Deserialize, Serialize};

use super::name::{AgentPath, ProfileName, ProgramPath, VariableName};
use crate::prose::Prose;

/// How an agent speaks, which is also who starts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speaks {
    /// Reads `env.json` and talks to the API: Placet can start it for a run.
    PlacetApi,
    /// Knows nothing of Placet: a person starts it, for instance in the cage of a worktree. No run is planned with it.
    External,
}

impl Speaks {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PlacetApi => "placet-api",
            Self::External => "external",
        }
    }
}

/// What is started, and with what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    pub speaks: Speaks,
    /// The program. An entry without one describes an agent whose program a team brings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<ProgramPath>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Prose<1000>>,
    /// Its own files and folders, below the folder of the entry. They lie in its directory when it is started first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<AgentPath>,
    /// The kind of cage that the agent itself lives in, if not the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileName>,
    /// Which variables of the launcher's environment are passed on; all others are not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<VariableName>,
    /// For `external`: what a person types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<Prose<1000>>,
}
