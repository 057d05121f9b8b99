//! The content that snapshots share: each file once, under its digest, closed to writing. A file that did not change
//! between two snapshots is the same object in both; nothing here is ever the same inode as a file of the run.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;

use rustix::io::Errno;

use super::content;
use super::error::SpaceError;
use crate::digest::Digest;
use crate::dir::{Dir, absent};
use crate::error::Doing;

/// What is being written, until its digest is known.
const INCOMING: &[u8] = b".incoming";

const READ_ONLY: u32 = 0o400;

/// The objects of one space.
#[derive(Debug)]
pub(super) struct Objects(Dir);

impl Objects {
    pub(super) fn new(dir: Dir) -> Self {
        Self(dir)
    }

    /// Keeps the content of an open file.
    pub(super) fn keep(
        &self,
        from: &mut File,
        expected_bytes: u64,
        shown: impl ToString,
    ) -> Result<(Digest, u64), SpaceError> {
        let shown = shown.to_string();
        absent(self.0.unlink(INCOMING)).doing("remove", "an object that was not finished")?;
        let mut incoming = self.0.create(INCOMING).doing("make an object for", &shown)?;
        let (digest, size_bytes) = content::copy(from, &mut incoming, expected_bytes).doing("copy", &shown)?;
        incoming.flush().doing("copy", &shown)?;
        self.0.set_mode_of(INCOMING, READ_ONLY).doing("close", &shown)?;
        self.name(digest, size_bytes).doing("name the object of", &shown)?;
        Ok((digest, size_bytes))
    }

    fn name(&self, digest: Digest, size_bytes: u64) -> rustix::io::Result<()> {
        let (shelf, name) = place(digest);
        let shelf = match self.0.make(&shelf) {
            Err(Errno::EXIST) => self.0.dir(&shelf)?,
            made => made?,
        };
        match self.0.move_to(INCOMING, &shelf, &name) {
            // The same content was kept before; one that was cut short is replaced.
            Err(Errno::EXIST) if u64::try_from(shelf.stat(&name)?.st_size) == Ok(size_bytes) => self.0.unlink(INCOMING),
            Err(Errno::EXIST) => rustix::fs::renameat(&self.0, INCOMING, &shelf, name.as_slice()),
            moved => moved,
        }
    }

    /// The content with this digest; whether it still has it is seen when it is copied.
    pub(super) fn open(&self, digest: Digest) -> rustix::io::Result<File> {
        let (shelf, name) = place(digest);
        self.0.dir(&shelf)?.file(&name).map(|(file, _)| file)
    }

    pub(super) fn forget(&self, digest: Digest) -> rustix::io::Result<()> {
        let (shelf, name) = place(digest);
        absent(self.0.dir(&shelf).and_then(|shelf| shelf.unlink(&name))).map(drop)
    }

    /// Removes everything that no snapshot needs.
    pub(super) fn sweep(&self, needed: &HashSet<Digest>) -> Result<(), SpaceError> {
        let wanted: HashSet<(Vec<u8>, Vec<u8>)> = needed.iter().map(|digest| place(*digest)).collect();
        absent(self.0.unlink(INCOMING)).doing("remove", "an object that was not finished")?;
        for shelf_name in self.0.names().doing("list", "the objects")? {
            let shelf = self.0.dir(&shelf_name).doing("open", "the objects")?;
            for name in shelf.names().doing("list", "the objects")? {
                if !wanted.contains(&(shelf_name.clone(), name.clone())) {
                    shelf.unlink(&name).doing("remove", "an object that nothing needs")?;
                }
            }
        }
        Ok(())
    }
}

/// A shelf for each first byte, so that no directory grows too large to be listed.
fn place(digest: Digest) -> (Vec<u8>, Vec<u8>) {
    let text = digest.to_string();
    let hex = text.trim_start_matches("sha256:");
    (hex[..2].into(), hex[2..].into())
}
