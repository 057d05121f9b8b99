//! What the host tells the attempt: where the canaries are that it must not reach.

use std::collections::BTreeMap;
use std::fs;

use serde::{Deserialize, Serialize};

/// The variable that carries the scene into the cage. Without it no attempt is made.
pub(crate) const MARKER: &str = "PLACET_ESCAPE_SCENE";

/// Where a directory of the host appears read-only, open to everyone as far as its permissions go.
pub(crate) const GIVEN: &str = "/opt/given";

/// The port of the one door.
pub(crate) const DOOR: u16 = 3_128;

/// Canaries of the host, by the names they have there.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Scene {
    /// A file anybody may read, in a directory anybody may enter.
    pub(crate) canary: String,
    /// A socket anybody may connect to, beside it.
    pub(crate) socket: String,
    /// A stream socket and a datagram socket without a path.
    pub(crate) abstract_name: String,
    pub(crate) tcp_port: u16,
    pub(crate) tcp6_port: Option<u16>,
    pub(crate) udp_port: u16,
    /// A process of the host that does nothing.
    pub(crate) process: i32,
    /// A word in the command line of everything an attempt leaves running.
    pub(crate) word: String,
    /// The namespaces of the launcher.
    pub(crate) namespaces: BTreeMap<String, String>,
}

/// The kinds of namespace a cage has of its own.
pub(crate) const NAMESPACES: [&str; 7] = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"];

/// The namespaces of this process, as the kernel names them.
pub(crate) fn own_namespaces() -> BTreeMap<String, String> {
    let name = |kind: &str| fs::read_link(format!("/proc/self/ns/{kind}")).ok().map(|link| link.display().to_string());
    NAMESPACES.into_iter().filter_map(|kind| Some((kind.to_owned(), name(kind)?))).collect()
}
