//! The ledger as seen from outside: entries, heads, proofs, and the audit trail of a run.

use placet_domain::audit_status::AuditStatus;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EntryView {
    pub seq: u64,
    /// The leaf hash, in hex.
    pub leaf: String,
    /// The entry, canonical JSON.
    #[schema(value_type = Object)]
    pub entry: Value,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EntryList {
    pub entries: Vec<EntryView>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HeadView {
    pub size: u64,
    pub root: String,
    /// The signed head (C2SP checkpoint).
    pub note: String,
    /// The key to check it with (C2SP verifier key). Compare it with one you got another way.
    pub key: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct InclusionProof {
    pub seq: u64,
    pub size: u64,
    pub leaf: String,
    pub proof: Vec<String>,
    /// The signed head of exactly this size.
    pub note: String,
    /// The entry, byte for byte.
    pub entry: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ConsistencyProof {
    pub from: u64,
    pub to: u64,
    pub proof: Vec<String>,
}

/// One line of a run's audit trail.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AuditRow {
    pub seq: u64,
    pub timestamp: String,
    pub actor: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub event: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_status: Option<String>,
    /// The same status as a code with parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub status: Option<AuditStatus>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approver: Option<String>,
    /// Language-model tokens this event used.
    pub tokens: u64,
    /// Its cost in millionths of a US dollar.
    pub cost_usd_micros: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AuditTrail {
    pub rows: Vec<AuditRow>,
}
