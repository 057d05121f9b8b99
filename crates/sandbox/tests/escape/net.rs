//! Attempts on the network: sockets of the host, addresses beyond it, kinds of socket that reach drivers.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixDatagram, UnixStream};
use std::time::Duration;

use crate::attempt::{Attempt, Barrier, Observed, attempt};
use crate::host::datagram_address;
use crate::raw::{address, call, returned};
use crate::scene::{DOOR, Scene};

const PATIENCE: Duration = Duration::from_secs(2);

/// Where cloud machines find their credentials.
const METADATA: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);

/// Addresses set aside for documentation: they are nobody's.
const FAR: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const FAR6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
const PRIVATE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const ALL_HOSTS: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 1);

fn connect(to: impl Into<SocketAddr>) -> Observed {
    Observed::of(TcpStream::connect_timeout(&to.into(), PATIENCE))
}

fn host_v6(scene: &Scene) -> Observed {
    connect((Ipv6Addr::LOCALHOST, scene.tcp6_port.unwrap_or(scene.tcp_port)))
}

/// IPv4 dressed as IPv6.
fn host_mapped(scene: &Scene) -> Observed {
    connect((Ipv4Addr::LOCALHOST.to_ipv6_mapped(), scene.tcp_port))
}

fn host_unspecified(scene: &Scene) -> Observed {
    connect((Ipv4Addr::UNSPECIFIED, scene.tcp_port))
}

fn send(to: impl Into<SocketAddr>) -> Observed {
    let tried = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect(to.into())?;
        socket.send(b"x")?;
        // A refusal of the first datagram is reported by the second.
        std::thread::sleep(Duration::from_millis(20));
        socket.send(b"x")
    });
    Observed::of(tried)
}

fn broadcast(_: &Scene) -> Observed {
    let tried = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.set_broadcast(true)?;
        socket.send_to(b"x", (Ipv4Addr::BROADCAST, 9))
    });
    Observed::of(tried)
}

fn resolve(_: &Scene) -> Observed {
    match ("placet-canary.example.com", 80).to_socket_addrs().map(|mut found| found.next()) {
        Ok(Some(found)) => Observed::Escaped(format!("it is {found}")),
        Ok(None) | Err(_) => Observed::Nothing("unknown name"),
    }
}

fn abstract_address(scene: &Scene) -> UnixAddress {
    UnixAddress::from_abstract_name(&scene.abstract_name).expect("a name")
}

fn abstract_stream(scene: &Scene) -> Observed {
    Observed::of(UnixStream::connect_addr(&abstract_address(scene)))
}

fn abstract_datagram(scene: &Scene) -> Observed {
    let to = datagram_address(&abstract_address(scene));
    Observed::of(UnixDatagram::unbound().and_then(|socket| socket.send_to_addr(b"x", &to)))
}

fn sockets_of_services(_: &Scene) -> Observed {
    let places = [
        "/run/docker.sock",
        "/var/run/docker.sock",
        "/run/containerd/containerd.sock",
        "/run/podman/podman.sock",
        "/run/dbus/system_bus_socket",
        "/run/systemd/private",
        "/tmp/.X11-unix/X0",
    ];
    Observed::of_any(places.map(UnixStream::connect))
}

fn displays(_: &Scene) -> Observed {
    let names = ["/tmp/.X11-unix/X0", "/tmp/dbus-session", "/containerd-shim/1.sock"];
    let addresses = names.map(|name| UnixAddress::from_abstract_name(name).expect("a name"));
    Observed::of_any(addresses.iter().map(UnixStream::connect_addr))
}

fn socket(family: i32, kind: i32, protocol: i32) -> Observed {
    call(libc::SYS_socket, &[family.into(), kind.into(), protocol.into()])
}

