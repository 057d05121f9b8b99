//! Targets an action may reach, parsed once into strict types. Nothing here resolves a name or opens a connection.
//!
//! Loose host parsing is how allowlists are bypassed: NUL bytes, trailing dots, userinfo, `0x7f.1`, `127.1`, capital and
//! non-ASCII look-alikes. What is not plainly one thing is refused.

mod host;
mod network;
mod url;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use host::Host;
pub use network::Network;
pub use url::{Authority, Place, Url, UrlPath};

/// Why a target or a target rule is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad target `{given}`: {why}")]
pub struct BadTarget {
    given: String,
    why: &'static str,
}

fn bad(given: &str, why: &'static str) -> BadTarget {
    BadTarget { given: given.chars().take(200).flat_map(char::escape_default).collect(), why }
}

/// In files and on the wire these are texts, and every text is parsed.
macro_rules! as_text {
    ($($name:ident)*) => {$(
        impl TryFrom<String> for $name {
            type Error = BadTarget;
            fn try_from(text: String) -> Result<Self, BadTarget> {
                text.parse()
            }
        }
        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }
    )*};
}

use as_text;

/// What an action says it will reach.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Target {
    Host(Host),
    Network(Network),
    Url(Url),
}

impl FromStr for Target {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        if text.contains("://") {
            return text.parse().map(Self::Url);
        }
        match Network::parse(text) {
            Some(network) => network.map(Self::Network),
            None => text.parse().map(Self::Host),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => write!(f, "{host}"),
            Self::Network(network) => write!(f, "{network}"),
            Self::Url(url) => write!(f, "{url}"),
        }
    }
}

/// What a scope permits to reach: a target and all within it, or `*.example.org` for every name below a domain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TargetRule {
    Within(Target),
    Below(Host),
}

impl TargetRule {
    /// Whether the rule permits the target. Names and addresses are never taken for each other: nothing is resolved.
    pub fn covers(&self, target: &Target) -> bool {
        match (self, target) {
            (Self::Below(domain), Target::Host(host)) => host.is_below(domain),
            (Self::Below(domain), Target::Url(url)) => {
                matches!(url.place(), Place::Named(host) if host.is_below(domain))
            }
            (Self::Within(Target::Host(allowed)), Target::Host(host)) => allowed == host,
            (Self::Within(Target::Host(allowed)), Target::Url(url)) => *url.place() == Place::Named(allowed.clone()),
            (Self::Within(Target::Network(allowed)), Target::Network(network)) => allowed.contains(network),
            (Self::Within(Target::Network(allowed)), Target::Url(url)) => url.is_in(allowed),
            (Self::Within(Target::Url(root)), Target::Url(url)) => url.is_below(root),
            (Self::Below(_) | Self::Within(Target::Host(_) | Target::Url(_)), Target::Network(_))
            | (Self::Within(Target::Network(_) | Target::Url(_)), Target::Host(_)) => false,
        }
    }
}

impl FromStr for TargetRule {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        match text.strip_prefix("*.") {
            Some(domain) => domain.parse().map(Self::Below),
            None => text.parse().map(Self::Within),
        }
    }
}

impl fmt::Display for TargetRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Within(target) => write!(f, "{target}"),
            Self::Below(domain) => write!(f, "*.{domain}"),
        }
    }
}

as_text!(Target TargetRule);

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    fn covers(rule: &str, target: &str) -> bool {
        rule.parse::<TargetRule>().expect("a rule").covers(&target.parse().expect("a target"))
    }

    #[test]
    fn networks_cover_their_addresses_and_smaller_networks() {
        assert!(covers("10.0.0.0/24", "10.0.0.5"));
        assert!(covers("10.0.0.0/24", "10.0.0.128/25"));
        assert!(!covers("10.0.0.0/24", "10.0.1.5"));
        assert!(!covers("10.0.0.0/24", "10.0.0.0/23"));
        assert!(covers("2001:db8::/32", "2001:db8:1::/48"));
        assert!(covers("0.0.0.0/0", "203.0.113.9"));
        assert!(!covers("::/0", "10.0.0.5"), "families are never mixed");
    }

    #[test]
    fn an_ipv4_address_dressed_as_ipv6_is_the_ipv4_address() {
        assert!(covers("10.0.0.0/24", "::ffff:10.0.0.5"));
        assert!(!covers("::/0", "::ffff:10.0.0.5"));
    }

    #[test]
    fn a_domain_rule_covers_names_below_and_neither_itself_nor_look_alikes() {
        assert!(covers("*.example.org", "a.b.example.org"));
        assert!(!covers("*.example.org", "example.org"));
        assert!(!covers("*.example.org", "evilexample.org"));
        assert!(covers("Example.ORG", "example.org"));
    }

    #[test]
    fn url_rules_end_at_a_path_boundary_and_bind_scheme_and_port() {
        assert!(covers("https://api.example.org/v1", "https://api.example.org/v1/items"));
        assert!(!covers("https://api.example.org/v1", "https://api.example.org/v10"));
        assert!(!covers("https://api.example.org/v1", "http://api.example.org/v1"));
        assert!(!covers("https://api.example.org/v1", "https://api.example.org:8443/v1"));
        assert!(covers("api.example.org", "https://api.example.org:8443/x"));
        assert!(covers("10.0.0.0/8", "http://10.1.2.3:8080/"));
    }

    #[test]
    fn unusual_spellings_of_hosts_are_refused() {
        let tricks = [
            "127.1",
            "2130706433",
            "0x7f.0.0.1",
            "0x7f000001",
            "017700000001",
            "127.0.0.01",
            "example.org.",
            "exa mple.org",
            "a\0b.org",
            "user@example.org",
            "exämple.org",
            "-a.org",
            "a-.org",
            "a..b",
            "",
            ".",
            "example.org:80",
            "[::1]",
            "a_b.org",
        ];
        for trick in tricks {
            assert!(trick.parse::<Target>().is_err(), "{trick:?}");
        }
    }

    #[test]
    fn unusual_spellings_of_urls_are_refused() {
        let tricks = [
            "https://user:pw@example.org/",
            "https://example.org/a/../b",
            "https://example.org/%2e%2e/b",
            "https://example.org/a%2Fb",
            "https://example.org/?q=1",
            "https://example.org/#x",
            "ftp://example.org/",
            "https://example.org:0/",
            "https://example.org:99999/",
            "https://example.org:/",
            "https://2130706433/",
            "https://exa\tmple.org/",
            "https:///x",
            "https://example.org//x",
            "https://[::1]x/",
            "https://example.org\\@evil.org/",
        ];
        for trick in tricks {
            assert!(trick.parse::<Target>().is_err(), "{trick:?}");
        }
    }

    #[test]
    fn network_rules_with_host_bits_are_refused() {
        for text in ["10.0.0.5/24", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "::1/64"] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_was_parsed_prints_to_the_same_target(text in "(https?://)?[a-z0-9.:-]{1,20}(/[a-z.]{0,6}){0,2}") {
            if let Ok(target) = text.parse::<Target>() {
                prop_assert_eq!(target.to_string().parse::<Target>().expect("printed targets parse"), target);
            }
        }

        #[test]
        fn an_address_is_in_a_network_exactly_when_the_masked_numbers_agree(address: u32, root: u32, prefix in 0u8..=32) {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            let rule = format!("{}/{prefix}", Ipv4Addr::from(root & mask));
            prop_assert_eq!(covers(&rule, &Ipv4Addr::from(address).to_string()), address & mask == root & mask);
        }
    }
}
