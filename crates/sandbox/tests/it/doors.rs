//! Doors: the one way out of a cage, and how narrow it is.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use placet_sandbox::{Request, RequestError, SandboxError};

use crate::harness::tests;
use crate::world::{Workspace, alive, eventually, marker, probe, refused, run, sh, start};

tests![
    a_command_talks_through_its_door_to_an_acceptor_outside,
    several_doors_lead_to_several_acceptors,
    without_a_door_nothing_answers,
    a_door_that_was_let_go_is_closed,
    two_cages_with_the_same_port_do_not_meet,
    nobody_on_the_host_can_use_a_door,
    a_command_cannot_listen_beside_its_door,
    a_door_that_is_not_taken_leaves_nothing_behind,
    a_door_at_no_port_is_refused,
];

/// Takes one connection and answers with what came in, under a name.
fn answer(door: &TcpListener, name: &str) {
    let (mut stream, peer) = door.accept().expect("a connection");
    assert!(peer.ip().is_loopback());
    let mut words = String::new();
    stream.read_to_string(&mut words).expect("words");
    write!(stream, "{name} heard {words}").expect("an answer");
}

fn a_command_talks_through_its_door_to_an_acceptor_outside() {
    let mut running = start(probe("call", &["3128", "hello"]).door(3_128));
    let door = running.take_door(3_128).expect("the door");
    assert!(running.take_door(3_128).is_none(), "it is taken once");
    answer(&door, "the gateway");
    let (_, output) = running.collect().expect("an outcome");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "the gateway heard hello\n");
}

fn several_doors_lead_to_several_acceptors() {
    let script = "/opt/probe/it --inside call 80 one; /opt/probe/it --inside call 4000 two";
    let own = std::env::current_exe().expect("the path of this binary");
    let mut running = start(sh(script).read_only(own, "/opt/probe/it").door(80).door(4_000));
    let (proxy, model) = (running.take_door(80).expect("a door"), running.take_door(4_000).expect("a door"));
    answer(&proxy, "the proxy");
    answer(&model, "the model");
    let (_, output) = running.collect().expect("an outcome");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "the proxy heard one\nthe model heard two\n");
}

fn without_a_door_nothing_answers() {
    let on_the_host = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = on_the_host.local_addr().expect("an address").port().to_string();
    assert_eq!(run(probe("call", &[&port, "hello"])).succeeded(), "ECONNREFUSED\n");
    assert_eq!(run(probe("call", &[&port, "hello"]).door(1)).succeeded(), "ECONNREFUSED\n", "another door");
}

fn a_door_that_was_let_go_is_closed() {
    let own = std::env::current_exe().expect("the path of this binary");
    let waits = sh("while ! test -e closed; do sleep 0.01; done; exec /opt/probe/it --inside call 3128 hello");
    let workspace = Workspace::new();
    let mut running = start(waits.workspace(workspace.path()).read_only(own, "/opt/probe/it").door(3_128));
    drop(running.take_door(3_128));
    std::fs::write(workspace.file("closed"), "").expect("a file");
    let (_, output) = running.collect().expect("an outcome");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "ECONNREFUSED\n");
}

fn two_cages_with_the_same_port_do_not_meet() {
    let mut cages = ["one", "two"].map(|word| start(probe("call", &["3128", word]).door(3_128)));
    for (cage, name) in cages.iter_mut().zip(["first", "second"]) {
        answer(&cage.take_door(3_128).expect("a door"), name);
    }
    let said = cages.map(|cage| String::from_utf8(cage.collect().expect("an outcome").1.stdout).expect("text"));
    assert_eq!(said, ["first heard one\n", "second heard two\n"]);
}

fn nobody_on_the_host_can_use_a_door() {
    // A port that is free on the host for certain: it was just given to this process and released.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port").port();
    let running = start(Request::new(["sleep", "60"]).door(free));
    assert!(TcpStream::connect(("127.0.0.1", free)).is_err());
    drop(running);
}

fn a_command_cannot_listen_beside_its_door() {
    assert_eq!(run(probe("listen_beside", &["3128"]).door(3_128)).succeeded(), "EADDRINUSE\n");
}

fn a_door_that_is_not_taken_leaves_nothing_behind() {
    let count = || std::fs::read_dir("/proc/self/fd").expect("own descriptors").count();
    // The first launch of a process starts its zygote, which stays.
    run(Request::new(["true"])).succeeded();
    let (before, word) = (count(), marker());
    let running = start(Request::new(["sleep", word.as_str()]).door(3_128).door(4_000));
    assert!(count() >= before + 2, "the doors are here");
    drop(running);
    eventually("the cage is gone", || !alive(&word));
    assert_eq!(count(), before);
}

fn a_door_at_no_port_is_refused() {
    let error = refused(Request::new(["true"]).door(0));
    assert!(matches!(error, SandboxError::Request(RequestError::Door { port: 0, .. })), "{error}");
}
