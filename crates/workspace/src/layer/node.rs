//! What a path stands for, as far as anybody who reviews changes cares: content, mode, kind. Not times, owners or
//! extended attributes.

use std::fmt;

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Fields};
use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::limits::Meter;
use crate::path::{RawBytes, TreePath};

/// The bits that are taken over from a run. Those beyond (set-user-id, set-group-id, sticky) are not: a file that a run
/// made may come to belong to somebody with more rights.
pub(crate) const MODE_BITS: u32 = 0o777;

/// A file, a directory, a symbolic link, or something that is none of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Node {
    /// A plain file.
    File {
        /// Who may read, write and execute.
        mode: u32,
        /// Length.
        size_bytes: u64,
        /// Of the content.
        digest: Digest,
    },
    /// A directory. What is in it has paths of its own.
    Directory {
        /// Who may list, change and enter.
        mode: u32,
    },
    /// A symbolic link.
    Symlink {
        /// Where it points; any bytes.
        target: RawBytes,
    },
    /// Something that is never opened and never promoted.
    Special {
        /// What it is.
        what: Special,
    },
}

/// What is neither file, directory nor symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Special {
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
            Self::Device => "a device",
        })
    }
}

impl Node {
    /// Reads what a name in a directory stands for, content included. The path is for messages.
    pub(crate) fn read(dir: &Dir, stat: &Stat, path: &TreePath, meter: &mut Meter) -> Result<Self, LayerError> {
        let mode = stat.st_mode & MODE_BITS;
        Ok(match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::read_file(dir, path, meter)?,
            FileType::Directory => Self::Directory { mode },
            FileType::Symlink => {
                let target = dir.link_target(path.name()).doing("read the link", path)?;
                Self::Symlink { target: RawBytes::new(target) }
            }
            FileType::Fifo => Self::Special { what: Special::Pipe },
            FileType::Socket => Self::Special { what: Special::Socket },
            FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
                Self::Special { what: Special::Device }
            }
        })
    }

    fn read_file(dir: &Dir, path: &TreePath, meter: &mut Meter) -> Result<Self, LayerError> {
        let (file, stat) = dir.file(path.name()).doing("open", path)?;
        let size_bytes = u64::try_from(stat.st_size).unwrap_or_default();
        meter.bytes(size_bytes)?;
        let (digest, read) = Digest::of_reader(std::io::Read::take(file, size_bytes + 1)).doing("read", path)?;
        if read != size_bytes {
            return Err(LayerError::Moving(path.clone()));
        }
        Ok(Self::File { mode: stat.st_mode & MODE_BITS, size_bytes, digest })
    }

    /// Who may do what with it; a link has no mode that counts.
    #[must_use]
    pub fn mode(&self) -> Option<u32> {
        match self {
            Self::File { mode, .. } | Self::Directory { mode } => Some(*mode),
            Self::Symlink { .. } | Self::Special { .. } => None,
        }
    }

    pub(crate) fn is_directory(&self) -> bool {
        matches!(self, Self::Directory { .. })
    }

    pub(crate) fn hash(&self, fields: &mut Fields) {
        match self {
            Self::File { mode, size_bytes, digest } => {
                fields.add(b"file");
                fields.add_number(u64::from(*mode));
                fields.add_number(*size_bytes);
                fields.add(digest.as_bytes());
            }
            Self::Directory { mode } => {
                fields.add(b"directory");
                fields.add_number(u64::from(*mode));
            }
            Self::Symlink { target } => {
                fields.add(b"symlink");
                fields.add(target.as_bytes());
            }
            Self::Special { what } => {
                fields.add(b"special");
                fields.add(what.to_string().as_bytes());
            }
        }
    }
}
