//! Who is told of what: an address, a secret, and the kinds of entries.

use std::fmt;
use std::str::FromStr;

use placet_dial::{Dialer, TargetUrl};

use super::{BadHooks, HookName, HookSecret};

/// A receiver of entries.
#[derive(Debug)]
pub struct OutgoingHook {
    name: HookName,
    url: TargetUrl,
    secret: HookSecret,
    events: Vec<EventPattern>,
    /// By which addresses and names it may be reached.
    dialer: Dialer,
}

impl OutgoingHook {
    pub fn new(
        name: HookName,
        url: TargetUrl,
        secret: HookSecret,
        events: Vec<EventPattern>,
        dialer: Dialer,
    ) -> Result<Self, BadHooks> {
        if events.is_empty() {
            return Err(BadHooks::NoEvents { name });
        }
        Ok(Self { name, url, secret, events, dialer })
    }

    pub const fn name(&self) -> &HookName {
        &self.name
    }

    pub(crate) const fn url(&self) -> &TargetUrl {
        &self.url
    }

    pub(crate) const fn secret(&self) -> &HookSecret {
        &self.secret
    }

    pub(crate) const fn dialer(&self) -> &Dialer {
        &self.dialer
    }

    pub(crate) fn wants(&self, kind: &str) -> bool {
        self.events.iter().any(|pattern| pattern.matches(kind))
    }
}

/// A kind of entry (`action.judged`), or the beginning of some (`run.*`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPattern(String);

impl EventPattern {
    fn matches(&self, kind: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(beginning) => kind.starts_with(beginning),
            None => self.0 == kind,
        }
    }
}

impl FromStr for EventPattern {
    type Err = BadHooks;

    fn from_str(text: &str) -> Result<Self, BadHooks> {
        let beginning = text.strip_suffix('*').unwrap_or(text);
        let plain = |c: u8| c.is_ascii_lowercase() || c == b'.' || c == b'_';
        if text.is_empty() || !beginning.bytes().all(plain) {
            return Err(BadHooks::Pattern { pattern: text.chars().take(80).collect() });
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_kind_or_its_beginning() {
        let matches = |pattern: &str, kind: &str| pattern.parse::<EventPattern>().unwrap().matches(kind);
        assert!(matches("action.judged", "action.judged") && !matches("action.judged", "action.judged_again"));
        assert!(matches("run.*", "run.started") && !matches("run.*", "runtime.started"));
        assert!(matches("*", "refused"));
        for wrong in ["", "*.judged", "run.**", "Run.*", "run started"] {
            assert!(wrong.parse::<EventPattern>().is_err(), "{wrong}");
        }
    }
}
