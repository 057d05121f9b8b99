//! Takes secrets out of a stream of bytes, wherever its chunks end.
//!
//! A line is let go when it is complete, unless a private key has begun in it that has not ended. A line that does not
//! end is let go piece by piece, but never the last part, in which a secret may have begun. Memory is bounded by the
//! longest thing any rule looks at.

use crate::block;
use crate::scanner::Scanner;

/// No rule looks further than this: name, value, key block and base64 are all shorter.
const LOOK_BEHIND: usize = 32 * 1024;
/// A line without an end is cut when this much of it waits.
const LONGEST_WAIT: usize = 4 * LOOK_BEHIND;

/// How much of what passed is remembered: settings of one thing stand together.
const CONTEXT: usize = 512;

/// Redacts a stream. Made per stream; what was pushed and has not come out waits inside.
#[derive(Debug)]
pub struct Redactor<'s> {
    scanner: &'s Scanner,
    waiting: Vec<u8>,
    /// The last bytes that were let go, as they came in: what a line means may depend on the one before it.
    passed: Vec<u8>,
}

impl<'s> Redactor<'s> {
    #[must_use]
    pub fn new(scanner: &'s Scanner) -> Self {
        Self { scanner, waiting: Vec::new(), passed: Vec::new() }
    }

    /// How many bytes were taken and not given yet.
    #[must_use]
    pub fn waiting_bytes(&self) -> usize {
        self.waiting.len()
    }

    /// Takes a chunk, gives what is safe to pass on.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut safe = Vec::new();
        for part in chunk.chunks(LOOK_BEHIND) {
            let had_line = memchr::memchr(b'\n', part).is_some();
            self.waiting.extend_from_slice(part);
            if had_line || self.waiting.len() > LONGEST_WAIT {
                self.release(&mut safe);
            }
        }
        safe
    }

    /// Gives what still waits. The stream has ended.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        let rest = std::mem::take(&mut self.waiting);
        self.clean(&rest)
    }

    fn release(&mut self, safe: &mut Vec<u8>) {
        let cut = self.safe_cut();
        let part: Vec<u8> = self.waiting.drain(..cut).collect();
        safe.extend_from_slice(&self.clean(&part));
    }

    /// The part without its secrets, read as the continuation of what passed before.
    fn clean(&mut self, part: &[u8]) -> Vec<u8> {
        let known = self.passed.len();
        self.passed.extend_from_slice(part);
        let clean = self.scanner.redact_from(&self.passed, known);
        let old = self.passed.len().saturating_sub(CONTEXT);
        self.passed.drain(..old);
        clean
    }

    /// How much can go: whole lines before an open key, or, if too much waits, all but the last part.
    fn safe_cut(&self) -> usize {
        let lines = memchr::memrchr(b'\n', &self.waiting).map_or(0, |newline| newline + 1);
        let open = block::open_at(&self.waiting[..lines]).filter(|open| self.waiting.len() - open < LOOK_BEHIND);
        let cut = open.unwrap_or(lines);
        if cut > 0 || self.waiting.len() <= LONGEST_WAIT {
            return cut;
        }
        self.outside_of_hits(self.waiting.len() - LOOK_BEHIND)
    }

    /// Moves a cut before everything it would cut through.
    fn outside_of_hits(&self, wanted: usize) -> usize {
        let mut cut = wanted;
        let mut hits = self.scanner.hits(&self.waiting);
        hits.sort_by_key(|hit| std::cmp::Reverse(hit.secret.end));
        for hit in hits {
            if hit.context < cut && cut < hit.secret.end {
                cut = hit.context;
            }
        }
        // A name without its value is no hit yet: keep the word that the cut would end with.
        cut - crate::class::WORD.run_back(&self.waiting[..cut], 64)
    }
}
