//! The way out of a cage: a socket that listens inside and is accepted from outside.
//!
//! A socket belongs to the network namespace it was made in, whoever holds it. The helper makes it, hands it to the
//! launcher and lets go of it, so that from then on only the launcher can accept. There is no path, no name and no port
//! on the host that another cage or user could connect to.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::control::{Control, Report};
use crate::sys::Result;

/// Connections that wait while the launcher is busy; the kernel holds no more by default.
const WAITING: i32 = 128;

/// Without `SO_REUSEPORT`, so that no program of the cage can listen beside it and take connections from it.
pub(super) fn open(control: &Control, port: u16) -> Result<()> {
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    rustix::net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    rustix::net::listen(&socket, WAITING)?;
    control.send(&Report::Door { port }, &[socket.as_fd()])
}
