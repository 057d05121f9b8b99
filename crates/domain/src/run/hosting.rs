//! Hosting facet of a run: the worker that keeps the run's files and the process of its agent, and the outputs that it collected.
//!
//! The desired state of a hosted run is a function of the run's state ([`Run::wanted`]); the host reconciles with it and reports. So a host,
//! an agent and a control plane can each be lost and come back. Snapshots are a facet of their own ([`super::snapshots`]).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::launch::Launch;
use super::rule::{Giver, Rule};
use super::state::{Run, RunStatus};
use crate::canonical;
use crate::digest::Digest;
use crate::event_meta::{EventMeta, Phase};
use crate::id::IdentityId;
use crate::identity::Role;
use crate::refusal::Refusal;
use crate::scope::ScopePath;

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

/// State of the facet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostState {
    /// The worker that keeps the run's files and its agent's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<IdentityId>,
    /// Outputs, once they are collected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<Output>>,
    /// Inputs that the run removed, as far as that was collected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Outputs that a reviewer let out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exported: Option<Vec<u32>>,
    /// True once the host has removed everything and checked that nothing is left.
    pub destroyed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostingCommand {
    /// A worker takes the run in.
    Host,
    /// The host is about to start the agent, and needs a fresh credential for it.
    Equip,
    /// The host collected the outputs.
    Collect {
        outputs: Vec<Output>,
        /// Inputs that are gone.
        removed: Vec<String>,
    },
    /// The host removed everything and checked that nothing is left.
    Destroy,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum HostingEvent {
    Hosted {
        worker: IdentityId,
    },
    /// The host was given a fresh credential for the agent; the one before stopped working.
    Equipped,
    Collected {
        outputs: Vec<Output>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<String>,
    },
    Destroyed,
}

impl HostingEvent {
    pub(super) fn meta(&self) -> EventMeta {
        match self {
            Self::Hosted { .. } => EventMeta::new("run.hosted"),
            Self::Equipped => EventMeta::new("run.equipped"),
            Self::Collected { .. } => EventMeta::new("run.collected").closes(&[Phase::Collection]),
            Self::Destroyed => EventMeta::new("run.destroyed").closes(&[Phase::Destruction]),
        }
    }
}

impl HostingCommand {
    pub(super) fn rule(&self, run: &Run) -> Rule {
        let status = run.status;
        match self {
            Self::Host => Rule::new(status == RunStatus::SpawningSandbox, Giver::NewHost),
            Self::Equip => Rule::new(matches!(status, RunStatus::SpawningSandbox | RunStatus::Executing), Giver::Host),
            Self::Collect { .. } => Rule::new(status == RunStatus::PendingExport, Giver::Host),
            Self::Destroy => Rule::new(status.is_final() && !run.host.destroyed, Giver::Host),
        }
    }

    pub(super) const fn goes_on(&self) -> bool {
        matches!(self, Self::Host | Self::Equip)
    }
}

pub(super) fn decide(run: &Run, command: &HostingCommand, by: Option<IdentityId>) -> Result<HostingEvent, Refusal> {
    match command {
        HostingCommand::Host => {
            let worker = by.ok_or(Refusal::Role { needed: Role::Worker })?;
            Ok(HostingEvent::Hosted { worker })
        }
        HostingCommand::Equip => {
            is_wanted(run, Wanted::Running)?;
            Ok(HostingEvent::Equipped)
        }
        HostingCommand::Collect { outputs, removed } => collect(run, outputs, removed),
        HostingCommand::Destroy => Ok(HostingEvent::Destroyed),
    }
}

/// Refuses a report that is not what the host was asked for.
pub(super) fn is_wanted(run: &Run, report: Wanted) -> Result<(), Refusal> {
    if run.wanted() == report {
        return Ok(());
    }
    Err(Refusal::invalid("this is not what is wanted of the host now; ask again what is"))
}

fn collect(run: &Run, outputs: &[Output], removed: &[String]) -> Result<HostingEvent, Refusal> {
    is_wanted(run, Wanted::Collected)?;
    if !Output::fit(outputs) {
        return Err(Refusal::invalid("these are more outputs than can be recorded; have them packed together"));
    }
    let (mut seen, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for output in outputs {
        ScopePath::new(output.path.as_bytes()).map_err(|bad| Refusal::invalid(bad.to_string()))?;
        if !seen.insert(output.id) {
            return Err(Refusal::invalid(format!("two outputs have the number {}", output.id)));
        }
        if !paths.insert(&output.path) {
            return Err(Refusal::invalid(format!("two outputs have the path `{}`", output.path)));
        }
    }
    let inputs = || run.hosting.launch().into_iter().flat_map(|launch| &launch.inputs);
    if let Some(path) = removed.iter().find(|path| !inputs().any(|input| input.path.as_str() == path.as_str())) {
        return Err(Refusal::invalid(format!("`{path}` is no input of this run; only inputs can be missing")));
    }
    Ok(HostingEvent::Collected { outputs: outputs.to_vec(), removed: removed.to_vec() })
}

impl HostState {
    pub(super) fn evolve(&mut self, event: &HostingEvent) {
        match event {
            HostingEvent::Hosted { worker } => self.worker = Some(*worker),
            HostingEvent::Equipped => {}
            HostingEvent::Collected { outputs, removed } => {
                self.outputs = Some(outputs.clone());
                self.removed.clone_from(removed);
            }
            HostingEvent::Destroyed => self.destroyed = true,
        }
    }

    /// Forgets outputs that may have changed; they are collected again.
    pub(super) fn forget_outputs(&mut self) {
        self.outputs = None;
        self.removed.clear();
    }
}

impl Run {
    /// Desired state of the run on its host.
    pub fn wanted(&self) -> Wanted {
        if self.hosting.is_external() || self.host.destroyed {
            return Wanted::Nothing;
        }
        match self.status {
            RunStatus::Draft | RunStatus::PendingApproval | RunStatus::Approved => Wanted::Nothing,
            // The state before the agent has done anything is one to go back to.
            RunStatus::SpawningSandbox if self.snapshots.kept.is_empty() && self.host.worker.is_some() => {
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
            RunStatus::RolledBack => {
                self.snapshots.restoring.map_or(Wanted::Still, |number| Wanted::Restored { number })
            }
            // What is being performed may still change them.
            RunStatus::PendingExport if !self.rehearsal.performing.is_empty() => Wanted::Still,
            RunStatus::PendingExport if self.host.outputs.is_none() => Wanted::Collected,
            RunStatus::PendingExport => Wanted::Still,
            RunStatus::Completed | RunStatus::Cancelled if self.host.worker.is_none() => Wanted::Nothing,
            RunStatus::Completed | RunStatus::Cancelled => Wanted::Destroyed,
        }
    }

    /// Whether these bytes were collected here, and nobody has let them out.
    pub fn withholds(&self, digest: Digest) -> bool {
        self.collected(digest).next().is_some() && !self.lets_out(digest)
    }

    /// Whether a person let these bytes out, under whatever name.
    pub fn lets_out(&self, digest: Digest) -> bool {
        let is_out = |output: &Output| self.host.exported.as_ref().is_some_and(|ids| ids.contains(&output.id));
        self.collected(digest).any(is_out)
    }

    fn collected(&self, digest: Digest) -> impl Iterator<Item = &Output> {
        self.host.outputs.iter().flatten().filter(move |output| output.digest == digest)
    }

    /// Whether its agent was given these bytes, or made them.
    pub fn is_known_to_agent(&self, digest: Digest) -> bool {
        let launch = || self.hosting.launch().into_iter();
        launch().flat_map(|launch| &launch.files).any(|file| file.digest == digest)
            || launch().flat_map(|launch| &launch.inputs).any(|input| input.digest == Some(digest))
            || self.collected(digest).next().is_some()
    }
}
