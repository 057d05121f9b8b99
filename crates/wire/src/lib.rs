//! What goes over the wire: the endpoints of the HTTP API, their types, the document of the API, and a thin client for it.
//!
//! Agents, workers and the command line talk to the control plane only with what is in this crate. It decides nothing; the
//! types say what they mean and convert to the domain's where those exist.

mod access;
pub mod api;
mod client;
pub mod endpoint;
mod openapi;
mod presence;
mod problem;
mod stream;

pub use access::Access;
pub use client::{Client, ClientError, Token};
pub use endpoint::Endpoint;
pub use openapi::api_document;
pub use problem::Problem;
pub use stream::{EventStream, Heard, StreamEvent};
