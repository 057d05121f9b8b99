//! What the gateway does, seen from both of its sides: agents that call it and the hosts and upstreams that it calls.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

mod dial;
mod egress;
mod llm;
