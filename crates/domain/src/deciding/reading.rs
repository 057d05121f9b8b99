//! How long it takes to read a card, from its length. An estimate in favour of whoever reads: only what is far below it is held to be
//! unread.

/// Seeing that something is there, and what it is.
const GLANCE_MS: u64 = 1_000;
/// Practised readers take in about 60 letters of text or code in a second when they look for what is unusual.
const LETTERS_PER_SECOND: u64 = 60;
/// Nobody reads a file from end to end before each decision.
const LONGEST_MS: u64 = 60_000;

/// What it takes to read so many letters.
pub const fn needed_ms(letters: u64) -> u64 {
    let reading_ms = letters.saturating_mul(1_000) / LETTERS_PER_SECOND;
    let whole_ms = GLANCE_MS.saturating_add(reading_ms);
    if whole_ms > LONGEST_MS { LONGEST_MS } else { whole_ms }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c17_a_longer_card_takes_longer_and_none_takes_for_ever() {
        assert_eq!([0, 60, 600].map(needed_ms), [1_000, 2_000, 11_000]);
        assert_eq!([100_000, u64::MAX].map(needed_ms), [LONGEST_MS; 2]);
    }
}
