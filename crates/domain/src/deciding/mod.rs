//! DECIDING: how people decide, as facts and figures: what waited how long, how it was decided and by how many; and the habits of each
//! person, for that person alone.
//!
//! Pure: facts follow from recorded events, figures from facts. Nothing here decides anything, and nothing here ranks people: figures of
//! a project have no names in them, and habits are shown to whose they are ([`habits`]).

mod decision;
mod figures;
mod habits;

pub use decision::{Decision, Outcome, decision};
pub use figures::{Counts, Figures, Spread, TierFigures, Week, figures};
pub use habits::{Habits, Signal, habits};

/// Figures are about so many days at most.
pub const WINDOW_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
/// And about so many decisions: the newest.
pub const MOST_DECISIONS: u32 = 5_000;
