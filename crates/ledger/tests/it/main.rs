//! The ledger seen from outside: each file tells what one part promises.

mod entries;
mod exports;
mod heads;
mod hostile;
mod proofs;
mod reference;
mod scrubbing;
mod support;
mod tamper;
mod trees;
mod witnesses;
