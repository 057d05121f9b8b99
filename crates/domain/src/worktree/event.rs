//! What happened to a worktree. Each event is one ledger entry.

use serde::{Deserialize, Serialize};

use super::command::Work;
use super::duty::{Operation, Person};
use super::name::{BranchName, CommitId};
use super::state::{Advice, DoneItem, Opening};
use crate::digest::Digest;
use crate::event_meta::EventMeta;
use crate::id::{IdentityId, ProjectId, WorktreeId};
use crate::identity::Lineage;
use crate::notice::NoticeKind;
use crate::reason::StatusReason;
use crate::scope::Glob;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum WorktreeEvent {
    Opening {
        project: ProjectId,
        opening: Box<Opening>,
        by: Option<IdentityId>,
        /// Ancestors of the identity in `by`, here and below.
        #[serde(default, skip_serializing_if = "Lineage::is_empty")]
        lineage: Lineage,
    },
    Opened,
    Adopted {
        found: String,
    },
    Noted {
        work: Work,
    },
    /// A consulted person gave advice on an operation.
    Advised {
        advice: Advice,
    },
    ExemptionAsked {
        paths: Vec<Glob>,
        reason: String,
        by: Option<IdentityId>,
        #[serde(default, skip_serializing_if = "Lineage::is_empty")]
        lineage: Lineage,
    },
    ExemptionGranted {
        number: usize,
        seen: Digest,
        single_operator: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<IdentityId>,
    },
    /// The reviewer who granted the exemption was revoked. It waits for a decision again.
    ExemptionVoided {
        number: usize,
        reason: StatusReason,
    },
    ExemptionRefused {
        number: usize,
        reason: String,
    },
    Closed {
        tip: CommitId,
        report: Digest,
        items: Vec<DoneItem>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forced: Option<String>,
    },
    Merged {
        into: BranchName,
        commit: CommitId,
    },
    Aborted {
        reason: String,
    },
}

impl WorktreeEvent {
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Opening { .. } => "worktree.opening",
            Self::Opened => "worktree.opened",
            Self::Adopted { .. } => "worktree.adopted",
            Self::Noted { work } => match work {
                Work::Began { .. } => "worktree.began",
                Work::Executed { .. } => "worktree.executed",
                Work::Harvested { .. } => "worktree.harvested",
                Work::Checked { .. } => "worktree.checked",
                Work::Pushing { .. } => "worktree.pushing",
                Work::Pushed { .. } => "worktree.pushed",
                Work::Collected { .. } => "worktree.collected",
                Work::Advised { .. } => "worktree.advised",
            },
            Self::Advised { .. } => "worktree.advised",
            Self::ExemptionAsked { .. } => "worktree.exemption_asked",
            Self::ExemptionGranted { .. } => "worktree.exemption_granted",
            Self::ExemptionVoided { .. } => "worktree.exemption_voided",
            Self::ExemptionRefused { .. } => "worktree.exemption_refused",
            Self::Closed { .. } => "worktree.closed",
            Self::Merged { .. } => "worktree.merged",
            Self::Aborted { .. } => "worktree.aborted",
        }
    }
}

/// An event with whose it is and who is told of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorktreeNews {
    pub worktree: WorktreeId,
    /// Whom the duties name as informed, at that moment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub informed: Vec<Person>,
    /// People whom the duties list as consulted: on an operation that can now be decided, and on the one that this event
    /// decides, with their advice. The decision does not wait for them; a missing answer is recorded as such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consulted: Vec<Consultation>,
    pub event: WorktreeEvent,
}

/// One consulted person or role, with their advice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consultation {
    pub on: Operation,
    pub person: Person,
    /// Latest advice by a person that this entry matches. `None` until one has answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
}

impl WorktreeNews {
    /// Metadata of the event. Informed people are notified, and consulted ones who have not answered.
    pub fn meta(&self) -> EventMeta {
        let meta = EventMeta::new(self.event.kind());
        if self.notified().next().is_some() { meta.notice(NoticeKind::Informed) } else { meta }
    }

    /// People whom the notice of this event concerns.
    pub fn notified(&self) -> impl Iterator<Item = &Person> {
        let asked = self.consulted.iter().filter(|asked| asked.said.is_none()).map(|asked| &asked.person);
        self.informed.iter().chain(asked)
    }
}
