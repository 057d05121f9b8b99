//! The cage: runs one command where it can see and reach almost nothing, and leaves nothing behind.
//!
//! ```text
//!  profile ──► plan ──► enter ──► running
//!  data with   pure:    a helper   pipes, kill,
//!  reasons     steps    takes them outcome
//! ```
//!
//! A [`Profile`] and a [`Request`] become a list of [`Step`]s, which a helper takes one by one, forked from a small copy of
//! the calling binary that is executed once: new user, mount, pid, network, ipc, uts and cgroup namespaces; a root of its
//! own with the host's programs read-only; no capabilities, no new privileges, Landlock and seccomp; limits; a process 1
//! that reaps and ends everything. When the calling process dies, the cage dies.
//!
//! A command works in a host directory or, better, in [`Layers`] above one, where [`Rules`] say what is writable,
//! read-only or hidden:
//!
//! ```no_run
//! # use placet_sandbox::{Access, Layers, Request, Rules};
//! let rules = Rules::writable().path(".git/hooks", Access::ReadOnly).hide_env_files();
//! let layers = Layers::new("/srv/repo", "/srv/runs/7/upper", "/srv/runs/7/work");
//! let request = Request::new(["make", "test"]).workspace(layers).rules(rules);
//! ```
//!
//! ```no_run
//! use placet_sandbox::{Profile, Request, helper_entry, launch};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     helper_entry(); // before anything else: this process may be the helper of another
//!     let profile = Profile::builtin("default").ok_or("no such profile")?;
//!     let (outcome, output) = launch(&profile, Request::new(["echo", "hello"]))?.collect()?;
//!     assert_eq!(output.stdout, b"hello\n");
//!     println!("{:?}", outcome.exit);
//!     Ok(())
//! }
//! ```
//!
//! What it deliberately does not do: it opens no way out but the doors a request asks for (there is no network but a
//! loopback of its own, and what goes through a door is the caller's business), it decides nothing about what may run,
//! and it depends on no async runtime: call it from a blocking thread. Limits of the tree as a whole are control groups
//! where the caller may make them, and weaker where it may not; see [`Limits`].

mod backend;
#[cfg(feature = "container")]
pub mod container;
mod control;
mod enter;
mod error;
mod freeze;
mod group;
mod helper;
mod host;
mod launch;
mod outcome;
mod output;
mod plan;
mod probe;
mod profile;
mod request;
mod rules;
mod running;
mod seccomp;
mod step;
mod sys;
mod workspace;
mod zygote;

pub use backend::{Accept, Backend};
pub use control::FrozenBy;
pub use error::{SandboxError, StepError};
pub use freeze::{FreezeError, Freezer, Frozen, Held};
pub use group::{Controller, GroupDirectory, GroupVersion, collect_leftovers};
pub use host::{Entry, EntryKind, HostFacts, HostRisks, host_risks, repositories};
pub use launch::{Launcher, helper_entry, launch, program_path};
pub use outcome::{Exit, LimitKind, Outcome, Output, Usage};
pub use output::Stream;
pub use plan::{CAGE_USER, WORKSPACE, plan};
pub use probe::{Check, HostReport, State, Tier, probe};
pub use profile::{
    BadLimit, Capability, Change, Demand, Effect, LeastTier, LimitName, Limits, Mount, MountKind, Profile,
    ProfileError, Profiles, Programs, Text, Variable, WorkspaceOwnership,
};
pub use request::{
    FIRST_HOST_USER, HostUser, LAYER_FREE_ROOTS, MAX_ARGUMENT_BYTES, MAX_DOORS, MAX_STDIN_BYTES, READ_ONLY_ROOTS,
    REFUSED_VARIABLES, ReadOnly, Request, RequestError,
};
pub use rules::{Access, MAX_RULES, Rules};
pub use running::{Killer, Program, ProgramFile, Running};
pub use seccomp::{Comparison, Condition, SyscallRule};
pub use step::{Detach, DetachUpper, Identity, LimitedResource, MountFlag, Namespace, Ownership, Role, Step, StepKind};
pub use workspace::{Layer, Layers, Workspace};
