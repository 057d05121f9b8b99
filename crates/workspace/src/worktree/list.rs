//! All worktrees of ours, whole or damaged, and what becomes of damaged ones.

use std::fmt;
use std::path::Path;

use super::record::{FILE, Kind, Record};
use super::{Worktree, WorktreeError, WorktreeName, admin, base, is_directory, making, plain::write_files};
use crate::dir::{Dir, absent};
use crate::error::Doing;
use crate::git::GitError;
use crate::repository::{Repository, exists};

/// What is wrong with a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// Making it was interrupted.
    Unfinished,
    /// Its private directory in the repository is gone.
    NoAdmin,
    /// Its files are gone, or where they change.
    NoDirectory,
    /// Its branch is gone.
    NoBranch,
    /// The checkout it stands on is gone.
    NoBase,
    /// What is known about it cannot be understood.
    Record(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfinished => f.write_str("making it was interrupted"),
            Self::NoAdmin => f.write_str("its private directory in the repository is gone"),
            Self::NoDirectory => f.write_str("its directory is gone"),
            Self::NoBranch => f.write_str("its branch is gone"),
            Self::NoBase => f.write_str("the checkout it stands on is gone"),
            Self::Record(why) => write!(f, "its record cannot be understood: {why}"),
        }
    }
}

/// One of our worktrees.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What it is called.
    pub name: WorktreeName,
    /// Itself, if its record can be read.
    pub worktree: Option<Worktree>,
    /// What is wrong with it; nothing, if it is whole.
    pub damage: Vec<Damage>,
}

impl Repository {
    /// All worktrees of ours, in the order of their names.
    pub fn list(&self) -> Result<Vec<Listed>, WorktreeError> {
        let mut names = self.names_in(&self.common_dir().join("worktrees"))?;
        names.extend(self.names_in(&self.worktrees().join(".layers"))?);
        names.sort();
        names.dedup();
        let listed: Result<Vec<_>, _> = names.into_iter().map(|name| self.look_at(name)).collect();
        Ok(listed?.into_iter().flatten().collect())
    }

    /// The worktree with this name, if it is whole.
    pub fn worktree(&self, name: &WorktreeName) -> Result<Worktree, WorktreeError> {
        let listed = self.look_at(name.clone())?.ok_or_else(|| WorktreeError::Unknown(name.clone()))?;
        match (listed.worktree, listed.damage.first()) {
            (Some(worktree), None) => Ok(worktree),
            (_, damage) => {
                let damage = damage.map(ToString::to_string).unwrap_or_default();
                Err(WorktreeError::Damaged { name: name.clone(), damage })
            }
        }
    }

    /// Makes a damaged worktree whole again, as far as its record tells how; one that was never finished is removed.
    ///
    /// Files that are gone come back as the branch has them. A branch that is gone comes back where the worktree began:
    /// commits that were only on it are in nobody's history any more.
    pub fn repair(&self, name: &WorktreeName) -> Result<Option<Worktree>, WorktreeError> {
        let listed = self.look_at(name.clone())?.ok_or_else(|| WorktreeError::Unknown(name.clone()))?;
        let Some(worktree) = listed.worktree else {
            let damage = listed.damage.first().map(ToString::to_string).unwrap_or_default();
            return Err(WorktreeError::Damaged { name: name.clone(), damage });
        };
        if listed.damage.contains(&Damage::Unfinished) {
            worktree.erase()?;
            return Ok(None);
        }
        for damage in &listed.damage {
            worktree.mend(damage)?;
        }
        Ok(Some(worktree))
    }

    fn names_in(&self, directory: &Path) -> Result<Vec<WorktreeName>, WorktreeError> {
        let Some(dir) = absent(Dir::open(directory)).doing("open", directory.display())? else { return Ok(Vec::new()) };
        let names = dir.names().doing("list", directory.display())?;
        Ok(names.iter().filter_map(|name| std::str::from_utf8(name).ok()?.parse().ok()).collect())
    }

    fn look_at(&self, name: WorktreeName) -> Result<Option<Listed>, WorktreeError> {
        let damaged = |why: WorktreeError| Listed {
            name: name.clone(),
            worktree: None,
            damage: vec![Damage::Record(why.to_string())],
        };
        let record = match self.record(&name) {
            Ok(None) => return Ok(None),
            Ok(Some(record)) if record.name == name => record,
            Ok(Some(_)) => {
                let path = admin::path(self, &name).join(FILE);
                return Ok(Some(damaged(WorktreeError::Record { path, why: "it names another worktree".to_owned() })));
            }
            Err(error) => return Ok(Some(damaged(error))),
        };
        let worktree = Worktree { repository: self.clone(), record };
        let damage = worktree.damage()?;
        Ok(Some(Listed { name, worktree: Some(worktree), damage }))
    }

