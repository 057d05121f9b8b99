//! The cage in a container engine: the same profile and request, run by Docker or Podman over their common interface.
//!
//! ```text
//!  profile ──► configure ──► create ──► program ──► attach, start ──► watch ──► remove
//!  request     pure          one call   shown to    output from the   limits,   always
//!  facts                                the caller  first byte on     the end
//! ```
//!
//! For hosts where namespaces are closed to ordinary processes, or where images are the way programs come. It is the
//! weaker backend, and slower by two orders of magnitude; what it does not have is refused and not left out:
//!
//! - The root is the image, read-only, not the host's programs. Variables of the image that the profile does not set
//!   stay set. Images with volumes or with variables that loaders obey are refused.
//! - No doors, no layers, no rules for single paths; a workspace is writable or read-only as a whole.
//! - A workspace of a root caller is given to user 1000, or to the user of the request, on disk; an ordinary caller's
//!   command is the caller.
//! - Engines tell a signal by the code 128 + its number, so a command that ends with such a code seems killed.
//! - Memory ends the command, and is named where the engine learns of it: Podman does so with version 2 of control
//!   groups only, and without it there is a signal 9 that nobody explains. Too many processes are refused and the
//!   command decides. Processor time and disk of the tree are looked at twice a second, and what was used after the
//!   last look is not counted.
//! - A call of another architecture ends the command instead of answering `ENOSYS`.
//! - A container outlives a caller that is killed. Its label says whose it was, and the next [`Engine::connect`]
//!   removes it.
//! - Scripts are shown to the caller without their interpreters.
//!
//! There is no library for the engine's interface behind this, and no async runtime: see
//! `docs/decisions/0023-containers-without-a-client-library.md`.

mod api;
mod configure;
mod contained;
mod disk;
mod error;
mod facts;
mod filter;
mod frames;
mod http;
mod probe;
mod program;
mod seccomp;
mod stats;
mod tar;
mod watch;

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use configure::{ContainerConfig, LABEL};
pub use error::EngineError;
pub use facts::{EngineFacts, EngineKind};

use crate::backend::{Accept, Backend};
use crate::enter::owners;
use crate::error::SandboxError;
use crate::group::Name;
use crate::host;
use crate::probe::HostReport;
use crate::profile::Profile;
use crate::request::{HostUser, Input, Request};
use crate::rules::Access;
use crate::running::Running;
use api::Api;
use contained::{Container, Fitted};
use disk::Disk;
use filter::FilterFile;

/// Cages in the containers of one engine, with one image.
#[derive(Debug)]
pub struct Engine {
    socket: PathBuf,
    api: Arc<Api>,
    image: String,
    facts: EngineFacts,
}

impl Engine {
    /// The engine at a unix socket. The image must be there already; what its name means is fixed here, once.
    /// Containers of callers that died are removed.
    pub fn connect(socket: impl AsRef<Path>, image: &str) -> Result<Self, SandboxError> {
        let api = Arc::new(Api::new(socket.as_ref()));
        let facts = EngineFacts::ask(&api, host::caller())?;
        let found = match api.image(image) {
            Err(error) if error.is_absence() => {
                let why = "the engine does not have it; pull or build it first".to_owned();
                return Err(EngineError::Image { image: image.to_owned(), why }.into());
            }
            other => other?,
        };
        let socket = socket.as_ref().to_owned();
        let engine = Self { socket, image: facts::usable_image(image, &found)?, api, facts };
        engine.collect_leftovers()?;
        Ok(engine)
    }

    /// What the engine says about itself.
    #[must_use]
    pub fn facts(&self) -> &EngineFacts {
        &self.facts
    }

    /// The id of the image.
    #[must_use]
    pub fn image(&self) -> &str {
        &self.image
    }

    /// Removes the containers of callers that are gone, and returns how many. Those of living callers, and of callers
    /// that cannot be looked up from here, are left alone.
    pub fn collect_leftovers(&self) -> Result<usize, EngineError> {
        let orphaned = |labels: &BTreeMap<String, String>| {
            labels.get(LABEL).and_then(|name| name.parse::<Name>().ok()).is_some_and(|name| name.owner.is_gone())
        };
        let orphans: Vec<_> = self.api.labelled(LABEL)?.into_iter().filter(|each| orphaned(&each.labels)).collect();
        orphans.iter().try_for_each(|each| self.api.remove(&each.id))?;
        Ok(orphans.len())
    }

    fn create(&self, config: &ContainerConfig) -> Result<Container, SandboxError> {
        let name = Name::next().map_err(|source| SandboxError::Io { doing: "name the container", source })?.to_string();
        let text = config.seccomp().to_string();
        let filter = match self.facts.rootless {
            true => FilterFile::beside(&self.socket, &name, &text),
            false => FilterFile::in_memory(&text),
        };
        let filter = filter.map_err(|source| SandboxError::Io { doing: "hand the filter to the engine", source })?;
        let id = self.api.create(&name, &config.complete(&name, &filter.path()))?;
        Ok(Container::new(Arc::clone(&self.api), id))
    }

    /// Where the engine shows users as they are, files of others cannot be written until they are the command's.
    fn give_workspace(&self, workspace: &Path, user: HostUser) -> Result<(), SandboxError> {
        use rustix::fs::{Mode, OFlags};
        if self.facts.caller.uid != 0 || self.facts.rootless || self.facts.remapped {
            return Ok(());
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let given = rustix::fs::open(workspace, flags, Mode::empty()).and_then(|directory| {
            let owner = rustix::fs::fstat(&directory)?;
            let already = (owner.st_uid, owner.st_gid) == (user.uid, user.gid);
            if already { Ok(()) } else { owners::give_tree(directory.as_fd(), user) }
        });
        given.map_err(SandboxError::io("give the workspace to the command's user"))
    }
}

impl Backend for Engine {
    fn launch_if(&self, profile: &Profile, request: Request, accept: &mut Accept<'_>) -> Result<Running, SandboxError> {
        request.check()?;
        let (profile, mut request) = (&*host::resolved_profile(profile)?, host::resolved(request)?);
        let stdin = match std::mem::take(&mut request.stdin) {
            Input::Bytes(bytes) => bytes,
            Input::Pipe => return Err(configure::unsupported("a piped input".into(), "give it the bytes")),
            Input::Terminal => return Err(configure::unsupported("a terminal".into(), "use a cage of this host")),
        };
        let config = ContainerConfig::new(profile, &request, &self.image, &self.facts)?;
        let written = request.workspace.as_ref().filter(|_| request.rules.elsewhere == Access::Writable);
        if let Some(workspace) = written {
            self.give_workspace(workspace.host(), config.user())?;
        }
        let container = self.create(&config)?;
        let program = program::open(&self.api, container.id(), profile, &request)?;
        accept(&program).map_err(SandboxError::ProgramRefused)?;
        let disk = written.map(|workspace| Disk::new(workspace.host()));
        let limits = request.limits.unwrap_or(profile.limits);
        Fitted { container, program, limits, disk, stdin }.start(&self.api)
    }

    fn probe(&self) -> HostReport {
        probe::report(self)
    }
}
