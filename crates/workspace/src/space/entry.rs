//! One thing in a saved tree, with everything of it that is brought back: kind, content by its digest, mode, time of the
//! last change of content, attributes of users (the kernel's notes on layers among them), which names are one file.
//!
//! Not owners: everything in a tree belongs to the owner of its root. Not access times, and not what is neither file,
//! directory, link nor whiteout: such things are named when a snapshot is taken, and are gone after a rollback.

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::path::{RawBytes, TreePath};

/// All bits of a mode, those beyond reading, writing and executing included: an upper is brought back as it was.
const ALL_MODE_BITS: u32 = 0o7777;

/// Everything of one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) path: TreePath,
    pub(super) kind: Kind,
    pub(super) meta: Meta,
}

/// What a path stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    File {
        size_bytes: u64,
        digest: Digest,
    },
    /// Another name of the file at this path, which comes before it.
    Twin(TreePath),
    Directory,
    Symlink(RawBytes),
    /// What the base has here is gone.
    Whiteout,
}

/// What is set on a path after it was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Meta {
    pub(super) mode: u32,
    /// Seconds and nanoseconds of the last change of content.
    pub(super) modified: (i64, u64),
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) attributes: Vec<(RawBytes, RawBytes)>,
}

impl Meta {
    /// Of something that has a mode.
    pub(super) fn new(stat: &Stat, attributes: Vec<(RawBytes, RawBytes)>) -> Self {
        Self { mode: stat.st_mode & ALL_MODE_BITS, modified: (stat.st_mtime, stat.st_mtime_nsec), attributes }
    }

    /// Of a link: its mode means nothing, and it has no attributes that users may set.
    pub(super) fn of_link(stat: &Stat) -> Self {
        Self { mode: 0, ..Self::new(stat, Vec::new()) }
    }

    /// Whiteouts are names of one shared device: nothing of it belongs to any of them. And a twin has what its file has.
    pub(super) fn none() -> Self {
        Self { mode: 0, modified: (0, 0), attributes: Vec::new() }
    }
}

impl Entry {
    pub(super) fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }

    /// Of its content; nothing for what has none of its own.
    pub(super) fn size_bytes(&self) -> u64 {
        match self.kind {
            Kind::File { size_bytes, .. } => size_bytes,
            Kind::Twin(_) | Kind::Directory | Kind::Symlink(_) | Kind::Whiteout => 0,
        }
    }

    /// What it takes to say what it is, besides its path.
    pub(super) fn described_bytes(&self) -> usize {
        let target = match &self.kind {
            Kind::Symlink(target) => target.as_bytes().len(),
            Kind::Twin(first) => first.as_bytes().len(),
            Kind::File { .. } | Kind::Directory | Kind::Whiteout => 0,
        };
        let attribute = |(name, value): &(RawBytes, RawBytes)| name.as_bytes().len() + value.as_bytes().len();
        target + self.meta.attributes.iter().map(attribute).sum::<usize>()
    }

    pub(super) fn digest(&self) -> Option<Digest> {
        match self.kind {
            Kind::File { digest, .. } => Some(digest),
            Kind::Twin(_) | Kind::Directory | Kind::Symlink(_) | Kind::Whiteout => None,
        }
    }
}

/// What is in a tree, before anything of it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    File,
    Directory,
    Symlink,
    Whiteout,
    Refused(crate::layer::Special),
}

impl Sort {
    pub(super) fn of(stat: &Stat) -> Self {
        use crate::layer::Special;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Symlink => Self::Symlink,
            FileType::CharacterDevice if stat.st_rdev == 0 => Self::Whiteout,
            FileType::Fifo => Self::Refused(Special::Pipe),
            FileType::Socket => Self::Refused(Special::Socket),
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Self::Refused(Special::Device),
        }
    }
}
