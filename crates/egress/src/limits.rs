//! How much and how long, each with its reason. A team writes what it wants otherwise; the rest stays.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits of one way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The head of a request or an answer; browsers stay below half of it.
    pub head_bytes: usize,
    /// How long a head, or a first message of TLS, may take: long for a person, short for somebody who holds places.
    pub head_ms: u64,
    /// How long a name may take to resolve.
    pub resolve_ms: u64,
    /// How long all addresses of a host together may take to connect.
    pub connect_ms: u64,
    /// How long a connection may carry nothing. Long computations at the other end fit in.
    pub idle_ms: u64,
    /// How long a connection may last.
    pub total_ms: u64,
    /// What one way out may carry in both directions together: that of an action, or of a cage by hand.
    pub run_bytes: u64,
    /// Connections at the same time. Each takes two descriptors; a worker gives each of its actions what it can spare.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 32 << 10,
            head_ms: 10_000,
            resolve_ms: 5_000,
            connect_ms: 10_000,
            idle_ms: 300_000,
            total_ms: 3_600_000,
            run_bytes: 4 << 30,
            connections: 512,
        }
    }
}

pub(super) const fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}
