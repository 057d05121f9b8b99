//! Projects, scopes, and the rules in force.

use placet_domain::digest::Digest;
use placet_domain::id::ProjectId;
use placet_domain::policy::Rationale;
use placet_domain::project::Separation;
use placet_domain::scope::ScopeDraft;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::run::BudgetView;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProject {
    /// Letters, digits, `-`, `_`, `.`; at most 80.
    pub name: String,
    /// `four_eyes` (default) or `single_operator`.
    #[serde(default)]
    #[schema(value_type = String, example = "four_eyes")]
    pub separation: Separation,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ProjectView {
    #[schema(value_type = String)]
    pub id: ProjectId,
    pub name: String,
    #[schema(value_type = String)]
    pub separation: Separation,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetView>,
    /// Whether what is said in calls of models is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_words: bool,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ProjectList {
    pub projects: Vec<ProjectView>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewScope {
    pub name: String,
    /// `allow` and `deny` path patterns, `targets`, `tools`.
    #[schema(value_type = Object)]
    pub rules: ScopeDraft,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ScopeView {
    pub name: String,
    /// The digest of the content.
    #[schema(value_type = String)]
    pub version: Digest,
    #[schema(value_type = Object)]
    pub rules: ScopeDraft,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ScopeList {
    pub scopes: Vec<ScopeView>,
}

/// The policy in force.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct PolicyView {
    #[schema(value_type = String)]
    pub version: Digest,
    pub rules: Vec<RuleView>,
    pub tools: Vec<ToolView>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct RuleView {
    pub id: String,
    pub file: String,
    pub line: usize,
    pub effect: String,
    pub demands: String,
    pub weight: String,
    pub because: String,
    /// The same reason as a code with parameters: `rule`, or `shipped_rule` where the rule is unchanged.
    #[schema(value_type = Object)]
    pub reason: Rationale,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ToolView {
    pub name: String,
    pub kind: String,
    pub program: String,
    #[schema(value_type = String)]
    pub version: Digest,
}
