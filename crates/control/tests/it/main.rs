//! The control plane as its clients see it: over HTTP, with tokens, friendly and hostile.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

mod bad_input;
mod collector;
mod every_mutation_is_recorded;
mod flow;
mod idempotency;
mod inbox;
mod limits;
mod metrics;
mod moves;
mod pages;
mod person;
mod races;
mod routes;
mod scenario;
mod stream;
mod traces;
mod webhooks;
