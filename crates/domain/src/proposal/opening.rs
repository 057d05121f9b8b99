//! Openings: whom the cage of an action may reach, one place each, sealed with the action. What is not opened is closed.
//!
//! Written as one line, `http://10.0.0.5:8080/v1` or `GET,HEAD http://example.org/prices`. Methods are taken only where they
//! can be seen: of plain `http`. Nothing here opens anything; the gateway makes rules of it.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::scope::{BadTarget, Target, TargetRule};

crate::names! {
    /// A method of HTTP, in capitals.
    Method = "method", |text| {
        (1..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_uppercase() || b == b'-')
    }, "capital letters, such as `GET`";
}

/// One place that may be reached.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Opening {
    to: TargetRule,
    /// Without methods: any.
    methods: BTreeSet<Method>,
}

/// An opening that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadOpening {
    #[error(transparent)]
    Target(#[from] BadTarget),
    #[error(transparent)]
    Method(#[from] crate::name::BadName),
    #[error("methods can be seen only of plain `http://…`, not of `{0}`; leave them out, or name such an address")]
    Unseen(TargetRule),
}

impl Opening {
    /// With methods where they are seen: none means any.
    pub fn new(to: TargetRule, methods: BTreeSet<Method>) -> Result<Self, BadOpening> {
        let plain = matches!(&to, TargetRule::Within(Target::Url(url)) if url.scheme() == "http");
        if methods.is_empty() || plain { Ok(Self { to, methods }) } else { Err(BadOpening::Unseen(to)) }
    }

    /// Everything about a target.
    pub const fn all_of(target: Target) -> Self {
        Self { to: TargetRule::Within(target), methods: BTreeSet::new() }
    }

    pub const fn to(&self) -> &TargetRule {
        &self.to
    }

    /// Without any: all of them.
    pub const fn methods(&self) -> &BTreeSet<Method> {
        &self.methods
    }

    /// What of it nobody can see, for whoever approves it: inside of TLS a path is no boundary.
    pub fn unseen(&self) -> Option<&'static str> {
        match &self.to {
            TargetRule::Within(Target::Url(url)) if url.scheme() == "https" && url.path().as_str() != "/" => {
                Some("the whole host: inside of TLS the path is not seen")
            }
            TargetRule::Within(_) | TargetRule::Below(_) => None,
        }
    }
}

impl FromStr for Opening {
    type Err = BadOpening;

    fn from_str(text: &str) -> Result<Self, BadOpening> {
        let (methods, to) = text.rsplit_once(' ').map_or((None, text), |(methods, to)| (Some(methods), to));
        let methods = methods.into_iter().flat_map(|methods| methods.split(','));
        let methods = methods.map(str::parse).collect::<Result<BTreeSet<Method>, _>>()?;
        Self::new(to.parse()?, methods)
    }
}

impl fmt::Display for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let methods: Vec<&str> = self.methods.iter().map(Method::as_str).collect();
        if methods.is_empty() { write!(f, "{}", self.to) } else { write!(f, "{} {}", methods.join(","), self.to) }
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
        ] {
            let opening: Opening = given.parse().unwrap();
            assert_eq!(opening.to_string(), written);
            assert_eq!(written.parse::<Opening>().unwrap(), opening);
        }
    }

    #[test]
    fn what_cannot_be_kept_is_no_opening() {
        for (given, why) in [
            ("GET https://example.org/", "only of plain"),
            ("GET example.org", "only of plain"),
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
    fn a_path_inside_of_tls_is_said_to_be_no_boundary() {
        let opening = |text: &str| text.parse::<Opening>().unwrap();
        assert!(opening("https://example.org/v1").unseen().is_some());
        assert!(opening("http://example.org/v1").unseen().is_none() && opening("example.org").unseen().is_none());
    }
}
