//! PURSE: money and tokens are taken before a call and settled after it.
//!
//! Whoever runs the gateway keeps the budget of a run durably, hands a part of it (an *allotment*) to the purse, and the purse draws
//! from that part in memory: a call waits for no disk. What was drawn and never settled is spent: after a crash the whole allotment
//! counts as used, and while the process lives a forgotten [`Draw`] counts as its worst case.

mod allotment;

use std::fmt;
use std::future::Future;

use placet_domain::budget::{Amounts, Resource, dollars};
use placet_domain::id::RunId;

pub use allotment::Allotment;

use super::record::ModelCall;
use super::words::Words;

/// Where the worst case of a call is taken from, and where the rest goes back to.
pub trait Purse: Send + Sync + 'static {
    /// Sets the worst case aside, all of it or nothing. This must be atomic: two calls never get the same amount.
    fn draw(&self, run: RunId, worst: Amounts) -> impl Future<Output = Result<Draw, NotDrawn>> + Send;

    /// What a call really took, with its record. Called once for each draw, also when its stream broke; it must not block.
    fn settle(&self, draw: Draw, spent: Amounts, record: ModelCall);

    /// What was said in the call of this name, just before it is settled; only for those whose words are wanted. It must not block.
    fn keep_words(&self, call: &str, words: Words) {
        let _ = (call, words);
    }

    /// A call was refused before anything was sent: which kind of refusal, in one of a few words, and what its agent was told. It must not
    /// block, and it bounds by itself what it keeps: whoever is refused may ask again at once.
    fn refused(&self, run: RunId, reason: &'static str, said: &str) {
        let _ = (run, reason, said);
    }

    /// A call was refused because too little is left of this. It must not block.
    fn ran_dry(&self, run: RunId, short: Resource) {
        let _ = (run, short);
    }
}

/// Why nothing was drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotDrawn {
    /// So much is left, and it does not cover the worst case.
    #[error("{} and {} tokens are left", dollars(left.usd_micros), left.tokens)]
    Exhausted { left: Amounts },
    /// The run is over, paused or stopped; the text says which.
    #[error("{0}")]
    Closed(String),
    /// It could not be found out. The text goes to the log, not to the agent.
    #[error("{0}")]
    Fault(String),
}

type Settling = Box<dyn FnOnce(Amounts) + Send + Sync>;

/// An amount that was set aside for one call. It cannot be copied, and it is settled once: with what was spent, or, if it is
/// dropped, with all of it.
#[must_use = "a draw that is dropped counts as spent"]
pub struct Draw {
    run: RunId,
    worst: Amounts,
    /// From which part of the run's budget, in the words of whoever keeps it.
    origin: String,
    settling: Option<Settling>,
}

impl Draw {
    /// `settling` is called once, with what was spent of `worst` (or beyond it, where a model used more than it was allowed).
    pub fn new(run: RunId, worst: Amounts, settling: impl FnOnce(Amounts) + Send + Sync + 'static) -> Self {
        Self { run, worst, origin: String::new(), settling: Some(Box::new(settling)) }
    }

    /// The same, with where it comes from.
    #[must_use = "a draw that is dropped counts as spent"]
    pub fn from(mut self, origin: String) -> Self {
        self.origin = origin;
        self
    }

    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub const fn run(&self) -> RunId {
        self.run
    }

    pub const fn worst(&self) -> Amounts {
        self.worst
    }

    pub fn spend(mut self, spent: Amounts) {
        if let Some(settling) = self.settling.take() {
            settling(spent);
        }
    }
}

impl Drop for Draw {
    fn drop(&mut self) {
        if let Some(settling) = self.settling.take() {
            settling(self.worst);
        }
    }
}

impl fmt::Debug for Draw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draw").field("run", &self.run).field("worst", &self.worst).finish_non_exhaustive()
    }
}

/// A draw of somebody who may hang up before anything is sent for it: if it is dropped, nothing of it is spent.
#[derive(Debug)]
pub struct Unclaimed(Option<Draw>);

impl Unclaimed {
    pub const fn new(draw: Draw) -> Self {
        Self(Some(draw))
    }

    /// From here on it counts.
    #[expect(clippy::missing_panics_doc, reason = "it never does: it is taken here alone, and here once")]
    pub fn claim(mut self) -> Draw {
        self.0.take().expect("taken here alone, and here once")
    }
}

impl Drop for Unclaimed {
    fn drop(&mut self) {
        if let Some(draw) = self.0.take() {
            draw.spend(Amounts::NONE);
        }
    }
}

#[cfg(test)]
mod tests {
    use placet_domain::budget::Ceiling;

    use super::*;

    #[test]
    fn c12_who_hangs_up_while_money_is_held_for_it_spends_nothing() {
        let ceiling = Ceiling { usd_micros: Some(100), ..Ceiling::default() };
        let allotment = Allotment::new(RunId::from_bytes([1; 16]), ceiling);
        let worst = Amounts { usd_micros: 60, ..Amounts::NONE };
        drop(Unclaimed::new(allotment.draw(worst).unwrap()));
        assert_eq!((allotment.held(), allotment.spent()), (Amounts::NONE, Amounts::NONE));
        Unclaimed::new(allotment.draw(worst).unwrap()).claim().spend(worst);
        assert_eq!(allotment.spent(), worst);
    }
}
