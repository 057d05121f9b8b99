//! The worktree runtime: one agent, one worktree, one branch, one ticket.
//!
//! - [`commit_form`]: which commits are well-formed, and the hook that tells agents.
//!
//! It runs with a person's own rights and holds no key. Nothing here reads a team's files from an agent's worktree.

pub mod commit_form;
