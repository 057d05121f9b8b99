//! What is kept of one call: digests, numbers and names. Never a word of what was said.

pub use placet_domain::run::{ModelCall, ModelTokens, NotText};
use uuid::Uuid;

/// A new name for a call. It begins with the time, so that records sort.
pub(crate) fn new_id() -> String {
    format!("call_{}", Uuid::now_v7().simple())
}
