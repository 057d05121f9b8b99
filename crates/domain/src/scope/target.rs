//! Targets an action may reach, parsed once into strict types. Nothing here resolves a name or opens a connection.
//!
//! Loose host parsing is how allowlists are bypassed: NUL bytes, trailing dots, userinfo, `0x7f.1`, `127.1`, capital and
//! non-ASCII look-alikes. What is not plainly one thing is refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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

/// A host name in lowercase ASCII (international names as punycode).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Host(String);

impl Host {
    fn parse(text: &str) -> Result<Self, BadTarget> {
        let name = text.to_ascii_lowercase();
        let label_ok = |label: &str| {
            let plain = label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
            plain && (1..=63).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
        };
        if !name.is_ascii() {
            return Err(bad(text, "write international names as punycode (`xn--…`), so that look-alikes are visible"));
        }
        if name.len() > 253 || !name.split('.').all(label_ok) {
            return Err(bad(
                text,
                "not a host name: letters, digits and inner hyphens, no trailing dot, no user, no spaces",
            ));
        }
        // Resolvers read `127.1`, `2130706433` and `0x7f.1` as addresses.
        let last = name.rsplit('.').next().unwrap_or_default();
        if last.starts_with("0x") || last.bytes().all(|b| b.is_ascii_digit()) {
            return Err(bad(text, "looks like an address in an unusual spelling; write all four numbers in decimal"));
        }
        Ok(Self(name))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An IP network, `10.0.0.0/24`; a single address is a network with a full prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    fn single(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self { address, prefix: if address.is_ipv4() { 32 } else { 128 } }
    }

    fn parse(text: &str) -> Option<Result<Self, BadTarget>> {
        let Some((address, prefix)) = text.split_once('/') else {
            return text.parse().ok().map(|address| Ok(Self::single(address)));
        };
        let address: IpAddr = address.parse().ok()?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let plain = !prefix.is_empty() && prefix.len() <= 3 && prefix.bytes().all(|b| b.is_ascii_digit());
        let Some(prefix) = prefix.parse().ok().filter(|&bits: &u8| plain && bits <= width) else {
            return Some(Err(bad(text, "the prefix length is out of range")));
        };
        let network = Self { address, prefix };
        if network.first() != number(address) {
            return Some(Err(bad(text, "host bits are set; write the first address of the network")));
        }
        Some(Ok(network))
    }

    fn first(&self) -> u128 {
        number(self.address) & self.mask()
    }

    fn mask(&self) -> u128 {
        let bits = if self.address.is_ipv4() { 96 + u32::from(self.prefix) } else { u32::from(self.prefix) };
        u128::MAX.checked_shl(128 - bits).unwrap_or(0)
    }

    fn contains(&self, other: &Self) -> bool {
        let same_family = self.address.is_ipv4() == other.address.is_ipv4();
        same_family && self.prefix <= other.prefix && other.first() & self.mask() == self.first()
    }
}

/// An address as a number; IPv4 sits in the lowest 32 bits.
fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => u128::from(u32::from(v4)) | (u128::MAX << 32),
        IpAddr::V6(v6) => u128::from(v6),
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let full = if self.address.is_ipv4() { 32 } else { 128 };
        if self.prefix == full { write!(f, "{}", self.address) } else { write!(f, "{}/{}", self.address, self.prefix) }
    }
}

/// Where a URL points: a name or an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Place {
    Named(Host),
    At(Network),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(host) => f.write_str(&host.0),
            Self::At(network) if network.address.is_ipv6() => write!(f, "[{network}]"),
            Self::At(network) => write!(f, "{network}"),
        }
    }
}

/// An `http` or `https` address with an explicit port and a path without tricks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Url {
    scheme: &'static str,
    place: Place,
    port: u16,
    path: String,
}

