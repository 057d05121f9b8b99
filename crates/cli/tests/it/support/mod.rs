//! What the scenarios share: the binary, its processes, and a world with a control plane and people in it.

mod any;
pub(crate) mod between;
pub(crate) mod books;
pub(crate) mod process;
pub(crate) mod said;
pub(crate) mod window;
pub(crate) mod world;

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use placet_testkit::Random;

pub(crate) use any::{AnyGet, AnyPost, AnyPostIf};
pub(crate) use between::{Between, Mishap};
pub(crate) use process::Process;
pub(crate) use said::{BINARY, Said, clean, placet, placet_in};
pub(crate) use window::Window;
pub(crate) use world::{Done, World};

/// Looks again until it is so; a scenario that waits in vain says for what.
pub(crate) fn eventually(what: &str, within: Duration, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < within, "waited {within:?} in vain: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Processes whose command line contains this text, other than this test itself.
pub(crate) fn processes_with(text: &str) -> Vec<String> {
    let Ok(listing) = std::fs::read_dir("/proc") else { return Vec::new() };
    let lines = listing.flatten().filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        (pid != std::process::id() && line.contains(text)).then(|| format!("{pid}: {line}"))
    });
    lines.collect()
}

/// A port for a control plane that is started on it again and again: no other test has it as long as this one runs, and whoever asks the
/// system for any port is given a higher one.
pub(crate) fn free_port() -> u16 {
    static HELD: Mutex<Vec<UnixListener>> = Mutex::new(Vec::new());
    let mut random = Random::fresh();
    loop {
        let port = u16::try_from(random.between(10_240, 32_767)).expect("a port");
        // A name of the network, not of the disk: it is gone with the test, however that ends.
        let name = SocketAddr::from_abstract_name(format!("placet-test-port-{port}")).expect("a short name");
        let Ok(held) = UnixListener::bind_addr(&name) else { continue };
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            HELD.lock().unwrap().push(held);
            return port;
        }
    }
}

/// With which a home signs the heads of its ledger.
pub(crate) fn ledger_key(home: &Path) -> placet_ledger::SigningKey {
    let settings: toml::Table = toml::from_str(&std::fs::read_to_string(home.join("placet.toml")).unwrap()).unwrap();
    let seed = std::fs::read_to_string(home.join("keys/ledger.seed")).unwrap();
    let digits = |index: usize| u8::from_str_radix(&seed[2 * index..2 * index + 2], 16).unwrap();
    placet_ledger::SigningKey::from_seed(
        settings["ledger"].as_str().unwrap().parse().unwrap(),
        &std::array::from_fn(digits),
    )
}

pub(crate) fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
