//! What the runtime itself puts into a worktree: `.agent/`. Copies for agents and people; the truth is in the ledger.
//!
//! The directory ignores itself, so that nothing of it is ever committed by accident; harvest and check refuse it besides.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use placet_domain::digest::Digest;
use placet_domain::scope::Glob;
use placet_domain::worktree::Opening;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::commit_form::CommitForm;

/// The directory, in every worktree.
pub const OWN: &str = ".agent";
const MANIFEST: &str = "manifest.json";
const REPORT: &str = "REPORT.md";
/// The report until all of it is written. One that was interrupted leaves it; it is nobody's work.
const FRESH_REPORT: &str = ".REPORT.md.new";
const HOOKS: &str = "hooks";
const COMMIT_MSG: &str = "commit-msg";
const IGNORE: &str = ".gitignore";
/// The directory until everything is in it.
const UNFINISHED: &str = ".agent-unfinished";
/// Far more than the report of anything that people read.
const LONGEST_REPORT: u64 = 16 << 20;

/// `manifest.json`, as people and agents read it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManifestFile {
    pub agent: String,
    pub display_name: String,
    pub ticket: String,
    pub branch: String,
    pub worktree_path: String,
    pub scope_allowlist: Vec<Glob>,
    pub scope_denylist: Vec<Glob>,
    pub created_at: String,
    pub created_by: String,
}

impl ManifestFile {
    pub fn of(opening: &Opening, created_at: &str, created_by: &str) -> Self {
        let rules = opening.manifest.scope.rules();
        Self {
            agent: opening.agent.to_string(),
            display_name: opening.display_name.clone(),
            ticket: opening.ticket.to_string(),
            branch: opening.branch.to_string(),
            worktree_path: opening.path.clone(),
            scope_allowlist: rules.allow.clone(),
            scope_denylist: rules.deny.clone(),
            created_at: created_at.to_owned(),
            created_by: created_by.to_owned(),
        }
    }

    /// Whether the file still says what was recorded.
    pub fn agrees_with(&self, opening: &Opening) -> bool {
        *self == Self::of(opening, &self.created_at, &self.created_by)
    }
}

/// Writes `.agent/` into a directory that has none; it appears in one step, so that one with its own name is whole.
pub fn write(directory: &Path, manifest: &ManifestFile, form: &CommitForm) -> io::Result<()> {
    let (inside, unfinished) = (open_directory(CWD, directory)?, directory.join(UNFINISHED));
    // What an interrupted call left; a link is removed and not followed.
    match unfinished.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(&unfinished)?,
        Ok(_) => fs::remove_file(&unfinished)?,
        Err(_) => {}
    }
    let own = make_directory(&inside, UNFINISHED)?;
    let hooks = make_directory(&own, HOOKS)?;
    put(&own, IGNORE, b"*\n", 0o644)?;
    put(&hooks, COMMIT_MSG, form.hook().as_bytes(), 0o755)?;
    let text = serde_json::to_string_pretty(manifest).map_err(io::Error::other)?;
    put(&own, MANIFEST, format!("{text}\n").as_bytes(), 0o644)?;
    Ok(rustix::fs::renameat_with(&inside, UNFINISHED, &inside, OWN, RenameFlags::NOREPLACE)?)
}

/// Writes the report at closing, in the place of an earlier one. Nothing that stands there is followed.
pub fn write_report(directory: &Path, text: &str) -> io::Result<()> {
    let own = open_directory(open_directory(CWD, directory)?, OWN)?;
    match rustix::fs::unlinkat(&own, FRESH_REPORT, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    put(&own, FRESH_REPORT, text.as_bytes(), 0o644)?;
    Ok(rustix::fs::renameat(&own, FRESH_REPORT, &own, REPORT)?)
}

/// The report as it was closed with; nothing, if something else stands there by now.
pub fn read_report(directory: &Path, closed_with: Digest) -> io::Result<Option<String>> {
    let own = open_directory(open_directory(CWD, directory)?, OWN)?;
    // Not waiting: a pipe would have no end.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(own, REPORT, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    file.take(LONGEST_REPORT).read_to_end(&mut bytes)?;
    Ok((Digest::of(&bytes) == closed_with).then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Whether a path of a worktree is one of the files the runtime keeps there.
pub fn is_known(path: &[u8]) -> bool {
    let hook = format!("{HOOKS}/{COMMIT_MSG}");
    [MANIFEST, REPORT, FRESH_REPORT, &hook, IGNORE].iter().any(|name| path == format!("{OWN}/{name}").as_bytes())
}

/// A directory that is one: a link in its place is not followed.
fn open_directory(at: impl AsFd, path: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(at, path, flags, Mode::empty())?)
}

fn make_directory(at: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    rustix::fs::mkdirat(at, name, Mode::from_raw_mode(0o755))?;
    open_directory(at, name)
}

/// A file that must not exist yet; a link in its place is not followed.
fn put(at: &OwnedFd, name: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(at, name, flags, Mode::from_raw_mode(mode))?);
    file.write_all(bytes)
}