impl Url {
    fn parse(text: &str) -> Result<Self, BadTarget> {
        let (scheme, default_port, rest) = if let Some(rest) = text.strip_prefix("https://") {
            ("https", 443, rest)
        } else if let Some(rest) = text.strip_prefix("http://") {
            ("http", 80, rest)
        } else {
            return Err(bad(text, "only `http://` and `https://` addresses can be targets"));
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (place, port) = split_port(authority).ok_or_else(|| bad(text, "the host or the port is not plain"))?;
        let port = port.map_or(Some(default_port), |port| port.parse().ok().filter(|&port| port != 0));
        let port = port.ok_or_else(|| bad(text, "the port is not a number from 1 to 65535"))?;
        let path = if path.is_empty() { "/" } else { path };
        check_path(text, path)?;
        Ok(Self { scheme, place: Self::place(place)?, port, path: path.to_owned() })
    }

    fn place(text: &str) -> Result<Place, BadTarget> {
        if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            let address: Ipv6Addr = inner.parse().map_err(|_| bad(text, "not an IPv6 address"))?;
            return Ok(Place::At(Network::single(address.into())));
        }
        match text.parse::<Ipv4Addr>() {
            Ok(address) => Ok(Place::At(Network::single(address.into()))),
            Err(_) => Host::parse(text).map(Place::Named),
        }
    }

    fn is_below(&self, root: &Self) -> bool {
        let below = self.path.strip_prefix(root.path.as_str());
        let at_boundary =
            below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || root.path.ends_with('/'));
        self.scheme == root.scheme && self.place == root.place && self.port == root.port && at_boundary
    }
}

/// Splits `host:port`, keeping the brackets of IPv6 addresses together.
fn split_port(authority: &str) -> Option<(&str, Option<&str>)> {
    let after_bracket = authority.rfind(']').map_or(0, |at| at + 1);
    match authority[after_bracket..].split_once(':') {
        None => Some((authority, None)),
        Some((before, port)) => {
            let digits = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| (&authority[..after_bracket + before.len()], Some(port)))
        }
    }
}

fn check_path(given: &str, path: &str) -> Result<(), BadTarget> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@%".contains(&b);
    if !path.bytes().all(plain) {
        return Err(bad(given, "the path has characters that must be percent-encoded, or a query or fragment"));
    }
    let lower = path.to_ascii_lowercase();
    let hidden = ["%2e", "%2f", "%5c", "%00"].iter().any(|code| lower.contains(code));
    if hidden || path.split('/').any(|part| part == "." || part == "..") || path.contains("//") {
        return Err(bad(given, "the path contains `.`, `..`, `//` or a hidden form of them"));
    }
    Ok(())
}

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
            return Url::parse(text).map(Self::Url);
        }
        match Network::parse(text) {
            Some(network) => network.map(Self::Network),
            None => Host::parse(text).map(Self::Host),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => f.write_str(&host.0),
            Self::Network(network) => write!(f, "{network}"),
            Self::Url(url) => write!(f, "{}://{}:{}{}", url.scheme, url.place, url.port, url.path),
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
            (Self::Below(domain), Target::Host(host)) => is_below(host, domain),
            (Self::Below(domain), Target::Url(url)) => {
                matches!(&url.place, Place::Named(host) if is_below(host, domain))
            }
            (Self::Within(Target::Host(allowed)), Target::Host(host)) => allowed == host,
            (Self::Within(Target::Host(allowed)), Target::Url(url)) => url.place == Place::Named(allowed.clone()),
            (Self::Within(Target::Network(allowed)), Target::Network(network)) => allowed.contains(network),
            (Self::Within(Target::Network(allowed)), Target::Url(url)) => {
                matches!(&url.place, Place::At(address) if allowed.contains(address))
            }
            (Self::Within(Target::Url(root)), Target::Url(url)) => url.is_below(root),
            (Self::Below(_) | Self::Within(Target::Host(_) | Target::Url(_)), Target::Network(_))
            | (Self::Within(Target::Network(_) | Target::Url(_)), Target::Host(_)) => false,
        }
    }
}

fn is_below(host: &Host, domain: &Host) -> bool {
    host.0.strip_suffix(domain.0.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

impl FromStr for TargetRule {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        match text.strip_prefix("*.") {
            Some(domain) => Host::parse(domain).map(Self::Below),
            None => text.parse().map(Self::Within),
        }
    }
}

impl fmt::Display for TargetRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Within(target) => write!(f, "{target}"),
            Self::Below(domain) => write!(f, "*.{}", domain.0),
        }
    }
}

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

as_text!(Target TargetRule);

#[cfg(test)]
mod tests {
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
