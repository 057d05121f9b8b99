//! When a run came how far, and where it last stood still. Times of entries, kept so that durations and waits need no second
//! look at the ledger.

use serde::{Deserialize, Serialize};

use super::gate::GateKind;
use super::state::RunStatus;
use crate::time::Timestamp;

/// When each part of a run's way was behind it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Milestones {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When its plan was approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<Timestamp>,
    /// When its agent first was at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached_at: Option<Timestamp>,
    /// When its results were there, as long as nobody sent them back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// When it completed, failed or was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl Milestones {
    pub(super) fn begin(at: Timestamp) -> Self {
        Self { created_at: Some(at), ..Self::default() }
    }

    pub(super) fn mark(&mut self, status: RunStatus, at: Timestamp) {
        match status {
            RunStatus::Approved => self.approved_at = Some(at),
            RunStatus::Executing => {
                self.attached_at.get_or_insert(at);
                (self.finished_at, self.ended_at) = (None, None);
            }
            RunStatus::RolledBack => (self.finished_at, self.ended_at) = (None, None),
            RunStatus::PendingExport => self.finished_at = Some(at),
            RunStatus::Completed | RunStatus::Failed | RunStatus::Cancelled => self.ended_at = Some(at),
            RunStatus::Draft
            | RunStatus::PendingApproval
            | RunStatus::SpawningSandbox
            | RunStatus::CheckpointReached
            | RunStatus::Paused => {}
        }
    }
}

/// What a person is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    Plan,
    Checkpoint(GateKind),
    Results,
}

impl Question {
    /// In a word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Checkpoint(kind) => kind.as_str(),
            Self::Results => "results",
        }
    }
}

/// Where a run last stood still for a person, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standstill {
    pub asks: Question,
    pub since: Timestamp,
}
