//! Worktrees, and who has which duty for them.

use placet_domain::digest::Digest;
use placet_domain::id::{IdentityId, ProjectId, WorktreeId};
use placet_domain::scope::Glob;
use placet_domain::worktree::{
    Advice, BranchName, CommitId, DoneItem, Duties, Exemption, Manifest, Opening, Work, Worktree, WorktreeStatus,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Who is accountable, responsible, consulted and informed: `start`, `execute`, `scope_check`, `close`, `merge`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DutyTable {
    #[schema(value_type = Object)]
    pub duties: Duties,
}

/// An agent is given a ticket. The id of the worktree follows from project, ticket and agent.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWorktree {
    #[schema(value_type = Object)]
    pub opening: Opening,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkReport {
    /// `began`, `executed`, `harvested`, `checked`, `pushed`, `collected` or `advised`, with its fields.
    #[schema(value_type = Object)]
    pub work: Work,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExemptionRequest {
    #[schema(value_type = Vec<String>)]
    pub paths: Vec<Glob>,
    pub reason: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Closing {
    /// Where the branch is.
    #[schema(value_type = String)]
    pub tip: CommitId,
    /// The digest of REPORT.md.
    #[schema(value_type = String)]
    pub report: Digest,
    #[schema(value_type = Vec<Object>)]
    pub items: Vec<DoneItem>,
    /// Why it is closed although an item does not hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Merging {
    #[schema(value_type = String)]
    pub into: BranchName,
    #[schema(value_type = String)]
    pub commit: CommitId,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WorktreeView {
    #[schema(value_type = String)]
    pub id: WorktreeId,
    #[schema(value_type = String)]
    pub project: ProjectId,
    #[schema(value_type = String)]
    pub status: WorktreeStatus,
    /// What the status means.
    pub meaning: String,
    pub sitting: u32,
    #[schema(value_type = Object)]
    pub opening: Opening,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub opened_by: Option<IdentityId>,
    pub exemptions: Vec<ExemptionView>,
    #[schema(value_type = String)]
    pub tip: CommitId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub report: Option<Digest>,
    #[schema(value_type = Vec<Object>)]
    pub items: Vec<DoneItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// The commit with which its work was taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub merged: Option<CommitId>,
    /// Advice of consulted people on operations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub advice: Vec<Advice>,
    /// When it was first made and last changed, where it comes from a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct ExemptionView {
    pub number: usize,
    #[schema(value_type = Object)]
    pub exemption: Exemption,
    /// What a reviewer grants; send it as `If-Match`.
    #[schema(value_type = String)]
    pub review: Digest,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WorktreeList {
    pub worktrees: Vec<WorktreeView>,
    /// There may be more: ask again with this as `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// Something a person is to be told.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Notice {
    pub seq: u64,
    pub at: String,
    pub event: String,
    #[schema(value_type = String)]
    pub worktree: WorktreeId,
    pub ticket: String,
    pub agent: String,
    pub actor: String,
    /// Operations on which you are consulted and have not answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consulted_on: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NoticeList {
    pub notices: Vec<Notice>,
    /// Everything up to here was looked at: ask again with this as `after`.
    pub next: u64,
}

impl From<Worktree> for WorktreeView {
    fn from(worktree: Worktree) -> Self {
        let numbered = worktree.exemptions.iter().enumerate();
        let exemptions = numbered.filter_map(|(number, exemption)| {
            let review = worktree.exemption_review(number)?;
            Some(ExemptionView { number, exemption: exemption.clone(), review })
        });
        Self {
            exemptions: exemptions.collect(),
            id: worktree.id,
            project: worktree.project,
            status: worktree.status,
            meaning: worktree.status.meaning().to_owned(),
            sitting: worktree.sitting,
            opening: worktree.opening,
            opened_by: worktree.opened_by,
            tip: worktree.tip,
            report: worktree.report,
            items: worktree.items,
            forced: worktree.forced,
            because: worktree.because,
            merged: worktree.merged,
            advice: worktree.advice,
            changed_at: None,
        }
    }
}

impl WorktreeView {
    /// The globs that were exempted from protection.
    pub fn exempted(&self) -> Vec<Glob> {
        let granted = self.exemptions.iter().filter(|view| view.exemption.granted == Some(true));
        granted.flat_map(|view| view.exemption.paths.iter().cloned()).collect()
    }

    pub const fn manifest(&self) -> &Manifest {
        &self.opening.manifest
    }
}
