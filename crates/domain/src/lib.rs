//! The pure core of Placet. No clock, no IO, no randomness, no hash-map order: the same input gives the same output, always.
//!
//! The modules follow the one flow, and each step's output is the next step's only key:
//!
//! ```text
//!  propose ─► judge ─► approve ─► dispatch ─► execute ─► evidence ─► record
//!  proposal   policy    approval   permit      (worker)   evidence    (ledger)
//! ```
//!
//! [`action`], [`run`] and [`worktree`] hold the state machines: `decide` says what may happen, `evolve` what a recorded event means.

pub mod action;
mod allot;
pub mod approval;
pub mod audit_status;
pub mod budget;
pub mod canonical;
pub mod catalogue;
pub mod command;
mod complaint;
pub mod datafile;
pub mod decide;
pub mod deciding;
pub mod digest;
mod draft;
pub mod event_meta;
pub mod evidence;
pub mod headline;
pub mod id;
pub mod identity;
mod loaded;
pub mod name;
pub mod notice;
pub mod oidc;
pub mod organisation;
pub mod passkey;
pub mod permit;
pub mod planning;
pub mod policy;
pub mod project;
pub mod proposal;
pub mod prose;
pub mod reason;
pub mod record;
pub mod refusal;
pub mod retention;
mod revocation;
pub mod run;
pub mod scope;
pub mod text;
pub mod time;
pub mod worktree;
