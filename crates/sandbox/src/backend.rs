//! What every kind of cage has in common for its callers: it launches a command, and says what it is worth here.
//!
//! There is one result type for all of them, [`Running`]: output, killing, limits and outcome are the same whatever the
//! walls are made of. Which backend is used is the caller's choice; nothing here falls back from one to another.

use std::fmt;

use crate::error::SandboxError;
use crate::launch::Launcher;
use crate::probe::{HostReport, probe};
use crate::profile::Profile;
use crate::request::Request;
use crate::running::{Program, Running};

/// Looks at the opened program before it runs; an error says why it must not.
pub type Accept<'a> = dyn FnMut(&Program) -> Result<(), String> + 'a;

/// Something that runs one command behind walls.
pub trait Backend: fmt::Debug + Send + Sync {
    /// Returns when the command runs; by then every wall stands, and `accept` has seen the program.
    fn launch_if(&self, profile: &Profile, request: Request, accept: &mut Accept<'_>) -> Result<Running, SandboxError>;

    /// Tries what this backend enforces here, by running a command from end to end.
    fn probe(&self) -> HostReport;

    /// Like [`Backend::launch_if`], whatever the program is.
    fn launch(&self, profile: &Profile, request: Request) -> Result<Running, SandboxError> {
        self.launch_if(profile, request, &mut |_| Ok(()))
    }
}

/// The cage made of namespaces.
impl Backend for Launcher {
    fn launch_if(&self, profile: &Profile, request: Request, accept: &mut Accept<'_>) -> Result<Running, SandboxError> {
        Self::launch_if(self, profile, request, accept)
    }

    fn probe(&self) -> HostReport {
        probe()
    }
}
