//! What is written down about each request: whom, what was decided and why, how much. Never content: no header, no
//! query, no body.

use std::net::{IpAddr, SocketAddr};

use placet_domain::id::RunId;
use placet_domain::scope::Authority;
use placet_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::rules::{Method, Reason, Speaks};

/// How a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    Http,
    Connect,
    Socks,
}

/// A numbered reason, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Why {
    pub number: u16,
    pub text: String,
}

impl From<&Reason> for Why {
    fn from(reason: &Reason) -> Self {
        Self { number: reason.number(), text: reason.to_string() }
    }
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// By this rule, as a person reads it.
    Allowed(String),
    Refused(Why),
}

/// One request, or one tunnel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EgressRecord {
    /// None for a cage that somebody made by hand.
    pub run: Option<RunId>,
    pub at: Timestamp,
    pub way: Way,
    /// Where to, as it was understood; none where it could not be.
    pub to: Option<Authority>,
    /// What was spoken, where it was found out.
    pub speaks: Option<Speaks>,
    /// Only of requests that were seen: plain ones, and those inside of TLS that was opened.
    pub method: Option<Method>,
    /// Of the same, without the query and at most [`MOST_PATH`] bytes.
    pub path: Option<String>,
    pub decision: Decision,
    /// Why something that was allowed ended otherwise than by itself.
    pub ended: Option<Why>,
    /// Where the connection went.
    pub address: Option<SocketAddr>,
    /// Addresses that are not public among those the name led to, each of which its rule had to list; at most [`MOST_LISTED`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<IpAddr>,
    /// Whether the first message of TLS has an encrypted part, which may name another host.
    pub encrypted_hello: bool,
    /// The status of the answer, of the same.
    pub status: Option<u16>,
    pub bytes_up: u64,
    pub bytes_down: u64,
    pub duration_ms: u64,
}

/// Longer paths are cut: a record is no place to carry data to.
pub(crate) const MOST_PATH: usize = 512;

/// A name with more addresses of a private network than these is hardly meant for one rule.
pub(crate) const MOST_LISTED: usize = 16;

/// Something that was refused and that a person could allow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    pub to: Authority,
    /// Only of requests that were seen: plain ones, and those inside of TLS that was opened.
    pub method: Option<Method>,
    /// What the client spoke; none if it was refused before it said anything, as tunnels to unknown hosts are.
    pub spoken: Option<Speaks>,
}

/// The place where records go could not take one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the record was not kept")]
pub struct NotKept;

/// Where records go. Called from many connections at once; must not block.
pub trait Sink: Send + Sync {
    /// Before a connection is made. If this fails, it is not made.
    fn before(&self, record: &EgressRecord) -> Result<(), NotKept>;
    /// When a request is over, or was refused, with all figures.
    fn after(&self, record: &EgressRecord);
    /// The first time something is refused that a person could allow.
    fn wish(&self, wish: &Wish);
}
