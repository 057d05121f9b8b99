//! Calls of a [`placet_dial::Dialer`] to real servers on loopback.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

mod tls;
