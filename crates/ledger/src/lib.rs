//! placeholder
mod canonical;
pub mod entry;
pub mod hash;
pub mod head;
pub mod key;
pub mod note;
pub mod proof;
pub mod tile;
mod timestamp;
pub mod tree;
pub mod witness;
