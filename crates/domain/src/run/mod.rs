//! A run: one governed undertaking, from a draft to a human decision on its results.
//!
//! `decide` says what may happen, `evolve` what a recorded event means; both are pure. No path from DRAFT to COMPLETED
//! avoids a person: the plan and the results are always decided by somebody who neither made the run nor stands behind its
//! agent. This module does not know what an agent does inside a run: that is [`crate::action`].

mod command;
mod decide;
mod event;
mod evolve;
mod state;

pub use command::{RunCommand, RunCommandKind};
pub use decide::decide;
pub use event::RunEvent;
pub use evolve::evolve;
pub use state::{Run, RunStatus};
