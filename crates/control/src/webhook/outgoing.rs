//! Who is told of what: an address, a secret, and the kinds of entries.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;

use super::{BadHooks, HookName, HookSecret};

/// A receiver of entries.
#[derive(Debug)]
pub struct OutgoingHook {
    name: HookName,
    url: TargetUrl,
    secret: HookSecret,
    events: Vec<EventPattern>,
}

impl OutgoingHook {
    pub fn new(
        name: HookName,
        url: TargetUrl,
        secret: HookSecret,
        events: Vec<EventPattern>,
    ) -> Result<Self, BadHooks> {
        if events.is_empty() {
            return Err(BadHooks::NoEvents { name });
        }
        Ok(Self { name, url, secret, events })
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

    pub(crate) fn wants(&self, kind: &str) -> bool {
        self.events.iter().any(|pattern| pattern.matches(kind))
    }
}

/// Where messages go: over HTTP, to this machine. There is no TLS client here yet, and messages tell who did what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetUrl(Url);

/// An address that nothing is sent to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadUrl {
    #[error("`{given}` is not an address; write one like `http://127.0.0.1:9000/hook`")]
    Form { given: String },
    #[error(
        "`{given}` needs TLS, which cannot be spoken yet; send to a proxy on this machine, `http://127.0.0.1:PORT/…`, that does"
    )]
    Tls { given: String },
    #[error(
        "`{given}` is not on this machine, and without TLS messages are sent to a loopback address only; write `127.0.0.1` or `[::1]`, a name could lead anywhere"
    )]
    NotLoopback { given: String },
    #[error("the address of a webhook holds no user, password or fragment; the signature says who sends it")]
    Credentials,
}

impl TargetUrl {
    pub(crate) const fn as_url(&self) -> &Url {
        &self.0
    }
}

impl FromStr for TargetUrl {
    type Err = BadUrl;

    fn from_str(text: &str) -> Result<Self, BadUrl> {
        let given = || text.chars().take(200).collect();
        let url = Url::parse(text).map_err(|_| BadUrl::Form { given: given() })?;
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(BadUrl::Credentials);
        }
        match url.scheme() {
            "http" if is_loopback(&url) => Ok(Self(url)),
            "http" => Err(BadUrl::NotLoopback { given: given() }),
            "https" => Err(BadUrl::Tls { given: given() }),
            _ => Err(BadUrl::Form { given: given() }),
        }
    }
}

/// Only a literal address counts: what a name leads to can be changed by others, and between two looks.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
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
    fn b12_messages_go_to_this_machine_only() {
        for good in ["http://127.0.0.1:9000/hook", "http://127.9.9.9/", "http://[::1]:80/a?b=c"] {
            good.parse::<TargetUrl>().unwrap();
        }
        let refused = |text: &str| text.parse::<TargetUrl>().unwrap_err();
        for elsewhere in
            ["http://10.0.0.1/", "http://169.254.169.254/latest", "http://example.com/", "http://localhost/"]
        {
            assert!(matches!(refused(elsewhere), BadUrl::NotLoopback { .. }), "{elsewhere}");
        }
        assert!(matches!(refused("http://[::ffff:10.0.0.1]/"), BadUrl::NotLoopback { .. }));
        assert!(matches!(refused("https://127.0.0.1/"), BadUrl::Tls { .. }));
        assert_eq!(refused("http://user:pass@127.0.0.1/"), BadUrl::Credentials);
        assert_eq!(refused("http://127.0.0.1@example.com/"), BadUrl::Credentials);
        for wrong in ["", "127.0.0.1:9000", "file:///etc/passwd", "unix:/run/x"] {
            assert!(matches!(refused(wrong), BadUrl::Form { .. }), "{wrong}");
        }
    }

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
