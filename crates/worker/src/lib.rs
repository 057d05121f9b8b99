//! WORKER: executes, decides nothing. It cannot approve, and it cannot reach the store.
//!
//! ```text
//! lease ─► permit check ─► workspace ─► redeem ─► sandbox ─► collect ─► report
//! host  ─► what is wanted of a run ─► its files, its agent's process ─► report
//! ```
//!
//! What it executes are bytes it holds, checked against the permit by itself; the permit is consumed by value, so that the
//! code cannot run it twice, and redeemed at the control plane first, so that nobody can.

mod collect;
mod declare;
mod execute;
mod fence;
mod grants;
mod host;
mod job;
mod lease;
mod report;
pub mod share;
mod tap;
mod way_out;
mod workspace;

pub use host::HostConfig;
pub use job::JobError;
pub use lease::{Worker, WorkerConfig};
