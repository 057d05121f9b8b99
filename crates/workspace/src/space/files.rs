//! The small files of a space: read as a whole, replaced as a whole.

use std::io::{Read as _, Write as _};

use super::error::SpaceError;
use crate::dir::{Dir, absent};
use crate::error::Doing;

/// Everything in a file of ours, if it is there.
pub(super) fn read(dir: &Dir, name: &[u8]) -> Result<Option<Vec<u8>>, SpaceError> {
    let shown = String::from_utf8_lossy(name);
    let Some((mut file, _)) = absent(dir.file(name)).doing("open", &shown)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).doing("read", &shown)?;
    Ok(Some(bytes))
}

/// Puts a new file in the place of an old one. Readers, and whoever comes after a crash of the process, see one or the
/// other.
pub(super) fn replace(dir: &Dir, name: &[u8], bytes: &[u8]) -> Result<(), SpaceError> {
    write(dir, name, bytes, Durable::No)
}

/// The same, also after a crash of the machine.
pub(super) fn replace_durably(dir: &Dir, name: &[u8], bytes: &[u8]) -> Result<(), SpaceError> {
    write(dir, name, bytes, Durable::Yes)?;
    Ok(dir.sync().doing("flush", String::from_utf8_lossy(name))?)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Durable {
    Yes,
    No,
}

fn write(dir: &Dir, name: &[u8], bytes: &[u8], durable: Durable) -> Result<(), SpaceError> {
    let (shown, new) = (String::from_utf8_lossy(name), [name, b".new"].concat());
    absent(dir.unlink(&new)).doing("remove", &shown)?;
    let mut file = dir.create(&new).doing("make", &shown)?;
    file.write_all(bytes).doing("write", &shown)?;
    if durable == Durable::Yes {
        file.sync_all().doing("flush", &shown)?;
    }
    Ok(rustix::fs::renameat(dir, new.as_slice(), dir, name).doing("name", &shown)?)
}
