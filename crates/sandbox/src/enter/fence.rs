//! Steps that restrict what the program may ask of the kernel: Landlock for files, seccomp for system calls.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, PathBeneath, RestrictSelfAttr, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::seccomp;
use crate::sys::{self, Result};

/// The newest set of rights the rules below were written for. On older kernels those they know are used; later ones
/// add rights that need rules of their own.
const WRITTEN_FOR: ABI = ABI::V9;

/// A second wall behind the read-only mounts: reading and executing everywhere, writing only here, and neither
/// signals nor sockets across the border: abstract ones by scope, those with a path by a right that is given nowhere and
/// that sockets of the cage itself do not need.
pub(super) fn landlock(writable: &[PathBuf]) -> Result<()> {
    let everything = AccessFs::from_all(WRITTEN_FOR);
    let reading = AccessFs::from_read(WRITTEN_FOR);
    let writing = everything & !never();
    let below_root = PathBeneath::new(open("/".as_ref())?, reading);
    let mut rules = ruleset(everything).and_then(|rules| rules.add_rule(below_root)).map_err(|_| Errno::PERM)?;
    for path in writable {
        let below_path = PathBeneath::new(open(path)?, writing);
        rules = rules.add_rule(below_path).map_err(|_| Errno::PERM)?;
    }
    // What a command forbids itself is no news for the host's log.
    let quiet = rules.log_subdomains(false).map_err(|_| Errno::PERM)?;
    quiet.restrict_self().map(drop).map_err(|_| Errno::PERM)
}

/// Rights that no place of the cage has. Device nodes: what is made in a workspace is looked at outside, and a
/// character device 0:0, which everyone may make, deletes a file in an overlay. Sockets of others by path: a read-only
/// mount does not keep anybody from connecting.
fn never() -> BitFlags<AccessFs> {
    AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::ResolveUnix
}

fn ruleset(handled: BitFlags<AccessFs>) -> std::result::Result<RulesetCreated, RulesetError> {
    Ruleset::default().handle_access(handled)?.scope(Scope::from_all(WRITTEN_FOR))?.create()
}

fn open(path: &Path) -> Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

pub(super) fn seccomp(refused: &[String]) -> Result<()> {
    let rules: Option<Vec<_>> = refused.iter().map(|name| seccomp::rule(name)).collect();
    sys::apply_filter(&seccomp::filter(rules.ok_or(Errno::INVAL)?))
}
