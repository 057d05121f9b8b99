//! Webhooks: who is told of entries of the ledger, and who may propose by a signed request (standard-webhooks).
//!
//! All of this comes from the host's settings and is fixed while the control plane runs. No route reads or changes it: an
//! address that somebody could set over the API would be a way to make the control plane call where they like.

mod incoming;
mod outgoing;
mod secret;
mod send;

pub use incoming::IncomingHook;
pub use outgoing::{EventPattern, OutgoingHook};
pub use placet_dial::{TargetUrl, TargetUrlError};
pub(crate) use secret::{Attempt, WINDOW_S};
pub use secret::{BadSecret, HookSecret};
pub(crate) use send::{Delivered, judged, post_signed};

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// What a hook is called: in the settings, in addresses, in metrics, and in the ids of messages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HookName(String);

impl HookName {
    const LONGEST: usize = 64;

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for HookName {
    type Err = BadHooks;

    fn from_str(name: &str) -> Result<Self, BadHooks> {
        let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-' || c == b'_';
        if (1..=Self::LONGEST).contains(&name.len()) && name.bytes().all(plain) {
            return Ok(Self(name.to_owned()));
        }
        Err(BadHooks::Name { name: name.chars().take(Self::LONGEST).collect() })
    }
}

impl fmt::Display for HookName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How long to wait before something that failed is tried again: twice as long each time, up to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    pub first_ms: u64,
    pub most_ms: u64,
}

impl Backoff {
    /// The wait after this many failures in a row, counted from one.
    pub(crate) fn after(self, failures: u32) -> std::time::Duration {
        let doublings = failures.saturating_sub(1).min(u64::BITS - 1);
        let wait_ms = self.first_ms.saturating_mul(1 << doublings).min(self.most_ms);
        std::time::Duration::from_millis(wait_ms)
    }
}

impl Default for Backoff {
    /// Quick enough that a receiver's restart is hardly noticed, slow enough that a dead one costs nothing.
    fn default() -> Self {
        Self { first_ms: 1_000, most_ms: 5 * 60 * 1_000 }
    }
}

/// All webhooks of a control plane. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    outgoing: Vec<Arc<OutgoingHook>>,
    incoming: Vec<Arc<IncomingHook>>,
    retry: Backoff,
}

/// Why these settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadHooks {
    #[error("`{name}` cannot name a webhook; use 1 to 64 lowercase letters, digits, `-` and `_`")]
    Name { name: String },
    #[error("two {direction} webhooks are called `{name}`; give each a name of its own")]
    NameTwice { direction: &'static str, name: HookName },
    #[error("`{pattern}` is no kind of entry; write one like `run.started`, or its beginning and `*` like `run.*`")]
    Pattern { pattern: String },
    #[error("the webhook `{name}` would never be sent; list at least one kind of entry in `events`")]
    NoEvents { name: HookName },
}

impl Hooks {
    pub fn new(outgoing: Vec<OutgoingHook>, incoming: Vec<IncomingHook>) -> Result<Self, BadHooks> {
        needs_own_names("outgoing", outgoing.iter().map(OutgoingHook::name))?;
        needs_own_names("incoming", incoming.iter().map(IncomingHook::name))?;
        let outgoing = outgoing.into_iter().map(Arc::new).collect();
        let incoming = incoming.into_iter().map(Arc::new).collect();
        Ok(Self { outgoing, incoming, retry: Backoff::default() })
    }

    /// The same hooks, tried again at another pace.
    #[must_use]
    pub fn retried(self, retry: Backoff) -> Self {
        Self { retry, ..self }
    }

    pub(crate) fn outgoing(&self) -> &[Arc<OutgoingHook>] {
        &self.outgoing
    }

    pub(crate) fn incoming(&self) -> &[Arc<IncomingHook>] {
        &self.incoming
    }

    pub(crate) const fn retry(&self) -> Backoff {
        self.retry
    }
}

fn needs_own_names<'a>(direction: &'static str, names: impl Iterator<Item = &'a HookName>) -> Result<(), BadHooks> {
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(BadHooks::NameTwice { direction, name: name.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        for good in ["ci", "chat-2", "a_b", &"x".repeat(64)] {
            assert_eq!(good.parse::<HookName>().unwrap().as_str(), good);
        }
        for bad in ["", "CI", "a b", "a/b", "a.b", "ä", "a\n", &"x".repeat(65)] {
            assert!(bad.parse::<HookName>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn b12_waiting_doubles_up_to_a_limit_and_never_overflows() {
        let backoff = Backoff { first_ms: 1_000, most_ms: 300_000 };
        let waits: Vec<_> = [1, 2, 3, 9, 10, 64, 65, u32::MAX].map(|n| backoff.after(n).as_millis()).into();
        assert_eq!(waits, [1_000, 2_000, 4_000, 256_000, 300_000, 300_000, 300_000, 300_000]);
    }
}
