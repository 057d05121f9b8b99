//! Snapshots facet of a run: saved states of its files and of its agent's memory, which a rollback returns to.
//!
//! The host takes and restores them; a rollback itself is a step of the lifecycle. The number of kept snapshots is bounded
//! ([`super::retention`]).

use serde::{Deserialize, Serialize};

use super::hosting::{Wanted, is_wanted};
use super::retention;
use super::rule::{Giver, Rule};
use super::state::{Run, RunStatus};
use super::text::check_short;
use crate::budget::Amounts;
use crate::digest::Digest;
use crate::event_meta::{EventMeta, Phase};
use crate::reason::HostFault;
use crate::refusal::{Obstacle, Refusal};
use crate::time::Timestamp;

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

/// State of the facet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Snapshots {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Snapshot>,
    /// True if a person asked for a snapshot that is not taken yet.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
    /// Reason why the last snapshot that a person asked for failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsaved: Option<HostFault>,
    /// Number of the snapshot that the host is restoring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restoring: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SnapshotCommand {
    /// A person wants the current state saved, to be able to return to it.
    Ask { reason: String },
    /// The host could not take the snapshot that a person asked for.
    Fail { fault: HostFault },
    /// The host took a snapshot and verified that it can be restored.
    Keep { number: u32, workspace: Digest, memory: Digest, files: u64, size_bytes: u64 },
    /// The host restored a snapshot.
    Restore { number: u32, workspace: Digest, memory: Digest },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum SnapshotEvent {
    Asked {
        reason: String,
    },
    Kept {
        number: u32,
        workspace: Digest,
        memory: Digest,
        files: u64,
        size_bytes: u64,
    },
    /// The snapshot that a person asked for failed; the run goes on without it.
    Failed {
        fault: HostFault,
    },
    /// Older snapshots were removed because there are enough newer ones. The ledger still records that they existed.
    Forgotten {
        numbers: Vec<u32>,
    },
    Restored {
        number: u32,
    },
}

impl SnapshotEvent {
    pub(super) fn meta(&self) -> EventMeta {
        match self {
            Self::Asked { .. } => EventMeta::new("run.snapshot_asked"),
            Self::Kept { .. } => EventMeta::new("run.snapshot_kept").moment("snapshot"),
            Self::Failed { .. } => EventMeta::new("run.snapshot_failed"),
            Self::Forgotten { .. } => EventMeta::new("run.snapshots_forgotten"),
            Self::Restored { .. } => EventMeta::new("run.restored").closes(&[Phase::Rollback]),
        }
    }
}

impl SnapshotCommand {
    pub(super) fn rule(&self, run: &Run) -> Rule {
        let (status, asked) = (run.status, run.snapshots.asked);
        let stands = matches!(status, RunStatus::Executing | RunStatus::CheckpointReached | RunStatus::Paused);
        match self {
            Self::Ask { .. } => Rule::new(stands, Giver::OperatorOrReviewer),
            Self::Fail { .. } => Rule::new(asked && stands, Giver::Host),
            Self::Keep { .. } => {
                let due = matches!(status, RunStatus::SpawningSandbox | RunStatus::CheckpointReached);
                Rule::new(due || asked && matches!(status, RunStatus::Executing | RunStatus::Paused), Giver::Host)
            }
            Self::Restore { .. } => Rule::new(status == RunStatus::RolledBack, Giver::Host),
        }
    }

    pub(super) fn check_text(&self) -> Result<(), Refusal> {
        match self {
            Self::Ask { reason } => check_short(reason),
            Self::Fail { fault } => fault.check(),
            Self::Keep { .. } | Self::Restore { .. } => Ok(()),
        }
    }
}

pub(super) fn decide(run: &Run, command: &SnapshotCommand, now: Timestamp) -> Result<Vec<SnapshotEvent>, Refusal> {
    match command {
        SnapshotCommand::Ask { reason } => ask(run, reason).map(|event| vec![event]),
        SnapshotCommand::Fail { fault } => fail(run, fault).map(|event| vec![event]),
        SnapshotCommand::Keep { number, workspace, memory, files, size_bytes } => {
            let (number, workspace, memory) = (*number, *workspace, *memory);
            is_wanted(run, Wanted::Snapshot { number })?;
            let kept = SnapshotEvent::Kept { number, workspace, memory, files: *files, size_bytes: *size_bytes };
            Ok(retention::with_retention(run, kept, now))
        }
        SnapshotCommand::Restore { number, workspace, memory } => {
            restore(run, *number, *workspace, *memory).map(|event| vec![event])
        }
    }
}

