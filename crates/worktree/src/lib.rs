//! The worktree runtime: one agent, one worktree, one branch, one ticket.
//!
//! - [`team`]: what a team writes down in its repository (`agents/`): who its agents are, what each may change, what is
//!   protected, who decides. Read strictly, all problems at once, each with file, line and place.
//! - [`prompt`]: what an agent is told when it begins to work at a ticket.
//! - [`commit_form`]: which commits are well-formed, and the hook that tells agents.
//!
//! It runs with a person's own rights and holds no key. Nothing here reads a team's files from an agent's worktree.

pub mod commit_form;
pub mod prompt;
pub mod team;
