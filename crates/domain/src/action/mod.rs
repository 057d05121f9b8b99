//! The life of one action: proposed, judged, approved, leased, executed, evidenced. `decide` and `evolve` are pure.
//!
//! The rules that everything rests on are here and nowhere else: an approval binds a digest; the proposer and its kin never
//! approve; who amends something is one of its authors; a permit starts a job once; a worker that lost its lease has lost its say; what was interrupted after it
//! started is never silently run again: a person decides.

mod amend;
mod attention;
mod command;
mod decide;
mod event;
mod evolve;
mod order;
mod perform;
mod state;

pub use amend::{Amender, Amendment};
pub use attention::{Aside, Assignment, Attention, LONGEST_NOTE, MOST_ASIDE};
pub use command::{ActionCommand, ActionCommandKind, Amended, Resolution};
pub use decide::{Demand, Setting, Workers, decide};
pub use event::ActionEvent;
pub use evolve::evolve;
pub use state::{ActionState, ActionStatus, Lease};
