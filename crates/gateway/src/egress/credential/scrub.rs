//! Takes out of an answer what it repeats of a credential: some hosts echo what they are sent, some put it into errors.
//!
//! Each occurrence is covered with as many asterisks, so that lengths stay true, and no byte waits unless it may be the
//! beginning of one. What a host encodes in another way (compressed, reversed, in another alphabet) is not recognised.

use bytes::BytesMut;
use memchr::memmem::Finder;
use zeroize::Zeroizing;

const COVER: u8 = b'*';

pub(in crate::egress) struct Scrubber {
    spellings: Vec<Zeroizing<String>>,
    /// The end of what came so far, if it may be the beginning of a credential.
    held: BytesMut,
}

impl Scrubber {
    pub(super) fn new(spellings: Vec<Zeroizing<String>>) -> Self {
        Self { spellings, held: BytesMut::new() }
    }

    /// Covers every occurrence in a text that is there as a whole.
    pub(in crate::egress) fn cover(&self, text: &mut [u8]) {
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

    /// Takes the next part, and gives what can go on.
    pub(in crate::egress) fn pass(&mut self, part: BytesMut) -> BytesMut {
        let mut whole = std::mem::take(&mut self.held);
        if whole.is_empty() {
            whole = part
        } else {
            whole.extend_from_slice(&part)
        }
        self.cover(&mut whole);
        self.held = whole.split_off(whole.len() - self.beginning(&whole));
        whole
    }

    /// What is left when nothing more comes.
    pub(in crate::egress) fn rest(&mut self) -> BytesMut {
        std::mem::take(&mut self.held)
    }

    /// How many bytes at the end may be the beginning of a credential.
    fn beginning(&self, text: &[u8]) -> usize {
        let longest = |spelling: &Zeroizing<String>| {
            let most = text.len().min(spelling.len() - 1);
            (1..=most).rev().find(|&count| text.ends_with(&spelling.as_bytes()[..count])).unwrap_or(0)
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
        let mut passed: Vec<u8> = text.chunks(size).flat_map(|part| scrubber.pass(BytesMut::from(part))).collect();
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
        assert_eq!(&scrubber.pass(BytesMut::from(&b"data: hello\n\n"[..]))[..], b"data: hello\n\n");
        assert_eq!(&scrubber.pass(BytesMut::from(&b"data: s3c"[..]))[..], b"data: ");
        assert_eq!(&scrubber.pass(BytesMut::from(&b"rap"[..]))[..], b"s3crap");
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
            prop_assert!(memchr::memmem::find(&passed, b"ababc").is_none());
            let same = passed.iter().zip(&text).all(|(now, then)| now == then || *now == COVER);
            prop_assert!(same && passed.len() == text.len());
        }
    }
}
