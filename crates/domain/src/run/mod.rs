//! A run: one governed undertaking, from a draft to a human decision on its results.
//!
//! `decide` says what may happen, `follow` what the events of an action mean for its run, `evolve` what a recorded event means; all are
//! pure. No path from DRAFT to COMPLETED avoids a person: the plan and the results are always decided by somebody who neither made the
//! run nor stands behind its agent. This module does not know what an agent does inside a run: that is [`crate::action`].

mod agent;
mod asking;
mod budget;
mod call;
mod calls;
mod change;
mod clock;
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
mod network;
mod orders;
mod pipeline;
mod rehearsal;
mod retention;
mod rule;
mod snapshots;
mod state;
mod text;

pub(crate) use agent::own_agent;
pub(crate) use asking::instead_of_asking;
pub use asking::{AskingMarks, Questions, refusal as too_many_questions};
pub use budget::{Allowance, BudgetCommand, BudgetEvent};
pub use call::{CallCount, CallOutcome, KeptWords, ModelCall, ModelTokens, NotText};
pub use calls::{CallCommand, CallEvent};
pub(crate) use change::question;
pub use clock::{ClockEvent, WorkClock};
pub use command::{Founding, RunCommand, RunCommandKind};
pub use decide::decide;
pub use event::RunEvent;
pub use evolve::evolve;
pub(crate) use follow::clock_event;
pub use follow::{Beside, Consequence, follow};
pub use gate::{Gate, GateCount, GateKind, Watch, watch};
pub use hosting::{HostState, Hosting, HostingCommand, HostingEvent, Output, Wanted};
pub use launch::Launch;
pub use milestones::{Milestones, Question, Standstill};
pub use mode::{Effect, GateRules, Mode, Posture, Treatment};
pub use network::{Answer, LONGEST_GRANT_MS, MOST_WISHES, Network, NetworkCommand, NetworkEvent, Wish};
pub(crate) use orders::give as give_order;
pub use orders::{MOST_ORDERS, Order, OrderCommand, OrderEvent, Stand};
pub use pipeline::{Declared, StepProduct, StepState, StepView, Takes, pipeline};
pub use rehearsal::{Rehearsal, RehearsalEvent};
pub use snapshots::{Snapshot, SnapshotCommand, SnapshotEvent, Snapshots};
pub use state::{Authors, Awaits, FormerPlan, Run, RunStatus};
