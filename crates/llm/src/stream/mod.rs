//! STREAM: an answer on its way to the agent. It is passed on piece by piece as it comes; beside that it is hashed and its tokens
//! are counted.

mod events;
mod metered;
mod reader;

pub(crate) use metered::{Broken, Ending, Metered, Passing, Reached};
pub(crate) use reader::Reader;
