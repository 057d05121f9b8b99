//! Fixtures that the tests of several crates share. No crate of the product depends on this one outside its tests.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be made has failed its test")]

pub mod random;
pub mod repeat;
pub mod tls;

pub use random::Random;
pub use repeat::{is_long, rounds};
