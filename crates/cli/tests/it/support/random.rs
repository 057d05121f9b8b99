//! Chance that can be repeated: everything follows from one seed.

/// `SplitMix64`: small, good enough to choose moments, and the same everywhere.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// The seed in `PLACET_TEST_SEED`, or a fresh one. Printed, so that a failed test tells it.
    pub(crate) fn seeded() -> Self {
        let given = std::env::var("PLACET_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| Self::fresh().0);
        eprintln!("PLACET_TEST_SEED={seed}");
        Self(seed)
    }

    /// For what no test depends on.
    pub(crate) fn fresh() -> Self {
        Self(u64::from_le_bytes(uuid::Uuid::now_v7().into_bytes()[8..].try_into().unwrap()))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// Another stream of chance, for another thread.
    pub(crate) fn branch(&mut self) -> Self {
        Self(self.next())
    }
}
