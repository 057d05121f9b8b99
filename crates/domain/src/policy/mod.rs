//! JUDGE: what the policy says of a sealed action, with reasons a reviewer can add up by hand.

mod verdict;

pub use verdict::{BadRisk, Reason, Risk, Ruling, Tier, Verdict};
