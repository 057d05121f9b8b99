//! End-to-end tests of the `placet` binary: real processes, real files, real cages, seen only from outside.
//!
//! What happens inside is tested in each crate; here is what a user types, reads and relies on.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "in tests an unexpected error may end the test, waiting for processes may block a thread"
)]

mod amending;
mod attacks;
mod bench;
mod browser;
mod cages;
mod catalog;
mod crash;
mod credentials;
mod deciding;
mod demo;
mod documents;
mod exit_codes;
mod full_disk;
mod governed;
mod help;
mod hosted;
mod house;
mod inside;
mod journey;
mod laws;
mod ledger;
mod lying;
mod network;
mod notify;
mod orders;
mod passing;
mod planned_runs;
mod presence;
mod rebinding;
mod requests;
mod retention;
mod review;
mod sandbox;
mod stopping;
mod support;
mod watching;
mod wishes;
mod worker;
mod worktree;
mod wrong_inputs;
