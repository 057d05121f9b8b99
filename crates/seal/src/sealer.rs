//! Sealing: bytes are encrypted as they come; what comes before them is made at the end.

use std::fmt;
use std::io::{self, Write};

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{Aead as _, Payload};
use zeroize::Zeroizing;

use crate::{CHUNK_BYTES, Key, MAGIC, NONCE_BYTES, Name, Nonce, chunk_nonce, cipher};

/// The system has none, so nothing can be sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the system gives no random numbers")]
pub struct NoRandomness;

/// Encrypts one content as it comes.
pub struct Sealer {
    key: Zeroizing<[u8; 32]>,
    cipher: Aes256Gcm,
    held: Zeroizing<Vec<u8>>,
    chunks: u32,
}

impl fmt::Debug for Sealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealer({} chunks)", self.chunks)
    }
}

impl Sealer {
    /// With a fresh key for this one content.
    pub fn new() -> Result<Self, NoRandomness> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(key.as_mut_slice()).map_err(|_| NoRandomness)?;
        let cipher = cipher(&key);
        Ok(Self { key, cipher, held: Zeroizing::new(Vec::with_capacity(CHUNK_BYTES)), chunks: 0 })
    }

    /// Takes the next bytes. Holds a full chunk back until more comes, because only then is it known not to be the last.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut impl Write) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.held.len() == CHUNK_BYTES {
                self.chunk(false, out)?;
            }
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK_BYTES - self.held.len()));
            self.held.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// Writes what is still held back.
    pub fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.chunk(true, out)
    }

    fn chunk(&mut self, last: bool, out: &mut impl Write) -> io::Result<()> {
        let nonce = chunk_nonce(self.chunks, last);
        let sealed = self.cipher.encrypt(&nonce.into(), self.held.as_slice()).map_err(io::Error::other)?;
        self.chunks = self.chunks.checked_add(1).ok_or(io::ErrorKind::FileTooLarge)?;
        self.held.clear();
        out.write_all(&sealed)
    }

    /// What comes before it all: the content's key, opened only by the given key and only for this name.
    pub fn header(&self, key: &Key, name: &Name) -> io::Result<Vec<u8>> {
        let mut nonce: Nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(io::Error::other)?;
        let payload = Payload { msg: self.key.as_slice(), aad: name };
        let wrapped = key.cipher().encrypt(&nonce.into(), payload).map_err(io::Error::other)?;
        Ok([MAGIC.as_slice(), &key.id(), &nonce, &wrapped].concat())
    }
}
