//! Setup of a worktree: variables, ports, caches of the host. The team declares them and the person allows them ([`crate::host`]); no other
//! part of the host's environment is passed.

use std::path::PathBuf;

use placet_sandbox::Request;
use placet_workspace::TreePath;

use crate::host::directory::{DirectoryError, HostDirectories};
use crate::host::person::{Person, Settings};
use crate::own;
use crate::team::{Cache, CacheMode, Team};

/// Adds to a command what the team declared for all of them: variables, ports, caches.
pub type Equip<'a> = dyn Fn(Request) -> Result<Request, Box<dyn std::error::Error + Send + Sync>> + 'a;

/// A cache or a variable that cannot be provided.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    #[error(
        "`agents/policy.json` asks for the variable `{name}` of your environment, which you have not allowed; if it is no secret, add it to `pass_variables` in `{settings}`"
    )]
    Variable { name: String, settings: PathBuf },
    #[error(
        "the cache `{to}` of `agents/policy.json` has no place in a cage; name an absolute path below /opt, /mnt, /srv or /home/agent"
    )]
    NoPlace { to: String },
    #[error(
        "the cache `{to}` of `agents/policy.json` has no place in a worktree; name a path from its root, and none of the runtime's own"
    )]
    NoRoom { to: String },
}

/// Checks that the person allows everything the team declared. Call it before any work starts.
pub fn check(
    team: &Team,
    person: &Person,
    settings: &Settings,
    directories: &HostDirectories<'_>,
) -> Result<(), SetupError> {
    let setup = &team.policy().setup;
    if let Some(name) = setup.environment.pass.iter().find(|name| !settings.passes(name)) {
        return Err(SetupError::Variable { name: name.clone(), settings: person.settings_file() });
    }
    Ok(setup.caches.iter().try_for_each(|cache| directories.resolve(&cache.from).map(drop))?)
}

/// Returns the variables of a command: those the team sets, those of the host it names, and the worktree's ports. `host` returns only
/// variables that the person allows.
pub fn variables(team: &Team, slot: u32, host: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let environment = &team.policy().setup.environment;
    let passed = environment.pass.iter().filter_map(|name| host(name).map(|value| (name.clone(), value)));
    let set = environment.set.iter().map(|(name, value)| (name.clone(), value.clone()));
    let ports = team.policy().ports.of_slot(slot).into_iter().map(|(name, port)| (name, port.to_string()));
    passed.chain(set).chain(ports).collect()
}

/// Directories of the host that appear in the cage, not writable: where from, and where to.
pub fn read_only(team: &Team, directories: &HostDirectories<'_>) -> Result<Vec<(PathBuf, PathBuf)>, SetupError> {
    let caches = team.policy().setup.caches.iter();
    caches.filter(|cache| cache.how == CacheMode::ReadOnly).map(|cache| mounted(cache, directories)).collect()
}

fn mounted(cache: &Cache, directories: &HostDirectories<'_>) -> Result<(PathBuf, PathBuf), SetupError> {
    let to = PathBuf::from(&cache.to);
    if !to.is_absolute() {
        return Err(SetupError::NoPlace { to: cache.to.clone() });
    }
    Ok((directories.resolve(&cache.from)?, to))
}

/// Caches that are laid into each worktree when it starts.
pub fn laid(team: &Team) -> impl Iterator<Item = &Cache> {
    team.policy().setup.caches.iter().filter(|cache| cache.how == CacheMode::Hardlink)
}

/// Where such a cache comes from, and where in the worktree it goes.
pub fn placed(cache: &Cache, directories: &HostDirectories<'_>) -> Result<(PathBuf, TreePath), SetupError> {
    let no_room = || SetupError::NoRoom { to: cache.to.clone() };
    let to = TreePath::new(cache.to.trim_end_matches('/').as_bytes()).map_err(|_| no_room())?;
    let first = to.as_bytes().split(|&byte| byte == b'/').next().unwrap_or_default();
    let is_ours = [".git", own::OWN, ".placet", ".worktrees", "agents"];
    if is_ours.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(first)) {
        return Err(no_room());
    }
    Ok((directories.resolve(&cache.from)?, to))
}
