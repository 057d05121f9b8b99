//! Table of the networks that are not part of the public Internet, and the check of an address against it. Pure.
//!
//! An allowed name may resolve to this machine, to its neighbours or to the metadata service of a cloud. Such an address is
//! called only if a rule lists its network.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use placet_domain::scope::Network;
use serde::{Deserialize, Serialize};

/// Purpose of a network that is not public.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpecialNetwork {
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

impl fmt::Display for SpecialNetwork {
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

/// The narrowest row that holds an address applies, so that a rule for the local link opens no metadata service in it.
const RANGES: &[(&str, SpecialNetwork)] = &[
    ("0.0.0.0/8", SpecialNetwork::Unspecified),
    ("10.0.0.0/8", SpecialNetwork::Private),
    ("100.64.0.0/10", SpecialNetwork::CarrierGrade),
    ("100.100.100.200/32", SpecialNetwork::Metadata),
    ("127.0.0.0/8", SpecialNetwork::Loopback),
    ("168.63.129.16/32", SpecialNetwork::Metadata),
    ("169.254.0.0/16", SpecialNetwork::LinkLocal),
    ("169.254.169.254/32", SpecialNetwork::Metadata),
    ("169.254.170.2/32", SpecialNetwork::Metadata),
    ("169.254.170.23/32", SpecialNetwork::Metadata),
    ("172.16.0.0/12", SpecialNetwork::Private),
    ("192.0.0.0/24", SpecialNetwork::Reserved),
    ("192.0.0.192/32", SpecialNetwork::Metadata),
    ("192.0.2.0/24", SpecialNetwork::Documentation),
    ("192.88.99.0/24", SpecialNetwork::Embedded),
    ("192.168.0.0/16", SpecialNetwork::Private),
    ("198.18.0.0/15", SpecialNetwork::Benchmark),
    ("198.51.100.0/24", SpecialNetwork::Documentation),
    ("203.0.113.0/24", SpecialNetwork::Documentation),
    ("224.0.0.0/4", SpecialNetwork::Multicast),
    ("240.0.0.0/4", SpecialNetwork::Reserved),
    // Of IPv6 only 2000::/3 is given out; the rest is reserved as a whole.
    ("::/3", SpecialNetwork::Reserved),
    ("4000::/2", SpecialNetwork::Reserved),
    ("8000::/1", SpecialNetwork::Reserved),
    ("::/96", SpecialNetwork::Embedded),
    ("::/128", SpecialNetwork::Unspecified),
    ("::1/128", SpecialNetwork::Loopback),
    ("::ffff:0:0/96", SpecialNetwork::Embedded),
    ("::ffff:0:0:0/96", SpecialNetwork::Embedded),
    ("64:ff9b::/96", SpecialNetwork::Embedded),
    ("64:ff9b:1::/48", SpecialNetwork::Embedded),
    ("100::/64", SpecialNetwork::Reserved),
    ("2001::/23", SpecialNetwork::Reserved),
    ("2001::/32", SpecialNetwork::Embedded),
    ("2001:db8::/32", SpecialNetwork::Documentation),
    ("2002::/16", SpecialNetwork::Embedded),
    ("3fff::/20", SpecialNetwork::Documentation),
    ("fc00::/7", SpecialNetwork::Private),
    ("fd00:ec2::254/128", SpecialNetwork::Metadata),
    ("fd00:ec2::23/128", SpecialNetwork::Metadata),
    ("fd20:ce::254/128", SpecialNetwork::Metadata),
    ("fe80::/10", SpecialNetwork::LinkLocal),
    ("fec0::/10", SpecialNetwork::Private),
    ("ff00::/8", SpecialNetwork::Multicast),
];

static PARSED: LazyLock<Vec<(Network, SpecialNetwork)>> = LazyLock::new(|| {
    let row = |(text, special): &(&str, SpecialNetwork)| (text.parse().expect("the table holds networks"), *special);
    RANGES.iter().map(row).collect()
});

/// Finds the narrowest special network that holds the address.
fn special_range(address: IpAddr) -> Option<(Network, SpecialNetwork)> {
    let exactly = Network::exactly(address);
    let holding = PARSED.iter().filter(|(network, _)| network.contains(&exactly));
    holding.max_by_key(|(network, _)| network.prefix()).copied()
}

/// Classifies an address; `None` if it is public.
pub fn classify_address(address: IpAddr) -> Option<SpecialNetwork> {
    special_range(address).map(|(_, special)| special)
}

/// Checks that an address is public, or that `listed` names its special network. A network that merely includes it, such as
/// `0.0.0.0/0`, opens nothing special.
pub fn check_address(address: IpAddr, listed: &[Network]) -> Result<(), SpecialNetwork> {
    let exactly = Network::exactly(address);
    let names = |range: &Network| listed.iter().any(|network| range.contains(network) && network.contains(&exactly));
    match special_range(address) {
        Some((range, special)) if !names(&range) => Err(special),
        Some(_) | None => embedded_ipv4(address).map_or(Ok(()), |inner| check_address(inner.into(), listed)),
    }
}

/// Extracts the IPv4 address to which packets for this IPv6 address would go.
fn embedded_ipv4(address: IpAddr) -> Option<Ipv4Addr> {
    let IpAddr::V6(outer) = address else { return None };
    let bytes = outer.octets();
    let at = |start: usize| Ipv4Addr::new(bytes[start], bytes[start + 1], bytes[start + 2], bytes[start + 3]);
    if special_range(address).is_none_or(|(_, special)| special != SpecialNetwork::Embedded) {
        return is_isatap(outer).then(|| at(12));
    }
    Some(if outer.segments()[0] == 0x2002 { at(2) } else { at(12) })
}

/// Detects an ISATAP address (RFC 5214): its last half is `0000:5efe` or `0200:5efe` and an IPv4 address, below any prefix.
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
            ("0.0.0.0", SpecialNetwork::Unspecified),
            ("10.1.2.3", SpecialNetwork::Private),
            ("100.64.0.1", SpecialNetwork::CarrierGrade),
            ("127.0.0.1", SpecialNetwork::Loopback),
            ("127.255.255.254", SpecialNetwork::Loopback),
            ("169.254.1.1", SpecialNetwork::LinkLocal),
            ("169.254.169.254", SpecialNetwork::Metadata),
            ("169.254.170.2", SpecialNetwork::Metadata),
            ("100.100.100.200", SpecialNetwork::Metadata),
            ("168.63.129.16", SpecialNetwork::Metadata),
            ("172.31.255.255", SpecialNetwork::Private),
            ("192.168.0.1", SpecialNetwork::Private),
            ("192.0.2.7", SpecialNetwork::Documentation),
            ("198.19.0.1", SpecialNetwork::Benchmark),
            ("224.0.0.1", SpecialNetwork::Multicast),
            ("255.255.255.255", SpecialNetwork::Reserved),
            ("::", SpecialNetwork::Unspecified),
            ("::1", SpecialNetwork::Loopback),
            ("::127.0.0.1", SpecialNetwork::Embedded),
            ("::ffff:127.0.0.1", SpecialNetwork::Embedded),
            ("::ffff:0:7f00:1", SpecialNetwork::Embedded),
            ("64:ff9b::a9fe:a9fe", SpecialNetwork::Embedded),
            ("64:ff9b:1::7f00:1", SpecialNetwork::Embedded),
            ("2002:7f00:1::", SpecialNetwork::Embedded),
            ("2001:0:4136:e378:8000:63bf:3fff:fdd2", SpecialNetwork::Embedded),
            ("2001:db8::1", SpecialNetwork::Documentation),
            ("fd00:ec2::254", SpecialNetwork::Metadata),
            ("fd12::1", SpecialNetwork::Private),
            ("fe80::1", SpecialNetwork::LinkLocal),
            ("fec0::1", SpecialNetwork::Private),
            ("ff02::1", SpecialNetwork::Multicast),
            ("4000::1", SpecialNetwork::Reserved),
            ("9999::1", SpecialNetwork::Reserved),
        ];
        for (text, kind) in table {
            let address = text.parse().unwrap();
            assert_eq!(classify_address(address), Some(kind), "{text}");
            assert_eq!(check_address(address, &networks(&["0.0.0.0/0", "::/0"])), Err(kind), "{text}");
        }
        for public in ["93.184.216.34", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"] {
            assert_eq!(check_address(public.parse().unwrap(), &[]), Ok(()), "{public}");
        }
    }

    #[test]
    fn a_listed_network_opens_itself_and_nothing_that_lies_deeper() {
        let local = networks(&["169.254.0.0/16", "10.1.0.0/16"]);
        assert_eq!(check_address("169.254.3.4".parse().unwrap(), &local), Ok(()));
        assert_eq!(check_address("169.254.169.254".parse().unwrap(), &local), Err(SpecialNetwork::Metadata));
        assert_eq!(check_address("10.1.9.9".parse().unwrap(), &local), Ok(()));
        assert_eq!(check_address("10.2.0.1".parse().unwrap(), &local), Err(SpecialNetwork::Private));
        let wide = networks(&["10.0.0.0/7"]);
        assert_eq!(
            check_address("10.2.0.1".parse().unwrap(), &wide),
            Err(SpecialNetwork::Private),
            "wider than the range"
        );
    }

    #[test]
    fn an_embedded_address_needs_both_networks() {
        let mapped = "::ffff:127.0.0.1".parse().unwrap();
        assert_eq!(check_address(mapped, &networks(&["::ffff:0:0/96"])), Err(SpecialNetwork::Loopback));
        assert_eq!(check_address(mapped, &networks(&["127.0.0.0/8"])), Err(SpecialNetwork::Embedded));
        assert_eq!(check_address(mapped, &networks(&["::ffff:0:0/96", "127.0.0.0/8"])), Ok(()));
        let isatap = "2606:4700::5efe:169.254.169.254".parse().unwrap();
        assert_eq!(check_address(isatap, &[]), Err(SpecialNetwork::Metadata));
    }

    proptest! {
        #[test]
        fn no_ipv4_address_becomes_reachable_by_being_dressed_as_ipv6(number: u32) {
            let plain = Ipv4Addr::from(number);
            for outer in [plain.to_ipv6_mapped(), plain.to_ipv6_compatible()] {
                prop_assert!(check_address(outer.into(), &[]).is_err());
            }
        }
    }
}
