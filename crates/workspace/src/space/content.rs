//! Copies the content of a file and names what was copied, in one pass. Both ways, into a snapshot and out of it, go
//! through here.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;

use crate::digest::{Digest, Hasher};

const CHUNK_BYTES: usize = 1 << 17;

/// What file systems count in: a hole smaller than this saves nothing.
const BLOCK_BYTES: usize = 4096;

/// Copies an open file into an empty one. Content is shared where the file system can, and holes stay holes. Of one that
/// is longer than expected, one byte more is copied and no further: somebody is still writing to it.
pub(super) fn copy(from: &mut File, to: &mut File, expected_bytes: u64) -> io::Result<(Digest, u64)> {
    let most_bytes = expected_bytes.saturating_add(1);
    if rustix::fs::ioctl_ficlone(to.as_fd(), from.as_fd()).is_ok() {
        if to.metadata()?.len() > most_bytes {
            to.set_len(most_bytes)?;
        }
        // What is named is what will be read later, not what was read before.
        to.rewind()?;
        return Digest::of_reader(to);
    }
    from.rewind()?;
    copy_bytes(&mut from.take(most_bytes), to)
}

fn copy_bytes(from: &mut impl Read, to: &mut File) -> io::Result<(Digest, u64)> {
    let (mut hasher, mut length, mut chunk) = (Hasher::default(), 0, vec![0; CHUNK_BYTES]);
    loop {
        let read = fill(from, &mut chunk)?;
        hasher.update(&chunk[..read]);
        length += read as u64;
        chunk[..read].chunks(BLOCK_BYTES).try_for_each(|block| write_or_skip(to, block))?;
        if read < CHUNK_BYTES {
            // A hole at the end is no write at all.
            to.set_len(length)?;
            return Ok((hasher.finish(), length));
        }
    }
}

fn write_or_skip(to: &mut File, block: &[u8]) -> io::Result<()> {
    if block.len() == BLOCK_BYTES && block.iter().all(|&byte| byte == 0) {
        to.seek(SeekFrom::Current(BLOCK_BYTES as i64)).map(drop)
    } else {
        to.write_all(block)
    }
}

/// Reads until the chunk is full or nothing more comes, so that blocks lie where they lie in the file.
fn fill(from: &mut impl Read, chunk: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match from.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
