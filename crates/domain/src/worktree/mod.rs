//! A worktree: where one agent works at one ticket, on one branch. From the first trace on disk to the last.
//!
//! `decide` says what may happen and who may make it happen (the project's [`Duties`]), `evolve` what a recorded event
//! means; both are pure. What is on disk follows what is recorded: it is opened here first and made then, and a crash in
//! between is found and repaired. This module knows no files and no git: [`Manifest`] says which paths an agent may
//! change, others find out which it did.

mod command;
mod decide;
mod duty;
mod event;
mod evolve;
mod manifest;
mod name;
mod state;

pub use command::{Work, WorktreeCommand, WorktreeCommandKind};
pub use decide::decide;
pub use duty::{Duties, Duty, Operation, Person};
pub use event::{Consultation, WorktreeEvent, WorktreeNews};
pub use evolve::evolve;
pub use manifest::{Manifest, Protected, RUNTIME_OWN, Ruling};
pub use name::{AgentName, BranchName, CommitId, Ticket};
pub use state::{Advice, DoneItem, Exemption, Layout, Opening, Worktree, WorktreeStatus};
