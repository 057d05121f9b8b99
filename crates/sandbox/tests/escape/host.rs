//! The host's side: sets canaries out, lets an attempt loose in a cage, and looks whether anything moved.

use std::fs;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use placet_sandbox::{Exit, Layers, Limits, Profile, Request, launch};
use tempfile::TempDir;

use crate::attempt::{self, Attempt, Kind};
use crate::harness::tests;
use crate::inside::{self, ANSWER};
use crate::raw;
use crate::repository;
use crate::scene::{DOOR, GIVEN, MARKER, Scene, own_namespaces};

tests![no_attempt_is_made_outside_a_cage, a_scene_alone_makes_no_cage, the_canaries_can_be_reached_from_the_host,];

/// Where this binary appears in a cage.
const PROBE: &str = "/opt/probe/escape";

/// A program in the workspace that lends its owner's rights, as a careless host might have left it there.
pub(crate) const LENDING: &str = "lending";

/// Tight, so that exhausting them takes a moment and hurts nobody.
fn limits(attempt: &Attempt, profile: &Profile) -> Limits {
    let mut limits = profile.limits();
    limits.wall_ms = attempt.wall_ms;
    limits.cpu_seconds = 2;
    limits.memory_bytes = 256 << 20;
    limits.pids = 24;
    limits.open_files = 64;
    limits.file_bytes = 1 << 20;
    limits.output_bytes = 64 << 10;
    limits
}

/// The body of every attempt: it is refused by the expected wall, and the host is as it was.
pub(crate) fn withstands(name: &str) {
    let case = attempt::named(name).expect("the attempt is in the table");
    let host = Host::new();
    let before = host.state();
    let observed = host.endure(name, case.attempt);
    let (barrier, refusal) = (case.attempt.barrier, case.attempt.refusal);
    assert!(case.attempt.is_refused_by(&observed), "observed `{observed}`, expected `{refusal}` from {barrier}");
    assert_eq!(host.state(), before, "the host changed");
    assert_eq!(host.reached(), Vec::<&str>::new(), "something was reached");
}

fn no_attempt_is_made_outside_a_cage() {
    refuses(None, "is not set");
}

fn a_scene_alone_makes_no_cage() {
    let host = Host::new();
    let scene = host.scene.clone();
    refuses(Some(&scene), "not process 1");
    refuses(Some(&Scene { namespaces: [].into(), ..scene }), "not process 1");
}

/// An attempt that fails because its canary is dead proves nothing.
fn the_canaries_can_be_reached_from_the_host() {
    let host = Host::new();
    let scene = &host.scene;
    let address = SocketAddr::from_abstract_name(&scene.abstract_name).expect("a name");
    assert_eq!(fs::read_to_string(&scene.canary).expect("the canary"), "canary of the host\n");
    UnixStream::connect(&scene.socket).expect("by path");
    UnixStream::connect_addr(&address).expect("by name");
    TcpStream::connect(("127.0.0.1", scene.tcp_port)).expect("by port");
    scene.tcp6_port.map(|port| TcpStream::connect(("::1", port)).expect("by port of IPv6"));
    let (datagram, packet) =
        (UnixDatagram::unbound().expect("a socket"), UdpSocket::bind("127.0.0.1:0").expect("a port"));
    datagram.send_to_addr(b"x", &datagram_address(&address)).expect("sent by name");
    packet.send_to(b"x", ("127.0.0.1", scene.udp_port)).expect("sent by port");
    assert!(fs::read(format!("/proc/{}/environ", scene.process)).is_ok(), "the process can be looked at");
    let expected =
        ["the socket with a path", "the socket with a name", "the datagram socket", "a port", "the datagram port"];
    assert_eq!(host.reached(), expected);
}

#[track_caller]
fn refuses(scene: Option<&Scene>, why: &str) {
    let mut outside = Command::new(std::env::current_exe().expect("the path of this binary"));
    outside.args([inside::FLAG, "files::canary_by_path"]).env_remove(MARKER);
    if let Some(scene) = scene {
        outside.env(MARKER, serde_json::to_string(scene).expect("a scene"));
    }
    let output = outside.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(inside::NOT_A_CAGE.into()), "{said}");
    assert!(said.contains("no attempt is made here") && said.contains(why), "{said}");
}

