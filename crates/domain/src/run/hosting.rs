//! Hosting: a worker that keeps a run's files and its agent's process.
//!
//! Nothing is ordered step by step. What is wanted is a function of the run's state; a host compares it with what there is, does what is
//! missing, and reports. So a host, an agent and a control plane can each be lost and come back without anybody losing the thread.

use serde::{Deserialize, Serialize};

use super::launch::Launch;
use super::state::{Run, RunStatus};
use crate::budget::Amounts;
use crate::canonical;
use crate::digest::Digest;
use crate::time::Timestamp;

/// Who runs the agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hosting {
    /// Somebody else: the agent comes by itself.
    #[default]
    External,
    /// A worker, in a cage.
    Hosted(Box<Launch>),
}

impl Hosting {
    pub const fn is_external(&self) -> bool {
        matches!(self, Self::External)
    }

    pub const fn launch(&self) -> Option<&Launch> {
        match self {
            Self::External => None,
            Self::Hosted(launch) => Some(launch),
        }
    }
}

/// What a host should bring about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Wanted {
    /// Nothing: it is not hosted, has not begun, or is all cleaned up.
    Nothing,
    /// The workspace is there and the agent's process runs.
    Running,
    /// Everything stays as it is.
    Still,
    /// No process of the run; its files stay.
    Stopped,
    /// The next snapshot, taken and verified.
    Snapshot { number: u32 },
    /// The files and memory as they were in this snapshot, and no process of the run.
    Restored { number: u32 },
    /// The outputs, collected and uploaded; the agent's process has ended.
    Collected,
    /// Nothing left: no process, no file.
    Destroyed,
}

/// A saved state that a run can go back to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Snapshot {
    pub number: u32,
    /// The gate at which it was taken; none at the very beginning, and where somebody asked for it in between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<u32>,
    /// Whether a person decided at that gate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decided: bool,
    pub taken_at: Timestamp,
    /// Digests of the files that the run changed, and of its agent's own directory.
    pub workspace: Digest,
    pub memory: Digest,
    pub files: u64,
    pub size_bytes: u64,
    /// How many steps of the plan were done.
    pub steps_done: u32,
    /// What had been spent. It stays spent.
    pub spent: Amounts,
}

/// A run's outputs are part of its state, which is read with every action.
const MOST_OUTPUTS: usize = 1_000;
/// All of them are one entry of the ledger, which holds 65,535 bytes; the rest is for what else it says.
const MOST_OUTPUT_BYTES: usize = 56 << 10;

/// A file that a run made, as it was collected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    pub id: u32,
    pub path: String,
    pub digest: Digest,
    pub size_bytes: u64,
    /// Whether it can be run as a program.
    #[serde(default, skip_serializing_if = "is_false")]
    pub executable: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl Output {
    /// Whether so many can be recorded together.
    pub fn fit(outputs: &[Self]) -> bool {
        outputs.len() <= MOST_OUTPUTS && canonical::to_bytes(&outputs).len() <= MOST_OUTPUT_BYTES
    }
}

impl Run {
    /// What its host should bring about now.
    pub fn wanted(&self) -> Wanted {
        if self.hosting.is_external() || self.destroyed {
            return Wanted::Nothing;
        }
        match self.status {
            RunStatus::Draft | RunStatus::PendingApproval | RunStatus::Approved => Wanted::Nothing,
            // The state before the agent has done anything is one to go back to.
            RunStatus::SpawningSandbox if self.snapshots.is_empty() && self.host.is_some() => {
                Wanted::Snapshot { number: 0 }
            }
            RunStatus::Executing if self.clock.halted => Wanted::Stopped,
            RunStatus::Executing => self.asked_snapshot().unwrap_or(Wanted::Running),
            RunStatus::SpawningSandbox => Wanted::Running,
            RunStatus::CheckpointReached => {
                self.snapshot_missing().or_else(|| self.asked_snapshot()).unwrap_or(Wanted::Still)
            }
            RunStatus::Paused => self.asked_snapshot().unwrap_or(Wanted::Still),
            RunStatus::Failed => Wanted::Stopped,
            RunStatus::RolledBack => self.restoring.map_or(Wanted::Still, |number| Wanted::Restored { number }),
            // What is being performed may still change them.
            RunStatus::PendingExport if !self.performing.is_empty() => Wanted::Still,
            RunStatus::PendingExport if self.outputs.is_none() => Wanted::Collected,
            RunStatus::PendingExport => Wanted::Still,
            RunStatus::Completed | RunStatus::Cancelled if self.host.is_none() => Wanted::Nothing,
            RunStatus::Completed | RunStatus::Cancelled => Wanted::Destroyed,
        }
    }

    /// Whether what was before a checkpoint is not saved yet.
    pub(super) fn needs_a_snapshot(&self) -> bool {
        !self.hosting.is_external() && self.gate.as_ref().is_some_and(|gate| gate.snapshot.is_none())
    }

    fn snapshot_missing(&self) -> Option<Wanted> {
        let gate = self.gate.as_ref()?;
        gate.snapshot.is_none().then(|| Wanted::Snapshot { number: self.next_snapshot() })
    }

    fn asked_snapshot(&self) -> Option<Wanted> {
        self.snapshot_asked.then(|| Wanted::Snapshot { number: self.next_snapshot() })
    }

    pub(super) fn next_snapshot(&self) -> u32 {
        self.snapshots.last().map_or(0, |last| last.number.saturating_add(1))
    }

    /// Whether these bytes were collected here, and nobody has let them out.
    pub fn withholds(&self, digest: Digest) -> bool {
        self.collected(digest).next().is_some() && !self.lets_out(digest)
    }

    /// Whether a person let these bytes out, under whatever name.
    pub fn lets_out(&self, digest: Digest) -> bool {
        let is_out = |output: &Output| self.exported.as_ref().is_some_and(|ids| ids.contains(&output.id));
        self.collected(digest).any(is_out)
    }

    fn collected(&self, digest: Digest) -> impl Iterator<Item = &Output> {
        self.outputs.iter().flatten().filter(move |output| output.digest == digest)
    }

    /// Whether its agent was given these bytes, or made them.
    pub fn is_known_to_agent(&self, digest: Digest) -> bool {
        let launch = || self.hosting.launch().into_iter();
        launch().flat_map(|launch| &launch.files).any(|file| file.digest == digest)
            || launch().flat_map(|launch| &launch.inputs).any(|input| input.digest == Some(digest))
            || self.collected(digest).next().is_some()
    }

    pub fn snapshot(&self, number: u32) -> Option<&Snapshot> {
        self.snapshots.iter().find(|snapshot| snapshot.number == number)
    }
}
