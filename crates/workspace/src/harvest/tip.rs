//! Where a run left its branch, read from the upper of the repository's layers without asking git: whatever else the run
//! wrote there, only these bytes are looked at.
//!
//! A branch is a file with its name, or a line in `packed-refs`; a file wins. What is absent from the upper is what the
//! repository has, that is, unchanged.

use std::io::Read;

use rustix::fs::FileType;
use rustix::io::Errno;

use super::HarvestError;
use crate::dir::Dir;
use crate::error::Doing;
use crate::git::{Branch, ObjectId};
use crate::layer::upper::is_opaque;

/// A branch of git has 41 or 65 bytes.
const MAX_REF_BYTES: u64 = 256;

/// Large repositories have a hundred thousand branches; each takes less than a hundred bytes.
const MAX_PACKED_BYTES: u64 = 16 << 20;

/// What an upper says of one file.
enum Found {
    Bytes(Vec<u8>),
    /// It is what it is below.
    Absent,
    /// The run removed it.
    Gone,
}

/// Where the branch is now; `None` if the run did not touch it.
pub(super) fn read(upper: &Dir, lower: &Dir, branch: &Branch) -> Result<Option<ObjectId>, HarvestError> {
    let name = branch.full();
    match look(upper, &name, MAX_REF_BYTES)? {
        Found::Bytes(bytes) => parse_loose(&bytes, branch).map(Some),
        Found::Absent if is_file_below(lower, &name)? => Ok(None),
        Found::Absent | Found::Gone => match look(upper, "packed-refs", MAX_PACKED_BYTES)? {
            Found::Bytes(bytes) => parse_packed(&bytes, branch).map(Some),
            Found::Absent => packed_below(lower, branch),
            Found::Gone => Err(HarvestError::BranchGone(branch.clone())),
        },
    }
}

fn is_file_below(lower: &Dir, name: &str) -> Result<bool, HarvestError> {
    Ok(matches!(look(lower, name, MAX_REF_BYTES)?, Found::Bytes(_)))
}

/// The run changed nothing of the list. A branch that is in it and nowhere else was not touched; one whose file was
/// removed is what the list says, if anything.
fn packed_below(lower: &Dir, branch: &Branch) -> Result<Option<ObjectId>, HarvestError> {
    match look(lower, "packed-refs", MAX_PACKED_BYTES)? {
        Found::Bytes(bytes) => parse_packed(&bytes, branch).map(Some),
        Found::Absent | Found::Gone => Err(HarvestError::BranchGone(branch.clone())),
    }
}

/// Goes down name by name: every directory on the way may hide what is below.
fn look(root: &Dir, path: &str, limit: u64) -> Result<Found, HarvestError> {
    let (mut dir, mut hidden) = (root.dir(b".").doing("open", path)?, false);
    let mut names = path.split('/').peekable();
    while let Some(name) = names.next() {
        let absent = if hidden { Found::Gone } else { Found::Absent };
        let stat = match dir.stat(name.as_bytes()) {
            Err(Errno::NOENT) => return Ok(absent),
            stat => stat.doing("look at", path)?,
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::CharacterDevice if stat.st_rdev == 0 => return Ok(Found::Gone),
            FileType::Directory if names.peek().is_some() => {
                dir = dir.dir(name.as_bytes()).doing("open", path)?;
                hidden |= is_opaque(&dir).doing("read the attributes of", path)?;
            }
            FileType::RegularFile if names.peek().is_none() => return read_file(&dir, name, path, limit),
            // A branch below this one; this one is none then.
            FileType::Directory => return Ok(Found::Gone),
            FileType::RegularFile
            | FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => return Err(HarvestError::NotPlain(path.to_owned())),
        }
    }
    Ok(Found::Absent)
}

fn read_file(dir: &Dir, name: &str, path: &str, limit: u64) -> Result<Found, HarvestError> {
    let (file, _) = dir.file(name.as_bytes()).doing("open", path)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).doing("read", path)?;
    if bytes.len() as u64 > limit {
        return Err(HarvestError::NotPlain(path.to_owned()));
    }
    Ok(Found::Bytes(bytes))
}

fn parse_loose(bytes: &[u8], branch: &Branch) -> Result<ObjectId, HarvestError> {
    if bytes.starts_with(b"ref:") {
        return Err(HarvestError::Symbolic(branch.clone()));
    }
    let text = std::str::from_utf8(bytes).ok().and_then(|text| text.strip_suffix('\n'));
    text.and_then(|text| text.parse().ok()).ok_or_else(|| HarvestError::NotPlain(branch.full()))
}

fn parse_packed(bytes: &[u8], branch: &Branch) -> Result<ObjectId, HarvestError> {
    let name = branch.full();
    let mut lines = bytes.split(|&byte| byte == b'\n').filter_map(|line| std::str::from_utf8(line).ok());
    let found = lines.find_map(|line| line.split_once(' ').filter(|(_, rest)| *rest == name));
    match found {
        Some((id, _)) => id.parse().map_err(|_| HarvestError::NotPlain("packed-refs".to_owned())),
        None => Err(HarvestError::BranchGone(branch.clone())),
    }
}
