//! The content that snapshots share: each file once, under its digest, closed to writing. A file that did not change
//! between two snapshots is the same object in both; nothing here is ever the same inode as a file of the run.
//!
//! With a key, content is encrypted (`ab/cdef….sealed`). What was kept before there was a key, or with another one, is replaced when it is
//! kept again.

use std::collections::HashSet;
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

use placet_seal::Key;
use rustix::io::Errno;

use super::content::{self, CopyError};
use super::error::SpaceError;
use crate::digest::Digest;
use crate::dir::{Dir, absent};
use crate::error::Doing;

/// What is being written, until its digest is known.
const INCOMING: &[u8] = b".incoming";

const SEALED: &[u8] = b".sealed";

const READ_ONLY: u32 = 0o400;

/// The objects of one space.
#[derive(Debug)]
pub(super) struct Objects {
    dir: Dir,
    key: Option<Arc<Key>>,
}

/// One of them, open.
pub(super) struct Object<'a> {
    digest: Digest,
    file: File,
    form: Form<'a>,
}

/// How it is kept.
enum Form<'a> {
    Plain,
    /// With the key that is there, if there is one.
    Sealed(Option<&'a Key>),
}

impl Object<'_> {
    /// Copies its content into an empty file, and names what was copied.
    pub(super) fn copy(mut self, to: &mut File, expected_bytes: u64) -> Result<(Digest, u64), CopyError> {
        match self.form {
            Form::Plain => Ok(content::copy(&mut self.file, to, expected_bytes)?),
            Form::Sealed(None) => Err(CopyError::NoKey),
            Form::Sealed(Some(key)) => content::open_into(self.file, key, self.digest, to),
        }
    }
}

impl Objects {
    pub(super) fn new(dir: Dir, key: Option<Arc<Key>>) -> Self {
        Self { dir, key }
    }

    /// Keeps the content of an open file.
    pub(super) fn keep(
        &self,
        from: &mut File,
        expected_bytes: u64,
        shown: impl ToString,
    ) -> Result<(Digest, u64), SpaceError> {
        let shown = shown.to_string();
        absent(self.dir.unlink(INCOMING)).doing("remove", "an object that was not finished")?;
        let mut incoming = self.dir.create(INCOMING).doing("make an object for", &shown)?;
        let copied = match &self.key {
            None => content::copy(from, &mut incoming, expected_bytes),
            Some(key) => content::seal_into(from, &mut incoming, expected_bytes, key),
        };
        let (digest, size_bytes) = copied.doing("copy", &shown)?;
        incoming.flush().doing("copy", &shown)?;
        self.dir.set_mode_of(INCOMING, READ_ONLY).doing("close", &shown)?;
        self.name(digest).doing("name the object of", &shown)?;
        Ok((digest, size_bytes))
    }

    fn name(&self, digest: Digest) -> rustix::io::Result<()> {
        let (shelf, plain) = place(digest);
        let shelf = match self.dir.make(&shelf) {
            Err(Errno::EXIST) => self.dir.dir(&shelf)?,
            made => made?,
        };
        if self.key.is_none() {
            self.name_as(&shelf, &plain)?;
            // From when there was one.
            return absent(shelf.unlink(&sealed(&plain))).map(drop);
        }
        // What is there may be of another key, which only reading it would tell.
        rustix::fs::renameat(&self.dir, INCOMING, &shelf, sealed(&plain).as_slice())?;
        // From before there was a key.
        absent(shelf.unlink(&plain)).map(drop)
    }

    fn name_as(&self, shelf: &Dir, name: &[u8]) -> rustix::io::Result<()> {
        match self.dir.move_to(INCOMING, shelf, name) {
            // The same content was kept before; one that was cut short is replaced.
            Err(Errno::EXIST) if shelf.stat(name)?.st_size == self.dir.stat(INCOMING)?.st_size => {
                self.dir.unlink(INCOMING)
            }
            Err(Errno::EXIST) => rustix::fs::renameat(&self.dir, INCOMING, shelf, name),
            moved => moved,
        }
    }

    /// The content with this digest; whether it still has it is seen when it is copied.
    pub(super) fn open(&self, digest: Digest) -> rustix::io::Result<Object<'_>> {
        let (shelf, plain) = place(digest);
        let shelf = self.dir.dir(&shelf)?;
        let (file, form) = match absent(shelf.file(&plain))? {
            Some((file, _)) => (file, Form::Plain),
            None => (shelf.file(&sealed(&plain))?.0, Form::Sealed(self.key.as_deref())),
        };
        Ok(Object { digest, file, form })
    }

    pub(super) fn forget(&self, digest: Digest) -> rustix::io::Result<()> {
        let (shelf, plain) = place(digest);
        let Some(shelf) = absent(self.dir.dir(&shelf))? else { return Ok(()) };
        for name in [sealed(&plain), plain] {
            absent(shelf.unlink(&name))?;
        }
        Ok(())
    }

    /// Removes everything that no snapshot needs.
    pub(super) fn sweep(&self, needed: &HashSet<Digest>) -> Result<(), SpaceError> {
        let both = |digest: &Digest| {
            let (shelf, plain) = place(*digest);
            [(shelf.clone(), sealed(&plain)), (shelf, plain)]
        };
        let wanted: HashSet<(Vec<u8>, Vec<u8>)> = needed.iter().flat_map(both).collect();
        absent(self.dir.unlink(INCOMING)).doing("remove", "an object that was not finished")?;
        for shelf_name in self.dir.names().doing("list", "the objects")? {
            let shelf = self.dir.dir(&shelf_name).doing("open", "the objects")?;
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

fn sealed(plain: &[u8]) -> Vec<u8> {
    [plain, SEALED].concat()
}
