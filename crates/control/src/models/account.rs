//! What is held for the calls of one run: parts of its budget, each under a name of its own, drawn from in memory.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use placet_domain::budget::{Amounts, Ceiling, Purpose};
use placet_domain::id::RunId;
use placet_gateway::llm::purse::{Allotment, Draw};

/// What every name of a part begins with, so that what a crash left held is found again.
const PREFIX: &str = "model-";

/// Whether an amount is held for calls of models.
pub(super) fn is_for_models(purpose: &Purpose) -> bool {
    matches!(purpose, Purpose::Call(name) if name.starts_with(PREFIX))
}

pub(super) fn new_purpose(unique: &str) -> Purpose {
    Purpose::Call(format!("{PREFIX}{unique}"))
}

#[derive(Debug)]
pub(super) struct Account {
    run: RunId,
    parts: Mutex<Vec<Part>>,
    /// One at a time asks the ledger for more.
    pub(super) asking: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Part {
    purpose: Purpose,
    allotment: Arc<Allotment>,
    used_at: Instant,
    /// Calls that are over and not in the ledger yet.
    queued: usize,
    /// What the ledger knows of.
    recorded: Amounts,
}

impl Part {
    /// Nothing that was drawn from it is still to be settled, and everything that was settled is recorded.
    fn is_idle(&self, for_at_least: Duration) -> bool {
        self.allotment.held().is_none() && self.queued == 0 && self.used_at.elapsed() >= for_at_least
    }

    /// Spent without a record: a call that was lost on its way counts as its worst case.
    fn lost(&self) -> Amounts {
        self.allotment.spent().less(self.recorded)
    }
}

/// A part that nobody uses any more.
#[derive(Debug)]
pub(super) struct Rest {
    pub(super) purpose: Purpose,
    pub(super) spent: Amounts,
}

impl Account {
    pub(super) fn new(run: RunId) -> Self {
        Self { run, parts: Mutex::default(), asking: tokio::sync::Mutex::default() }
    }

    fn parts(&self) -> MutexGuard<'_, Vec<Part>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From the first part that covers it.
    pub(super) fn draw(&self, worst: Amounts) -> Option<Draw> {
        let mut parts = self.parts();
        parts.iter_mut().find_map(|part| {
            let draw = part.allotment.draw(worst).ok()?;
            part.used_at = Instant::now();
            Some(draw.from(part.purpose.to_string()))
        })
    }

    /// Takes in what was just held.
    pub(super) fn add(&self, purpose: Purpose, amounts: Amounts) {
        let ceiling =
            Ceiling { tokens: Some(amounts.tokens), usd_micros: Some(amounts.usd_micros), ..Ceiling::default() };
        let allotment = Allotment::new(self.run, ceiling);
        let (used_at, queued, recorded) = (Instant::now(), 0, Amounts::NONE);
        self.parts().push(Part { purpose, allotment, used_at, queued, recorded });
    }

    fn change(&self, purpose: &str, change: impl FnOnce(&mut Part)) {
        if let Some(part) = self.parts().iter_mut().find(|part| part.purpose.to_string() == purpose) {
            change(part);
        }
    }

    /// A call that was drawn from this part is over, and on its way into the ledger.
    pub(super) fn queue(&self, purpose: &str) {
        self.change(purpose, |part| part.queued += 1);
    }

    /// So many calls are in the ledger, with what they took.
    pub(super) fn record(&self, purpose: &str, calls: usize, spent: Amounts) {
        self.change(purpose, |part| {
            part.queued = part.queued.saturating_sub(calls);
            part.recorded = part.recorded.plus(spent);
        });
    }

    /// The most that one call could have without asking for more.
    pub(super) fn left(&self) -> Amounts {
        let parts = self.parts();
        parts
            .iter()
            .map(|part| part.allotment.left())
            .max_by_key(|left| (left.tokens, left.usd_micros))
            .unwrap_or_default()
    }

    /// Takes out the parts that nobody has used for so long: what is left of them goes back.
    pub(super) fn take_idle(&self, for_at_least: Duration) -> Vec<Rest> {
        let mut parts = self.parts();
        let idle = parts.extract_if(.., |part| part.is_idle(for_at_least));
        idle.map(|part| Rest { spent: part.lost(), purpose: part.purpose }).collect()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts().is_empty()
    }
}
