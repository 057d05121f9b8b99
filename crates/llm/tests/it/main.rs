//! Calls of models through the gateway, with a scripted model server behind it.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

mod attacks;
mod budget;
mod conformance;
mod echoes;
mod faults;
mod hang_ups;
mod keys;
mod members;
mod memory;
mod pass_through;
mod pressure;
mod prices;
mod reach;
mod settings;
mod tls;
mod world;