/// Only a host can save a run, and one that is about to save it need not be asked.
fn ask(run: &Run, reason: &str) -> Result<SnapshotEvent, Refusal> {
    if run.hosting.is_external() {
        return Err(Refusal::invalid("no worker hosts this run, so nobody can save it: its agent comes by itself"));
    }
    if run.snapshots.asked || matches!(run.wanted(), Wanted::Snapshot { .. }) {
        return Err(Refusal::not_now("saved", Obstacle::SavingAlready));
    }
    Ok(SnapshotEvent::Asked { reason: reason.to_owned() })
}

/// The run goes on without a snapshot that a person asked for, but not without one that a checkpoint needs.
fn fail(run: &Run, fault: &HostFault) -> Result<SnapshotEvent, Refusal> {
    if run.status == RunStatus::CheckpointReached && run.needs_a_snapshot() {
        return Err(Refusal::invalid("this checkpoint needs the snapshot; the run cannot go on without it"));
    }
    Ok(SnapshotEvent::Failed { fault: fault.clone() })
}

fn restore(run: &Run, number: u32, workspace: Digest, memory: Digest) -> Result<SnapshotEvent, Refusal> {
    is_wanted(run, Wanted::Restored { number })?;
    let kept = run.snapshot(number).ok_or(Refusal::Unknown { what: "snapshot" })?;
    if (kept.workspace, kept.memory) != (workspace, memory) {
        return Err(Refusal::invalid("what was restored is not what was saved; it does not count"));
    }
    Ok(SnapshotEvent::Restored { number })
}

/// State of the run when a snapshot is taken.
pub(super) struct Surroundings {
    /// Number of the checkpoint that gets this snapshot.
    pub(super) gate: Option<u32>,
    pub(super) steps_done: u32,
    pub(super) spent: Amounts,
    pub(super) at: Timestamp,
}

impl Snapshots {
    pub(super) fn evolve(&mut self, event: &SnapshotEvent, around: &Surroundings) {
        match event {
            SnapshotEvent::Asked { .. } => (self.asked, self.unsaved) = (true, None),
            SnapshotEvent::Kept { number, workspace, memory, files, size_bytes } => {
                self.asked = false;
                self.kept.push(Snapshot {
                    number: *number,
                    gate: around.gate,
                    decided: false,
                    taken_at: around.at,
                    workspace: *workspace,
                    memory: *memory,
                    files: *files,
                    size_bytes: *size_bytes,
                    steps_done: around.steps_done,
                    spent: around.spent,
                });
            }
            SnapshotEvent::Failed { fault } => (self.asked, self.unsaved) = (false, Some(fault.clone())),
            SnapshotEvent::Forgotten { numbers } => self.kept.retain(|kept| !numbers.contains(&kept.number)),
            SnapshotEvent::Restored { .. } => self.restoring = None,
        }
    }

    /// Marks a snapshot at which a person decided: it is kept longer.
    pub(super) fn mark_decided(&mut self, number: u32) {
        self.kept.iter_mut().filter(|kept| kept.number == number).for_each(|kept| kept.decided = true);
    }
}

impl Run {
    /// Whether what was before a checkpoint is not saved yet.
    pub(super) fn needs_a_snapshot(&self) -> bool {
        !self.hosting.is_external() && self.gate.as_ref().is_some_and(|gate| gate.snapshot.is_none())
    }

    pub(super) fn snapshot_missing(&self) -> Option<Wanted> {
        let gate = self.gate.as_ref()?;
        gate.snapshot.is_none().then(|| Wanted::Snapshot { number: self.next_snapshot() })
    }

    pub(super) fn asked_snapshot(&self) -> Option<Wanted> {
        self.snapshots.asked.then(|| Wanted::Snapshot { number: self.next_snapshot() })
    }

    pub(super) fn next_snapshot(&self) -> u32 {
        self.snapshots.kept.last().map_or(0, |last| last.number.saturating_add(1))
    }

    pub fn snapshot(&self, number: u32) -> Option<&Snapshot> {
        self.snapshots.kept.iter().find(|snapshot| snapshot.number == number)
    }
}
