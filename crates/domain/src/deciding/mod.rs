//! DECIDING: how people decide, as facts and figures. What waited how long, how it was decided and by how many; and for each person alone,
//! whether they had time to read what they said yes to.
//!
//! Pure: facts follow from recorded events, figures from facts. Nothing here decides anything, and nothing here ranks people: figures of
//! a project have no names in them, and habits are shown to whose they are ([`habits`]).

mod decision;
mod figures;
mod habits;
mod reading;
mod together;

pub use decision::{Decision, Look, Outcome, decision};
pub use figures::{Counts, Figures, Spread, TierFigures, Week, figures};
pub use habits::{Habits, QUICK_MS, Share, Signal, habits};
pub use reading::needed_ms;
pub use together::{ClosedWeek, HastyWeek, closed_weeks, hasty_week};

/// Figures are about so many days at most.
pub const WINDOW_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
/// And about so many decisions: the newest.
pub const MOST_DECISIONS: u32 = 5_000;
