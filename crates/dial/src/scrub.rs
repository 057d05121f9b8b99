//! Covers secrets that an answer repeats: some hosts echo requests, some put credentials into errors.
//!
//! Each byte of a secret becomes an asterisk, so that lengths stay true, and a byte is held back only while it may begin a secret.
//! Other encodings (compressed, reversed, another alphabet) are not recognised.

use std::fmt;

use bytes::{Bytes, BytesMut};
use hyper::HeaderMap;
use hyper::header::HeaderValue;
use memchr::memmem::{self, Finder};
use zeroize::Zeroizing;

use crate::Secret;

/// Length of the shortest secret that is covered. A shorter one could be ordinary text of an answer.
pub const MIN_SECRET_BYTES: usize = 8;
const COVER: u8 = b'*';

/// Filter of one answer that covers the spellings of a secret.
pub struct Scrubber {
    spellings: Vec<Zeroizing<String>>,
    /// Last bytes so far, if they may begin a secret.
    held: Bytes,
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrubber")
    }
}

impl Scrubber {
    pub const fn new(spellings: Vec<Zeroizing<String>>) -> Self {
        Self { spellings, held: Bytes::new() }
    }

    /// Covers the spellings of a key. `None` for a key that is too short, such as the `ollama` of local servers.
    pub fn of_key(key: &Secret) -> Option<Self> {
        (key.expose().len() >= MIN_SECRET_BYTES).then(|| Self::new(key.spellings()))
    }

    /// Covers every occurrence in a complete text.
    pub fn cover(&self, text: &mut [u8]) {
        for spelling in &self.spellings {
            let finder = Finder::new(spelling.as_bytes());
            let mut from = 0;
            while let Some(at) = finder.find(&text[from..]) {
                let end = from + at + spelling.len();
                text[from + at..end].fill(COVER);
                from = end;
            }
        }
    }

    /// Covers every occurrence in header values.
    pub fn cover_values(&self, headers: &mut HeaderMap) {
        for value in headers.values_mut().filter(|value| self.occurs(value.as_bytes())) {
            let mut covered = value.as_bytes().to_vec();
            self.cover(&mut covered);
            // Every header value that can hold a key can hold asterisks.
            *value = HeaderValue::from_bytes(&covered).unwrap_or(HeaderValue::from_static("*"));
        }
    }

    /// Takes the next part and returns the bytes that can go on: the same bytes, not a copy, if nothing is covered.
    pub fn pass(&mut self, part: Bytes) -> Bytes {
        let mut whole = if self.held.is_empty() { part } else { [self.rest(), part].concat().into() };
        if self.occurs(&whole) {
            let mut covered = BytesMut::from(whole);
            self.cover(&mut covered);
            whole = covered.freeze();
        }
        self.held = whole.split_off(whole.len() - self.partial_match_bytes(&whole));
        whole
    }

    /// Returns the bytes that were held back, at the end of an answer.
    pub fn rest(&mut self) -> Bytes {
        std::mem::take(&mut self.held)
    }

    fn occurs(&self, text: &[u8]) -> bool {
        self.spellings.iter().any(|spelling| memmem::find(text, spelling.as_bytes()).is_some())
    }

    /// Counts the last bytes that may begin a secret.
    fn partial_match_bytes(&self, text: &[u8]) -> usize {
        let longest = |spelling: &Zeroizing<String>| {
            let spelling = spelling.as_bytes();
            let end = &text[text.len() - text.len().min(spelling.len() - 1)..];
            let mut starts = memchr::memchr_iter(spelling[0], end);
            starts.find(|&at| spelling.starts_with(&end[at..])).map_or(0, |at| end.len() - at)
        };
        self.spellings.iter().map(longest).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scrubber(spellings: &[&str]) -> Scrubber {
        Scrubber::new(spellings.iter().map(|text| Zeroizing::new((*text).to_owned())).collect())
    }

    fn in_parts(text: &[u8], size: usize, spellings: &[&str]) -> Vec<u8> {
        let mut scrubber = scrubber(spellings);
        let mut passed: Vec<u8> =
            text.chunks(size).flat_map(|part| scrubber.pass(Bytes::copy_from_slice(part))).collect();
        passed.extend_from_slice(&scrubber.rest());
        passed
    }

    #[test]
    fn r24_a_credential_is_covered_wherever_parts_begin_and_end() {
        let text = b"{\"token\": \"s3cr3t-canary\", \"again\": \"s3cr3t-canary\", \"other\": \"s3cr3t-can\"}";
        for size in 1..=text.len() {
            let passed = String::from_utf8(in_parts(text, size, &["s3cr3t-canary", "czNjcjN0"])).unwrap();
            assert!(!passed.contains("s3cr3t-canary"), "{size}: {passed}");
            assert_eq!((passed.len(), passed.matches("*************").count()), (text.len(), 2), "{size}: {passed}");
            assert!(passed.ends_with("\"s3cr3t-can\"}"), "what only begins like it stays: {passed}");
        }
    }

    #[test]
    fn nothing_waits_that_cannot_be_the_beginning_of_a_credential() {
        let mut scrubber = scrubber(&["s3cr3t-canary"]);
        assert_eq!(&scrubber.pass(Bytes::from_static(b"data: hello\n\n"))[..], b"data: hello\n\n");
        assert_eq!(&scrubber.pass(Bytes::from_static(b"data: s3c"))[..], b"data: ");
        assert_eq!(&scrubber.pass(Bytes::from_static(b"rap"))[..], b"s3crap");
    }

    proptest! {
        #[test]
        fn other_text_passes_as_it_is_and_no_part_makes_a_difference(
            pieces in proptest::collection::vec(prop_oneof![Just("abab"), Just("ababc"), Just("ab"), Just("c"), Just("x")], 0..20),
            size in 1_usize..9,
        ) {
            let text = pieces.concat().into_bytes();
            let whole = in_parts(&text, text.len().max(1), &["ababc"]);
            let passed = in_parts(&text, size, &["ababc"]);
            prop_assert_eq!(&passed, &whole);
            prop_assert!(memmem::find(&passed, b"ababc").is_none());
            let same = passed.iter().zip(&text).all(|(now, then)| now == then || *now == COVER);
            prop_assert!(same && passed.len() == text.len());
        }
    }
}
