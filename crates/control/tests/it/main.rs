//! The control plane as its clients see it: over HTTP, with tokens, friendly and hostile.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

#[path = "../../../domain/tests/it/authenticator.rs"]
mod authenticator;
mod bad_input;
mod collector;
mod every_mutation_is_recorded;
mod flow;
mod half_open;
mod idempotency;
mod inbox;
mod limits;
mod metrics;
#[path = "../../../domain/tests/it/minted.rs"]
mod minted;
mod moves;
mod notify;
mod pages;
mod person;
mod provider;
mod races;
mod routes;
mod scenario;
mod stream;
mod traces;
mod webhooks;
