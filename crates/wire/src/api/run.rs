//! Runs.

use placet_domain::digest::Digest;
use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::run::RunStatus;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRun {
    #[schema(value_type = String)]
    pub project: ProjectId,
    pub goal: String,
    /// The name of a locked scope of the project; its newest version is taken and never changes for this run.
    pub scope: String,
    /// The agent that will work in it.
    #[schema(value_type = String)]
    pub agent: IdentityId,
    /// With a plan, the run waits for a reviewer at once; without, it is a draft.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanSubmission {
    pub plan: Vec<String>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Reason {
    #[serde(default)]
    pub reason: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    #[serde(default)]
    pub summary: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RunView {
    #[schema(value_type = String)]
    pub id: RunId,
    #[schema(value_type = String)]
    pub project: ProjectId,
    pub goal: String,
    pub plan: Vec<String>,
    #[schema(value_type = String)]
    pub status: RunStatus,
    /// What the status means.
    pub meaning: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    #[schema(value_type = String)]
    pub agent: IdentityId,
    #[schema(value_type = String)]
    pub scope: Digest,
    /// What a reviewer approves where the run stands still (plan or results); send it as `If-Match`.
    #[schema(value_type = String)]
    pub review: Digest,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RunList {
    pub runs: Vec<RunView>,
    /// There may be more: ask again with this as `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}
