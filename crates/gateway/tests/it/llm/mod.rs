//! Calls of models through the gateway, with a scripted model server behind it.

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

pub(crate) use tls::Lab;
