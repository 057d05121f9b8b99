//! A network of a test's own: nothing of the machine is in it, and everything that the test puts there is on its loopback. Addresses that look
//! public, and those that no name may lead to, are all answered by one server, which notes where it was reached.
//!
//! The test starts itself again inside, so that whatever it starts (the control plane, workers, cages) is in there too.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Said, clean};

/// Said to the test that is started again.
const INSIDE: &str = "PLACET_TEST_APART";

/// An address that the table of special ones does not hold, and one of IPv6.
pub(crate) const PUBLIC: [&str; 2] = ["93.184.216.34", "2606:4700::1111"];
/// Addresses that no name may lead to; somebody answers at each of them.
pub(crate) const PRIVATE: [&str; 5] = ["127.0.0.1", "10.0.0.5", "169.254.169.254", "::1", "fd12::5"];
pub(crate) const PORTS: [u16; 2] = [80, 443];

/// Where names are looked up: at the resolver of the test. What may be cached elsewhere is out of sight.
const FILES: &str = r#"
    set -e
    printf 'nameserver 127.0.0.1\nsearch .\noptions timeout:5 attempts:1\n' > "$1/resolv.conf"
    printf 'hosts: files dns\n' > "$1/nsswitch.conf"
    mount --bind "$1/resolv.conf" /etc/resolv.conf
    mount --bind "$1/nsswitch.conf" /etc/nsswitch.conf
    if [ -d /run/nscd ]; then mount -t tmpfs none /run/nscd; fi
    python3 "$1/addresses.py"
    echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start
    shift
    exec "$@"
"#;

/// Brings the loopback up and gives it addresses (SIOCSIFFLAGS, SIOCSIFADDR): no program for that has to be installed.
const ADDRESSES: &str = r"
import fcntl, socket, struct
four, six = (socket.socket(family, socket.SOCK_DGRAM) for family in (socket.AF_INET, socket.AF_INET6))
fcntl.ioctl(four, 0x8914, struct.pack('16sh14x', b'lo', 0x49))
for number, address in enumerate(['93.184.216.34', '10.0.0.5', '169.254.169.254']):
    name = b'lo:%d' % number
    fcntl.ioctl(four, 0x8916, struct.pack('16sHH4s8x', name, socket.AF_INET, 0, socket.inet_aton(address)))
for address in ['2606:4700::1111', 'fd12::5']:
    index = socket.if_nametoindex('lo')
    fcntl.ioctl(six, 0x8916, struct.pack('16sIi', socket.inet_pton(socket.AF_INET6, address), 128, index))
";

/// Whether this is the test inside. If not, it is run there to its end, and whatever it says is said here.
pub(crate) fn is_inside(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("addresses.py"), ADDRESSES).unwrap();
    // Who is not root is root for as long as it takes to build the network, and an ordinary user again in it.
    let (root, ordinary): (&[&str], &[&str]) = if rustix::process::geteuid().is_root() {
        (&[], &[])
    } else {
        (&["--user", "--map-root-user"], &["unshare", "--user", "--map-user=1000", "--map-group=1000"])
    };
    let mut command = clean(Command::new("unshare"));
    command.env(INSIDE, "1").args(root).args(["--net", "--mount", "sh", "-c", FILES, "sh"]).arg(dir.path());
    command.args(ordinary).arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    let said = Said::by(&mut command).ok();
    assert!(said.out().contains("1 passed"), "`{test}` is not the name of this test: {}", said.out());
    false
}

/// Everybody in this network: a server at every address and both ports. It says at which address it was reached, or sends on.
pub(crate) struct Everybody {
    reached: Arc<Mutex<Vec<IpAddr>>>,
}

impl Everybody {
    pub(crate) fn start() -> Self {
        let everybody = Self { reached: Arc::default() };
        for port in PORTS {
            let (listener, reached) = (TcpListener::bind(("::", port)).unwrap(), Arc::clone(&everybody.reached));
            std::thread::spawn(move || {
                for stream in listener.incoming().map_while(Result::ok) {
                    let at = stream.local_addr().unwrap().ip().to_canonical();
                    reached.lock().unwrap().push(at);
                    std::thread::spawn(move || answer(stream, at));
                }
            });
        }
        everybody.is_really_there();
        everybody
    }

    /// Whoever was led to a private address would be noticed there.
    fn is_really_there(&self) {
        for (address, port) in PRIVATE.iter().chain(&PUBLIC).flat_map(|address| PORTS.map(|port| (address, port))) {
            let address: IpAddr = address.parse().unwrap();
            let mut stream = TcpStream::connect((address, port)).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            let mut said = String::new();
            stream.read_to_string(&mut said).unwrap();
            assert!(said.ends_with(&address.to_string()), "{address}: {said}");
        }
        let all: BTreeSet<IpAddr> = self.reached.lock().unwrap().drain(..).collect();
        assert_eq!(all.len(), PRIVATE.len() + PUBLIC.len(), "{all:?}");
    }

    /// At which addresses somebody connected, and how often.
    pub(crate) fn reached(&self) -> Vec<String> {
        self.reached.lock().unwrap().iter().map(ToString::to_string).collect()
    }
}

/// `/to/REST` leads on to `http://REST`; every other request is told the address.
fn answer(mut stream: TcpStream, at: IpAddr) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        let Ok(1) = stream.read(&mut byte) else { return };
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.split(' ').nth(1).unwrap_or_default();
    let status = match path.strip_prefix("/to/") {
        Some(rest) => format!("302 Found\r\nLocation: http://{rest}"),
        None => "200 OK".to_owned(),
    };
    let body = at.to_string();
    let _ = write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
}
