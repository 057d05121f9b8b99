//! The organisation: its budget, the switch that stops everything, and the one that lets everything only look.

use placet_domain::id::IdentityId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::run::BudgetView;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HaltRequest {
    /// To stop and to make safe it may be left out; to let things go on somebody says why.
    #[serde(default)]
    pub reason: String,
}

/// Everything is in safe mode: only what looks goes on.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SafeModeView {
    pub because: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub by: Option<IdentityId>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OrganisationView {
    /// Whether everything is stopped.
    pub halted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub halted_by: Option<IdentityId>,
    /// User id of the local user who stopped everything without a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halted_by_local_user: Option<u32>,
    /// There while everything is in safe mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub safe_mode: Option<SafeModeView>,
    /// Why everybody signs with a passkey where two people are asked, while everybody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passkeys_demanded: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetView>,
}