/// Asks the one interface there is for something that needs a right nobody has.
fn configure(request: u64) -> Observed {
    let mut interface = [0_u8; 40];
    interface[..2].copy_from_slice(b"lo");
    let tried = UdpSocket::bind("127.0.0.1:0").and_then(|socket| {
        returned(libc::SYS_ioctl, &[socket.as_raw_fd().into(), request as i64, address(&interface)])
    });
    Observed::of(tried)
}

fn set_option(option: i32, value: &[u8]) -> Observed {
    let level = libc::SOL_SOCKET.into();
    let tried = UdpSocket::bind("127.0.0.1:0").and_then(|socket| {
        let operands = [socket.as_raw_fd().into(), level, option.into(), address(value), value.len() as i64];
        returned(libc::SYS_setsockopt, &operands)
    });
    Observed::of(tried)
}

/// Every interface but loopback would be one of the host's.
fn interfaces(_: &Scene) -> Observed {
    let table = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let names: Vec<_> = table.lines().skip(2).filter_map(|line| line.split(':').next()).map(str::trim).collect();
    if names == ["lo"] { Observed::Nothing("only lo") } else { Observed::Escaped(format!("{names:?}")) }
}

/// Connections of the host would be seen here if the network were shared.
fn connections(scene: &Scene) -> Observed {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let port = format!(":{:04X} ", scene.tcp_port);
    if table.contains(&port) { Observed::Escaped(table) } else { Observed::Nothing("nothing") }
}

fn fast_open(scene: &Scene) -> Observed {
    let tried = || -> io::Result<i64> {
        let socket = returned(libc::SYS_socket, &[libc::AF_INET.into(), libc::SOCK_STREAM.into(), 0])?;
        let to = libc::sockaddr_in {
            sin_family: libc::AF_INET as u16,
            sin_port: scene.tcp_port.to_be(),
            sin_addr: libc::in_addr { s_addr: u32::from(Ipv4Addr::LOCALHOST).to_be() },
            sin_zero: [0; 8],
        };
        let operands = [socket, address(c"x"), 1, libc::MSG_FASTOPEN.into(), address(&to), size_of_val(&to) as i64];
        returned(libc::SYS_sendto, &operands)
    };
    Observed::of(tried())
}

/// Beside the launcher's socket, in every way Linux lets several listen at one port.
fn beside_the_door(reuse: &[i32]) -> Observed {
    let tried = || -> io::Result<i64> {
        let socket = returned(libc::SYS_socket, &[libc::AF_INET.into(), libc::SOCK_STREAM.into(), 0])?;
        let (one, level) = (1_i32, i64::from(libc::SOL_SOCKET));
        for option in reuse {
            returned(libc::SYS_setsockopt, &[socket, level, i64::from(*option), address(&one), 4])?;
        }
        let at = libc::sockaddr_in {
            sin_family: libc::AF_INET as u16,
            sin_port: DOOR.to_be(),
            sin_addr: libc::in_addr { s_addr: 0 },
            sin_zero: [0; 8],
        };
        returned(libc::SYS_bind, &[socket, address(&at), size_of_val(&at) as i64])?;
        returned(libc::SYS_listen, &[socket, 1])
    };
    Observed::of(tried())
}

const RAW: i32 = libc::SOCK_RAW;
const STREAM: i32 = libc::SOCK_STREAM;
const IPPROTO_MPTCP: i32 = 262;
const AF_SMC: i32 = 43;
const AF_MCTP: i32 = 45;

/// A family of sockets the filter does not let exist.
macro_rules! family {
    ($name:literal, $tries:literal, $family:expr, $kind:expr, $protocol:expr) => {
        attempt($name, $tries, Barrier::Seccomp("socket:family"), "EAFNOSUPPORT", |_| socket($family, $kind, $protocol))
    };
}

