//! What the runtime itself puts into a worktree: `.agent/`. Copies for agents and people; the truth is in the ledger.
//!
//! The directory ignores itself, so that nothing of it is ever committed by accident; harvest and check refuse it besides.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use placet_domain::scope::Glob;
use placet_domain::worktree::Opening;
use serde::{Deserialize, Serialize};

use crate::commit_form::CommitForm;

/// The directory, in every worktree.
pub const OWN: &str = ".agent";
const MANIFEST: &str = "manifest.json";
const REPORT: &str = "REPORT.md";
const HOOK: &str = "hooks/commit-msg";
const IGNORE: &str = ".gitignore";

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

/// Writes `.agent/` into a directory that has none.
pub fn write(directory: &Path, manifest: &ManifestFile, form: &CommitForm) -> io::Result<()> {
    let own = directory.join(OWN);
    fs::DirBuilder::new().mode(0o755).create(&own)?;
    fs::DirBuilder::new().mode(0o755).create(own.join("hooks"))?;
    put(&own.join(IGNORE), b"*\n", 0o644)?;
    put(&own.join(HOOK), form.hook().as_bytes(), 0o755)?;
    let text = serde_json::to_string_pretty(manifest).map_err(io::Error::other)?;
    put(&own.join(MANIFEST), format!("{text}\n").as_bytes(), 0o644)
}

/// Writes the report at closing, in the place of an earlier one.
pub fn write_report(directory: &Path, text: &str) -> io::Result<()> {
    let (own, name) = (directory.join(OWN), format!(".{REPORT}.new"));
    let fresh = own.join(&name);
    match fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    put(&fresh, text.as_bytes(), 0o644)?;
    fs::rename(&fresh, own.join(REPORT))
}

/// Whether a path of a worktree is one of the files the runtime keeps there.
pub fn is_known(path: &[u8]) -> bool {
    let known = [MANIFEST, REPORT, HOOK, IGNORE];
    known.iter().any(|name| path == format!("{OWN}/{name}").as_bytes())
}

/// A file that must not exist yet; a link in its place is not followed.
fn put(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)
}
