//! Identifies the process at the other end of a loopback connection. All loopback peers share one address, or choose any of 127.0.0.0/8;
//! the kernel reports the user that opened each socket (`sock_diag(7)`) in a few microseconds.
//!
//! Used only to share places fairly, never to authorize. If the kernel does not answer, all of loopback counts as one peer.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

/// Peer that shares the places for strangers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Peer {
    Address(IpAddr),
    /// A user of this machine.
    User(u32),
    /// An unknown user of this machine.
    Local,
}

/// `SOCK_DIAG_BY_FAMILY` of linux/sock_diag.h.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST` of linux/netlink.h: asks about one socket and expects one answer.
const REQUEST: u16 = 1;
/// `IPPROTO_TCP`.
const TCP: u8 = 6;
const HEADER_BYTES: u32 = 16;
/// Size of `struct inet_diag_req_v2` of linux/inet_diag.h.
const QUESTION_BYTES: u32 = 56;
/// Offset of `idiag_uid` in an answer: after the header, four bytes, the 48 bytes of the socket's name, and three numbers.
const UID_AT: usize = 16 + 4 + 48 + 12;

/// Looks up the users of sockets through the kernel.
#[derive(Debug)]
pub(crate) struct PeerLookup {
    /// `None` if the kernel does not support such questions.
    kernel: Option<OwnedFd>,
    asked: u32,
}

impl PeerLookup {
    pub(crate) fn open() -> Self {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, Some(SOCK_DIAG)).ok();
        Self { kernel, asked: 0 }
    }

    /// Returns the peer at `peer` of a connection accepted at `own`.
    pub(crate) fn find(&mut self, peer: SocketAddr, own: SocketAddr) -> Peer {
        if !peer.ip().is_loopback() {
            return Peer::Address(peer.ip());
        }
        self.user_of(peer, own).map_or(Peer::Local, Peer::User)
    }

    fn user_of(&mut self, peer: SocketAddr, own: SocketAddr) -> Option<u32> {
        let kernel = self.kernel.as_ref()?;
        self.asked = self.asked.wrapping_add(1);
        let asked = question(self.asked, peer, own)?;
        sendto(kernel, &asked, SendFlags::DONTWAIT, &SocketAddrNetlink::new(0, 0)).ok()?;
        let mut answer = [0_u8; 512];
        // The kernel has answered once it has accepted the question. Answers to older questions are skipped.
        loop {
            let (_, length) = recv(kernel, &mut answer[..], RecvFlags::DONTWAIT).ok()?;
            let answer = answer.get(..length)?;
            if number_at(answer, 8)? == self.asked {
                let is_answer = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?) == BY_FAMILY;
                return if is_answer { number_at(answer, UID_AT) } else { None };
            }
        }
    }
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Builds a question about the peer's socket: there, its address is the source and ours the destination.
fn question(number: u32, peer: SocketAddr, own: SocketAddr) -> Option<Vec<u8>> {
    let (family, [from, to]) = match (peer.ip(), own.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => (AddressFamily::INET, [from, to].map(|ip| padded(&ip.octets()))),
        (IpAddr::V6(from), IpAddr::V6(to)) => (AddressFamily::INET6, [from, to].map(|ip| padded(&ip.octets()))),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return None,
    };
    let mut asked = Vec::new();
    asked.extend((HEADER_BYTES + QUESTION_BYTES).to_ne_bytes());
    asked.extend([BY_FAMILY, REQUEST].map(u16::to_ne_bytes).concat());
    asked.extend([number, 0].map(u32::to_ne_bytes).concat());
    asked.extend([u8::try_from(family.as_raw()).ok()?, TCP, 0, 0]);
    // In any TCP state.
    asked.extend(u32::MAX.to_ne_bytes());
    asked.extend([peer.port(), own.port()].map(u16::to_be_bytes).concat());
    asked.extend(from);
    asked.extend(to);
    // On any interface, and any socket with this name (`INET_DIAG_NOCOOKIE`).
    asked.extend([0, u32::MAX, u32::MAX].map(u32::to_ne_bytes).concat());
    Some(asked)
}

fn padded(octets: &[u8]) -> [u8; 16] {
    let mut padded = [0; 16];
    padded[..octets.len()].copy_from_slice(octets);
    padded
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn peer_on_loopback_is_the_user_of_its_socket() {
        let mut lookup = PeerLookup::open();
        let own_user = Peer::User(rustix::process::geteuid().as_raw());
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let own = listener.local_addr().unwrap();
            let client = TcpStream::connect(own).unwrap();
            let (_taken, peer) = listener.accept().unwrap();
            assert_eq!(peer, client.local_addr().unwrap());
            assert_eq!(lookup.find(peer, own), own_user, "{address}");
        }
    }

    #[test]
    fn peer_without_a_socket_is_somebody_local() {
        let mut lookup = PeerLookup::open();
        let nobody = "127.0.0.1:1".parse().unwrap();
        assert_eq!(lookup.find(nobody, nobody), Peer::Local);
        let elsewhere: SocketAddr = "192.0.2.1:1".parse().unwrap();
        assert_eq!(lookup.find(elsewhere, nobody), Peer::Address(elsewhere.ip()));
    }
}
