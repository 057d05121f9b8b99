//! Gateway to language models: forwards calls of agents with keys that no agent sees.
//!
//! ```text
//!  key ─► read ─► price ─► reserve ─► forward ─► stream ─► settle
//! ```
//!
//! An agent calls with a virtual key that names its run ([`key`]). The gateway reads the request ([`wire`]), prices it (`price`) and
//! draws the worst case from the run's [`purse`] before it sends anything. Then the request goes to the first upstream that
//! answers, with the real key. The answer passes through piece by piece while its tokens are counted, to its end even if its agent
//! left. The real use is settled with a [`record`] of digests and numbers without text; [`words`] are collected only on request.
//!
//! The gateway decides nothing that a person should decide, and knows neither the store nor the cage: the control plane, which runs it,
//! knows keys ([`key::Keys`]) and budgets ([`purse::Purse`]). Requests of cages to other hosts go through `placet-egress`.
//!
//! [`model_script`] is a model server that plays a script, for `placet model script`, measurements and tests.

mod answer;
mod carry;
mod choose;
pub mod config;
mod forward;
mod gateway;
pub mod key;
mod listing;
pub mod memory;
pub mod model_script;
pub mod models;
mod patience;
mod places;
mod portion;
mod price;
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
