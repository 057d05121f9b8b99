//! Jobs: what a worker leases, starts, keeps alive and reports.

use placet_domain::digest::Digest;
use placet_domain::evidence::Manifest;
use placet_domain::id::{ActionId, ProjectId, RunId};
use placet_domain::proposal::Opening;
use placet_domain::scope::ScopeDraft;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::ActionView;

/// A worker's request for work.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LeaseRequest {
    /// Milliseconds to wait for an action that is ready.
    #[serde(default)]
    pub wait_ms: u64,
}

/// A leased action with its permit.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Job {
    #[schema(value_type = String)]
    pub action: ActionId,
    #[schema(value_type = String)]
    pub project: ProjectId,
    pub attempt: u32,
    /// The sealed action, byte for byte; its digest is what the permit is for.
    pub sealed: String,
    pub permit: String,
    /// The run it belongs to, if that has files of its own: it is executed in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub hosted: Option<RunId>,
    /// Locked scope of that run. Its digest is in the sealed action, so the worker can verify that it is the approved one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub scope: Option<ScopeDraft>,
    /// Whether it was rehearsed before, and is done at the results of its run: then nothing of those may be written over.
    #[serde(default)]
    pub performing: bool,
    /// Milliseconds for which the lease holds from now.
    pub lease_ms: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Redemption {
    pub permit: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RedemptionView {
    pub attempt: u32,
    pub lease_ms: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobReport {
    pub attempt: u32,
}

/// What a worker asks about the network of an action under way.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NetworkQuery {
    pub attempt: u32,
    /// What it was told last, by the answer's `seen`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub seen: Option<Digest>,
    /// What was refused and could be allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub wishes: Vec<Opening>,
    #[serde(default)]
    pub wait_ms: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NetworkView {
    /// Everything that is open for this attempt beside what was sealed, signed like a permit.
    pub slip: String,
    #[schema(value_type = String)]
    pub seen: Digest,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HeartbeatView {
    pub lease_ms: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    #[schema(value_type = Object)]
    pub manifest: Manifest,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CompletionView {
    /// The result came too late: it is kept as quarantined evidence and changes nothing.
    pub quarantined: bool,
    #[schema(value_type = String)]
    pub evidence: Digest,
    pub action: ActionView,
}

/// What looked like secrets in the evidence of an action.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SecretList {
    pub pieces: Vec<PieceSecrets>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PieceSecrets {
    /// The piece, as the manifest names it.
    pub name: String,
    pub secrets: Vec<SecretView>,
    /// How many there are besides.
    pub more: u64,
}

/// Where a secret is, and never what it is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SecretView {
    pub rule: String,
    pub line: u32,
    pub column: u32,
    /// What all secrets of its kind begin with, and how long it is.
    pub shown: String,
    pub fingerprint: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct KeptBlob {
    #[schema(value_type = String)]
    pub digest: Digest,
    pub size_bytes: u64,
}
