//! Networks of addresses, and which of them lie within which.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{BadTarget, as_text, bad};

/// An IP network, `10.0.0.0/24`; a single address is a network with a full prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// The network of one address. An IPv4 address dressed as IPv6 is the IPv4 address.
    pub fn single(address: IpAddr) -> Self {
        let address = address.to_canonical();
        Self { address, prefix: if address.is_ipv4() { 32 } else { 128 } }
    }

    /// The same address as it is spelled: one that is dressed as IPv6 stays IPv6.
    pub fn exactly(address: IpAddr) -> Self {
        Self { address, prefix: if address.is_ipv4() { 32 } else { 128 } }
    }

    /// The first address of the network; the only one where the prefix is full.
    pub const fn address(&self) -> IpAddr {
        self.address
    }

    pub const fn prefix(&self) -> u8 {
        self.prefix
    }

    pub(super) fn parse(text: &str) -> Option<Result<Self, BadTarget>> {
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

    /// Whether all of the other lies within this one. Families are never mixed.
    pub fn contains(&self, other: &Self) -> bool {
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

impl FromStr for Network {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        Self::parse(text).unwrap_or_else(|| Err(bad(text, "not a network; one looks like `10.0.0.0/24` or `fd00::/8`")))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let full = if self.address.is_ipv4() { 32 } else { 128 };
        if self.prefix == full { write!(f, "{}", self.address) } else { write!(f, "{}/{}", self.address, self.prefix) }
    }
}

as_text!(Network);
