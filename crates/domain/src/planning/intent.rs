//! What a person wants, in the form it is written down. Step 1 of the pipeline; nothing is judged here.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{BaseFolder, Input};
use crate::budget::Ceiling;
use crate::catalogue::{Capability, EntryId, TemplateId};
use crate::proposal::ToolName;
use crate::prose::Prose;
use crate::run::{Effect, Mode};
use crate::scope::{Glob, TargetRule};

/// What is wanted. Only a goal is needed; the rest narrows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Intent {
    pub goal: Prose<2000>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// Which files shall come out of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<Glob>,
    #[serde(default, skip_serializing_if = "Constraints::is_empty")]
    pub constraints: Constraints,
    /// When it counts as done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub done: Vec<Prose<500>>,
    /// A declared plan, instead of a template.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<DeclaredStep>,
    /// The language model that wrote the steps, if none of ours did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planner: Option<Prose<128>>,
    /// A template, instead of declared steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<TemplateId>,
    /// This agent and no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<EntryId>,
    #[serde(default = "usual_mode")]
    pub mode: Mode,
    #[serde(default = "usual_effect")]
    pub effect: Effect,
    /// The most that may be used.
    #[serde(default)]
    pub ceiling: Ceiling,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<BaseFolder>,
}

/// Of a plan that a machine made, and of which nobody said how often it asks, every action asks. A plan that a person wrote step by
/// step is free between its checkpoints (`Mode::default`).
const fn usual_mode() -> Mode {
    Mode::Supervised
}

const fn usual_effect() -> Effect {
    Effect::Execute
}

impl Intent {
    /// Nothing but a goal; everything else as usual.
    pub fn new(goal: Prose<2000>) -> Self {
        Self {
            goal,
            inputs: Vec::new(),
            outputs: Vec::new(),
            constraints: Constraints::default(),
            done: Vec::new(),
            steps: Vec::new(),
            planner: None,
            template: None,
            agent: None,
            mode: usual_mode(),
            effect: usual_effect(),
            ceiling: Ceiling::default(),
            base: None,
        }
    }
}

/// What has to be kept to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Constraints {
    /// In words, for agent and reviewers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Prose<500>>,
    /// Tools the work needs.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub tools: BTreeSet<ToolName>,
    /// Hosts, networks and addresses the work has to reach.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<TargetRule>,
}

impl Constraints {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// One step that somebody declared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredStep {
    pub title: Prose<300>,
    /// What it takes; if nothing is said, the verbs of the title decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<Capability>,
    /// Whether the run stands still after it.
    #[serde(default = "stands_still")]
    pub checkpoint: bool,
    /// How many pages it visits; if nothing is said, none, or ten for a step that browses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
    /// How often the agent thinks and proposes in it, for the estimate.
    #[serde(default = "usual_turns")]
    pub turns: u64,
}

/// An assumption, for whoever says nothing. The basis of every estimate names the turns and pages it was made with.
pub(super) const USUAL_TURNS: u64 = 5;

/// The same for pages: who browses visits some.
pub(super) const fn usual_pages(capability: Capability) -> u64 {
    match capability {
        Capability::Browse => 10,
        Capability::WriteCode
        | Capability::RunCode
        | Capability::Research
        | Capability::ExtractData
        | Capability::WriteText
        | Capability::Spreadsheets
        | Capability::SendMessages
        | Capability::ScanNetworks => 0,
    }
}

const fn usual_turns() -> u64 {
    USUAL_TURNS
}

/// Who says nothing is asked.
const fn stands_still() -> bool {
    true
}
