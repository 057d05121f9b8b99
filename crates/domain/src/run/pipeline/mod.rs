//! The fifteen steps from an intent to an end, and how far a run is on that way. A view: it decides nothing, and everything it
//! says follows from the run's state, which follows from the ledger.
//!
//! ```text
//!  1 intent   2 encoding   3 decomposition   4 agent selection   5 cage configuration   6 cost estimate
//!  7 scope lock   8 budget check   9 PLAN   10 spawn   11 execution   12 CHECKPOINTS
//! 13 output collection   14 RESULTS   15 export, audit, destruction               (capitals: a person decides)
//! ```

mod carried_out;
mod prepared;
mod product;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use product::{Declared, StepProduct, Takes};

use super::state::Run;
use crate::time::Timestamp;

/// How far a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Done,
    /// Under way, or waiting for a person.
    Now,
    ToCome,
    /// There was nothing to do, or the run ended before.
    Skipped,
    /// Begun, and ended before it was done.
    Stopped,
}

impl StepState {
    pub const ALL: &[Self] = &[Self::Done, Self::Now, Self::ToCome, Self::Skipped, Self::Stopped];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Now => "now",
            Self::ToCome => "to_come",
            Self::Skipped => "skipped",
            Self::Stopped => "stopped",
        }
    }
}

impl fmt::Display for StepState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One step of a run's way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepView {
    /// Counted from 1.
    pub number: u32,
    pub name: &'static str,
    /// Whether a person decides here.
    pub is_decision: bool,
    pub state: StepState,
    /// What it led to, or what it waits for.
    pub product: StepProduct,
    /// The kind of ledger entry that records it.
    pub entry: &'static str,
    /// When it was done, if that is kept.
    pub at: Option<Timestamp>,
}

/// What is known of one step.
struct Known {
    state: StepState,
    product: StepProduct,
    entry: &'static str,
    at: Option<Timestamp>,
}

impl Known {
    fn new(state: StepState, entry: &'static str, product: StepProduct) -> Self {
        Self { state, product, entry, at: None }
    }

    fn done(entry: &'static str, product: StepProduct) -> Self {
        Self::new(StepState::Done, entry, product)
    }

    fn at(self, at: Option<Timestamp>) -> Self {
        Self { at: at.filter(|_| self.state == StepState::Done), ..self }
    }
}

struct Step {
    name: &'static str,
    is_decision: bool,
    look: fn(&Run) -> Known,
}

const fn step(name: &'static str, look: fn(&Run) -> Known) -> Step {
    Step { name, is_decision: false, look }
}

const fn decision(name: &'static str, look: fn(&Run) -> Known) -> Step {
    Step { name, is_decision: true, look }
}

const STEPS: [Step; 15] = [
    step("intent", prepared::intent),
    step("encoding", prepared::encoding),
    step("decomposition", prepared::decomposition),
    step("agent selection", prepared::selection),
    step("cage configuration", prepared::cage),
    step("cost estimate", prepared::estimate),
    step("scope lock", prepared::scope),
    step("budget check", prepared::budget),
    decision("plan", carried_out::plan),
    step("spawn", carried_out::spawn),
    step("execution", carried_out::execution),
    decision("checkpoints", carried_out::checkpoints),
    step("output collection", carried_out::collection),
    decision("results", carried_out::results),
    step("export, audit, destruction", carried_out::ending),
];

/// All steps, in their order.
pub fn pipeline(run: &Run) -> [StepView; 15] {
    let mut number = 0;
    STEPS.map(|Step { name, is_decision, look }| {
        number += 1;
        let Known { state, product, entry, at } = look(run);
        StepView { number, name, is_decision, state, product, entry, at }
    })
}
