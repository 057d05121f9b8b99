//! START: an agent is given a ticket, a branch and a place to work.
//!
//! Planning looks and decides nothing on disk; making leaves everything or nothing. In between, whoever calls records
//! what was planned: what is on disk follows what is in the ledger, never the other way round.

use std::io;
use std::path::{Path, PathBuf};

use placet_domain::worktree::{Layout, Opening};
use placet_wire::api::WorktreeView;
use placet_workspace::worktree::{Kind, Listed};
use placet_workspace::{Branch, ObjectId, Plan, Repository, RepositoryError, Worktree, WorktreeError, WorktreeName};

use crate::commit_form::CommitForm;
use crate::own::{self, ManifestFile};
use crate::person_hooks::person_hooks;
use crate::ready::ReadyError;
use crate::team::{BadTicket, NoSuchAgent, Team, branch_of};

/// Below this a checkout would end half-written.
const LEAST_FREE_BYTES: u64 = 256 << 20;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Agent(#[from] NoSuchAgent),
    #[error(transparent)]
    Ticket(#[from] BadTicket),
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error("the team's files name something that cannot be recorded: {0}")]
    Name(String),
    #[error(
        "there are {found} worktrees and `agents/policy.json` allows {most}; `placet gc` removes those that are done"
    )]
    Quota { found: u32, most: u32 },
    #[error("only {free_bytes} bytes are free on this disk; `placet gc` shows what can go")]
    Disk { free_bytes: u64 },
    #[error(
        "`{path}` is in the tree and may hold secrets; remove it from the repository, environments come from the team's setup"
    )]
    EnvFile { path: String },
    #[error("`{at}` cannot be written")]
    Write { at: PathBuf, source: io::Error },
    #[error(transparent)]
    Ready(#[from] ReadyError),
    #[error(
        "all worktrees together take {found_bytes} bytes and `agents/policy.json` allows {most_bytes}; `placet gc` shows what can go"
    )]
    DiskQuota { found_bytes: u64, most_bytes: u64 },
}

/// How somebody wants it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wish<'a> {
    pub layout: Layout,
    /// The worktree whose branch it continues.
    pub follows: Option<&'a WorktreeView>,
}

/// A start that can be recorded and then made.
#[derive(Debug)]
pub struct Start<'a> {
    repository: &'a Repository,
    team: &'a Team,
    opening: Opening,
    plan: Plan,
}

/// The name of a worktree in the repository: no two pairs of ticket and agent have one.
pub fn name_of(opening: &Opening) -> Result<WorktreeName, StartError> {
    Ok(format!("{}-{}", opening.ticket, opening.agent).parse()?)
}

impl<'a> Start<'a> {
    pub fn plan(
        repository: &'a Repository,
        team: &'a Team,
        agent: &str,
        ticket: &str,
        wish: Wish<'_>,
    ) -> Result<Self, StartError> {
        let (agent, ticket) = (team.agent(agent)?, team.policy().ticket(ticket)?);
        let base_branch = &team.policy().base_branch;
        let base = match wish.follows {
            Some(before) => parsed(before.tip.as_str())?,
            None => repository.resolve(base_branch.as_str())?,
        };
        let path = format!(".worktrees/{ticket}/{}", agent.name());
        let opening = Opening {
            agent: agent.name().clone(),
            display_name: agent.display_name().to_owned(),
            branch: branch_of(&ticket, agent.name()),
            ticket,
            base_branch: base_branch.clone(),
            base: parsed(base.as_str())?,
            path: path.clone(),
            layout: wish.layout,
            manifest: team.manifest(agent),
            profile: agent.version(),
            team: team.version(),
            follows: wish.follows.map(|before| before.id),
        };
        let branch: Branch = parsed(opening.branch.as_str())?;
        let plan = Plan { name: name_of(&opening)?, path: repository.root().join(path), branch, base };
        let start = Self { repository, team, opening, plan };
        start.check_room()?;
        Ok(start)
    }

    /// What is to be recorded before anything is made.
    pub fn opening(&self) -> &Opening {
        &self.opening
    }

    /// Nothing is begun that would end half-way.
    fn check_room(&self) -> Result<(), StartError> {
        let quotas = &self.team.policy().quotas;
        let (most, listed) = (quotas.worktrees, self.repository.list()?);
        let found = u32::try_from(listed.len()).unwrap_or(u32::MAX);
        if found >= most {
            return Err(StartError::Quota { found, most });
        }
        let (found_bytes, most_bytes) = (room_of(&listed), quotas.disk_bytes_total);
        if found_bytes >= most_bytes {
            return Err(StartError::DiskQuota { found_bytes, most_bytes });
        }
        let disk = rustix::fs::statvfs(self.repository.root()).map_err(io::Error::from);
        let disk = disk.map_err(|source| StartError::Write { at: self.repository.root().to_owned(), source })?;
        let free_bytes = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free_bytes < LEAST_FREE_BYTES { Err(StartError::Disk { free_bytes }) } else { Ok(()) }
    }

