//! Sets of bytes, as shapes and filters need them.

/// A set of bytes, written like the inside of a regular expression's brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Class([u64; 4]);

/// What an identifier is made of in most languages.
pub(crate) const WORD: Class = Class::of("A-Za-z0-9_");
/// Both alphabets of base64, without the padding.
pub(crate) const BASE64: Class = Class::of("A-Za-z0-9+/_-");

impl Class {
    /// Bytes and ranges of bytes: `A-Za-z0-9_-`. A hyphen at the end stands for itself.
    pub(crate) const fn of(text: &str) -> Self {
        let text = text.as_bytes();
        let (mut class, mut at) = (Self([0; 4]), 0);
        while at < text.len() {
            let ranged = at + 2 < text.len() && text[at + 1] == b'-';
            let last = if ranged { text[at + 2] } else { text[at] };
            class = class.with(text[at], last);
            at += if ranged { 3 } else { 1 };
        }
        class
    }

    const fn with(mut self, first: u8, last: u8) -> Self {
        let mut byte = first;
        while byte <= last {
            self.0[(byte >> 6) as usize] |= 1 << (byte & 63);
            if byte == u8::MAX {
                break;
            }
            byte += 1;
        }
        self
    }

    pub(crate) const fn has(&self, byte: u8) -> bool {
        self.0[(byte >> 6) as usize] >> (byte & 63) & 1 == 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }

    /// How many bytes at the beginning of `text` belong to the set, counted up to `most`.
    pub(crate) fn run(&self, text: &[u8], most: usize) -> usize {
        text.iter().take(most).take_while(|byte| self.has(**byte)).count()
    }

    /// How many bytes at the end of `text` belong to the set, counted up to `most`.
    pub(crate) fn run_back(&self, text: &[u8], most: usize) -> usize {
        text.iter().rev().take(most).take_while(|byte| self.has(**byte)).count()
    }

    /// The members in order.
    pub(crate) fn members(&self) -> Vec<u8> {
        (0..=u8::MAX).filter(|byte| self.has(*byte)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_single_bytes_are_members_and_nothing_else() {
        let class = Class::of("a-c7_-");
        assert_eq!(class.members(), b"-7_abc");
        assert!(const { Class::of("") }.is_empty());
    }

    #[test]
    fn the_last_byte_value_is_reachable() {
        assert!(const { Class::of("\u{0}-\u{7f}") }.has(0x7f));
    }
}
