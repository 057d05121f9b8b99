//! SAFE: always a cage; files and network are apart; limits hold; there are no credentials inside.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::Command;

use super::{agent, told};
use crate::hosted::{PATIENCE, Scene};
use crate::support::eventually;

#[test]
fn c1_safe_neither_agent_nor_action_sees_a_file_of_the_host() {
    let scene = Scene::new();
    scene.world.write("canary.txt", "of the host");
    let canary = scene.world.path("canary.txt");
    let home = scene.world.home();
    let body = format!(
        "for path in ['{}', '{}', '/root/.ssh', '/etc/shadow', '/proc/1/root/etc/shadow']:\n  try:\n    open(path).read()\n    \
         said.append('read ' + path)\n  except OSError:\n    said.append('no')\n\
         said.append(run.act('cat', '{}'))",
        canary.display(),
        home.join("keys/permit.seed").display(),
        canary.display()
    );
    assert_eq!(told(&scene, &agent(&body), &[]), ["no", "no", "no", "no", "no", "FAILED"]);
}

#[test]
fn c1_safe_no_credential_is_in_the_cage_of_an_action() {
    let scene = Scene::new();
    let body = "status = run.act('sh', 'env; ls -a; cat .placet/token env.json 2>/dev/null; find / -name \"*.token\" 2>/dev/null')\n\
                said.append(status)";
    let run = scene.start_script(&agent(body), &[]);
    scene.approve_action(&run);
    scene.reaches(&run, "PENDING_EXPORT");
    let shown = scene.world.json("ada", &["run", "show", &run]);
    let action = shown["actions"][0]["id"].as_str().unwrap().to_owned();
    let printed = String::from_utf8(scene.world.evidence(&action, "stdout")).unwrap();
    for secret in ["token", "SYSTEM_SERVICE_URL", "PLACET", "Bearer"] {
        assert!(!printed.contains(secret), "{secret}: {printed}");
    }
}

/// An agent in a cage with this limit of its own fails for what it does, and its run tells why.
fn fails_at(limit: &str, body: &str) -> String {
    let mut scene = Scene::new();
    let profile = format!("about = \"small\"\nextends = \"agent\"\n[limits]\n{limit}\n");
    std::fs::create_dir_all(scene.world.home().join("profiles")).unwrap();
    std::fs::write(scene.world.home().join("profiles/small.toml"), profile).unwrap();
    scene.restart();
    let run = scene.start_script(&agent(body), &["--agent-cage", "small"]);
    eventually("it fails", PATIENCE, || scene.seen(&run)["status"] == "FAILED");
    let because = scene.seen(&run)["because"].as_str().unwrap().to_owned();
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    scene.is_gone(&run);
    because
}

#[test]
fn c1_safe_an_agent_that_takes_too_much_is_ended_and_the_run_says_why() {
    let because = fails_at("memory = { is = \"64MiB\", reason = \"to be reached\" }", "hoard = b'x' * (512 << 20)");
    assert!(because.contains("Memory") || because.contains("MemoryError"), "{because}");
}

#[test]
fn c1_safe_an_agent_that_fills_the_disk_is_stopped_and_the_run_says_why() {
    let fill = "with open('hoard', 'wb') as file:\n  for _ in range(256):\n    file.write(os.urandom(1 << 20))\n    file.flush()\n    \
                time.sleep(0.02)\nsaid.append('kept it all')";
    let because = fails_at("disk = { is = \"8MiB\", reason = \"to be reached\" }", fill);
    assert!(because.contains("Disk") || because.contains("No space left"), "{because}");
}

#[test]
fn c1_safe_an_agent_that_starts_too_many_processes_is_stopped_and_the_run_says_why() {
    let fork = "import subprocess\nothers = [subprocess.Popen(['/bin/sleep', '60']) for _ in range(64)]\n\
                said.append('started them all')";
    let because = fails_at("processes = { is = 16, reason = \"to be reached\" }", fork);
    let told = ["Pids", "Processes", "Resource temporarily unavailable", "BlockingIOError"];
    assert!(told.iter().any(|part| because.contains(part)), "{because}");
}

#[test]
fn c1_safe_an_agent_whose_time_is_over_is_ended_and_the_run_says_why() {
    let because = fails_at("wall = { is = \"3s\", reason = \"to be reached\" }", "time.sleep(600)");
    assert!(because.contains("at its limit: Wall"), "{because}");
}

