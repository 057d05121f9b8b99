//! WORDS: what was said in a call. Collected beside the stream and only where whoever runs the gateway asks for it
//! ([`super::key::CallScope`]); otherwise no text is held for longer than it takes to pass it on.
//!
//! What it deliberately does not do: it stores nothing and takes nothing out. Whoever is handed words ([`super::purse::Purse`])
//! takes secrets out of them before it keeps anything.

use std::fmt;

use bytes::Bytes;
use placet_domain::digest::Digest;
use sha2::{Digest as _, Sha256};

/// Longer than the whole context of most models; what is beyond is cut, and said to be.
pub const MOST_BYTES: usize = 4 << 20;
/// Read beyond the bound, so that a secret which the bound would cut in two can be recognised. Longer than any private key.
pub const BEYOND_BYTES: usize = 16 << 10;

/// One side of a call, as far as it is kept.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// At most [`MOST_BYTES`] of it may be kept; a little more is here, to be looked at.
    pub bytes: Vec<u8>,
    /// How many there were.
    pub size_bytes: u64,
}

impl Text {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut text = Self::default();
        text.hear(bytes);
        text
    }

    fn hear(&mut self, bytes: &[u8]) {
        let room = (MOST_BYTES + BEYOND_BYTES).saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.size_bytes += bytes.len() as u64;
    }

    /// Whether there was more than is kept.
    pub const fn is_cut(&self) -> bool {
        self.size_bytes > MOST_BYTES as u64
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({} bytes)", self.size_bytes)
    }
}

/// Both sides of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    pub request: Text,
    pub response: Text,
}

/// Hashes what an agent gets, and collects it where that is wanted.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    hasher: Sha256,
    text: Option<Text>,
}

impl Listener {
    pub(crate) fn new(collects: bool) -> Self {
        Self { hasher: Sha256::new(), text: collects.then(Text::default) }
    }

    pub(crate) fn update(&mut self, bytes: &Bytes) {
        self.hasher.update(bytes);
        self.text.iter_mut().for_each(|text| text.hear(bytes));
    }

    pub(crate) fn finish(self) -> (Digest, Option<Text>) {
        (Digest::from_bytes(self.hasher.finalize().into()), self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b10_without_being_asked_nothing_is_collected_and_the_digest_is_the_same() {
        let heard = |collects| {
            let mut listener = Listener::new(collects);
            listener.update(&Bytes::from_static(b"a"));
            listener.update(&Bytes::from_static(b"b"));
            listener.finish()
        };
        assert_eq!(heard(false), (Digest::of(b"ab"), None));
        assert_eq!(heard(true), (Digest::of(b"ab"), Some(Text::of(b"ab"))));
    }

    #[test]
    fn b10_what_is_beyond_the_bound_is_cut_and_counted() {
        let mut text = Text::default();
        for _ in 0..3 {
            text.hear(&vec![b'x'; MOST_BYTES / 2]);
        }
        assert_eq!((text.bytes.len(), text.size_bytes), (MOST_BYTES + BEYOND_BYTES, 3 * (MOST_BYTES as u64) / 2));
        assert!(text.is_cut() && !Text::of(&vec![0; MOST_BYTES]).is_cut());
        assert_eq!(format!("{text:?}"), format!("Text({} bytes)", text.size_bytes), "never printed");
    }
}
