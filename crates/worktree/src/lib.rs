//! The worktree runtime: one agent, one worktree, one branch, one ticket.
//!
//! - [`team`]: what a team writes down in its repository (`agents/`): who its agents are, what each may change, what is
//!   protected, who decides. Read strictly, all problems at once, each with file, line and place.
//! - [`prompt`]: what an agent is told when it begins to work at a ticket.
//! - [`start`]: an agent is given a ticket, a branch and a place; [`setup`] and [`ports`] are what the team declared for
//!   it, [`ready`] installs it, [`own`] and [`person_hooks`] are installed by the runtime itself.
//! - [`host`]: access to the person's machine that a repository may request, and the person's consent.
//! - [`cage`]: what the kernel keeps of the manifest while the agent works; [`take_over`]: what comes out; [`turn`]: one
//!   command at a time; [`git_settings`]: what is seen of the repository's settings.
//! - [`check`]: everything that differs from the base, judged; [`commit_form`]: which commits are well-formed.
//! - [`done`] and [`report`]: the definition of done, run and not believed; [`pull_request`]: the way out.
//!
//! One manifest is enforced three times: by the kernel in the cage, by the check, and by whatever takes work over.
//!
//! It runs with a person's own rights and holds no key. Nothing here reads a team's files from an agent's worktree.

pub mod cage;
pub mod check;
pub mod commit_form;
pub mod done;
pub mod git_settings;
pub mod host;
mod kept;
pub mod own;
pub mod person_hooks;
pub mod ports;
pub mod prompt;
pub mod pull_request;
pub mod ready;
pub mod redact;
pub mod report;
pub mod setup;
pub mod start;
pub mod take_over;
pub mod team;
pub mod turn;
