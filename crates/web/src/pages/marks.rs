//! How far the ledger was when a page was made, written into the page so that only we can read it: how much is recorded altogether, also
//! in projects of others, is nobody's business. A mark is no secret and opens nothing; after a restart none is known any more.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use placet_domain::digest::Digest;

/// Further back than this no mark is looked for: a page that is older looks again, whatever happened.
pub(super) const FURTHEST: u32 = 512;
/// Bytes: enough that no two are the same.
const LENGTH: usize = 12;

pub(super) struct Marks {
    key: [u8; 32],
}

impl std::fmt::Debug for Marks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Marks").finish_non_exhaustive()
    }
}

impl Default for Marks {
    fn default() -> Self {
        let mut key = [0; 32];
        getrandom::fill(&mut key).expect("the operating system gives randomness");
        Self { key }
    }
}

impl Marks {
    /// For a page that is made when so many entries are recorded.
    pub(super) fn at(&self, size: u64) -> String {
        let digest = Digest::of(&[self.key.as_slice(), &size.to_be_bytes()].concat());
        URL_SAFE_NO_PAD.encode(digest.as_bytes().iter().copied().take(LENGTH).collect::<Vec<u8>>())
    }

    /// How many entries were recorded then; nothing for a mark that is too old, or not ours.
    pub(super) fn size_at(&self, mark: &str, size_now: u64) -> Option<u64> {
        let oldest = size_now.saturating_sub(u64::from(FURTHEST));
        (oldest..=size_now).rev().find(|size| self.at(*size) == mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t8_a_mark_tells_us_alone_how_far_the_ledger_was() {
        let (ours, others) = (Marks::default(), Marks::default());
        let mark = ours.at(1_000);
        assert_eq!(mark.len(), 16, "{mark}");
        for (size_now, found) in
            [(1_000, Some(1_000)), (1_003, Some(1_000)), (1_512, Some(1_000)), (1_513, None), (999, None)]
        {
            assert_eq!(ours.size_at(&mark, size_now), found, "{size_now}");
        }
        assert_eq!(others.size_at(&mark, 1_000), None, "another start has other marks");
        for strange in ["", "1000", &"x".repeat(10_000)] {
            assert_eq!(ours.size_at(strange, 1_000), None);
        }
        assert_eq!(ours.size_at(&ours.at(0), 3), Some(0));
    }
}
