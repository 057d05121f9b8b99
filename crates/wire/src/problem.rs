//! Errors as RFC 9457 problem details, with a stable code and what to do next.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What went wrong, for people and machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// `about:blank`; the code tells more.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    /// What is wrong, and what to do.
    pub detail: String,
    /// A stable word for machines, e.g. `stale`, `kin`, `not_now`.
    pub code: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.detail)
    }
}
