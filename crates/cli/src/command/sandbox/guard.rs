//! Detects repositories that a command made in a directly written workspace. Existing repositories are read-only in the cage. A new name in
//! a directory of the host cannot be blocked, so the caller is warned.

use std::collections::BTreeSet;
use std::path::PathBuf;

use placet_domain::text::spelled_out;
use placet_sandbox::repositories;

use super::options::not_started;
use crate::error::CliError;
use crate::out::Out;

/// Repositories in a workspace before the command.
pub(super) struct Guard {
    workspace: PathBuf,
    before: BTreeSet<PathBuf>,
}

impl Guard {
    pub(super) fn begin(workspace: PathBuf) -> Result<Self, CliError> {
        let before = repositories(&workspace).map_err(|error| not_started(&error))?;
        Ok(Self { workspace, before })
    }

    /// Lists repositories that exist now and did not exist before the command.
    pub(super) fn made(&self) -> Result<Vec<String>, CliError> {
        let after = repositories(&self.workspace).map_err(|error| not_started(&error))?;
        Ok(after.difference(&self.before).map(|path| spelled_out(&path.to_string_lossy())).collect())
    }
}

pub(super) fn warn(made: &[String], out: &Out) {
    for path in made {
        out.note(&format!(
            "warning: the command made the repository `{path}`; its settings and hooks run programs when git or another tool \
             is used there: look into it first, or remove it"
        ));
    }
}