/// The canaries, alive as long as this value.
struct Host {
    outer: TempDir,
    scene: Scene,
    stream: UnixListener,
    abstract_stream: UnixListener,
    abstract_datagram: UnixDatagram,
    tcp: Vec<TcpListener>,
    udp: UdpSocket,
    process: Child,
    _inheritable: Vec<OwnedFd>,
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Sets out what an attempt may look at, and what it must not.
fn set_out() -> TempDir {
    let outer = TempDir::new().expect("a temporary directory");
    let at = |name: &str| outer.path().join(name);
    let put = |name: &str, text: &str| fs::write(at(name), text).expect("a file");
    let open = |path: PathBuf, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("open to all");
    for directory in ["given", "w", "layers", "layers/lower", "layers/upper", "layers/work"] {
        fs::create_dir(at(directory)).expect("a directory");
    }
    put("canary", "canary of the host\n");
    for (path, text) in repository::FILES {
        let file = at("layers/lower").join(path);
        fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
        fs::write(file, text).expect("a file");
    }
    put("given/text", "text of the host\n");
    let lending = Path::new("w").join(LENDING);
    fs::copy("/usr/bin/id", outer.path().join(&lending)).expect("a program");
    open(at(""), 0o755);
    open(at("given"), 0o777);
    open(at("given/text"), 0o666);
    open(outer.path().join(lending), 0o4755);
    outer
}

/// A word in nobody else's command line.
fn word() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{:06}", 700_000 + COUNT.fetch_add(1, Ordering::Relaxed), std::process::id())
}

impl Host {
    fn new() -> Self {
        let (outer, word) = (set_out(), word());
        let text = |name: &str| outer.path().join(name).to_str().expect("text").to_owned();
        let stream = UnixListener::bind(text("socket")).expect("a socket");
        fs::set_permissions(text("socket"), fs::Permissions::from_mode(0o777)).expect("open to all");
        let address = SocketAddr::from_abstract_name(&word).expect("a name");
        let tcp: Vec<_> = ["127.0.0.1:0", "[::1]:0"].iter().filter_map(|at| TcpListener::bind(at).ok()).collect();
        let ports: Vec<_> = tcp.iter().map(|each| each.local_addr().expect("an address").port()).collect();
        let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let process = Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().expect("a process");
        let trap = fs::File::open(outer.path()).expect("a descriptor");
        let scene = Scene {
            canary: text("canary"),
            socket: text("socket"),
            abstract_name: word.clone(),
            tcp_port: ports[0],
            tcp6_port: ports.get(1).copied(),
            udp_port: udp.local_addr().expect("an address").port(),
            process: process.id().try_into().expect("a number of a process"),
            word,
            namespaces: own_namespaces(),
        };
        Self {
            outer,
            scene,
            stream,
            abstract_stream: UnixListener::bind_addr(&address).expect("a socket"),
            abstract_datagram: UnixDatagram::bind_addr(&datagram_address(&address)).expect("a socket"),
            tcp,
            udp,
            process,
            // Unlike descriptors of the standard library, a duplicate made this way survives exec.
            _inheritable: (0..3).map(|_| rustix::io::dup(trap.as_fd()).expect("a descriptor")).collect(),
        }
    }

    fn endure(&self, name: &str, attempt: &Attempt) -> String {
        let profile = Profile::builtin(attempt.profile).expect("a profile");
        let request = Request::new([PROBE, inside::FLAG, name])
            .env(MARKER, serde_json::to_string(&self.scene).expect("a scene"))
            .read_only(std::env::current_exe().expect("the path of this binary"), PROBE)
            .read_only(self.outer.path().join("given"), GIVEN)
            .limits(limits(attempt, &profile))
            .stdin("sealed")
            .door(DOOR);
        let layer = |name: &str| self.outer.path().join("layers").join(name);
        let request = match attempt.workspace {
            Kind::Direct => request.workspace(self.workspace()),
            Kind::Protected => {
                request.workspace(Layers::new(layer("lower"), layer("upper"), layer("work"))).rules(repository::rules())
            }
        };
        let (outcome, output) = launch(&profile, request).expect("a cage").collect().expect("an outcome");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let answer = said.lines().rev().find_map(|line| line.strip_prefix(ANSWER)).map(str::to_owned);
        match (answer, outcome.exit) {
            (Some(answer), Exit::Code(0)) => answer,
            (_, Exit::Signal(number)) => raw::signal_name(number),
            (_, Exit::Limit { which, .. }) => format!("limit {which:?}"),
            (_, exit) => format!("{exit:?} {said}{}", String::from_utf8_lossy(&output.stderr)),
        }
    }

