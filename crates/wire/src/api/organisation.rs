//! The organisation: its budget, and the switch that stops everything.

use placet_domain::id::IdentityId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::run::BudgetView;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HaltRequest {
    pub reason: String,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetView>,
}
