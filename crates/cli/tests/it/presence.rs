//! A client sends its token only to the control plane of its home, even if another process answers on a port.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::{Process, World};

const START: Duration = Duration::from_secs(60);

/// A listener at the control plane's address that records everything sent to it. It ends with the test.
struct Squatter {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Squatter {
    /// Answers with these bytes, or forwards to another server.
    fn start(answer: fn(&[u8], Option<SocketAddr>) -> Vec<u8>, behind: Option<SocketAddr>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, heard) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let kept = Arc::clone(&heard);
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let Ok(mut socket) = socket else { break };
                let asked = request(&mut socket);
                kept.lock().unwrap().extend_from_slice(&asked);
                let _ = socket.write_all(&answer(&asked, behind));
            }
        });
        Self { address, heard }
    }

    fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn heard(&self) -> String {
        String::from_utf8_lossy(&self.heard.lock().unwrap()).into_owned()
    }
}

/// Reads the head of a request.
fn request(socket: &mut TcpStream) -> Vec<u8> {
    let (mut asked, mut more) = (Vec::new(), [0; 1_024]);
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
        match socket.read(&mut more) {
            Ok(0) | Err(_) => break,
            Ok(read) => asked.extend_from_slice(&more[..read]),
        }
    }
    asked
}

fn says_it_is_well(_: &[u8], _: Option<SocketAddr>) -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 15\r\n\r\n{\"status\":\"ok\"}".to_vec()
}

/// Relays the question to the real control plane and returns its answer.
fn relays(asked: &[u8], behind: Option<SocketAddr>) -> Vec<u8> {
    let mut real = TcpStream::connect(behind.unwrap()).unwrap();
    let asked = String::from_utf8_lossy(asked).replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    real.write_all(asked.as_bytes()).unwrap();
    let mut answer = Vec::new();
    real.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn token_is_not_sent_to_whoever_has_the_port() {
    let world = World::set_up();
    let squatter = Squatter::start(says_it_is_well, None);
    world.edit("placet.toml", |text| {
        text.replace(world.url().trim_start_matches("http://"), &squatter.address.to_string())
    });
    let said = world.cli(&["queue"]).exits(11);
    assert!(
        said.stderr.contains(&format!("what answers at {} is not the control plane of this home", squatter.url())),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("placet serve"), "{}", said.stderr);
    let heard = squatter.heard();
    assert!(heard.starts_with("GET /health") && !heard.to_lowercase().contains("authorization"), "{heard}");
    assert!(!heard.contains(&world.token("admin")), "{heard}");
}

#[test]
fn proof_of_the_real_server_cannot_be_relayed() {
    let mut world = World::set_up();
    world.serve();
    let real: SocketAddr = world.url().trim_start_matches("http://").parse().unwrap();
    let squatter = Squatter::start(relays, Some(real));
    let said = world.cli(&["--server", &squatter.url(), "queue"]).exits(11);
    assert!(said.stderr.contains("its proof is of another key or address"), "{}", said.stderr);
    assert!(squatter.heard().contains("GET /health") && !squatter.heard().contains(&world.token("admin")));
    world.cli(&["--server", &world.url(), "queue"]).ok();
}

#[test]
fn second_home_finds_its_own_control_plane() {
    let (mut first, second) = (World::set_up(), World::set_up());
    second.edit("placet.toml", |text| {
        text.replace(second.url().trim_start_matches("http://"), first.url().trim_start_matches("http://"))
    });
    first.serve();
    first.cli(&["project", "new", "alpha"]).ok();
    let taken = second.cli(&["serve"]).exits(9);
    let address = first.url().trim_start_matches("http://").to_owned();
    for word in [address.as_str(), "another home", "--address 127.0.0.1:0"] {
        assert!(taken.stderr.contains(word), "{word}: {}", taken.stderr);
    }
    let stranger = second.cli(&["project", "list"]).exits(11);
    assert!(stranger.stderr.contains("not the control plane of this home"), "{}", stranger.stderr);
    let control = Process::start(&mut second.command(&["serve", "--address", "127.0.0.1:0"]));
    let serving = control.line(START, |line| line.starts_with("serving "));
    second.cli(&["project", "new", "beta"]).ok();
    let projects = second.json("admin", &["project", "list"]).to_string();
    assert!(projects.contains("beta") && !projects.contains("alpha"), "{projects}");
    let again = second.cli(&["serve"]).exits(9);
    let url = serving.trim_start_matches("serving ").trim().to_owned();
    for word in [format!("process {}", control.pid()), format!("serving {url}")] {
        assert!(again.stderr.contains(&word), "{word}: {}", again.stderr);
    }
}
