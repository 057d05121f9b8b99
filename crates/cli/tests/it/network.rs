//! Whom an action reaches: exactly whom its approval names, through the gateway, written down; whatever its program tries.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::support::{Done, Process, World, eventually};

/// A server that answers with the first line it was sent.
pub(crate) struct Server {
    at: SocketAddr,
    /// How often something was said to it.
    asked: Arc<AtomicUsize>,
}

impl Server {
    pub(crate) fn start() -> Self {
        let (listener, asked) = (TcpListener::bind("127.0.0.1:0").unwrap(), Arc::<AtomicUsize>::default());
        let (at, count) = (listener.local_addr().unwrap(), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    let Ok(1) = stream.read(&mut byte) else { break };
                    head.push(byte[0]);
                }
                if head.is_empty() {
                    continue;
                }
                count.fetch_add(1, Ordering::Relaxed);
                let line = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
                let length = line.len();
                let _ =
                    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{line}");
            }
        });
        Self { at, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    pub(crate) fn was_asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

/// A world with a worker, and a run whose scope has these targets.
pub(crate) fn start(targets: &[&str]) -> (World, String, Process) {
    let mut world = World::set_up();
    world.serve();
    let run = world.undertake_reaching(targets);
    let worker = world.worker(&[]);
    (world, run, worker)
}

pub(crate) fn python(world: &World, run: &str, network: &[&str], script: &str) -> Done {
    let mut args = vec!["python3"];
    args.extend(network.iter().flat_map(|opening| ["--network", opening]));
    args.extend(["--", "-c", script]);
    world.perform(run, &args)
}

pub(crate) fn requests(world: &World, done: &Done) -> Vec<Value> {
    let lines = String::from_utf8(world.evidence(&done.id, "network.jsonl")).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn number(record: &Value) -> u64 {
    record["decision"]["refused"]["number"].as_u64().or(record["ended"]["number"].as_u64()).unwrap_or(0)
}

pub(crate) fn printed(world: &World, done: &Done) -> String {
    String::from_utf8(world.evidence(&done.id, "stdout")).unwrap()
}

pub(crate) const ASK: &str = "
import socket, urllib.request, urllib.error
def ask(url, **more):
    try: return urllib.request.urlopen(urllib.request.Request(url, **more), timeout=20).read().decode()
    except urllib.error.HTTPError as e: return e.code
    except Exception as e: return type(e).__name__
";

#[test]
fn c5_an_action_reaches_what_was_approved_and_nobody_else_and_every_request_is_evidence() {
    let (opened, closed) = (Server::start(), Server::start());
    let (world, run, _worker) = start(&[&opened.url("/"), &closed.url("/")]);
    let script = format!(
        "{ASK}
print(ask('{}'), ask('{}', method='POST'), ask('{}'), ask('{}'), ask('http://secret-data.evil.test/'))
try: socket.create_connection(('127.0.0.1', {}), 3); print('direct')
except OSError: print('no way but the gateway')",
        opened.url("/v1/a"),
        opened.url("/v1/a"),
        opened.url("/other"),
        closed.url("/"),
        opened.at.port(),
    );
    let opening = format!("GET {}", opened.url("/v1"));
    let done = python(&world, &run, &[&opening], &script);
    assert_eq!(printed(&world, &done), "GET /v1/a HTTP/1.1 403 403 403 403\nno way but the gateway\n", "{done:?}");
    assert_eq!((opened.was_asked(), closed.was_asked()), (1, 0));
    let records = requests(&world, &done);
    let numbers: Vec<u64> = records.iter().map(number).collect();
    assert_eq!(numbers, [0, 13, 14, 11, 10], "method, path, port, host");
    assert_eq!((&records[0]["path"], &records[0]["status"]), (&"/v1/a".into(), &200.into()));
    assert_eq!(records[0]["address"], opened.at.to_string());
    let traffic = &done.manifest["usage"]["network"];
    assert_eq!((&traffic["requests"], &traffic["refused"]), (&1.into(), &4.into()), "{traffic}");
    assert!(traffic["bytes_up"].as_u64().unwrap() > 0 && traffic["bytes_down"].as_u64().unwrap() > 0);
    world.by("ada", &["evidence", "verify", &done.id]).ok();
}

#[test]
fn b2_a_tool_reaches_its_target_and_a_reviewer_is_shown_whom() {
    let server = Server::start();
    let (world, run, _worker) = start(&[&server.url("/")]);
    let view = world.propose(&run, &["curl", "--target", &server.url("/page"), "--", "-s"]);
    let id = view["id"].as_str().unwrap().to_owned();
    let card = world.by("ada", &["show", &id]).ok();
    assert!(card.out().contains(&format!("reaches  {}", server.url("/page"))), "{}", card.out());
    if view["status"] == "PENDING_APPROVAL" {
        world.by("ada", &["approve", &id, "--yes"]).ok();
    }
    let done = world.done(&id);
    assert_eq!(printed(&world, &done), "GET /page HTTP/1.1", "{done:?}");
}

#[test]
fn c5_without_an_opening_there_is_no_way_out_at_all() {
    let server = Server::start();
    let (world, run, _worker) = start(&[&server.url("/")]);
    let script = format!(
        "{ASK}\nimport os\nprint(ask('{}'), [name for name in os.environ if 'proxy' in name.lower()])\n\
         try: socket.create_connection(('127.0.0.1', 3128), 3)\nexcept OSError: print('no door')",
        server.url("/")
    );
    let done = python(&world, &run, &[], &script);
    assert_eq!(printed(&world, &done), "URLError []\nno door\n");
    assert!(done.manifest["usage"].get("network").is_none(), "{done:?}");
    assert_eq!(server.was_asked(), 0);
}

#[test]
fn b2_what_is_beyond_the_scope_the_tool_or_the_cage_is_never_opened() {
    let server = Server::start();
    let mut world = World::set_up();
    world.edit("tools.toml", |text| {
        format!("{text}\n[shut]\nprogram = \"/usr/bin/python3\"\nkind = \"execute_code\"\nnetwork = \"named\"\nprofile = \"shut\"\n")
    });
    std::fs::create_dir_all(world.home().join("profiles")).unwrap();
    let profile = "about = \"no network\"\nextends = \"default\"\nnetwork = { is = [], reason = \"none is needed\" }\n";
    std::fs::write(world.home().join("profiles/shut.toml"), profile).unwrap();
    world.serve();
    let run = world.undertake_reaching(&[&server.url("/v1"), "*.example.org"]);
    let tried = |tool: &str, opening: &str| {
        let args = ["--as", "tom", "action", "propose", &run, tool, "--network", opening, "--", "-c", "pass"];
        world.cli(&args).stderr
    };
    for opening in ["http://evil.test/", &server.url("/"), "example.org", "*.org", "169.254.169.254", "127.0.0.1"] {
        assert!(tried("python3", opening).contains("is not in the scope of this run"), "{opening}");
    }
    let within = server.url("/v1");
    assert!(tried("shut", &within).contains("its network is none"), "{}", tried("shut", &within));
    assert!(tried("cat", &within).contains("`cat` reaches nobody"), "{}", tried("cat", &within));
    assert!(tried("python3", "GET a.example.org").contains("methods are for an address"));
    assert!(tried("python3", "unseen http://a.example.org/").contains("for the whole of a host"));
    assert_eq!(server.was_asked(), 0);
}

#[test]
fn r24_the_gateways_own_doors_are_no_way_to_the_host() {
    let server = Server::start();
    let (world, run, _worker) = start(&[&server.url("/")]);
    let control: SocketAddr = world.url().trim_start_matches("http://").parse().unwrap();
    let script = format!(
        "{ASK}\nprint(ask('http://{control}/health'), ask('http://169.254.169.254/latest/'), ask('http://[fe80::1]/'))"
    );
    let done = python(&world, &run, &[&server.url("/")], &script);
    assert_eq!(printed(&world, &done), "403 403 403\n");
}

/// Every way to say a name or an address that a strict reader does not take, by each of the three ways in; all of it is on the list.
#[test]
fn r18_no_trick_passes_by_any_way_in_and_each_of_them_is_recorded() {
    let server = Server::start();
    let (world, run, _worker) = start(&[&server.url("/")]);
    let script = format!(
        "{ASK}
port = {port}
names = ['127.0.0.1.', '0177.0.0.1', '0x7f000001', '2130706433', '127.1', '127.0.0.01', 'a@127.0.0.1', '127.0.0.1%00.evil.test',
         'ex\u{e4}mple.test', '\u{ff11}\u{ff12}\u{ff17}.0.0.1', 'xn--exmple-cua.test', 'evil.test', '[::1]', '[::ffff:127.0.0.1]', '[fe80::1]',
         '169.254.169.254', '0.0.0.0', '10.0.0.1', '[64:ff9b::7f00:1]', '[2002:7f00:1::]']
def said(data):
    s = socket.create_connection(('127.0.0.1', 3128), 5); s.settimeout(10); s.sendall(data)
    try: return s.recv(400)
    except OSError: return b''
def plain(name): return said(f'GET http://{{name}}:{{port}}/ HTTP/1.1\\r\\nHost: {{name}}:{{port}}\\r\\n\\r\\n'.encode())
def tunnel(name): return said(f'CONNECT {{name}}:{{port}} HTTP/1.1\\r\\nHost: {{name}}:{{port}}\\r\\n\\r\\n'.encode())
def socks(name):
    s = socket.create_connection(('127.0.0.1', 3128), 5); s.settimeout(10); s.sendall(bytes([5, 1, 0])); s.recv(2)
    name = name.strip('[]').encode()
    s.sendall(bytes([5, 1, 0, 3, len(name)]) + name + port.to_bytes(2, 'big'))
    try: return s.recv(10)
    except OSError: return b''
for name in names:
    for way in (plain, tunnel):
        answer = way(name)
        if not answer.startswith((b'HTTP/1.1 400', b'HTTP/1.1 403')): print(way.__name__, name, answer)
    answer = socks(name)
    if answer[1:2] not in (bytes([1]), bytes([2])): print('socks', name, answer)
try: print(socket.getaddrinfo('localhost.evil.test', 80))
except OSError: pass
print(len(names) * 3)
",
        port = server.at.port(),
    );
    let done = python(&world, &run, &[&server.url("/")], &script);
    let said = printed(&world, &done);
    let tried: u64 = said.trim().parse().unwrap_or_else(|_| panic!("passed: {said}"));
    let records = requests(&world, &done);
    assert_eq!((records.len() as u64, tried), (tried, 60), "one record each");
    assert!(records.iter().all(|record| record["decision"]["refused"]["number"].as_u64().is_some()), "{records:#?}");
    assert_eq!(done.manifest["usage"]["network"]["refused"], tried);
    assert_eq!(server.was_asked(), 0);
}

/// Descriptors of a worker are shared by all its actions.
const FEW: u32 = 256;

#[test]
fn d9_an_action_that_opens_connections_without_end_keeps_no_other_action_from_its_own() {
    let server = Server::start();
    let mut world = World::set_up();
    world.serve();
    let run = world.undertake_reaching(&[&server.url("/")]);
    let other = world.run_of("tom");
    let worker = world.worker_within(FEW);
    assert!(worker.stderr().contains("few files may be open here"), "{}", worker.stderr());
    let hold = "
import os, socket, time
for _ in range(7):
    if os.fork() == 0: break
held = []
until = time.time() + 25
while time.time() < until:
    try:
        s = socket.socket(); s.setblocking(False); s.connect_ex(('127.0.0.1', 3128)); held.append(s)
    except OSError: time.sleep(0.05)
    if len(held) > 150: time.sleep(0.5); held.clear()
";
    let holder = world.cleared(&run, &["python3", "--network", &server.url("/"), "--", "-c", hold]);
    world.reaches(&holder, &["EXECUTING"]);
    let open = || std::fs::read_dir(format!("/proc/{}/fd", worker.pid())).unwrap().count();
    eventually("it holds what it gets", std::time::Duration::from_secs(20), || open() > 50);
    let script = format!("{ASK}\nprint(ask('{}'))", server.url("/neighbour"));
    for _ in 0..3 {
        let done = python(&world, &other, &[&server.url("/")], &script);
        assert_eq!(printed(&world, &done), "GET /neighbour HTTP/1.1\n", "{done:?}");
        assert!(open() < FEW as usize / 2, "{} descriptors", open());
    }
    assert_eq!(world.status(&holder), "EXECUTING", "it was still at it");
    assert!(!worker.stderr().contains("Too many open files"), "{}", worker.stderr());
    assert_eq!(world.done(&holder).status, "SUCCEEDED");
}
