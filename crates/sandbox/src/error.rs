//! What can go wrong between a request and a running command.
//!
//! A step that fails inside the helper crosses the process boundary as data ([`StepError`]) and keeps the name of the
//! step, so that the message says which wall could not be built. How a command *ends* is no error: see
//! [`crate::Outcome`].

use std::fmt;
use std::io;
use std::path::PathBuf;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::outcome::LimitKind;
use crate::profile::LimitName;
use crate::request::RequestError;
use crate::step::StepKind;

/// Why no command is running, or why its end is unknown.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The request itself is wrong.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The host cannot enforce what the profile demands.
    #[error("this host cannot enforce {what}: {todo}")]
    HostLacks {
        /// What is missing.
        what: String,
        /// How to get it.
        todo: String,
    },
    /// A host path of the request is missing or of the wrong kind.
    #[error("`{path}` cannot be mounted: {why}")]
    Source {
        /// The host path.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A direct workspace in which a command could change repositories or connect to sockets of the host.
    #[error(
        "`{path}` cannot be a workspace that is written at once: {why}; put a layer above it, or allow changes of repositories"
    )]
    Unprotected {
        /// The host path.
        path: PathBuf,
        /// Reason why the workspace cannot be protected.
        why: String,
    },
    /// The program is not there, in the cage.
    #[error("no executable program `{0}` in the cage")]
    ProgramNotFound(String),
    /// The caller's check said no before the program ran.
    #[error("the program was refused before it ran: {0}")]
    ProgramRefused(String),
    /// One wall of the cage could not be built.
    #[error(transparent)]
    Step(#[from] StepError),
    /// The wall clock of the request ran out on the way in.
    #[error("the time limit of {wall_ms} ms was over before the program started")]
    TimeIsUp {
        /// The limit.
        wall_ms: u64,
    },
    /// Another limit was exceeded on the way in, where next to nothing is used.
    #[error("the limit `{name}` of {most} was exceeded before the program started: raise it",
        name = LimitName::from(*which), most = LimitName::from(*which).show(*limit))]
    LimitTooLow {
        /// Which limit.
        which: LimitKind,
        /// What was allowed.
        limit: u64,
    },
    /// The re-executed binary did not behave as a helper.
    #[error("the helper did not answer: call `placet_sandbox::helper_entry()` first in `main`")]
    HelperSilent,
    /// The helper ended without saying how the command ended.
    #[error("the helper ended without a report; it may have been killed from outside or for lack of memory")]
    HelperDied,
    /// The container engine could not, or would not.
    #[cfg(feature = "container")]
    #[error(transparent)]
    Engine(#[from] crate::container::EngineError),
    /// Something around the helper failed.
    #[error("cannot {doing}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
}

impl SandboxError {
    pub(crate) fn io(doing: &'static str) -> impl FnOnce(Errno) -> Self {
        move |errno| Self::Io { doing, source: errno.into() }
    }
}

/// A step of the plan that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepError {
    /// Which kind of step.
    pub step: StepKind,
    /// The step with its operands, as in the plan.
    pub action: String,
    /// The kernel's error number.
    pub errno: i32,
}

impl fmt::Display for StepError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot {}: {}", self.action, io::Error::from_raw_os_error(self.errno))?;
        match hint(self.step, self.errno) {
            Some(hint) => write!(out, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for StepError {}

const REMOVED: &str = "the upper was used before, without this rule, and the path was removed there; use a fresh upper";
const REPLACED: &str =
    "a directory above the path was replaced by a symbolic link, on the host or in an upper used before";

/// What usually is behind a failure, and what to do about it.
const HINTS: &[(StepKind, i32, &str)] = &[
    (
        StepKind::PivotRoot,
        libc::EINVAL,
        "the host's root is probably an initramfs, which cannot be left this way; boot from a real root file system",
    ),
    (
        StepKind::Unshare,
        libc::EPERM,
        "user namespaces are blocked; allow them (kernel.unprivileged_userns_clone=1, \
         kernel.apparmor_restrict_unprivileged_userns=0) or, in a container, run it with seccomp=unconfined",
    ),
    (StepKind::Unshare, libc::ENOSPC, "too many namespaces exist; raise user.max_user_namespaces"),
    (StepKind::Unshare, libc::EINVAL, "the helper had a second thread, or the kernel lacks a kind of namespace"),
    (StepKind::MountProc, libc::EPERM, "a container masks parts of /proc; run it with systempaths=unconfined"),
    (
        StepKind::MountRoot,
        libc::EPERM,
        "user namespaces exist but carry no rights (AppArmor); set kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        StepKind::DropUser,
        libc::EINVAL,
        "the cage's user does not exist in this user namespace; choose another with `host_user`",
    ),
    (StepKind::Door, libc::EAFNOSUPPORT, "the kernel has no IPv4, which doors are made of; use one with CONFIG_INET"),
    (StepKind::Detach, libc::ESTALE, "the path was exchanged for another file after the request was checked"),
    (StepKind::DetachUpper, libc::ESTALE, "upper or work was exchanged for another directory after the check"),
    (
        StepKind::Detach,
        libc::EINVAL,
        "the file system cannot show its files as those of the cage's user, which layers need when the caller is root; \
         use ext4, xfs, btrfs or tmpfs with Linux 5.19 or later, or launch as the owner of the directory",
    ),
    (
        StepKind::MountLayers,
        libc::EINVAL,
        "upper must be on a file system with extended attributes of users (ext4, xfs, btrfs; tmpfs since Linux 6.6), \
         nothing may be mounted below lower or upper, and layers cannot be above an overlay",
    ),
    (StepKind::DetachUpper, libc::EBUSY, "another cage still uses this upper; give each its own, or wait for its end"),
    (StepKind::MountLayers, libc::EPERM, "overlays in user namespaces need Linux 5.11 or later"),
    (StepKind::MountLayers, libc::ENODEV, "the kernel has no overlay file system; load the module `overlay`"),
    (StepKind::Rebind, libc::ENOENT, REMOVED),
    (StepKind::Blank, libc::ENOENT, REMOVED),
    (StepKind::Rebind, libc::ELOOP, REPLACED),
    (StepKind::Blank, libc::ELOOP, REPLACED),
    (StepKind::Exec, libc::ENOEXEC, "it is neither a program for this machine nor a script with a `#!` line"),
];

fn hint(step: StepKind, errno: i32) -> Option<&'static str> {
    HINTS.iter().find(|(kind, code, _)| *kind == step && *code == errno).map(|(_, _, hint)| *hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_names_itself_its_cause_and_what_to_do() {
        let error = StepError { step: StepKind::PivotRoot, action: "pivot root".into(), errno: libc::EINVAL };
        let text = error.to_string();
        assert!(text.starts_with("cannot pivot root: Invalid argument"), "{text}");
        assert!(text.contains("initramfs"), "{text}");
    }

    #[test]
    fn a_failure_without_a_known_cause_still_reads_well() {
        let error = StepError { step: StepKind::Hostname, action: "hostname cage".into(), errno: libc::EPERM };
        assert_eq!(error.to_string(), "cannot hostname cage: Operation not permitted (os error 1)");
    }
}
