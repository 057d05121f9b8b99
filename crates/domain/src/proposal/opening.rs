//! Openings: whom the cage of an action may reach, one place each, sealed with the action. What is not opened is closed.
//!
//! Written as one line, `http://10.0.0.5:8080/v1`, `GET,HEAD https://example.org/prices` or `unseen https://example.org/`. Methods and
//! paths are kept for plain `http` and inside of TLS, which is opened to see them; so is whose account is used. Only what says `unseen`
//! is a tunnel that nobody looks into. Nothing here opens anything; the gateway makes rules of it.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::scope::{BadTarget, Target, TargetRule, Url};

crate::names! {
    /// A method of HTTP, in capitals.
    Method = "method", |text| {
        (1..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'-')
    }, "capital letters, such as `GET`";
}

/// What an opening begins with whose TLS is not looked into. No method: those are capitals.
const UNSEEN: &str = "unseen";

/// Which requests it opens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Requests {
    /// Those with these methods, all of them if there are none. Each is seen.
    With(BTreeSet<Method>),
    /// Whatever is said inside of TLS: any method, any path, anybody's account.
    Unseen,
}

/// One place that may be reached.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Opening {
    to: TargetRule,
    requests: Requests,
}

/// An opening that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadOpening {
    #[error(transparent)]
    Target(#[from] BadTarget),
    #[error(transparent)]
    Method(#[from] crate::name::BadName),
    #[error("methods are for an address such as `https://example.org/`, not for `{0}`; leave them out, or name one")]
    NoAddress(TargetRule),
    #[error("`unseen` is for the whole of a host with TLS, such as `unseen https://example.org/`, not for `{0}`")]
    NotUnseen(TargetRule),
}

impl Opening {
    /// With methods: none means any.
    pub fn new(to: TargetRule, methods: BTreeSet<Method>) -> Result<Self, BadOpening> {
        if methods.is_empty() || url_of(&to).is_some() {
            return Ok(Self { to, requests: Requests::With(methods) });
        }
        Err(BadOpening::NoAddress(to))
    }

    /// TLS that nobody looks into. It has no paths: they would not be seen.
    pub fn unseen(to: TargetRule) -> Result<Self, BadOpening> {
        let is_whole = |url: &Url| url.scheme() == "https" && url.path().as_str() == "/";
        if url_of(&to).is_some_and(is_whole) {
            return Ok(Self { to, requests: Requests::Unseen });
        }
        Err(BadOpening::NotUnseen(to))
    }

    /// Everything about a target, as far as it is seen.
    pub const fn all_of(target: Target) -> Self {
        Self { to: TargetRule::Within(target), requests: Requests::With(BTreeSet::new()) }
    }

    pub const fn to(&self) -> &TargetRule {
        &self.to
    }

    /// Without any: all of them.
    pub const fn methods(&self) -> &BTreeSet<Method> {
        static ALL: BTreeSet<Method> = BTreeSet::new();
        match &self.requests {
            Requests::With(methods) => methods,
            Requests::Unseen => &ALL,
        }
    }

    /// Whether it is a tunnel that nobody looks into.
    pub const fn is_unseen(&self) -> bool {
        matches!(self.requests, Requests::Unseen)
    }

    /// Whether it is without encryption by its address. What names a host alone leaves that open.
    pub fn is_plain(&self) -> bool {
        url_of(&self.to).is_some_and(|url| url.scheme() == "http")
    }

    /// What of it nobody can see, for whoever approves it.
    pub const fn caveat(&self) -> Option<&'static str> {
        if self.is_unseen() {
            return Some("a tunnel: neither requests nor whose account they use are seen");
        }
        None
    }
}

const fn url_of(to: &TargetRule) -> Option<&Url> {
    match to {
        TargetRule::Within(Target::Url(url)) => Some(url),
        TargetRule::Within(Target::Host(_) | Target::Network(_)) | TargetRule::Below(_) => None,
    }
}

impl FromStr for Opening {
    type Err = BadOpening;

    fn from_str(text: &str) -> Result<Self, BadOpening> {
        match text.rsplit_once(' ') {
            None => Self::new(text.parse()?, BTreeSet::new()),
            Some((UNSEEN, to)) => Self::unseen(to.parse()?),
            Some((methods, to)) => {
                let methods = methods.split(',').map(str::parse).collect::<Result<_, _>>()?;
                Self::new(to.parse()?, methods)
            }
        }
    }
}

impl fmt::Display for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.requests {
            Requests::Unseen => write!(f, "{UNSEEN} {}", self.to),
            Requests::With(methods) if methods.is_empty() => write!(f, "{}", self.to),
            Requests::With(methods) => {
                let methods: Vec<&str> = methods.iter().map(Method::as_str).collect();
                write!(f, "{} {}", methods.join(","), self.to)
            }
        }
    }
}

impl TryFrom<String> for Opening {
    type Error = BadOpening;

    fn try_from(text: String) -> Result<Self, BadOpening> {
        text.parse()
    }
}

impl From<Opening> for String {
    fn from(opening: Opening) -> Self {
        opening.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_is_read_as_it_is_written() {
        for (given, written) in [
            ("example.org", "example.org"),
            ("*.example.org", "*.example.org"),
            ("10.0.0.0/24", "10.0.0.0/24"),
            ("HEAD,GET http://example.org/v1", "GET,HEAD http://example.org:80/v1"),
            ("https://example.org", "https://example.org:443/"),
            ("POST,GET https://example.org/v1", "GET,POST https://example.org:443/v1"),
            ("unseen https://example.org:8443", "unseen https://example.org:8443/"),
        ] {
            let opening: Opening = given.parse().unwrap();
            assert_eq!(opening.to_string(), written);
            assert_eq!(written.parse::<Opening>().unwrap(), opening);
        }
    }

    #[test]
    fn what_cannot_be_kept_is_no_opening() {
        for (given, why) in [
            ("GET example.org", "methods are for an address"),
            ("GET 10.0.0.0/24", "methods are for an address"),
            ("unseen http://example.org/", "for the whole of a host"),
            ("unseen https://example.org/v1", "for the whole of a host"),
            ("unseen example.org", "for the whole of a host"),
            ("unseen GET https://example.org/", "capital letters"),
            ("GET,unseen https://example.org/", "capital letters"),
            ("Unseen https://example.org/", "capital letters"),
            ("get http://example.org/", "capital letters"),
            (", http://example.org/", "capital letters"),
            ("127.1", "bad target"),
            ("", "bad target"),
            ("GET", "bad target"),
            ("http://example.org/?q=1", "bad target"),
        ] {
            let said = given.parse::<Opening>().map_or_else(|bad| bad.to_string(), |_| "taken".to_owned());
            assert!(said.contains(why) || given == "GET", "{given}: {said}");
        }
    }

    #[test]
    fn r25_what_nobody_looks_into_says_so_and_everything_else_is_seen() {
        let opening = |text: &str| text.parse::<Opening>().unwrap();
        let tunnel = opening("unseen https://example.org/");
        assert!(tunnel.is_unseen() && tunnel.caveat().is_some() && tunnel.methods().is_empty());
        for seen in ["https://example.org/", "https://example.org/v1", "GET https://example.org/", "example.org"] {
            assert!(!opening(seen).is_unseen() && opening(seen).caveat().is_none(), "{seen}");
        }
    }
}
