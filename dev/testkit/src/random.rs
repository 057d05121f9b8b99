//! Repeatable chance: everything follows from one seed.

use std::hash::{BuildHasher as _, RandomState};

/// `SplitMix64`: small, good enough to choose moments and damage, and the same everywhere.
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// Takes the seed in `PLACET_TEST_SEED`, or a fresh one, and prints it, so that a failed test tells it.
    #[expect(clippy::print_stderr, reason = "the seed of a failed test is read from its output")]
    pub fn seeded() -> Self {
        let given = std::env::var("PLACET_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| Self::fresh().0);
        eprintln!("PLACET_TEST_SEED={seed}");
        Self(seed)
    }

    /// Takes a seed that no test depends on.
    pub fn fresh() -> Self {
        Self(RandomState::new().hash_one(std::process::id()))
    }

    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next_number() % bound as u64).unwrap()
    }

    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next_number() % (most - least + 1)
    }

    /// Returns another stream of chance, for another thread.
    pub fn branch(&mut self) -> Self {
        Self(self.next_number())
    }
}
