//! Calls of language models, and whether what is said in them is kept.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Whether a project keeps the words of its calls.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WordsRequest {
    pub kept: bool,
    /// Why; it goes into the record.
    pub reason: String,
}

/// One call, as the ledger has it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CallView {
    /// The number of its entry.
    pub entry: u64,
    pub at: String,
    pub id: String,
    pub wire: String,
    pub upstream: String,
    /// Which model answered, or was asked for where nobody said.
    pub model: String,
    /// Which one the agent asked for.
    #[serde(default)]
    pub model_asked: String,
    /// Whether the one that answered is neither that nor a dated form of it; then the dearer price was charged.
    #[serde(default)]
    pub other_model: bool,
    /// What the upstream calls the call, for comparing its bill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream_request: Option<String>,
    pub status: u16,
    /// Whether the upstream said in the middle of its answer that it failed.
    #[serde(default)]
    pub failed: bool,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub usd_micros: u64,
    /// By which table of prices.
    #[serde(default)]
    pub prices: String,
    /// Whether tokens were counted here, because the answer broke off or did not say.
    pub estimated: bool,
    pub latency_ms: u64,
    /// `sha256:…` of what was asked, and of what was answered.
    pub request: String,
    pub response: String,
    /// `kept`, `cut` where there was more than is kept, or `none`.
    pub words: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CallList {
    pub calls: Vec<CallView>,
    /// The last entry that was looked at: ask again after it. None at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u64>,
}
