//! How long contents are kept: what would be removed, what was, and what is preserved.

use placet_domain::digest::Digest;
use placet_domain::id::RunId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The code of a problem: the content that is asked for was removed after its time, and an entry says so.
pub const REMOVED: &str = "removed";

/// What the settings say, and what they mean for a project now.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RetentionView {
    /// After how many days contents are removed; never, if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence_days: Option<u32>,
    /// The same for what a person let out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results_days: Option<u32>,
    /// Whether it is done every day without anybody asking.
    pub daily: bool,
    pub preserved: Vec<PreservationView>,
    /// What may be removed now, oldest first; at most 1,000 of them are listed.
    pub removable: Vec<RemovableView>,
    pub removable_count: u64,
    pub removable_bytes: u64,
    /// Contents that stay because something that is not over, or is preserved, names them.
    pub needed: u64,
    /// Contents whose time has not come.
    pub young: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RemovableView {
    #[schema(value_type = String)]
    pub digest: Digest,
    pub size_bytes: u64,
    /// The entry by which it was kept.
    pub kept: u64,
    /// Whether a person let it out.
    pub result: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PreservationView {
    /// The run whose contents stay; all of the project, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub run: Option<RunId>,
    pub reason: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PreservationRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub run: Option<RunId>,
    pub reason: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PreservationList {
    pub preserved: Vec<PreservationView>,
}

/// What was removed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExpiryView {
    /// Contents that the ledger now says were removed, and how many bytes they were.
    pub removed: u64,
    pub removed_bytes: u64,
    /// What became free on the disk. Less, where another project keeps the same contents.
    pub freed_bytes: u64,
}
