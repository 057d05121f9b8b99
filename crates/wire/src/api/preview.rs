//! What a rollback would do, as the host of a run sees it. Nothing is changed by asking, and nothing of it is kept.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a host found out, or why it could not.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewReport {
    /// The snapshot that was asked about.
    pub number: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<RollbackPreview>,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// What would change if the run went back to a snapshot now.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RollbackPreview {
    /// The files of the run, as its actions see them.
    pub workspace: PreviewPart,
    /// The agent's own directory.
    pub memory: PreviewPart,
    /// What people changed in the shared files since the run began. No rollback touches it.
    pub drift: Vec<DriftLine>,
    /// How much of that is not listed.
    pub drift_left_off: u64,
}

/// One of both trees. Everything is counted; what a person would not read any more is not listed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewPart {
    pub created: u64,
    pub changed: u64,
    pub removed: u64,
    /// Same content, another mode.
    pub mode_changed: u64,
    /// There is more than is looked at, or it cannot be read: all of it would be replaced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beyond_limits: bool,
    pub lines: Vec<PreviewLine>,
    pub left_off: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreviewLine {
    pub path: String,
    /// `created`, `changed`, `removed` or `mode_changed`.
    pub effect: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_before: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_after: Option<u64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DriftLine {
    pub path: String,
    pub what: String,
}
