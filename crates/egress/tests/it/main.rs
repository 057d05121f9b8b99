//! The way out for requests: real connections, hosts on loopback, names that lead wherever a test wants.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

mod credentials;
mod inside;
mod learning;
mod limits;
mod live;
mod names;
mod plain;
mod recording;
mod rules;
mod smuggling;
mod tunnels;
mod world;
