//! A zip file, as PKWARE's APPNOTE describes it, as far as results need it: files only, deflated, below four gigabytes, with names in
//! UTF-8 and the modes of Unix. Written from front to back.

use std::io::{self, Write};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::Member;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// What a reader must understand: deflate.
const NEEDS: u16 = 20;
/// Made on Unix, so that modes count.
const MADE_BY: u16 = (3 << 8) | NEEDS;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
const DEFLATED: u16 = 8;
/// Midnight of the first day that a zip file knows, for every file: the first of January 1980.
const TIME: u16 = 0;
const DATE: u16 = (1 << 5) | 1;
/// A regular file, in the upper half of the attributes.
const REGULAR: u32 = 0o100_000;

/// A zip file that is being written.
pub(in super::super) struct Zip<W: Write> {
    to: W,
    written: u64,
    members: Vec<Placed>,
}

/// A member as the directory at the end lists it.
struct Placed {
    path: String,
    /// From version to the length of the extra field, as it is before the member itself.
    facts: Vec<u8>,
    mode: u32,
    offset: u32,
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "a zip file holds at most 4 GiB and 65535 files; take .tar.gz")
}

fn fits<T: TryFrom<u64>>(number: u64) -> io::Result<T> {
    T::try_from(number).map_err(|_| too_large())
}

fn length<T: TryFrom<u64>>(bytes: &[u8]) -> io::Result<T> {
    fits(u64::try_from(bytes.len()).map_err(|_| too_large())?)
}

impl<W: Write> Zip<W> {
    pub(super) fn new(to: W) -> Self {
        Self { to, written: 0, members: Vec::new() }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes)?;
        self.written += length::<u64>(bytes)?;
        Ok(())
    }

    pub(super) fn add(&mut self, member: &Member<'_>) -> io::Result<()> {
        let mut deflater = DeflateEncoder::new(Vec::new(), Compression::default());
        deflater.write_all(member.bytes)?;
        let deflated = deflater.finish()?;
        let (offset, facts) = (fits(self.written)?, facts(member, &deflated)?);
        self.write(&LOCAL.to_le_bytes())?;
        self.write(&facts)?;
        self.write(member.path.as_bytes())?;
        self.write(&deflated)?;
        self.members.push(Placed { path: member.path.to_owned(), facts, mode: member.mode(), offset });
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        let (begins, members) = (fits::<u32>(self.written)?, std::mem::take(&mut self.members));
        for placed in &members {
            self.write(&listed(placed))?;
        }
        let (count, size) =
            (u16::try_from(members.len()).map_err(|_| too_large())?, fits::<u32>(self.written)? - begins);
        let mut end = END.to_le_bytes().to_vec();
        // Disks: there is one.
        end.extend([0; 4]);
        end.extend(count.to_le_bytes());
        end.extend(count.to_le_bytes());
        end.extend(size.to_le_bytes());
        end.extend(begins.to_le_bytes());
        // No comment.
        end.extend([0; 2]);
        self.write(&end)?;
        Ok(self.to)
    }
}

fn facts(member: &Member<'_>, deflated: &[u8]) -> io::Result<Vec<u8>> {
    let mut crc = Crc::new();
    crc.update(member.bytes);
    let mut facts = Vec::new();
    for field in [NEEDS, FLAGS, DEFLATED, TIME, DATE] {
        facts.extend(field.to_le_bytes());
    }
    for field in [crc.sum(), length(deflated)?, length(member.bytes)?] {
        facts.extend(field.to_le_bytes());
    }
    for field in [length::<u16>(member.path.as_bytes())?, 0] {
        facts.extend(field.to_le_bytes());
    }
    Ok(facts)
}

fn listed(placed: &Placed) -> Vec<u8> {
    let mut entry = CENTRAL.to_le_bytes().to_vec();
    entry.extend(MADE_BY.to_le_bytes());
    entry.extend(&placed.facts);
    // No comment, the first disk, no attributes of MS-DOS.
    entry.extend([0; 6]);
    entry.extend(((REGULAR | placed.mode) << 16).to_le_bytes());
    entry.extend(placed.offset.to_le_bytes());
    entry.extend(placed.path.as_bytes());
    entry
}
