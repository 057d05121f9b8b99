//! Makes one entry of a tree from what is kept of it. A snapshot's check when it is taken and every rollback go through
//! here: what was never made again was never proven.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, Gid, Mode, Timespec, Timestamps, Uid};

use super::attributes;
use super::content::CopyError;
use super::entry::{Entry, Kind, Meta};
use super::error::SpaceError;
use super::objects::Objects;
use crate::copy::Owner;
use crate::digest::Digest;
use crate::dir::Dir;
use crate::error::Doing;
use crate::path::TreePath;

/// Makes entries of one snapshot.
#[derive(Clone, Copy)]
pub(super) struct Maker<'a> {
    pub(super) objects: &'a Objects,
    /// Who everything belongs to.
    pub(super) owner: Owner,
    /// For messages.
    pub(super) number: u64,
}

impl Maker<'_> {
    /// Makes it under a name that must be free. A directory is empty and open until it is [finished](Maker::finish), and
    /// a twin is for whoever knows where its file is.
    pub(super) fn make(&self, dir: &Dir, name: &[u8], entry: &Entry) -> Result<(), SpaceError> {
        match &entry.kind {
            Kind::File { size_bytes, digest } => self.file(dir, name, entry, (*digest, *size_bytes)),
            Kind::Directory => Ok(dir.make(name).map(drop).doing("make", &entry.path)?),
            Kind::Symlink(target) => {
                rustix::fs::symlinkat(target.as_bytes(), dir, name).doing("make the link", &entry.path)?;
                self.owner.give(dir, name).doing("give to its owner", &entry.path)?;
                let nofollow = AtFlags::SYMLINK_NOFOLLOW;
                let set = rustix::fs::utimensat(dir, name, &times(&entry.meta), nofollow);
                Ok(set.doing("set the times of", &entry.path)?)
            }
            Kind::Whiteout => {
                let made = rustix::fs::mknodat(dir, name, FileType::CharacterDevice, Mode::empty(), 0);
                made.doing("make the whiteout", &entry.path)?;
                Ok(self.owner.give(dir, name).doing("give to its owner", &entry.path)?)
            }
            Kind::Twin(_) => Ok(()),
        }
    }

    fn file(&self, dir: &Dir, name: &[u8], entry: &Entry, content: (Digest, u64)) -> Result<(), SpaceError> {
        let object = self.objects.open(content.0).map_err(|error| self.damaged(&entry.path, error))?;
        let mut file = dir.create(name).doing("make", &entry.path)?;
        let copied = match object.copy(&mut file, content.1) {
            Ok(copied) => copied,
            Err(CopyError::Io(error)) => Err(error).doing("copy", &entry.path)?,
            Err(CopyError::Broken { part }) => {
                return Err(self.damaged(&entry.path, format!("{part} of it was changed")));
            }
            // No damage: with the right key it comes back.
            Err(locked @ (CopyError::NoKey | CopyError::WrongKey { .. })) => {
                return Err(SpaceError::Locked { path: entry.path.clone(), why: locked.to_string() });
            }
        };
        if copied != content {
            return Err(self.damaged(&entry.path, "its content is not what was saved"));
        }
        self.finish(&file, &entry.meta, &entry.path)
    }

    /// Sets everything but content. Owner before mode, because giving a file away takes some of its mode; mode after
    /// attributes, because it may close the file to them.
    pub(super) fn finish(&self, on: &impl AsFd, meta: &Meta, shown: impl ToString) -> Result<(), SpaceError> {
        let shown = shown.to_string();
        let stat = rustix::fs::fstat(on).doing("look at", &shown)?;
        if Owner::of(&stat) != self.owner {
            let (uid, gid) = (Uid::from_raw(self.owner.uid), Gid::from_raw(self.owner.gid));
            rustix::fs::fchown(on, Some(uid), Some(gid)).doing("give to its owner", &shown)?;
        }
        attributes::set(on, &meta.attributes).doing("set the attributes of", &shown)?;
        rustix::fs::fchmod(on, Mode::from_raw_mode(meta.mode)).doing("set the mode of", &shown)?;
        Ok(rustix::fs::futimens(on, &times(meta)).doing("set the times of", &shown)?)
    }

    fn damaged(&self, path: &TreePath, why: impl std::fmt::Display) -> SpaceError {
        SpaceError::Damaged { number: self.number, what: format!("`{path}`: {why}") }
    }
}

fn times(meta: &Meta) -> Timestamps {
    let (seconds, nanoseconds) = meta.modified;
    let last_modification = Timespec { tv_sec: seconds, tv_nsec: i64::try_from(nanoseconds).unwrap_or_default() };
    Timestamps { last_access: last_modification, last_modification }
}