pub(crate) const ATTEMPTS: &[Attempt] = &[
    // Sockets of the host.
    attempt("host_loopback", "connect to a port of the host", Barrier::NetworkNamespace, "ECONNREFUSED", |scene| {
        connect((Ipv4Addr::LOCALHOST, scene.tcp_port))
    }),
    attempt("host_loopback_v6", "the same by IPv6", Barrier::NetworkNamespace, "ECONNREFUSED", host_v6),
    attempt("host_loopback_mapped", "the same by IPv4 in IPv6", Barrier::NetworkNamespace, "ECONNREFUSED", host_mapped),
    attempt("host_any_address", "the same by 0.0.0.0", Barrier::NetworkNamespace, "ECONNREFUSED", host_unspecified),
    attempt("host_other_loopback", "the same by 127.1.2.3", Barrier::NetworkNamespace, "ECONNREFUSED", |scene| {
        connect((Ipv4Addr::new(127, 1, 2, 3), scene.tcp_port))
    }),
    attempt("host_fast_open", "the same with the first packet", Barrier::NetworkNamespace, "ECONNREFUSED", fast_open),
    attempt("host_datagram", "send to a port of the host", Barrier::NetworkNamespace, "ECONNREFUSED", |scene| {
        send((Ipv4Addr::LOCALHOST, scene.udp_port))
    }),
    attempt("host_abstract_stream", "connect by name", Barrier::NetworkNamespace, "ECONNREFUSED", abstract_stream),
    attempt("host_abstract_datagram", "send by name", Barrier::NetworkNamespace, "ECONNREFUSED", abstract_datagram),
    attempt("host_socket_by_path", "connect by path", Barrier::View, "ENOENT", |scene| {
        Observed::of(UnixStream::connect(&scene.socket))
    }),
    attempt("sockets_of_services", "connect to engines and buses", Barrier::View, "ENOENT", sockets_of_services),
    attempt("displays", "connect to displays by name", Barrier::NetworkNamespace, "ECONNREFUSED", displays),
    attempt("interfaces", "find interfaces of the host", Barrier::NetworkNamespace, "only lo", interfaces),
    attempt("connections", "find connections of the host", Barrier::NetworkNamespace, "nothing", connections),
    // Beyond the host.
    attempt("metadata", "ask the cloud for credentials", Barrier::NetworkNamespace, "ENETUNREACH", |_| {
        connect((METADATA, 80))
    }),
    attempt("far", "connect to an address far away", Barrier::NetworkNamespace, "ENETUNREACH", |_| connect((FAR, 443))),
    attempt("far_v6", "the same by IPv6", Barrier::NetworkNamespace, "ENETUNREACH or EADDRNOTAVAIL", |_| {
        connect((FAR6, 443))
    }),
    attempt("private_network", "connect to a neighbour", Barrier::NetworkNamespace, "ENETUNREACH", |_| {
        connect((PRIVATE, 22))
    }),
    attempt("name_server", "ask a name server", Barrier::NetworkNamespace, "ENETUNREACH", |_| send((FAR, 53))),
    attempt("names", "resolve a name", Barrier::NetworkNamespace, "unknown name", resolve),
    attempt("multicast", "send to everyone near", Barrier::NetworkNamespace, "ENETUNREACH", |_| send((ALL_HOSTS, 9))),
    attempt("broadcast", "send to everyone", Barrier::NetworkNamespace, "ENETUNREACH", broadcast),
    // Rights over the network of the cage.
    attempt("raw_ip", "send packets of its own making", Barrier::Capabilities, "EPERM", |_| {
        socket(libc::AF_INET, RAW, libc::IPPROTO_ICMP)
    }),
    attempt("raw_ip_v6", "the same by IPv6", Barrier::Capabilities, "EPERM", |_| {
        socket(libc::AF_INET6, RAW, libc::IPPROTO_ICMPV6)
    }),
    attempt("raw_any", "the same with any protocol", Barrier::Seccomp("socket:protocol"), "EPROTONOSUPPORT", |_| {
        socket(libc::AF_INET, RAW, libc::IPPROTO_RAW)
    }),
    attempt("interface_address", "give the interface an address", Barrier::Capabilities, "EPERM", |_| {
        configure(libc::SIOCSIFADDR)
    }),
    attempt("interface_flags", "switch the interface", Barrier::Capabilities, "EPERM", |_| {
        configure(libc::SIOCSIFFLAGS)
    }),
    attempt("routes", "add a route", Barrier::Capabilities, "EPERM", |_| configure(libc::SIOCADDRT)),
    attempt("packet_marks", "mark packets for other routes", Barrier::Capabilities, "EPERM", |_| {
        set_option(libc::SO_MARK, &7_i32.to_ne_bytes())
    }),
    attempt("bind_to_device", "use an interface of the host", Barrier::NetworkNamespace, "ENODEV", |_| {
        set_option(libc::SO_BINDTODEVICE, b"eth0\0")
    }),
    // Kinds of socket.
    family!("netlink_route", "speak to routing", libc::AF_NETLINK, RAW, libc::NETLINK_ROUTE),
    family!("netlink_audit", "speak to auditing", libc::AF_NETLINK, RAW, libc::NETLINK_AUDIT),
    family!("netlink_netfilter", "speak to the firewall", libc::AF_NETLINK, RAW, libc::NETLINK_NETFILTER),
    family!("netlink_uevent", "hear of devices", libc::AF_NETLINK, RAW, libc::NETLINK_KOBJECT_UEVENT),
    family!("packet", "hear every packet", libc::AF_PACKET, RAW, 0),
    family!("vsock", "speak to the hypervisor", libc::AF_VSOCK, STREAM, 0),
    family!("alg", "reach cryptography of the kernel", libc::AF_ALG, libc::SOCK_SEQPACKET, 0),
    family!("bluetooth", "reach radio", libc::AF_BLUETOOTH, RAW, 1),
    family!("can", "reach vehicles", libc::AF_CAN, RAW, 1),
    family!("xdp", "reach drivers directly", libc::AF_XDP, RAW, 0),
    family!("tipc", "reach a cluster", libc::AF_TIPC, libc::SOCK_SEQPACKET, 0),
    family!("rds", "reach a cluster's databases", libc::AF_RDS, libc::SOCK_SEQPACKET, 0),
    family!("smc", "reach shared memory of a cluster", AF_SMC, STREAM, 0),
    family!("mctp", "reach management controllers", AF_MCTP, libc::SOCK_DGRAM, 0),
    attempt("high_bits", "a family with high bits set", Barrier::Seccomp("socket:family"), "EAFNOSUPPORT", |_| {
        call(libc::SYS_socket, &[(1 << 40) | i64::from(libc::AF_NETLINK), RAW.into(), 0])
    }),
    attempt("pair", "a pair of another family", Barrier::Seccomp("socketpair:family"), "EAFNOSUPPORT", |_| {
        call(libc::SYS_socketpair, &[libc::AF_TIPC.into(), STREAM.into(), 0, 0])
    }),
    attempt("sctp", "another protocol", Barrier::Seccomp("socket:protocol"), "EPROTONOSUPPORT", |_| {
        socket(libc::AF_INET, STREAM, libc::IPPROTO_SCTP)
    }),
    attempt("mptcp", "a protocol of many paths", Barrier::Seccomp("socket:protocol"), "EPROTONOSUPPORT", |_| {
        socket(libc::AF_INET, STREAM, IPPROTO_MPTCP)
    }),
    attempt("dccp_v6", "another protocol by IPv6", Barrier::Seccomp("socket:protocol"), "EPROTONOSUPPORT", |_| {
        socket(libc::AF_INET6, STREAM, libc::IPPROTO_DCCP)
    }),
    // The door.
    attempt("beside_the_door", "listen at the port of the door", Barrier::Door, "EADDRINUSE", |_| beside_the_door(&[])),
    attempt("share_the_door", "the same, asking to share", Barrier::Door, "EADDRINUSE", |_| {
        beside_the_door(&[libc::SO_REUSEADDR, libc::SO_REUSEPORT])
    }),
];
