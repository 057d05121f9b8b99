//! Queries: what may stand behind the `?` of an endpoint.

use placet_domain::digest::Digest;
use placet_domain::id::ProjectId;
use placet_domain::worktree::Ticket;
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// Question of a client that verifies the server.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct HealthQuery {
    /// A fresh nonce of at most 64 characters; the server signs it together with the address that you dialled.
    pub question: Option<String>,
}

/// Page of a list of runs, from new to old.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct RunQuery {
    /// Only runs of this project.
    #[param(value_type = Option<String>)]
    pub project: Option<ProjectId>,
    /// Only runs made before the entry with this number.
    pub after: Option<u64>,
    /// Maximum number of rows.
    pub limit: Option<u32>,
}

/// Time to wait for the host of a run.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct PreviewQuery {
    /// Milliseconds to wait for the host.
    #[serde(default)]
    pub wait_ms: u64,
}

/// Page of the model calls of a run, from old to new.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct CallQuery {
    /// Only entries after the one with this number.
    pub after: Option<u64>,
}

/// Page of the audit trail of a run, from old to new.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct AuditQuery {
    /// Only entries after the one with this number.
    pub after: Option<u64>,
    /// Maximum number of rows.
    pub limit: Option<u32>,
}

/// Position in a log, and the time to wait for more of it.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct LogQuery {
    /// `next` of the last answer. Without it the answer has everything that is kept.
    #[serde(default)]
    pub after: u64,
    /// Milliseconds to wait for more.
    #[serde(default)]
    pub wait_ms: u64,
}

/// Page of a list of worktrees, from old to new.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct WorktreeQuery {
    /// Only worktrees of this project.
    #[param(value_type = Option<String>)]
    pub project: Option<ProjectId>,
    /// Only worktrees for this ticket.
    #[param(value_type = Option<String>)]
    pub ticket: Option<Ticket>,
    /// Only worktrees made after the entry with this number.
    pub after: Option<u64>,
    /// Maximum number of rows.
    pub limit: Option<u32>,
}

/// Position in the notices of the caller.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct NoticeQuery {
    /// Only what happened after the entry with this number.
    pub after: Option<u64>,
}

/// Page of a list of actions, from old to new.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// Only what was made after the entry with this number.
    pub after: Option<u64>,
    /// Maximum number of rows.
    pub limit: Option<u32>,
}

/// Page of the queue.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct QueueQuery {
    /// Only actions of this project.
    #[param(value_type = Option<String>)]
    pub project: Option<ProjectId>,
    /// Maximum number of rows, up to 1,000.
    pub limit: Option<u32>,
    /// Only rows after this place: `next` of the previous answer.
    pub after: Option<String>,
}

/// Page and filter of the inbox.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct InboxQuery {
    /// Only what belongs to this project.
    #[param(value_type = Option<String>)]
    pub project: Option<ProjectId>,
    /// Maximum number of actions, up to 200.
    pub limit: Option<u32>,
    /// Only actions of this tier: `B` or `C`.
    pub tier: Option<String>,
    /// `mine`: only what you may still approve, beginning with what is assigned to you; `others`: only what waits for other people;
    /// `aside`: only what you snoozed. Without it the answer has all of them.
    pub whose: Option<String>,
    /// Only rows after this place: `next` of the previous answer.
    pub after: Option<String>,
}

/// Start and filter of the stream of all runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct StreamQuery {
    /// Only what belongs to this project.
    #[param(value_type = Option<String>)]
    pub project: Option<ProjectId>,
    /// Begin with this many of the newest events, up to 200, instead of with the next one. `Last-Event-ID` takes precedence.
    pub last: Option<u32>,
}

/// Filter of the summary of decisions.
#[derive(Debug, Clone, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct SummaryQuery {
    /// Only decisions of this project.
    #[param(value_type = Option<String>)]
    pub project: Option<ProjectId>,
}

/// Choice among the manifests of an action.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct ManifestQuery {
    /// Another manifest that was reported for the action than the one that counts.
    #[param(value_type = Option<String>)]
    pub digest: Option<Digest>,
}

/// Page of the entries of the ledger, from old to new.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct EntryQuery {
    /// Only entries after the one with this number.
    pub after: Option<u64>,
    /// Maximum number of rows.
    pub limit: Option<u32>,
}

/// Entry to prove.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct ProofQuery {
    /// The number of the entry.
    pub seq: u64,
}

/// Two sizes of the ledger.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub struct ConsistencyQuery {
    /// The size of the older head.
    pub from: u64,
    /// The size of the newer one.
    pub to: u64,
}
