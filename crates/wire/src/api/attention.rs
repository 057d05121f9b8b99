//! Attention: who should look at a question, and who set it aside. No right is given or taken by it; agents are not told.

use placet_domain::id::IdentityId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Names who should look at an action that waits.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AssignRequest {
    /// Who, by name or id; nobody takes it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What they should know: one line of 280 bytes at most.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Sets an action that waits aside for yourself.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DeferRequest {
    /// Until when; RFC 3339, before its deadline. No time brings it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// What people said about looking at a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttentionView {
    /// Who should look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned: Option<AssignmentView>,
    /// Who set it aside, as long as their time is still to come.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<AsideView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AssignmentView {
    /// By name.
    pub to: String,
    #[schema(value_type = String)]
    pub to_id: IdentityId,
    pub by: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Whether it is you.
    pub is_yours: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AsideView {
    /// By name.
    pub who: String,
    /// RFC 3339.
    pub until: String,
    /// Whether it is you.
    pub is_yours: bool,
}

impl AttentionView {
    pub const fn is_none(&self) -> bool {
        self.assigned.is_none() && self.aside.is_empty()
    }
}
