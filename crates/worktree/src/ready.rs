//! READY: what the team declared is in a new worktree before its agent begins: caches of the host, and files that the
//! team's own commands make. None of it is the agent's work, for as long as it stays as it was given.
//!
//! Commands run once, in the worktree's cage, one after the other. They may write anywhere but to protected paths, and
//! make files that the repository does not hold; one that fails, or changes what is committed, fails the start.

use placet_domain::text::spelled_out;
use placet_domain::worktree::Opening;
use placet_sandbox::{Exit, Launcher, Profile, SandboxError};
use placet_workspace::difference::{Difference, DifferenceError, Entry, Origin};
use placet_workspace::layer::Baseline;
use placet_workspace::worktree::{Given, Kind};
use placet_workspace::{LayerError, Limits, RepositoryError, TreePath, Worktree, WorktreeError};

use crate::cage::Cage;
use crate::done::{ended, last_lines, told};
use crate::git_settings::GitSettingsError;
use crate::host::directory::HostDirectories;
use crate::own;
use crate::setup::{self, Equip, SetupError};
use crate::team::{Generate, Team};

#[derive(Debug, thiserror::Error)]
pub enum ReadyError {
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error("the cache for `{to}` cannot be laid out")]
    Cache { to: String, source: WorktreeError },
    #[error("the setup command `{name}` {ended}\n{last_lines}")]
    Failed { name: String, ended: String, last_lines: String },
    #[error(
        "the setup command `{name}` changed `{path}`, which the repository holds; commit the result, or let it write elsewhere"
    )]
    Committed { name: String, path: String },
    #[error("the setup command `{name}` made `{path}`: {because}")]
    Refused { name: String, path: String, because: &'static str },
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Layer(#[from] LayerError),
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error(transparent)]
    Settings(#[from] GitSettingsError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error(transparent)]
    Difference(#[from] DifferenceError),
    #[error("a command of the team cannot be given what it declared")]
    Equipment(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What a worktree is made ready with.
pub struct Ready<'a> {
    pub team: &'a Team,
    pub opening: &'a Opening,
    pub profile: &'a Profile,
    /// Decides which directories of the host the person allows.
    pub directories: &'a HostDirectories<'a>,
    pub equip: &'a Equip<'a>,
}

impl std::fmt::Debug for Ready<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ready").field("opening", self.opening).finish_non_exhaustive()
    }
}

/// Whether a team declared anything that has to be put into its worktrees.
pub fn is_needed(team: &Team) -> bool {
    let setup = &team.policy().setup;
    !setup.generate.is_empty() || setup::laid(team).next().is_some()
}

impl Ready<'_> {
    /// Makes a worktree ready, and records what it was given.
    pub fn make(&self, worktree: &Worktree) -> Result<(), ReadyError> {
        if !is_needed(self.team) {
            return Ok(());
        }
        let mut given = Given::default();
        for cache in setup::laid(self.team) {
            let (from, to) = setup::placed(cache, self.directories)?;
            let laid = given.lay(worktree, &from, &to, Limits::default());
            laid.map_err(|source| ReadyError::Cache { to: cache.to.clone(), source })?;
        }
        // What the first commands made is there when a later one is run, and when it is asked what that made.
        given.save(worktree)?;
        for command in &self.team.policy().setup.generate {
            self.generate(worktree, command, &mut given)?;
            given.save(worktree)?;
        }
        Ok(())
    }

    fn generate(&self, worktree: &Worktree, command: &Generate, given: &mut Given) -> Result<(), ReadyError> {
        let before = match worktree.kind() {
            Kind::Plain => Some(Baseline::record(&worktree.path(), Limits::default())?),
            Kind::Layered => None,
        };
        self.run(worktree, command)?;
        if let Some(baseline) = before {
            let layered = worktree.files()?;
            layered.promote(&baseline, &layered.preview(&baseline)?)?;
            layered.discard()?;
            worktree.refresh()?;
        }
        // It commits nothing that anybody asked for.
        worktree.commits()?.discard()?;
        learn(worktree, command, given)
    }

    fn run(&self, worktree: &Worktree, command: &Generate) -> Result<(), ReadyError> {
        let cage = Cage { worktree, opening: self.opening, exempted: &[] };
        let request = cage.request(&command.command)?.rules(cage.rules_of_the_team()?);
        let request = (self.equip)(request).map_err(ReadyError::Equipment)?;
        let running = Launcher::default().launch(self.profile, request.limits(self.profile.limits()))?;
        let (outcome, output) = running.collect()?;
        if outcome.exit == Exit::Code(0) {
            return Ok(());
        }
        let name = command.name.to_string();
        Err(ReadyError::Failed { name, ended: ended(outcome.exit), last_lines: told(&last_lines(&output)) })
    }
}

/// Everything that differs from the base is what was given: the agent was not there yet.
fn learn(worktree: &Worktree, command: &Generate, given: &mut Given) -> Result<(), ReadyError> {
    let (differences, untouched) = (worktree.differences(worktree.base())?, worktree.untouched()?);
    for difference in differences.iter() {
        if own::is_known(difference.path.as_bytes()) || untouched.holds(&difference.path) {
            continue;
        }
        acceptable(difference, command)?;
        given.learn(worktree, &difference.path)?;
    }
    Ok(())
}

fn acceptable(difference: &Difference, command: &Generate) -> Result<(), ReadyError> {
    let (name, path) = (command.name.to_string(), shown(&difference.path));
    match difference.origin {
        Origin::Untracked | Origin::Ignored => {}
        Origin::Committed | Origin::Staged | Origin::Unstaged => return Err(ReadyError::Committed { name, path }),
    }
    if placet_secrets::is_env_file(difference.path.as_bytes()) {
        let because = "environment files hold secrets; environments come from `setup.environment`";
        return Err(ReadyError::Refused { name, path, because });
    }
    match difference.new {
        Some(Entry::File | Entry::Program | Entry::Link) => Ok(()),
        Some(Entry::Submodule | Entry::Repository | Entry::Special(_)) | None => {
            let because = "only files, directories and links can be given to an agent";
            Err(ReadyError::Refused { name, path, because })
        }
    }
}

fn shown(path: &TreePath) -> String {
    spelled_out(&path.to_string())
}
