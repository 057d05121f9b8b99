//! Addresses that are no part of the public Internet, each with its reason. Pure: nothing here asks the host.
//!
//! A name that is allowed may still lead to the machine itself, to its neighbours or to the service that hands out a
//! cloud's credentials. Such addresses are reached only where a rule lists their very network.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use placet_domain::scope::Network;
use serde::{Deserialize, Serialize};

/// What an address outside the public Internet is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Special {
    Unspecified,
    Loopback,
    LinkLocal,
    Metadata,
    Private,
    CarrierGrade,
    Documentation,
    Benchmark,
    Multicast,
    Embedded,
    Reserved,
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unspecified => "the unspecified network",
            Self::Loopback => "this machine",
            Self::LinkLocal => "the local link",
            Self::Metadata => "a service that hands out a cloud's credentials",
            Self::Private => "a private network",
            Self::CarrierGrade => "a provider's shared network",
            Self::Documentation => "a network for documents",
            Self::Benchmark => "a network for measurements",
            Self::Multicast => "many receivers at once",
            Self::Embedded => "an IPv4 address dressed as IPv6",
            Self::Reserved => "a reserved network",
        })
    }
}

/// The narrowest row that holds an address counts, so that a rule for the local link does not open what lies in it.
const RANGES: &[(&str, Special)] = &[
    ("0.0.0.0/8", Special::Unspecified),
    ("10.0.0.0/8", Special::Private),
    ("100.64.0.0/10", Special::CarrierGrade),
    ("100.100.100.200/32", Special::Metadata),
    ("127.0.0.0/8", Special::Loopback),
    ("168.63.129.16/32", Special::Metadata),
    ("169.254.0.0/16", Special::LinkLocal),
    ("169.254.169.254/32", Special::Metadata),
    ("169.254.170.2/32", Special::Metadata),
    ("169.254.170.23/32", Special::Metadata),
    ("172.16.0.0/12", Special::Private),
    ("192.0.0.0/24", Special::Reserved),
    ("192.0.0.192/32", Special::Metadata),
    ("192.0.2.0/24", Special::Documentation),
    ("192.88.99.0/24", Special::Embedded),
    ("192.168.0.0/16", Special::Private),
    ("198.18.0.0/15", Special::Benchmark),
    ("198.51.100.0/24", Special::Documentation),
    ("203.0.113.0/24", Special::Documentation),
    ("224.0.0.0/4", Special::Multicast),
    ("240.0.0.0/4", Special::Reserved),
    // Of IPv6 only 2000::/3 is given out; the rest is reserved as a whole.
    ("::/3", Special::Reserved),
    ("4000::/2", Special::Reserved),
    ("8000::/1", Special::Reserved),
    ("::/96", Special::Embedded),
    ("::/128", Special::Unspecified),
    ("::1/128", Special::Loopback),
    ("::ffff:0:0/96", Special::Embedded),
    ("::ffff:0:0:0/96", Special::Embedded),
    ("64:ff9b::/96", Special::Embedded),
    ("64:ff9b:1::/48", Special::Embedded),
    ("100::/64", Special::Reserved),
    ("2001::/23", Special::Reserved),
    ("2001::/32", Special::Embedded),
    ("2001:db8::/32", Special::Documentation),
    ("2002::/16", Special::Embedded),
    ("3fff::/20", Special::Documentation),
    ("fc00::/7", Special::Private),
    ("fd00:ec2::254/128", Special::Metadata),
    ("fd00:ec2::23/128", Special::Metadata),
    ("fd20:ce::254/128", Special::Metadata),
    ("fe80::/10", Special::LinkLocal),
    ("fec0::/10", Special::Private),
    ("ff00::/8", Special::Multicast),
];

static PARSED: LazyLock<Vec<(Network, Special)>> = LazyLock::new(|| {
    let row = |(text, special): &(&str, Special)| (text.parse().expect("the table holds networks"), *special);
    RANGES.iter().map(row).collect()
});

/// The narrowest special network that holds the address, if one does.
fn range_of(address: IpAddr) -> Option<(Network, Special)> {
    let exactly = Network::exactly(address);
    let holding = PARSED.iter().filter(|(network, _)| network.contains(&exactly));
    holding.max_by_key(|(network, _)| network.prefix()).copied()
}

/// What the address is for, where it is not public.
pub fn special(address: IpAddr) -> Option<Special> {
    range_of(address).map(|(_, special)| special)
}

/// Whether an address may be connected to: it is public, or `listed` names its very network. A list that merely
/// includes it, such as `0.0.0.0/0`, opens nothing special.
pub fn permitted(address: IpAddr, listed: &[Network]) -> Result<(), Special> {
    let exactly = Network::exactly(address);
    let names = |range: &Network| listed.iter().any(|network| range.contains(network) && network.contains(&exactly));
    match range_of(address) {
        Some((range, special)) if !names(&range) => Err(special),
        Some(_) | None => embedded(address).map_or(Ok(()), |inner| permitted(inner.into(), listed)),
    }
}

