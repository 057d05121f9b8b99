//! JUDGE: what the policy says of a sealed action, with reasons a reviewer can add up by hand.
//!
//! Policies are Cedar files. The tier is the least number of approvals for which Cedar permits; the risk is the sum of the
//! weights of all rules that spoke. Every rule carries examples, and a rule that fails one of them is never loaded.
//! Judging reads no clock, no file and no network, and never fails: what cannot be judged is refused.

mod bench;
mod example;
mod judge;
mod law;
mod load;
mod mention;
mod problem;
mod question;
mod rationale;
mod rule;
mod seat;
mod shipped;
mod silence;
mod source;
mod verdict;

use std::collections::BTreeMap;

use cedar_policy::{Effect, PolicyId};

use bench::Bench;
pub(crate) use law::asks_each_time;
pub use problem::{PolicyProblem, PolicyProblems};
pub use rationale::Rationale;
use seat::Seat;
pub use shipped::{DEFAULT_TOOLS, default_policy};
use silence::Silence;
pub use verdict::{BadRisk, Reason, Risk, Ruling, Tier, Verdict};

use crate::canonical;
use crate::catalogue::Bounds;
use crate::digest::Digest;
use crate::proposal::{Action, ActionKind, ToolName, Tools};
use crate::run::Posture;
use crate::scope::Scope;

/// Counted up whenever the same files would be judged differently by new code.
const SEMANTICS_VERSION: u32 = 4;

/// What an action is judged within: everything about its run that no policy file can repeal.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'r> {
    pub scope: &'r Scope,
    /// How the run is carried out.
    pub posture: &'r Posture,
    /// What its agent is held to, if it was planned with one of the catalogue.
    pub bounds: Option<&'r Bounds>,
}

/// A loaded policy: checked rules, immutable, safe to share.
#[derive(Debug)]
pub struct Policy {
    rules: Vec<Rule>,
    /// For each kind of act, in the order of `ActionKind::ALL`, the rules that can say something about it.
    panels: Vec<Panel>,
    version: Digest,
    /// The definitions the rules were written for: what was sealed with another one is refused.
    tools: BTreeMap<ToolName, Digest>,
    examples_checked: usize,
}

#[derive(Debug)]
struct Rule {
    summary: RuleSummary,
    /// The kinds of act it can say something about.
    kinds: Vec<ActionKind>,
    silence: Silence,
    seat: Seat,
}

/// The rules that can say something about one kind of act.
#[derive(Debug)]
struct Panel {
    all: Bench,
    /// Those that have to be asked again at every number of approvals.
    unpredictable: Bench,
}

impl Panel {
    fn of(kind: ActionKind, rules: &[Rule]) -> Self {
        let concerned = || rules.iter().filter(|rule| rule.kinds.contains(&kind));
        let unpredictable = concerned().filter(|rule| rule.silence == Silence::Unknown);
        Self {
            all: Bench::of(concerned().map(|rule| &rule.seat)),
            unpredictable: Bench::of(unpredictable.map(|rule| &rule.seat)),
        }
    }
}

/// Whether a rule opens or closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleEffect {
    Permit,
    Forbid,
}

impl std::fmt::Display for RuleEffect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Permit => "permit",
            Self::Forbid => "forbid",
        })
    }
}

impl From<Effect> for RuleEffect {
    fn from(effect: Effect) -> Self {
        match effect {
            Effect::Permit => Self::Permit,
            Effect::Forbid => Self::Forbid,
        }
    }
}

/// One rule, as a team lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSummary {
    pub id: String,
    pub file: String,
    /// Where the rule begins, counted from 1.
    pub line: usize,
    pub effect: RuleEffect,
    /// What it adds to the risk when it speaks.
    pub risk: Risk,
    pub rationale: Rationale,
    /// The tier it alone demands of its first example.
    pub demands: Tier,
}

impl Policy {
    /// Reads policy files, given as names and texts, and tries every rule on its examples.
    pub fn load(files: &[(String, String)], tools: &Tools) -> Result<Self, PolicyProblems> {
        let load::Loaded { rules, examples_checked } = load::load(files, tools)?;
        let panels = ActionKind::ALL.iter().map(|kind| Panel::of(*kind, &rules)).collect();
        let tools: BTreeMap<ToolName, Digest> =
            tools.iter().map(|(name, tool)| (name.clone(), tool.version())).collect();
        Ok(Self { rules, panels, version: version(files, &tools), tools, examples_checked })
    }

    /// Names this policy by its content: another text, tool, schema or engine is another policy.
    pub const fn version(&self) -> Digest {
        self.version
    }

    /// Judges an action within the frame of its run. Never fails: what cannot be judged is refused.
    pub fn judge(&self, action: &Action, frame: &Frame<'_>) -> Verdict {
        judge::judge(self, action, frame)
    }

    /// All rules, in the order of their ids.
    pub fn rules(&self) -> impl Iterator<Item = &RuleSummary> {
        self.rules.iter().map(|rule| &rule.summary)
    }

    /// How many examples held when the policy was loaded.
    pub const fn examples_checked(&self) -> usize {
        self.examples_checked
    }

    fn panel(&self, kind: ActionKind) -> &Panel {
        &self.panels[kind as usize]
    }

    fn rule(&self, id: &PolicyId) -> Option<&Rule> {
        let id: &str = id.as_ref();
        let at = self.rules.binary_search_by(|rule| rule.summary.id.as_str().cmp(id)).ok()?;
        Some(&self.rules[at])
    }
}

fn version(files: &[(String, String)], tools: &BTreeMap<ToolName, Digest>) -> Digest {
    let files: BTreeMap<&str, Digest> =
        files.iter().map(|(file, text)| (file.as_str(), Digest::of(text.as_bytes()))).collect();
    let schema = Digest::of(question::SCHEMA_TEXT.as_bytes());
    Digest::of(&canonical::to_bytes(&(SEMANTICS_VERSION, schema, files, tools)))
}
