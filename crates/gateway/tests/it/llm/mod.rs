//! Calls of models through the gateway, with a scripted model server behind it.

mod attacks;
mod budget;
mod faults;
mod pass_through;
mod settings;
mod tls;
mod world;
