//! The domain as its users see it.

mod amendments;
mod approvals;
mod attacks;
mod budgets;
mod catalogue;
mod enclosures;
mod expect;
mod globs;
mod hand;
mod matrix;
mod people;
mod permits;
mod planning;
mod policy;
mod properties;
mod reached;
mod runs;
mod scenario;
mod states;
mod trials;
mod worktrees;
