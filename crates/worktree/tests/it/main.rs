//! What a team writes, what it is told about it, and what agents are given.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

mod commit_form;
mod init;
mod make;
mod mutations;
mod policy;
mod prompt;
mod team_files;
mod world;
