//! Encryption at rest: AES-256-GCM, in chunks, under a key of the blob's own that only the evidence key opens.
//!
//! ```text
//! magic (8) | id of the evidence key (8) | nonce (12) | blob key, encrypted (32 + 16) | chunk | chunk | …
//! chunk: up to 64 KiB, encrypted, + 16 bytes of tag; nonce: 0000000 | last? | number
//! ```
//!
//! The blob key is bound to the digest, so a sealed file under another name does not open. Each chunk is bound to its
//! place and the last one says so: chunks can be neither exchanged, nor dropped, nor added. Since every blob has its own
//! random key, counting nonces are never used twice.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use aes_gcm::aead::{Aead as _, Payload};
use aes_gcm::{Aes256Gcm, KeyInit as _};
use placet_domain::digest::Digest;
use zeroize::Zeroizing;

use crate::error::{IntegrityFault, StoreError};

const MAGIC: &[u8; 8] = b"PLACETE1";
const KEY_ID_BYTES: usize = 8;
const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;
const WRAPPED_BYTES: usize = 32 + TAG_BYTES;
/// Large enough that the tags cost nothing, small enough that a stream holds little in memory.
const CHUNK_BYTES: usize = 64 * 1024;
pub(super) const HEADER_BYTES: usize = MAGIC.len() + KEY_ID_BYTES + NONCE_BYTES + WRAPPED_BYTES;

type Nonce = [u8; NONCE_BYTES];

/// The key that opens evidence. Shows its id and never itself; wiped from memory when dropped.
pub struct EvidenceKey(Zeroizing<[u8; 32]>);

impl EvidenceKey {
    pub fn new(key: [u8; 32]) -> Self {
        Self(Zeroizing::new(key))
    }

    /// Tells keys apart and says nothing about them.
    fn id(&self) -> [u8; KEY_ID_BYTES] {
        let digest = Digest::of(&[b"placet/evidence-key/v1\n", self.0.as_slice()].concat());
        *digest.as_bytes().first_chunk().expect("a digest is longer than a key id")
    }

    fn cipher(&self) -> Aes256Gcm {
        cipher(&self.0)
    }
}

impl fmt::Debug for EvidenceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EvidenceKey({}, secret)", hex(&self.id()))
    }
}

fn cipher(key: &[u8; 32]) -> Aes256Gcm {
    Aes256Gcm::new(&(*key).into())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn chunk_nonce(number: u32, last: bool) -> Nonce {
    let mut nonce = [0; NONCE_BYTES];
    nonce[7] = u8::from(last);
    nonce[8..].copy_from_slice(&number.to_be_bytes());
    nonce
}

/// Encrypts the bytes of one blob as they come.
pub(super) struct Sealer {
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
    pub(super) fn new() -> Result<Self, StoreError> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(key.as_mut_slice()).map_err(|_| StoreError::NoRandomness)?;
        let cipher = cipher(&key);
        Ok(Self { key, cipher, held: Zeroizing::new(Vec::with_capacity(CHUNK_BYTES)), chunks: 0 })
    }

    /// Holds a full chunk back until more comes, because only then is it known not to be the last.
    pub(super) fn push(&mut self, mut bytes: &[u8], out: &mut impl Write) -> io::Result<()> {
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

    pub(super) fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.chunk(true, out)
    }

    fn chunk(&mut self, last: bool, out: &mut impl Write) -> io::Result<()> {
        let nonce = chunk_nonce(self.chunks, last);
        let sealed = self.cipher.encrypt(&nonce.into(), self.held.as_slice()).map_err(io::Error::other)?;
        self.chunks = self.chunks.checked_add(1).ok_or(io::ErrorKind::FileTooLarge)?;
        self.held.clear();
        out.write_all(&sealed)
    }
}

/// The head of a sealed file: the blob key, opened only by the evidence key and only for this digest.
pub(super) fn header(sealer: &Sealer, key: &EvidenceKey, digest: Digest) -> io::Result<Vec<u8>> {
    let mut nonce: Nonce = [0; NONCE_BYTES];
    getrandom::fill(&mut nonce).map_err(io::Error::other)?;
    let payload = Payload { msg: sealer.key.as_slice(), aad: digest.as_bytes() };
    let wrapped = key.cipher().encrypt(&nonce.into(), payload).map_err(io::Error::other)?;
    Ok([MAGIC.as_slice(), &key.id(), &nonce, &wrapped].concat())
}

/// How many plain bytes a sealed file of this length holds.
pub(super) const fn plain_length(file_bytes: u64) -> u64 {
    let body = file_bytes.saturating_sub(HEADER_BYTES as u64);
    let chunk = (CHUNK_BYTES + TAG_BYTES) as u64;
    body.saturating_sub(body.div_ceil(chunk) * TAG_BYTES as u64)
}

/// Opens a sealed file whole. What it returns still has to be hashed.
pub(super) fn open(file: File, path: &Path, key: &EvidenceKey, digest: Digest) -> Result<Vec<u8>, StoreError> {
    let mut file = BufReader::with_capacity(CHUNK_BYTES + TAG_BYTES, file);
    let mut head = Vec::new();
    read_up_to(&mut file, HEADER_BYTES, &mut head).map_err(|error| StoreError::io(path, error))?;
    let cipher = open_header(&head, key, digest)?;
    let mut plain = Vec::new();
    let mut chunk = Vec::new();
    for number in 0.. {
        read_up_to(&mut file, CHUNK_BYTES + TAG_BYTES, &mut chunk).map_err(|error| StoreError::io(path, error))?;
        let last = at_end(&mut file).map_err(|error| StoreError::io(path, error))?;
        let opened = cipher.decrypt(&chunk_nonce(number, last).into(), chunk.as_slice());
        let broken = |_| IntegrityFault::SealBroken { digest, part: format!("chunk {number}") };
        plain.extend_from_slice(&Zeroizing::new(opened.map_err(broken)?));
        if last {
            break;
        }
    }
    Ok(plain)
}

fn open_header(head: &[u8], key: &EvidenceKey, digest: Digest) -> Result<Aes256Gcm, StoreError> {
    let broken = || IntegrityFault::SealBroken { digest, part: "its header".to_owned() };
    let rest = head.strip_prefix(MAGIC).filter(|rest| rest.len() == HEADER_BYTES - MAGIC.len()).ok_or_else(broken)?;
    let (id, rest) = rest.split_at(KEY_ID_BYTES);
    if id != key.id() {
        let (sealed_with, configured) = (hex(id), hex(&key.id()));
        return Err(StoreError::WrongKey { digest, sealed_with, configured });
    }
    let (nonce, wrapped) = rest.split_first_chunk::<NONCE_BYTES>().ok_or_else(broken)?;
    let payload = Payload { msg: wrapped, aad: digest.as_bytes() };
    let blob_key = Zeroizing::new(key.cipher().decrypt(&(*nonce).into(), payload).map_err(|_| broken())?);
    Ok(cipher(blob_key.as_slice().try_into().map_err(|_| broken())?))
}

fn read_up_to(file: &mut impl Read, bytes: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    file.take(bytes as u64).read_to_end(buffer).map(drop)
}

fn at_end(file: &mut BufReader<File>) -> io::Result<bool> {
    io::BufRead::fill_buf(file).map(<[u8]>::is_empty)
}
