//! Secrets inside base64, one level deep: settings of clusters, encoded files, headers.
//!
//! Only runs that decode to text are looked into: a key in base64 is no text, and its own rule knows it.

use std::ops::Range;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::class::{BASE64, Class};

/// Shorter runs are words and paths, and hold no secret that a rule would know.
const SHORTEST_RUN: usize = 32;
/// Of longer runs only the beginning is decoded.
pub(crate) const LONGEST_RUN: usize = 16 * 1024;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Every long run of base64, which may be something encoded, or a token.
pub(crate) fn runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    Runs { text, at: 0 }
}

/// Runs of base64. Only every 32nd byte is looked at until one belongs to a run, so that this costs next to nothing.
struct Runs<'t> {
    text: &'t [u8],
    at: usize,
}

impl Iterator for Runs<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        loop {
            let probe = self.at + SHORTEST_RUN - 1;
            let back = BASE64.run_back(self.text.get(self.at..=probe)?, SHORTEST_RUN);
            if back < SHORTEST_RUN {
                self.at = probe + 1 - back;
                continue;
            }
            let start = self.at;
            let end = probe + 1 + BASE64.run(&self.text[probe + 1..], usize::MAX);
            self.at = end;
            return Some(start..end.min(start + LONGEST_RUN));
        }
    }
}

/// The text that a run holds, if it holds text.
pub(crate) fn decode(run: &[u8]) -> Option<Vec<u8>> {
    const URL_ONLY: Class = Class::of("_-");
    let url_safe = run.iter().any(|byte| URL_ONLY.has(*byte));
    let engine = if url_safe { &URL_SAFE } else { &STANDARD };
    // A look at the beginning spares most runs, which are digests, keys and pictures.
    let taste = engine.decode(&run[..24]).ok()?;
    if !is_text(&taste) {
        return None;
    }
    let whole = if run.len() % 4 == 1 { &run[..run.len() - 1] } else { run };
    engine.decode(whole).ok().filter(|plain| is_text(plain))
}

fn is_text(bytes: &[u8]) -> bool {
    let readable = bytes.iter().filter(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')).count();
    readable * 20 >= bytes.len() * 19
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_text_is_decoded_and_everything_else_is_left_alone() {
        let plain = b"user = svc\npassword = nothing to see here";
        let encoded = base64::engine::general_purpose::STANDARD.encode(plain);
        let text = format!("data: {encoded}\nsha: da39a3ee5e6b4b0d3255bfef95601890afd80709da39a3ee");
        let runs: Vec<_> = runs(text.as_bytes()).collect();
        assert_eq!(runs.iter().map(|run| run.start).collect::<Vec<_>>(), [6, 68]);
        assert_eq!(decode(&text.as_bytes()[runs[0].clone()]).as_deref(), Some(&plain[..]));
        assert_eq!(decode(&text.as_bytes()[runs[1].clone()]), None);
    }

    #[test]
    fn runs_are_found_wherever_they_begin() {
        for shift in 0..70 {
            let text = format!("{}{} tail", " ".repeat(shift), "QUJD".repeat(10));
            let runs: Vec<_> = Runs { text: text.as_bytes(), at: 0 }.collect();
            assert_eq!((runs.len(), runs[0].clone()), (1, shift..shift + 40));
        }
    }
}