    fn workspace(&self) -> PathBuf {
        self.outer.path().join("w")
    }

    /// Everything an attempt could have changed, as text.
    fn state(&self) -> Vec<String> {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let mut state = vec![read("/proc/sys/kernel/core_pattern"), read("/proc/sys/kernel/hostname")];
        let given = self.outer.path().join("given");
        for path in [Path::new(&self.scene.canary), self.outer.path(), &given, &given.join("text")] {
            let meta = fs::symlink_metadata(path).expect("a canary");
            let text = fs::read_to_string(path).unwrap_or_default();
            let facts = (meta.mode(), meta.uid(), meta.gid(), meta.nlink(), meta.mtime(), meta.mtime_nsec());
            state.push(format!("{} {facts:?} {text}", path.display()));
        }
        let layers = self.outer.path().join("layers");
        for (path, _) in repository::FILES {
            state.push(fs::read_to_string(layers.join("lower").join(path)).unwrap_or_default());
            state.push(format!("changed: {}", layers.join("upper").join(path).exists()));
        }
        for directory in [self.workspace(), layers.join("upper")] {
            state.push(dangerous(&directory).join(" "));
        }
        state
    }

    /// Everything of the host that somebody knocked at or disturbed, and what is left of the cage.
    fn reached(&self) -> Vec<&'static str> {
        self.stream.set_nonblocking(true).expect("a setting");
        self.abstract_stream.set_nonblocking(true).expect("a setting");
        self.abstract_datagram.set_nonblocking(true).expect("a setting");
        self.udp.set_nonblocking(true).expect("a setting");
        let port = |listener: &TcpListener| listener.set_nonblocking(true).and_then(|()| listener.accept()).is_ok();
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.scene.process)).unwrap_or_default();
        let seen = [
            ("the socket with a path", self.stream.accept().is_ok()),
            ("the socket with a name", self.abstract_stream.accept().is_ok()),
            ("the datagram socket", self.abstract_datagram.recv(&mut [0; 8]).is_ok()),
            ("a port", self.tcp.iter().any(port)),
            ("the datagram port", self.udp.recv(&mut [0; 8]).is_ok()),
            ("the process", stat.is_empty() || stat.contains(") T ") || stat.contains(") Z ")),
            ("life after the cage", alive(&self.scene.word)),
        ];
        seen.into_iter().filter(|(_, reached)| *reached).map(|(what, _)| what).collect()
    }
}

/// Beside the stream socket: one name cannot be both.
pub(crate) fn datagram_address(stream: &SocketAddr) -> SocketAddr {
    let name = stream.as_abstract_name().expect("a name without a path");
    SocketAddr::from_abstract_name([name, b"-datagram"].concat()).expect("a name")
}

/// Files in the workspace that mean something outside the cage: devices, and programs that lend rights.
fn dangerous(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the workspace").flatten();
    let suspicious = entries.filter(|entry| {
        let meta = fs::symlink_metadata(entry.path()).expect("a file");
        let device = meta.file_type().is_char_device() || meta.file_type().is_block_device();
        device || (meta.is_file() && meta.mode() & 0o6000 != 0)
    });
    suspicious.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn alive(word: &str) -> bool {
    let processes = fs::read_dir("/proc").expect("processes").flatten().map(|entry| entry.path().join("cmdline"));
    let lines = processes.filter_map(|path| fs::read(path).ok());
    lines.into_iter().any(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()))
}