    /// The one in the repository counts; the one beside the layers helps when that is gone.
    fn record(&self, name: &WorktreeName) -> Result<Option<Record>, WorktreeError> {
        for directory in [admin::path(self, name), admin::layers(self, name)] {
            if is_directory(&directory)
                && let Some(record) = admin::read(&directory)?
            {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }
}

impl Worktree {
    fn damage(&self) -> Result<Vec<Damage>, WorktreeError> {
        let admin = self.git_dir();
        if exists(&admin.join(admin::MAKING)) {
            return Ok(vec![Damage::Unfinished]);
        }
        let cage = self.cage();
        let is_plain = self.kind() == Kind::Plain;
        let found = [
            (!exists(&admin.join("HEAD")) || !exists(&admin.join(FILE)), Damage::NoAdmin),
            (!self.repository.branch_exists(self.branch())?, Damage::NoBranch),
            (!is_plain && !base::is_complete(&self.repository, self.base()), Damage::NoBase),
            (!is_directory(&cage.upper) || !is_directory(&cage.git_upper), Damage::NoDirectory),
            (is_plain && !is_directory(&self.path()), Damage::NoDirectory),
        ];
        let mut damage: Vec<Damage> = found.into_iter().filter(|(is, _)| *is).map(|(_, damage)| damage).collect();
        damage.dedup();
        Ok(damage)
    }

    fn mend(&self, damage: &Damage) -> Result<(), WorktreeError> {
        match damage {
            Damage::NoAdmin => self.mend_admin(),
            Damage::NoBranch => self.mend_branch(),
            Damage::NoBase => base::hold(&self.repository, self.base()).map(drop),
            Damage::NoDirectory => self.mend_directory(),
            Damage::Unfinished | Damage::Record(_) => Ok(()),
        }
    }

    /// A new private directory, with an index that knows no file yet.
    fn mend_admin(&self) -> Result<(), WorktreeError> {
        admin::remove(&self.repository, self.name())?;
        let git_file = match self.kind() {
            Kind::Plain => self.path().join(".git"),
            Kind::Layered => self.cage().upper.join(".git"),
        };
        let index = (self.kind() == Kind::Layered).then(|| base::index(&self.repository, self.base()));
        let admin = admin::Admin {
            repository: &self.repository,
            record: &self.record,
            git_file: &git_file,
            index: index.as_deref().filter(|index| exists(index)),
        };
        admin.create()?;
        admin::finish(&self.repository, self.name())?;
        let tip = self.repository.tip(self.branch())?.unwrap_or_else(|| self.base().clone());
        self.git()?.run(["read-tree", "-m", tip.as_str()])?;
        Ok(())
    }

    fn mend_branch(&self) -> Result<(), WorktreeError> {
        let (full, base) = (self.branch().full(), self.base().as_str());
        self.repository.git().run_patiently(&[
            "update-ref",
            "--no-deref",
            "-m",
            "placet: repaired",
            &full,
            base,
            "",
        ])?;
        Ok(())
    }

    fn mend_directory(&self) -> Result<(), WorktreeError> {
        let mut making = making::Making::again(self);
        if !is_directory(&self.layers()) {
            making.layers()?;
        }
        if !is_directory(&self.path()) {
            let directory = making.directory()?;
            if self.kind() == Kind::Plain {
                self.write_git_file(&directory)?;
                self.check_out()?;
            }
        }
        if self.kind() == Kind::Layered && !exists(&self.cage().upper.join(".git")) {
            let upper = Dir::open(&self.cage().upper).doing("open", "the upper")?;
            self.write_git_file(&upper)?;
        }
        making.keep();
        Ok(())
    }

    /// The `.git` file that leads git to the private directory.
    pub(super) fn write_git_file(&self, directory: &Dir) -> Result<(), WorktreeError> {
        let git_dir = self.git_dir();
        let pointer = [b"gitdir: ", git_dir.as_os_str().as_encoded_bytes(), b"\n"].concat();
        admin::write(directory, ".git", &pointer, self.repository.owner())
    }

    /// Writes every file of the branch. No filter is run, no submodule filled.
    pub(super) fn check_out(&self) -> Result<(), WorktreeError> {
        let tip = self.repository.tip(self.branch())?.unwrap_or_else(|| self.base().clone());
        Ok(write_files(self.git()?, &tip)?)
    }

    /// Removes every part of it that is there. The branch goes if it is still where the worktree began.
    pub fn erase(&self) -> Result<(), WorktreeError> {
        making::remove_place(self, &self.record.place)?;
        self.remove_empty_parents();
        making::remove_layers(self)?;
        admin::remove(&self.repository, self.name())?;
        match making::delete_branch(self) {
            // It went on, or is gone: either way it is not ours to delete.
            Err(WorktreeError::Repository(crate::RepositoryError::Git(GitError::Failed { .. }))) => Ok(()),
            other => other,
        }
    }

    fn remove_empty_parents(&self) {
        for parent in self.record.place.ancestors().skip(1).filter(|parent| !parent.as_os_str().is_empty()) {
            // One that is in use is not empty.
            let _ = std::fs::remove_dir(self.repository.worktrees().join(parent));
        }
    }
}
