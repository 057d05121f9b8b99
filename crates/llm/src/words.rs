//! WORDS: what was said in a call. Collected beside the stream and only where whoever runs the gateway asks for it
//! ([`super::key::CallScope`]); otherwise no text is held for longer than it takes to pass it on.
//!
//! What it deliberately does not do: it stores nothing and takes nothing out. Whoever is handed words ([`super::purse::Purse`])
//! takes secrets out of them before it keeps anything.

use std::fmt;

use bytes::Bytes;
use placet_domain::digest::Digest;
use sha2::{Digest as _, Sha256};

use super::portion::Portion;

/// Longer than the whole context of most models; what is beyond is cut, and said to be.
pub(crate) const MOST_BYTES: usize = 4 << 20;
/// Read beyond the bound, so that a secret which the bound would cut in two can be recognised. Longer than any private key.
pub const BEYOND_BYTES: usize = 16 << 10;
/// Of one side.
const MOST_HELD: usize = MOST_BYTES + BEYOND_BYTES;
/// Memory is taken in pieces that double, beginning with this.
const FIRST_BYTES: usize = 4 << 10;

/// One side of a call, as far as it is kept.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// At most [`MOST_BYTES`] of it may be kept; a little more is here, to be looked at.
    pub bytes: Vec<u8>,
    /// How many there were.
    pub size_bytes: u64,
}

impl Text {
    /// What we say ourselves, which is short.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let kept = &bytes[..bytes.len().min(MOST_HELD)];
        Self { bytes: kept.to_vec(), size_bytes: bytes.len() as u64 }
    }

    /// Whether there was more than is kept.
    pub const fn is_cut(&self) -> bool {
        self.size_bytes > MOST_BYTES as u64 || self.misses_some()
    }

    /// Whether something was heard that is not here.
    const fn misses_some(&self) -> bool {
        (self.bytes.len() as u64) < self.size_bytes
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

/// One side of an open call, with its part of the memory that all calls have. What finds no room is cut: a call is not refused because of
/// what would be kept of it.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) text: Text,
    pub(crate) room: Portion,
}

impl Heard {
    pub(crate) fn new(room: Portion) -> Self {
        Self { text: Text::default(), room }
    }

    /// Room for the other side of the same call.
    pub(crate) fn beside(&self) -> Portion {
        self.room.another()
    }

    pub(crate) fn hear(&mut self, bytes: &[u8]) {
        // Nothing is left out in the middle.
        if !self.text.misses_some() {
            self.make_room_for(bytes.len());
            let free = self.text.bytes.capacity().min(MOST_HELD) - self.text.bytes.len();
            self.text.bytes.extend_from_slice(&bytes[..bytes.len().min(free)]);
        }
        self.text.size_bytes += bytes.len() as u64;
    }

    /// Takes what is counted, and counts what is taken: a vector that grows by itself holds up to twice its bytes.
    fn make_room_for(&mut self, more: usize) {
        let (held, has) = (self.text.bytes.len(), self.text.bytes.capacity());
        let needs = held.saturating_add(more).min(MOST_HELD);
        if needs > has {
            let ample = needs.max(has * 2).clamp(FIRST_BYTES, MOST_HELD);
            if let Some(next) = [ample, needs].into_iter().find(|next| self.room.grow((next - has) as u64)) {
                self.text.bytes.reserve_exact(next - held);
            }
        }
    }
}

/// Hashes what an agent gets, and collects it where that is wanted.
#[derive(Debug, Default)]
pub(crate) struct Listener {
    hasher: Sha256,
    heard: Option<Heard>,
}

impl Listener {
    /// Collects into the room, if there is any.
    pub(crate) fn new(room: Option<Portion>) -> Self {
        Self { hasher: Sha256::new(), heard: room.map(Heard::new) }
    }

    pub(crate) fn update(&mut self, bytes: &Bytes) {
        self.hasher.update(bytes);
        self.heard.iter_mut().for_each(|heard| heard.hear(bytes));
    }

    pub(crate) fn finish(self) -> (Digest, Option<Heard>) {
        (Digest::from_bytes(self.hasher.finalize().into()), self.heard)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use placet_domain::id::RunId;

    use super::*;
    use crate::portion::{Use, Whole};

    const RUN: RunId = RunId::from_bytes([1; 16]);

    fn heard_in(whole: &Arc<Whole>) -> Heard {
        Heard::new(whole.portion(RUN, Use::Words))
    }

    #[test]
    fn b10_without_being_asked_nothing_is_collected_and_the_digest_is_the_same() {
        let whole = Whole::new(4 << 20, 1 << 19);
        let heard = |room| {
            let mut listener = Listener::new(room);
            listener.update(&Bytes::from_static(b"a"));
            listener.update(&Bytes::from_static(b"b"));
            let (digest, heard) = listener.finish();
            (digest, heard.map(|heard| heard.text))
        };
        assert_eq!(heard(None), (Digest::of(b"ab"), None));
        assert_eq!(heard(Some(whole.portion(RUN, Use::Words))), (Digest::of(b"ab"), Some(Text::of(b"ab"))));
    }

    #[test]
    fn b10_what_is_beyond_the_bound_is_cut_and_counted() {
        let whole = Whole::new(256 << 20, 32 << 20);
        let mut heard = heard_in(&whole);
        for _ in 0..3 {
            heard.hear(&vec![b'x'; MOST_BYTES / 2]);
        }
        let text = &heard.text;
        assert_eq!((text.bytes.len(), text.size_bytes), (MOST_BYTES + BEYOND_BYTES, 3 * (MOST_BYTES as u64) / 2));
        assert!(text.is_cut() && !Text::of(&vec![0; MOST_BYTES]).is_cut());
        assert_eq!(format!("{text:?}"), format!("Text({} bytes)", text.size_bytes), "never printed");
        assert_eq!(text.bytes.capacity(), MOST_HELD, "no more is held than is counted");
    }

    #[test]
    fn c12_words_that_find_no_room_are_cut_there_and_nothing_is_left_out_in_the_middle() {
        // A run has a quarter of it, and half of that is for words.
        let whole = Whole::new(160_000, 20_000);
        let (mut first, mut second) = (heard_in(&whole), heard_in(&whole));
        first.hear(&[b'a'; 15_000]);
        second.hear(&[b'b'; 4_000]);
        second.hear(&[b'c'; 2_000]);
        assert_eq!((second.text.bytes.len(), second.text.is_cut()), (4_096, true), "as much as was taken");
        drop(first);
        second.hear(b"d");
        assert_eq!((second.text.bytes.len(), second.text.size_bytes), (4_096, 6_001), "there is room again, and a gap");
        assert!(second.text.bytes.ends_with(b"c"));
        let mut third = heard_in(&whole);
        third.hear(&[b'e'; 15_000]);
        assert!(!third.text.is_cut(), "what was given back is free");
    }
}