/// The IPv4 address inside of an IPv6 address, where packets would end up at the former.
fn embedded(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(outer) = address else { return None };
    let bytes = outer.octets();
    let at = |start: usize| Ipv4Addr::new(bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3]);
    if range_of(address).is_none_or(|(_, special)| special != Special::Embedded) {
        return is_isatap(outer).then(|| at(12));
    }
    Some(if outer.segments()[0] == 0x2002 { at(2) } else { at(12) })
}

/// RFC 5214: the last half is `0000:5efe` or `0200:5efe` and an IPv4 address, below any prefix.
fn is_isatap(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    segments[4] & !0x0200 == 0 && segments[5] == 0x5efe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn networks(texts: &[&str]) -> Vec<Network> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn r25_addresses_that_are_not_public_are_known_in_every_dress() {
        let table = [
            ("0.0.0.0", Special::Unspecified),
            ("10.1.2.3", Special::Private),
            ("100.64.0.1", Special::CarrierGrade),
            ("127.0.0.1", Special::Loopback),
            ("127.255.255.254", Special::Loopback),
            ("169.254.1.1", Special::LinkLocal),
            ("169.254.169.254", Special::Metadata),
            ("169.254.170.2", Special::Metadata),
            ("100.100.100.200", Special::Metadata),
            ("168.63.129.16", Special::Metadata),
            ("172.31.255.255", Special::Private),
            ("192.168.0.1", Special::Private),
            ("192.0.2.7", Special::Documentation),
            ("198.19.0.1", Special::Benchmark),
            ("224.0.0.1", Special::Multicast),
            ("255.255.255.255", Special::Reserved),
            ("::", Special::Unspecified),
            ("::1", Special::Loopback),
            ("::127.0.0.1", Special::Embedded),
            ("::ffff:127.0.0.1", Special::Embedded),
            ("::ffff:0:7f00:1", Special::Embedded),
            ("64:ff9b::a9fe:a9fe", Special::Embedded),
            ("64:ff9b:1::7f00:1", Special::Embedded),
            ("2002:7f00:1::", Special::Embedded),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", Special::Embedded),
            ("2001:db8::1", Special::Documentation),
            ("fd00:ec2::254", Special::Metadata),
            ("fd12::1", Special::Private),
            ("fe80::1", Special::LinkLocal),
            ("fec0::1", Special::Private),
            ("ff02::1", Special::Multicast),
            ("4000::1", Special::Reserved),
            ("9999::1", Special::Reserved),
        ];
        for (text, kind) in table {
            let address = text.parse().unwrap();
            assert_eq!(special(address), Some(kind), "{text}");
            assert_eq!(permitted(address, &networks(&["0.0.0.0/0", "::/0"])), Err(kind), "{text}");
        }
        for public in ["93.184.216.34", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"] {
            assert_eq!(permitted(public.parse().unwrap(), &[]), Ok(()), "{public}");
        }
    }

    #[test]
    fn a_listed_network_opens_itself_and_nothing_that_lies_deeper() {
        let local = networks(&["169.254.0.0/16", "10.1.0.0/16"]);
        assert_eq!(permitted("169.254.3.4".parse().unwrap(), &local), Ok(()));
        assert_eq!(permitted("169.254.169.254".parse().unwrap(), &local), Err(Special::Metadata));
        assert_eq!(permitted("10.1.9.9".parse().unwrap(), &local), Ok(()));
        assert_eq!(permitted("10.2.0.1".parse().unwrap(), &local), Err(Special::Private));
        let wide = networks(&["10.0.0.0/7"]);
        assert_eq!(permitted("10.2.0.1".parse().unwrap(), &wide), Err(Special::Private), "wider than the range");
    }

    #[test]
    fn an_embedded_address_needs_both_networks() {
        let mapped = "::ffff:127.0.0.1".parse().unwrap();
        assert_eq!(permitted(mapped, &networks(&["::ffff:0:0/96"])), Err(Special::Loopback));
        assert_eq!(permitted(mapped, &networks(&["127.0.0.0/8"])), Err(Special::Embedded));
        assert_eq!(permitted(mapped, &networks(&["::ffff:0:0/96", "127.0.0.0/8"])), Ok(()));
        let isatap = "2606:4700::5efe:169.254.169.254".parse().unwrap();
        assert_eq!(permitted(isatap, &[]), Err(Special::Metadata));
    }

    proptest! {
        #[test]
        fn no_ipv4_address_becomes_reachable_by_being_dressed_as_ipv6(number: u32) {
            let plain = Ipv4Addr::from(number);
            for outer in [plain.to_ipv6_mapped(), plain.to_ipv6_compatible()] {
                prop_assert!(permitted(outer.into(), &[]).is_err());
            }
        }
    }
}
