//! Fills the disk that holds the ledger, the log and stderr, then frees it again. Runs in a mount namespace.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::support::{Process, World};

/// Serves a copy of the home on a small file system that only this process sees.
fn serve_on_small_disk(world: &World) -> Process {
    const SCRIPT: &str = "cp -a .placet was && mount -t tmpfs -o size=24m,mode=700 none .placet && cp -a was/. .placet/ \
        && exec \"$0\" \"$@\" 2>.placet/stderr";
    let serve = world.command(&["serve"]);
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
    let mut own = Command::new("unshare");
    own.args([flags, "sh", "-c", SCRIPT]).arg(serve.get_program()).args(serve.get_args());
    own.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    own.current_dir(serve.get_current_dir().unwrap());
    let process = Process::start(&mut own);
    process.line(Duration::from_secs(60), |line| line.starts_with("serving "));
    process
}

/// Writes until the disk is full.
fn fill(path: &PathBuf) {
    let mut file = File::create(path).unwrap();
    for size in [1 << 16, 1 << 12, 1] {
        while file.write_all(&vec![b'x'; size]).is_ok() {}
    }
}

fn get(world: &World, path: &str) -> String {
    let mut socket = TcpStream::connect(world.url().trim_start_matches("http://")).unwrap();
    write!(socket, "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn full_disk_is_survived_and_said() {
    let world = World::set_up();
    let mut serving = serve_on_small_disk(&world);
    world.cli(&["project", "new", "before"]).ok();
    // Path of the home's disk as the server process sees it.
    let root = PathBuf::from(format!("/proc/{}/root", serving.pid()));
    let disk = root.join(world.home().strip_prefix("/").unwrap());
    let filler = disk.join("filler");
    fill(&filler);
    let mut refused = 0;
    for number in 0..40 {
        let said = world.cli(&["project", "new", &format!("full-{number}")]);
        if said.code != Some(0) {
            assert!(said.stderr.contains("no room is left") && said.stderr.contains("free some"), "{}", said.stderr);
            refused += 1;
        }
    }
    assert!(refused > 0, "the disk was not full");
    let ready = get(&world, "/ready");
    assert!(ready.starts_with("HTTP/1.1 503") && ready.contains("no_room"), "{ready}");
    assert!(get(&world, "/health").starts_with("HTTP/1.1 200"));
    std::fs::remove_file(&filler).unwrap();
    assert!(get(&world, "/ready").starts_with("HTTP/1.1 200"));
    world.cli(&["project", "new", "after"]).ok();
    let stderr = std::fs::read_to_string(disk.join("stderr")).unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(serving.interrupt("TERM", Duration::from_secs(30)).success());
}
