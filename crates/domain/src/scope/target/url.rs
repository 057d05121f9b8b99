//! Authorities (`host:port`), paths and the addresses (URLs) they make.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use super::{BadTarget, Host, Network, as_text, bad};

/// Where an authority points: a name or an address.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    Named(Host),
    At(IpAddr),
}

impl Place {
    /// The address with IPv4 in its own clothes; a name stays as it is.
    fn canonical(self) -> Self {
        match self {
            Self::At(address) => Self::At(address.to_canonical()),
            named @ Self::Named(_) => named,
        }
    }
}

impl FromStr for Place {
    type Err = BadTarget;

    /// IPv6 addresses are in brackets, as in an authority.
    fn from_str(text: &str) -> Result<Self, BadTarget> {
        if let Some(inner) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
            let address: Ipv6Addr = inner.parse().map_err(|_| bad(text, "not an IPv6 address"))?;
            return Ok(Self::At(address.into()));
        }
        match text.parse::<Ipv4Addr>() {
            Ok(address) => Ok(Self::At(address.into())),
            Err(_) => text.parse().map(Self::Named),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(host) => write!(f, "{host}"),
            Self::At(address) if address.is_ipv6() => write!(f, "[{address}]"),
            Self::At(address) => write!(f, "{address}"),
        }
    }
}

/// A place and a port, `example.org:443` or `[2001:db8::1]:80`, kept as it was spelled.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Authority {
    place: Place,
    port: u16,
}

impl Authority {
    /// Fails for port 0, which nobody listens at.
    pub fn new(place: Place, port: u16) -> Result<Self, BadTarget> {
        if port == 0 { Err(bad(&format!("{place}:0"), BAD_PORT)) } else { Ok(Self { place, port }) }
    }

    /// `host` or `host:port`.
    pub fn with_default_port(text: &str, default_port: u16) -> Result<Self, BadTarget> {
        let (place, port) = split_port(text).ok_or_else(|| bad(text, "the host or the port is not plain"))?;
        let port = port.map_or(Ok(default_port), |port| port_number(text, port))?;
        Self::new(place.parse()?, port)
    }

    pub const fn place(&self) -> &Place {
        &self.place
    }

    pub const fn port(&self) -> u16 {
        self.port
    }
}

const BAD_PORT: &str = "the port is not a number from 1 to 65535";

/// One spelling: no sign, no leading zero.
fn port_number(given: &str, port: &str) -> Result<u16, BadTarget> {
    let number = port.parse().ok().filter(|&number| number != 0 && !port.starts_with('0'));
    number.ok_or_else(|| bad(given, BAD_PORT))
}

impl FromStr for Authority {
    type Err = BadTarget;

    /// `host:port`; the port must be there.
    fn from_str(text: &str) -> Result<Self, BadTarget> {
        match split_port(text) {
            Some((place, Some(port))) => Self::new(place.parse()?, port_number(text, port)?),
            Some((_, None)) => Err(bad(text, "the port is missing; write `host:port`")),
            None => Err(bad(text, "the host or the port is not plain")),
        }
    }
}

impl fmt::Display for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.place, self.port)
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

/// A path without tricks: whoever reads it sees the same parts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UrlPath(String);

impl UrlPath {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the root or below it; `/v10` is not below `/v1`.
    pub fn is_below(&self, root: &Self) -> bool {
        let below = self.0.strip_prefix(root.0.as_str());
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || root.0.ends_with('/'))
    }
}

impl FromStr for UrlPath {
    type Err = BadTarget;

    fn from_str(path: &str) -> Result<Self, BadTarget> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@%".contains(&b);
        if !path.starts_with('/') {
            return Err(bad(path, "a path begins with `/`"));
        }
        if !path.bytes().all(plain) {
            return Err(bad(path, "the path has characters that must be percent-encoded, or a query or fragment"));
        }
        let lower = path.to_ascii_lowercase();
        let hidden = ["%2e", "%2f", "%5c", "%00"].iter().any(|code| lower.contains(code));
        if hidden || path.split('/').any(|part| part == "." || part == "..") || path.contains("//") {
            return Err(bad(path, "the path contains `.`, `..`, `//` or a hidden form of them"));
        }
        Ok(Self(path.to_owned()))
    }
}

impl fmt::Display for UrlPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An `http` or `https` address with an explicit port and a path without tricks.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(into = "String")]
pub struct Url {
    scheme: &'static str,
    authority: Authority,
    path: UrlPath,
}

impl Url {
    /// `http` or `https`.
    pub const fn scheme(&self) -> &'static str {
        self.scheme
    }

    pub const fn authority(&self) -> &Authority {
        &self.authority
    }

    pub const fn path(&self) -> &UrlPath {
        &self.path
    }

    pub(super) fn place(&self) -> &Place {
        &self.authority.place
    }

    /// Whether it is at the same host and port, and its path the root's or below it.
    pub fn is_below(&self, root: &Self) -> bool {
        self.scheme == root.scheme && self.authority == root.authority && self.path.is_below(&root.path)
    }

    /// Whether it points at an address of the network.
    pub(super) fn is_in(&self, network: &Network) -> bool {
        matches!(self.authority.place, Place::At(address) if network.contains(&Network::single(address)))
    }
}

impl FromStr for Url {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        let (scheme, default_port, rest) = if let Some(rest) = text.strip_prefix("https://") {
            ("https", 443, rest)
        } else if let Some(rest) = text.strip_prefix("http://") {
            ("http", 80, rest)
        } else {
            return Err(bad(text, "only `http://` and `https://` addresses can be targets"));
        };
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let Authority { place, port } = Authority::with_default_port(authority, default_port)?;
        let path = if path.is_empty() { "/" } else { path };
        Ok(Self { scheme, authority: Authority { place: place.canonical(), port }, path: path.parse()? })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.path)
    }
}

as_text!(Authority UrlPath Url);

/// By hand: the derived one takes the scheme for something that is borrowed from the text.
impl<'de> Deserialize<'de> for Url {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
