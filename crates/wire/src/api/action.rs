//! Actions, verdicts and the decisions on them. A proposal is [`placet_domain::proposal::Proposal`] itself.

use placet_domain::action::{ActionStatus, Resolution};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::policy::{Rationale, Reason, Verdict};
use placet_domain::proposal::{ActionSpec, Proposal};
use placet_domain::reason::StatusReason;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ActionView {
    #[schema(value_type = String)]
    pub id: ActionId,
    #[schema(value_type = String)]
    pub run: RunId,
    #[schema(value_type = String)]
    pub project: ProjectId,
    #[schema(value_type = String)]
    pub status: ActionStatus,
    pub meaning: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The same reason as a code with parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub reason: Option<StatusReason>,
    pub tool: String,
    /// What would be done, in a line: the tool and the beginning of what it is given, from the sealed bytes and as they are. Told by the queue, by
    /// cards and to those who decide; mark what deceives before you show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The name of its agent, where `title` is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub kind: String,
    /// The digest of the sealed action.
    #[schema(value_type = String)]
    pub digest: Digest,
    /// What a reviewer approves: the action, the verdict and how they are shown. Send it as `If-Match`.
    #[schema(value_type = String)]
    pub review: Digest,
    pub verdict: VerdictView,
    pub approvals: Vec<ApprovalView>,
    pub approvals_missing: usize,
    #[schema(value_type = String)]
    pub proposer: IdentityId,
    /// What it replaces, if a reviewer amended what the agent proposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amendment: Option<AmendmentView>,
    /// The action that stands in its place, once it was amended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub superseded_by: Option<ActionId>,
    /// RFC 3339.
    pub deadline: String,
    pub attempt: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub evidence: Option<Digest>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct VerdictView {
    /// `A` automatic, `B` one reviewer, `C` two reviewers, `D` refused.
    pub tier: String,
    /// The sum of the reasons' weights, at most 1.
    pub risk: f64,
    #[schema(value_type = String)]
    pub policy: Digest,
    pub reasons: Vec<ReasonView>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ReasonView {
    pub rule: String,
    pub demands: String,
    pub weight: f64,
    pub because: String,
    /// The same reason as a code with parameters.
    #[schema(value_type = Object)]
    pub reason: Rationale,
}

impl From<&Verdict> for VerdictView {
    fn from(verdict: &Verdict) -> Self {
        let reason = |reason: &Reason| ReasonView {
            rule: reason.rule.clone(),
            demands: reason.demands.to_string(),
            weight: f64::from(reason.weight.hundredths()) / 100.0,
            because: reason.because.to_string(),
            reason: reason.because.clone(),
        };
        Self {
            tier: verdict.tier().to_string(),
            risk: f64::from(verdict.risk().hundredths()) / 100.0,
            policy: verdict.policy(),
            reasons: verdict.reasons().iter().map(reason).collect(),
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ApprovalView {
    #[schema(value_type = String)]
    pub reviewer: IdentityId,
    /// RFC 3339.
    pub expires_at: String,
    pub single_operator: bool,
    /// The order of its run by which it was given, without anybody looking at this very action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
    /// Whether a passkey of the reviewer signed it; the ledger has the signature.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub signed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AmendmentView {
    /// The action it replaces.
    #[schema(value_type = String)]
    pub of: ActionId,
    /// Everybody who changed it since the agent proposed it; the last one made this action.
    #[schema(value_type = Vec<String>)]
    pub amenders: Vec<IdentityId>,
    /// Whether it was no riskier than what it replaces, so that the amender's own yes counts.
    pub no_riskier: bool,
}

/// An action with everything that will be done.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ActionDetail {
    #[serde(flatten)]
    pub action: ActionView,
    /// The sealed bytes, as JSON.
    #[schema(value_type = Object)]
    pub spec: ActionSpec,
    /// What a reviewer may change: the same wish as it was proposed. Missing once its tool was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub proposal: Option<Proposal>,
    /// The agent's own words. Untrusted: not part of what is approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub justification: Option<String>,
    /// How it was interrupted, as long as it waits for a word on that. Not told to agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruption: Option<InterruptionView>,
}

/// How an execution broke off: whose it was, and when what happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InterruptionView {
    /// Which attempt it was. A word on it says which one it is about.
    pub attempt: u32,
    #[schema(value_type = String)]
    pub worker: IdentityId,
    pub worker_name: String,
    /// When the worker took it up. RFC 3339, as the times below.
    pub leased_at: String,
    /// When it began: from here on nobody knows what it did.
    pub started_at: String,
    /// When the worker last said that it is at it.
    pub heard_at: String,
    /// When it was given up waiting for the worker.
    pub interrupted_at: String,
}

/// What a run only rehearsed.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct EffectList {
    pub effects: Vec<ActionDetail>,
    /// There may be more: ask again with this as `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ActionList {
    pub actions: Vec<ActionView>,
    /// There may be more: ask again with this as `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// What waits for a person: what was interrupted, then what is undecided, the riskiest first.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct QueueView {
    pub actions: Vec<ActionView>,
    /// Where the rest of them begins, if there is any: send it as `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// Says yes to exactly what the `If-Match` header names.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Decision {}

/// Says yes to something else in the place of what the `If-Match` header names.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AmendmentRequest {
    /// Fields of the proposal: one that is named is replaced as a whole, `null` takes it away, the others stay.
    #[schema(value_type = Object)]
    pub changes: Map<String, Value>,
    /// Why; the agent reads it.
    pub reason: String,
}

/// A proposal by a signed webhook, with the run that it is for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedProposal {
    pub run: RunId,
    pub proposal: Proposal,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    pub reason: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Withdrawal {
    #[serde(default)]
    pub reason: String,
}

/// What to do with an action whose worker was lost.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ResolutionRequest {
    /// `retry` or `abandon`.
    #[schema(value_type = String)]
    pub resolution: Resolution,
    pub reason: String,
    /// The attempt that you looked at: where it was tried and interrupted again since, nothing is decided (412 `stale`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
}
