//! Plain HTTP/1.1, read strictly and written anew: what is passed on is what was understood, not what was sent.
//!
//! There is no pool of connections, no cache, no upgrade, no trailers and no second reading: each request gets a
//! connection of its own to the host, so that no answer can be taken for that of another request.

mod asked;
mod body;
mod exchange;
mod framing;
mod head;
mod rewrite;

pub(super) use exchange::{Form, converse, converse_within};
