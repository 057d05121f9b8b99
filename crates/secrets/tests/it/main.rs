//! Scenarios of the scanner. Every secret in them is invented, most of them by the rules themselves.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

mod allowlist;
mod blocks;
mod context;
mod corpus;
mod hostile;
mod invent;
mod redacting;
mod rules;
mod streaming;
mod team_rules;
