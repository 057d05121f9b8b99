//! scratch
pub mod canonical;
pub mod digest;
pub mod id;
pub mod policy;
pub mod proposal;
pub mod scope;
pub mod time;
