//! Standing orders: what people said yes to beforehand, in one run, so many times and until then.

use placet_domain::action::ActionStatus;
use placet_domain::approval::Width;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::reason::StatusReason;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Says yes to exactly what the `If-Match` header names, and to others of its class in the same run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderRequest {
    /// `exact`: everything is the same. `contents`: the files have the same paths and may hold something else.
    #[serde(default)]
    #[schema(value_type = String)]
    pub width: Width,
    /// For how long; an hour if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_ms: Option<u64>,
    /// How many others it is for at most; 20 if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OrderList {
    pub orders: Vec<OrderView>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OrderView {
    #[schema(value_type = String)]
    pub run: RunId,
    #[schema(value_type = String)]
    pub project: ProjectId,
    pub goal: String,
    /// Which order of its run it is.
    pub number: u32,
    /// `STANDS`, `REVOKED`, `USED_UP`, `EXPIRED` or `VOID`: the run is over, was rolled back, or another policy is in force.
    pub status: String,
    /// The action it was given on.
    #[schema(value_type = String)]
    pub action: ActionId,
    pub tool: String,
    /// What that action does, in a line, from the sealed bytes and as they are; mark what deceives before you show it.
    #[serde(default)]
    pub title: String,
    /// The name of whose run it is.
    #[serde(default)]
    pub agent: String,
    /// `exact` or `contents`.
    pub width: String,
    /// What all actions have in common that it is for.
    #[schema(value_type = String)]
    pub class: Digest,
    #[schema(value_type = String)]
    pub giver: IdentityId,
    #[serde(default)]
    pub giver_name: String,
    /// RFC 3339.
    pub given_at: String,
    /// RFC 3339.
    pub until: String,
    /// How many actions it is for at most, beside the one it was given on.
    pub times: u32,
    pub used: u32,
    /// Why it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The same reason as a code with parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub reason: Option<StatusReason>,
}

/// What an order on an action could be, and what it would have been used for so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OrderOffer {
    /// Why you cannot give one; nothing if you can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// From narrow to wide.
    pub widths: Vec<WidthView>,
    pub longest_ms: u64,
    pub most_times: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WidthView {
    /// `exact` or `contents`.
    pub width: String,
    /// The newest actions of the run that it would have covered, the newest first.
    pub would_cover: Vec<CoveredView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CoveredView {
    #[schema(value_type = String)]
    pub action: ActionId,
    #[schema(value_type = String)]
    pub status: ActionStatus,
    /// When it was proposed; RFC 3339.
    pub proposed_at: String,
}
