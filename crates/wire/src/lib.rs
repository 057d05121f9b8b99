//! What goes over the wire: the types of the HTTP API, and a thin client for it.
//!
//! Agents, workers and the command line talk to the control plane only with what is in this crate. It decides nothing; the
//! types say what they mean and convert to the domain's where those exist.

pub mod api;
mod client;
mod presence;
mod problem;
mod stream;

pub use client::{Client, ClientError, Token};
pub use problem::Problem;
pub use stream::{EventStream, Heard, StreamEvent};
