//! Steps that restrict what the program may ask of the kernel: Landlock for files, seccomp for system calls.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr,
    RulesetError, Scope,
};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::seccomp;
use crate::sys::Result;

/// The newest set of rights the rules below were written for. On older kernels those they know are used; later ones
/// add rights that need rules of their own.
const WRITTEN_FOR: ABI = ABI::V6;

/// A second wall behind the read-only mounts: reading and executing everywhere, writing only here, and neither
/// signals nor abstract sockets across the border.
pub(super) fn landlock(writable: &[PathBuf]) -> Result<()> {
    let everything = AccessFs::from_all(WRITTEN_FOR);
    let reading = AccessFs::from_read(WRITTEN_FOR);
    let below_root = PathBeneath::new(open("/".as_ref())?, reading);
    let mut rules = ruleset(everything).and_then(|rules| rules.add_rule(below_root)).map_err(|_| Errno::PERM)?;
    for path in writable {
        let below_path = PathBeneath::new(open(path)?, everything);
        rules = rules.add_rule(below_path).map_err(|_| Errno::PERM)?;
    }
    rules.restrict_self().map(drop).map_err(|_| Errno::PERM)
}

fn ruleset(handled: BitFlags<AccessFs>) -> std::result::Result<RulesetCreated, RulesetError> {
    Ruleset::default().handle_access(handled)?.scope(Scope::from_all(WRITTEN_FOR))?.create()
}

fn open(path: &Path) -> Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

pub(super) fn seccomp(refused: &[String]) -> Result<()> {
    let rules: Option<Vec<_>> = refused.iter().map(|name| seccomp::rule(name)).collect();
    let filters = seccomp::filters(rules.ok_or(Errno::INVAL)?).map_err(|_| Errno::INVAL)?;
    for filter in &filters {
        seccompiler::apply_filter(filter).map_err(|_| Errno::PERM)?;
    }
    Ok(())
}