    /// Makes what was planned, with the runtime's own files in it, and has it made ready to work in. A failure leaves
    /// nothing behind.
    pub fn make(
        &self,
        created_at: &str,
        created_by: &str,
        ready: impl FnOnce(&Opening, &Worktree) -> Result<(), ReadyError>,
    ) -> Result<Worktree, StartError> {
        self.no_env_files()?;
        let worktree = match self.opening.layout {
            Layout::Plain => self.repository.add(&self.plan)?,
            Layout::Layered => self.repository.add_layered(&self.plan)?,
        };
        let manifest = ManifestFile::of(&self.opening, created_at, created_by);
        let home = files_of(&worktree);
        let written = own::write(&home, &manifest, &self.team.policy().commit_form)
            .map_err(|source| StartError::Write { at: home.join(own::OWN), source });
        let hooked = written.and_then(|()| set_hooks(&worktree, &self.team.policy().commit_form));
        match hooked.and_then(|()| Ok(ready(&self.opening, &worktree)?)) {
            Ok(()) => Ok(worktree),
            Err(error) => {
                // What cannot be told is not there; the first error is the one to report.
                let _ = worktree.erase();
                Err(error)
            }
        }
    }

    /// A tree with somebody's environment in it is no place for an agent.
    fn no_env_files(&self) -> Result<(), StartError> {
        let base = self.plan.base.as_str();
        // A commit never changes: that its names were looked at once is remembered beside the worktrees.
        let seen = self.repository.root().join(".worktrees/.seen").join(base);
        if seen.is_file() {
            return Ok(());
        }
        let names = self.repository.git().run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", base]);
        let names = names.map_err(RepositoryError::from)?;
        let found = names.split(|byte| *byte == 0).find(|name| placet_secrets::is_env_file(name));
        match found {
            Some(name) => {
                let path = placet_domain::text::spelled_out(&String::from_utf8_lossy(name));
                Err(StartError::EnvFile { path })
            }
            None => {
                let remembered = remember(self.repository.root(), base);
                remembered.map_err(|source| StartError::Write { at: seen, source })
            }
        }
    }
}

/// Records that the names of a commit were checked. A repository could place links at these paths, so links are not followed.
fn remember(root: &Path, base: &str) -> io::Result<()> {
    let mut at = root.to_owned();
    for name in [".worktrees", ".seen"] {
        at.push(name);
        match std::fs::create_dir(&at) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
        if !at.symlink_metadata()?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::NotADirectory, "it is no directory; remove it"));
        }
    }
    match std::fs::File::create_new(at.join(base)) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Installs the hooks that check the form of a person's commits.
pub fn set_hooks(worktree: &Worktree, form: &CommitForm) -> Result<(), StartError> {
    Ok(worktree.set_hooks(&person_hooks(form))?)
}

/// What worktrees take, as it was last measured. Only one that never was is measured now: starting stays fast.
fn room_of(listed: &[Listed]) -> u64 {
    let room = |worktree: &Worktree| worktree.measured().or_else(|| worktree.measure().ok()).unwrap_or(0);
    listed.iter().filter_map(|one| one.worktree.as_ref()).map(room).sum()
}

/// Makes a worktree again of which nothing is left on disk, exactly as it was recorded, whatever the team's files say now.
/// Commits on its branch stay.
pub fn restore(repository: &Repository, opening: &Opening) -> Result<Worktree, StartError> {
    let path = repository.root().join(&opening.path);
    let (branch, base) = (parsed(opening.branch.as_str())?, object(&opening.base)?);
    let kind = match opening.layout {
        Layout::Plain => Kind::Plain,
        Layout::Layered => Kind::Layered,
    };
    Ok(repository.restore(&Plan { name: name_of(opening)?, path, branch, base }, kind)?)
}

/// Where a worktree's own files can be written on the host: the directory itself, or the layer of its changes.
pub fn files_of(worktree: &Worktree) -> PathBuf {
    match worktree.kind() {
        Kind::Plain => worktree.path(),
        Kind::Layered => worktree.cage().upper,
    }
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, StartError> {
    text.parse().map_err(|error: T::Err| StartError::Name(error.to_string()))
}

/// A commit, as git names it.
pub fn object(commit: &placet_domain::worktree::CommitId) -> Result<ObjectId, StartError> {
    parsed(commit.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_the_place_of_the_notes_are_not_followed() {
        for link in [".worktrees", ".worktrees/.seen"] {
            let root = tempfile::tempdir().expect("a directory");
            let elsewhere = tempfile::tempdir().expect("a directory");
            let at = root.path().join(link);
            std::fs::create_dir_all(at.parent().expect("a parent")).expect("a directory");
            std::os::unix::fs::symlink(elsewhere.path(), &at).expect("a link");
            assert!(remember(root.path(), "c0ffee").is_err(), "{link}");
            assert_eq!(std::fs::read_dir(elsewhere.path()).expect("a directory").count(), 0, "{link}");
        }
        let root = tempfile::tempdir().expect("a directory");
        let twice = [remember(root.path(), "c0ffee"), remember(root.path(), "c0ffee")];
        assert!(twice.iter().all(Result::is_ok) && root.path().join(".worktrees/.seen/c0ffee").is_file());
    }
}
