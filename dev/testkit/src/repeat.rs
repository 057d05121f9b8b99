//! How often a test repeats: a bounded number in `./check`, and the long one in `./check long`.

/// Returns whether `./check long` runs the tests, which sets `PLACET_LONG`.
pub fn is_long() -> bool {
    std::env::var_os("PLACET_LONG").is_some()
}

/// Returns the number of rounds: `usual`, or `long` under `./check long`.
pub fn rounds(usual: usize, long: usize) -> usize {
    if is_long() { long } else { usual }
}
