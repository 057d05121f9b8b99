//! Data files: TOML that people write, read strictly. Everything that is wrong is told at once, each problem with its file,
//! line, place and what to do. Nothing is read in part, and no key is ever ignored.
//!
//! Which keys there are is said by whoever reads ([`crate::catalogue`], [`crate::planning`]); no file is opened here.

mod nearest;
mod problem;
mod section;
mod shelf;

pub use problem::{Problem, Problems};
pub(crate) use section::{Section, read};
pub(crate) use shelf::Shelf;
