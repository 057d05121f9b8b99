//! The control plane as its clients see it: over HTTP, with tokens, friendly and hostile.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

mod flow;
mod moves;
mod person;
mod scenario;
