//! Gates: where a run stands still until a person decides. People and paths call them checkpoints.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::budget::Resource;
use crate::id::ActionId;
use crate::proposal::ActionKind;
use crate::reason::StatusReason;
use crate::time::Timestamp;

/// Why a run stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GateKind {
    /// It has worked for so long.
    Time,
    /// A step of the plan is done, or the agent asks for a look at what it has.
    Step,
    /// An action of a kind that always asks waits for a decision.
    Action,
    /// So much of a limit is used.
    Cost,
    /// Its agent has asked people too often.
    Questions,
}

impl GateKind {
    pub const ALL: &[Self] = &[Self::Time, Self::Step, Self::Action, Self::Cost, Self::Questions];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Time => "TIME",
            Self::Step => "STEP",
            Self::Action => "ACTION",
            Self::Cost => "COST",
            Self::Questions => "QUESTIONS",
        }
    }

    /// Whether silence may ever let it pass. What spends, acts or asks too much waits for a person, however long that takes.
    pub const fn may_pass_by_itself(self) -> bool {
        match self {
            Self::Time | Self::Step => true,
            Self::Action | Self::Cost | Self::Questions => false,
        }
    }
}

impl fmt::Display for GateKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What kinds of action mean for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// Always a checkpoint, in every mode and under every policy.
    Always,
    /// A checkpoint where the run says so.
    Configurable,
    /// Recorded, never a checkpoint.
    Monitored,
}

pub const fn watch(kind: ActionKind) -> Watch {
    match kind {
        ActionKind::SendEmail
        | ActionKind::SubmitForm
        | ActionKind::MakePayment
        | ActionKind::DeleteFile
        | ActionKind::PublishContent
        | ActionKind::DatabaseWrite => Watch::Always,
        ActionKind::CreateFile
        | ActionKind::ModifyFile
        | ActionKind::NavigateNewDomain
        | ActionKind::ExecuteCode
        | ActionKind::NetworkScan
        | ActionKind::HttpRequest => Watch::Configurable,
        ActionKind::ReadFile | ActionKind::SearchWeb | ActionKind::TakeScreenshot => Watch::Monitored,
    }
}

/// One standstill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// The how-many-th of its run, from 1.
    pub number: u32,
    pub kind: GateKind,
    pub reason: StatusReason,
    /// The action that waits, at a gate of kind ACTION.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<ActionId>,
    /// What is nearly used up, at a gate of kind COST.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<Resource>,
    /// What the agent says of all it did, where it wants to finish before the looks that were agreed. Whoever lets it pass ends the
    /// work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finishes: Option<String>,
    pub reached_at: Timestamp,
    /// When silence lets it pass, where that is allowed at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes_at: Option<Timestamp>,
    /// The snapshot that was taken here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<u32>,
}

/// How often a run stood at a gate and what came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GateCount {
    pub reached: u32,
    pub approved: u32,
    pub rejected: u32,
    /// How many in a row were taken back before a person had decided.
    #[serde(skip_serializing_if = "is_zero")]
    pub unseen: u32,
}

impl GateCount {
    /// So often an agent asks and takes back before somebody looks at what it does.
    const MOST_UNSEEN: u32 = 20;

    /// A person let it pass.
    pub(super) const fn and_approved(self) -> Self {
        Self { unseen: 0, ..self.and_lapsed() }
    }

    /// Nobody looked in time, and that let it pass.
    pub(super) const fn and_lapsed(self) -> Self {
        Self { approved: self.approved.saturating_add(1), ..self }
    }

    pub(super) const fn and_rejected(self) -> Self {
        Self { rejected: self.rejected.saturating_add(1), unseen: 0, ..self }
    }

    pub(super) const fn is_enough(self) -> bool {
        self.unseen >= Self::MOST_UNSEEN
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over references")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}
