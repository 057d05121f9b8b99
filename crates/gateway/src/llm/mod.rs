//! Calls of language models, passed on with keys that no agent sees.
//!
//! ```text
//!  key ─► read ─► price ─► reserve ─► forward ─► stream ─► settle
//! ```
//!
//! An agent calls with a virtual key that names its run ([`key`]). What its request asks for is read ([`wire`]), priced ([`price`]),
//! and the worst case is drawn from the run's [`purse`] before anything is sent. Then the request goes to the first upstream that
//! answers, with the real key, and the answer passes through piece by piece while its tokens are counted, to its end even if its agent
//! left. What was really used is settled with a [`record`] that holds digests and numbers and no text; [`words`] are collected only
//! where somebody asks for them.

mod answer;
mod carry;
mod choose;
pub mod config;
mod forward;
mod gateway;
pub mod key;
mod listing;
pub mod memory;
pub mod models;
mod patience;
mod places;
mod portion;
pub mod price;
pub mod purse;
mod reading;
pub mod record;
mod reserve;
mod serve;
mod settle;
mod stream;
mod took;
pub mod upstream;
pub mod wire;
pub mod words;

pub use answer::{AnswerBody, Answered};
pub use gateway::{Gateway, RequestBody};
pub use serve::{serve, serve_connection};
