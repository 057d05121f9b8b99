//! The domain as its users see it.

mod approvals;
mod expect;
mod globs;
mod matrix;
mod people;
mod permits;
mod policy;
mod reached;
mod runs;
mod scenario;
mod states;
mod trials;
