//! Copies the content of a file and names what was copied, in one pass. Both ways, into a snapshot and out of it, go
//! through here, encrypted or not.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;

use placet_seal::{HEADER_BYTES, Key, OpenError, Sealer};

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

/// Why content did not come out of a snapshot.
#[derive(Debug, thiserror::Error)]
pub(super) enum CopyError {
    #[error("it is encrypted, and no key was given")]
    NoKey,
    #[error("it was encrypted with the key `{sealed_with}`, and the key `{given}` was given")]
    WrongKey { sealed_with: String, given: String },
    #[error("{part} of it was changed")]
    Broken { part: String },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<OpenError> for CopyError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::WrongKey { sealed_with, configured: given } => Self::WrongKey { sealed_with, given },
            OpenError::Broken { part } => Self::Broken { part },
            OpenError::Io(error) => Self::Io(error),
        }
    }
}

/// Copies an open file into an empty one, encrypted, and no further than one byte beyond what is expected.
pub(super) fn seal_into(from: &mut File, to: &mut File, expected_bytes: u64, key: &Key) -> io::Result<(Digest, u64)> {
    from.rewind()?;
    let mut from = from.take(expected_bytes.saturating_add(1));
    let mut sealer = Sealer::new().map_err(io::Error::other)?;
    let (mut hasher, mut length, mut chunk) = (Hasher::default(), 0, vec![0; CHUNK_BYTES]);
    // What comes first names the digest, which is known only at the end.
    to.write_all(&[0; HEADER_BYTES])?;
    loop {
        let read = fill(&mut from, &mut chunk)?;
        hasher.update(&chunk[..read]);
        length += read as u64;
        sealer.push(&chunk[..read], to)?;
        if read < CHUNK_BYTES {
            break;
        }
    }
    sealer.finish(to)?;
    let digest = hasher.finish();
    to.rewind()?;
    to.write_all(&sealer.header(key, digest.as_bytes())?)?;
    Ok((digest, length))
}

/// The other way round.
pub(super) fn open_into(from: File, key: &Key, digest: Digest, to: &mut File) -> Result<(Digest, u64), CopyError> {
    let (mut hasher, mut length) = (Hasher::default(), 0);
    placet_seal::open(from, key, digest.as_bytes(), |bytes| {
        hasher.update(bytes);
        length += bytes.len() as u64;
        bytes.chunks(BLOCK_BYTES).try_for_each(|block| write_or_skip(to, block))
    })?;
    to.set_len(length)?;
    Ok((hasher.finish(), length))
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
