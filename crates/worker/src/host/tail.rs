//! The last words of a process: all of its output goes through here, and the end of it is kept.

use std::collections::VecDeque;

/// So much of each stream is read by a person who wants to know why an agent ended; both have room in a reason.
const KEPT_BYTES: usize = 600;

/// The end of one stream.
#[derive(Debug, Default)]
pub(super) struct Tail(VecDeque<u8>);

impl Tail {
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
        let too_many = self.0.len().saturating_sub(KEPT_BYTES);
        self.0.drain(..too_many);
    }

    pub(super) fn words(mut self) -> String {
        let text = String::from_utf8_lossy(self.0.make_contiguous());
        // What is no text is longer in words; the reason stands at the end.
        let from = text.len().saturating_sub(KEPT_BYTES);
        text[text.ceil_char_boundary(from)..].trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept_however_much_is_said() {
        let mut tail = Tail::default();
        for _ in 0..10_000 {
            tail.take(b"noise noise noise\n");
        }
        tail.take("the reason: no café\n".as_bytes());
        let kept = tail.words();
        assert!(kept.ends_with("the reason: no café") && kept.len() <= KEPT_BYTES, "{kept}");
    }

    #[test]
    fn what_is_no_text_does_not_crowd_out_the_end() {
        let mut tail = Tail::default();
        tail.take(&[0xff; 1_000]);
        tail.take(b"the reason");
        let kept = tail.words();
        assert!(kept.ends_with("the reason") && kept.len() <= KEPT_BYTES, "{kept}");
    }
}
