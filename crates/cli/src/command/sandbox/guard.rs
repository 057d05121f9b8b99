//! Detects repositories and homes of Placet that a command made in a directly written workspace. Existing repositories are read-only in
//! the cage, and existing homes hidden. A new name in a directory of the host cannot be blocked, so the caller is warned.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use placet_domain::text::spelled_out;
use placet_sandbox::{HostRisks, host_risks};

use super::options::not_started;
use crate::error::CliError;
use crate::out::Out;

/// Repositories and homes in a workspace before the command.
pub(super) struct Guard {
    workspace: PathBuf,
    watches_repositories: bool,
    before: HostRisks,
}

/// Paths that the command made, and paths that could not be looked into.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub(super) repositories: Vec<String>,
    pub(super) homes: Vec<String>,
    pub(super) unreadable: Vec<String>,
}

impl Guard {
    pub(super) fn begin(workspace: PathBuf, watches_repositories: bool) -> Result<Self, CliError> {
        let before = look(&workspace)?;
        Ok(Self { workspace, watches_repositories, before })
    }

    /// Lists what exists now and did not exist before the command.
    pub(super) fn made(&self) -> Result<Made, CliError> {
        let after = look(&self.workspace)?;
        let repositories = match self.watches_repositories {
            true => new(&after.repositories, &self.before.repositories),
            false => Vec::new(),
        };
        let homes = new(&after.homes, &self.before.homes);
        // Those from before are read-only in the cage, except where repositories are writable.
        let known = if self.watches_repositories { &self.before.unreadable } else { &BTreeSet::new() };
        Ok(Made { repositories, homes, unreadable: new(&after.unreadable, known) })
    }
}

fn look(workspace: &Path) -> Result<HostRisks, CliError> {
    host_risks(workspace).map_err(|error| not_started(&error))
}

fn new(after: &BTreeSet<PathBuf>, before: &BTreeSet<PathBuf>) -> Vec<String> {
    after.difference(before).map(|path| spelled_out(&path.to_string_lossy())).collect()
}

pub(super) fn warn(made: &Made, out: &Out) {
    for path in &made.repositories {
        out.note(&format!(
            "warning: the command made the repository `{path}`; its settings and hooks run programs when git or another tool \
             is used there: look into it first, or remove it"
        ));
    }
    for path in &made.homes {
        out.note(&format!(
            "warning: the command made `{path}`, which is named like a home of Placet; placet uses it in that directory and \
             below: remove it"
        ));
    }
    for path in &made.unreadable {
        out.note(&format!(
            "warning: could not be looked into: `{path}`; the command may have made a repository there: look into it first, \
             or remove it"
        ));
    }
}
