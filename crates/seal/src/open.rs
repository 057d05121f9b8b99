//! Opening what was sealed, chunk by chunk. What is handed on still has to be hashed by whoever relies on its name.

use std::io::{self, BufRead, BufReader, Read};

use aes_gcm::Aes256Gcm;
use aes_gcm::aead::{Aead as _, Payload};
use zeroize::Zeroizing;

use crate::{
    CHUNK_BYTES, HEADER_BYTES, KEY_ID_BYTES, Key, MAGIC, NONCE_BYTES, Name, TAG_BYTES, chunk_nonce, cipher, hex,
};

/// Why it does not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("it was sealed with the key `{sealed_with}`, and the key `{configured}` is configured")]
    WrongKey { sealed_with: String, configured: String },
    #[error("{part} does not pass its check")]
    Broken { part: String },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Opens a sealed file and hands its plain bytes on, in order, until something does not pass its check.
pub fn open(
    file: impl Read,
    key: &Key,
    name: &Name,
    mut take: impl FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), OpenError> {
    let mut file = BufReader::with_capacity(CHUNK_BYTES + TAG_BYTES, file);
    let mut head = Vec::new();
    read_up_to(&mut file, HEADER_BYTES, &mut head)?;
    let cipher = open_header(&head, key, name)?;
    let mut chunk = Vec::new();
    for number in 0.. {
        read_up_to(&mut file, CHUNK_BYTES + TAG_BYTES, &mut chunk)?;
        let last = file.fill_buf()?.is_empty();
        let opened = cipher.decrypt(&chunk_nonce(number, last).into(), chunk.as_slice());
        let broken = |_| OpenError::Broken { part: format!("chunk {number}") };
        take(&Zeroizing::new(opened.map_err(broken)?))?;
        if last {
            break;
        }
    }
    Ok(())
}

fn open_header(head: &[u8], key: &Key, name: &Name) -> Result<Aes256Gcm, OpenError> {
    let broken = || OpenError::Broken { part: "its header".to_owned() };
    let rest = head.strip_prefix(MAGIC).filter(|rest| rest.len() == HEADER_BYTES - MAGIC.len()).ok_or_else(broken)?;
    let (id, rest) = rest.split_at(KEY_ID_BYTES);
    if id != key.id() {
        return Err(OpenError::WrongKey { sealed_with: hex(id), configured: hex(&key.id()) });
    }
    let (nonce, wrapped) = rest.split_first_chunk::<NONCE_BYTES>().ok_or_else(broken)?;
    let payload = Payload { msg: wrapped, aad: name };
    let content_key = Zeroizing::new(key.cipher().decrypt(&(*nonce).into(), payload).map_err(|_| broken())?);
    Ok(cipher(content_key.as_slice().try_into().map_err(|_| broken())?))
}

fn read_up_to(file: &mut impl Read, bytes: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    file.take(bytes as u64).read_to_end(buffer).map(drop)
}
