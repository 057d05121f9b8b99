//! The domain as its users see it.

mod amendments;
mod approvals;
mod attacks;
mod budgets;
mod catalogue;
mod enclosures;
mod expect;
mod gates;
mod globs;
mod halts;
mod hand;
mod matrix;
mod modes;
mod money;
mod people;
mod permits;
mod planning;
mod policy;
mod properties;
mod reached;
mod rollbacks;
mod runs;
mod scenario;
mod states;
mod trials;
mod worktrees;
