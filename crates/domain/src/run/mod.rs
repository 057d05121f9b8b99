//! A run: one governed undertaking, from a draft to a human decision on its results.
//!
//! `decide` says what may happen, `follow` what the events of an action mean for its run, `evolve` what a recorded event means; all are
//! pure. No path from DRAFT to COMPLETED avoids a person: the plan and the results are always decided by somebody who neither made the
//! run nor stands behind its agent. This module does not know what an agent does inside a run: that is [`crate::action`].

mod agent;
mod asking;
mod call;
mod change;
mod command;
mod decide;
mod event;
mod evolve;
mod follow;
mod gate;
mod hosting;
mod launch;
mod milestones;
mod mode;
mod order;
mod pipeline;
mod retention;
mod state;
mod text;
mod wish;

pub(crate) use agent::own_agent;
pub(crate) use asking::instead_of_asking;
pub use asking::{Questions, refusal as too_many_questions};
pub use call::{CallCount, CallOutcome, KeptWords, ModelCall, ModelTokens, NotText};
pub(crate) use change::question;
pub use command::{Allowance, Founding, RunCommand, RunCommandKind};
pub use decide::decide;
pub use event::RunEvent;
pub use evolve::evolve;
pub use follow::{Beside, Consequence, follow};
pub use gate::{Gate, GateCount, GateKind, Watch, watch};
pub use hosting::{Hosting, Output, Snapshot, Wanted};
pub use launch::Launch;
pub use milestones::{Milestones, Question, Standstill};
pub use mode::{Effect, GateRules, Mode, Posture, Treatment};
pub(crate) use order::give as give_order;
pub use order::{MOST_ORDERS, Order, Stand};
pub use pipeline::{Declared, StepProduct, StepState, StepView, Takes, pipeline};
pub use state::{Awaits, FormerPlan, Run, RunStatus, WorkClock};
pub use wish::{Answer, LONGEST_GRANT_MS, MOST_WISHES, Wish};