/// Whoever listens here is reached by everybody on this host: on both ends of the loopback, on an address of the host if it has one,
/// and by a name that is no file.
struct Listening {
    tcp: Vec<TcpListener>,
    named: UnixListener,
}

impl Listening {
    fn start(name: &str) -> Self {
        let own = || {
            // Nothing is sent: it only tells which address the host would send from.
            let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
            socket.connect("192.0.2.1:9").ok()?;
            Some(socket.local_addr().ok()?.ip().to_string())
        };
        let hosts = ["127.0.0.1".to_owned(), "127.0.0.2".to_owned()].into_iter().chain(own());
        let tcp: Vec<TcpListener> = hosts.map(|host| TcpListener::bind((host.as_str(), 0)).unwrap()).collect();
        let named = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap();
        Self { tcp, named }
    }

    /// The same probe that an agent is given, which tells `reached` or `no` for each.
    fn probe(&self, name: &str) -> String {
        let addresses = self.tcp.iter().map(|listener| listener.local_addr().unwrap());
        let tcp: String = addresses.map(|at| format!("(socket.AF_INET, ('{}', {})), ", at.ip(), at.port())).collect();
        format!(
            "import socket\nfor family, at in [{tcp}(socket.AF_UNIX, '\\0{name}')]:\n\
             \x20 s = socket.socket(family)\n  s.settimeout(3)\n  try:\n    s.connect(at)\n    said.append('reached')\n\
             \x20 except OSError:\n    said.append('no')"
        )
    }
}

#[test]
fn c1_safe_an_agent_reaches_the_control_plane_and_nobody_else() {
    let name = format!("placet-canary-{}", std::process::id());
    let listening = Listening::start(&name);
    let (probe, probed) = (listening.probe(&name), listening.tcp.len() + 1);
    let outside = format!("said = []\n{probe}\nprint(' '.join(said))");
    let outside = Command::new("/usr/bin/python3").args(["-I", "-c", &outside]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&outside.stdout).trim(), vec!["reached"; probed].join(" "), "{outside:?}");
    assert!(listening.named.accept().is_ok(), "it was really there");
    let scene = Scene::new();
    assert_eq!(told(&scene, &agent(&probe), &[]), vec!["no"; probed], "what everybody reaches, an agent does not");
    // And an action does not either.
    let body = format!("said.append(run.act('sh', {:?}))", in_a_shell(&probe));
    let run = scene.start_script(&agent(&body), &[]);
    scene.approve_action(&run);
    scene.reaches(&run, "PENDING_EXPORT");
    let action = scene.world.json("ada", &["run", "show", &run])["actions"][0]["id"].as_str().unwrap().to_owned();
    let printed = String::from_utf8(scene.world.evidence(&action, "stdout")).unwrap();
    assert_eq!(printed.trim(), vec!["no"; probed].join(" "));
}

/// The probe as one command, without a quote that a shell would read.
fn in_a_shell(probe: &str) -> String {
    let script = format!("said = []\n{probe}\nprint(' '.join(said))");
    let digits: String = script.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("/usr/bin/python3 -I -c \"exec(bytes.fromhex('{digits}'))\"")
}

#[test]
fn c1_safe_another_cage_than_was_approved_is_not_built() {
    let mut scene = Scene::new();
    let profile = |memory: &str| {
        format!("about = \"ours\"\nextends = \"agent\"\n[limits]\nmemory = {{ is = \"{memory}\", reason = \"r\" }}\n")
    };
    std::fs::create_dir_all(scene.world.home().join("profiles")).unwrap();
    std::fs::write(scene.world.home().join("profiles/ours.toml"), profile("64MiB")).unwrap();
    scene.restart();
    let run = scene.founded("report.py", &["one", "two"], &["--agent-cage", "ours"]);
    scene.world.by("ada", &["run", "approve", &run]).ok();
    // After the approval somebody makes the cage wider, and the worker reads that.
    std::fs::write(scene.world.home().join("profiles/ours.toml"), profile("1GiB")).unwrap();
    scene.restart();
    scene.world.by("admin", &["run", "start", &run]).ok();
    eventually("it fails", PATIENCE, || scene.seen(&run)["status"] == "FAILED");
    let because = scene.seen(&run)["because"].as_str().unwrap().to_owned();
    assert!(because.contains("not the one that was approved"), "{because}");
}
