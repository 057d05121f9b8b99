//! Looking whether what is stored is still what was written: before a head is signed, at every start, and on demand.

mod fold;
mod scrub;
mod sign;

pub(crate) use fold::{differences, rebuild};
pub(crate) use scrub::scrub;
pub(crate) use sign::{last_head, resume, verified_tree};
