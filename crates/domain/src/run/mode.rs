//! How a run is carried out: who is asked when, and what really happens.
//!
//! There is no mode without a person: every run stands still for its plan and for its results.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::call::check_models;
use super::gate::{Watch, watch};
use crate::proposal::{ActionKind, ActionSpec};
use crate::refusal::Refusal;

/// When a person is asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Mode {
    /// What others would notice is judged, sealed and kept instead of done.
    Simulation,
    /// Every action asks.
    Supervised,
    /// Free between checkpoints.
    #[default]
    Checkpoint,
}

impl Mode {
    pub const ALL: &[Self] = &[Self::Simulation, Self::Supervised, Self::Checkpoint];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Simulation => "SIMULATION",
            Self::Supervised => "SUPERVISED",
            Self::Checkpoint => "CHECKPOINT",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How far actions go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Judged and logged, never executed.
    DryRun,
    /// Only what changes nothing.
    Observe,
    #[default]
    Execute,
}

impl Effect {
    pub const ALL: &[Self] = &[Self::DryRun, Self::Observe, Self::Execute];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DryRun => "dry_run",
            Self::Observe => "observe",
            Self::Execute => "execute",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What becomes of an action that nobody refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// It is executed.
    Perform,
    /// Its bytes are kept and shown, and nothing is executed.
    Rehearse,
}

/// Where a run stands still although nobody asked it to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GateRules {
    /// After every so many steps of the plan; the last step is followed by the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_steps: Option<u32>,
    /// After the steps of these numbers.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub after: BTreeSet<u32>,
    /// After so much time at work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<u64>,
    /// Before actions of these kinds, beside those that always ask.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub before: BTreeSet<ActionKind>,
    /// A checkpoint of kind TIME or STEP that nobody looked at for so long is passed. Never anything else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_pass_after_ms: Option<u64>,
}

impl GateRules {
    /// What is to happen after nothing would happen all the time, or be passed before anybody could look.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let never = [
            ("every_steps", self.every_steps == Some(0)),
            ("every_ms", self.every_ms == Some(0)),
            ("auto_pass_after_ms", self.auto_pass_after_ms == Some(0)),
        ];
        match never.into_iter().find(|(_, zero)| *zero) {
            Some((rule, _)) => {
                Err(Refusal::invalid(format!("`{rule}` is at least 1; leave it out if it is not wanted")))
            }
            None => Ok(()),
        }
    }
}

/// Mode, effect and checkpoints of a run: part of what is approved with its plan, and never changed after.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Posture {
    pub mode: Mode,
    pub effect: Effect,
    pub gates: GateRules,
    /// Which models its agent may call (`claude-*`); without any, those that the gateway serves.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub models: BTreeSet<String>,
}

impl Posture {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        self.gates.check()?;
        check_models(self.models.iter())
    }

    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a person looks when so many of the plan's steps are done. After the last one come the results, which are a
    /// standstill of their own.
    pub(super) fn stops_after(&self, step: u32, of_steps: u32) -> bool {
        let rules = &self.gates;
        let is_due = rules.every_steps.is_some_and(|every| every > 0 && step.is_multiple_of(every));
        step < of_steps && (is_due || rules.after.contains(&step))
    }

    /// Whether actions of this kind bring the run to a checkpoint.
    pub fn stops_before(&self, kind: ActionKind) -> bool {
        watch(kind) == Watch::Always || self.gates.before.contains(&kind)
    }

    pub fn treatment(&self, spec: &ActionSpec) -> Treatment {
        let noticed = self.mode == Mode::Simulation && spec.reaches_others();
        if self.effect == Effect::DryRun || noticed { Treatment::Rehearse } else { Treatment::Perform }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_and_effects_print_as_they_are_written() {
        for mode in Mode::ALL {
            assert_eq!(serde_json::to_value(mode).unwrap(), mode.as_str());
        }
        for effect in Effect::ALL {
            assert_eq!(serde_json::to_value(effect).unwrap(), effect.as_str());
        }
    }
}
