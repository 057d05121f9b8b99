//! Stopping everything on the machine of the control plane, without a token and while it accepts no further connections.

use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

use crate::support::{Process, World};

/// Serves with so few descriptors that a few hundred connections use up all places.
fn serve_with_few_descriptors(world: &World) -> Process {
    let serve = world.command(&["serve"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 200 && exec \"$0\" \"$@\""]).arg(serve.get_program()).args(serve.get_args());
    shell.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(serve.get_current_dir().unwrap());
    let process = Process::start(&mut shell);
    process.line(Duration::from_secs(60), |line| line.starts_with("serving "));
    process
}

#[test]
fn kill_needs_no_token_and_no_free_connection() {
    let world = World::set_up();
    let mut serving = serve_with_few_descriptors(&world);
    let address = world.url().trim_start_matches("http://").to_owned();
    let held: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(&address).unwrap()).collect();
    std::fs::remove_dir_all(world.home().join("tokens")).unwrap();
    let stopped = world.cli(&["--json", "kill", "--all", "--reason", "flood"]).ok().json();
    assert_eq!(stopped["halted"], true);
    assert_eq!(stopped["because"], "flood");
    assert_eq!(stopped["halted_by_local_user"], rustix::process::geteuid().as_raw());
    let again = world.cli(&["kill", "--all"]).exits(9);
    assert!(again.stderr.contains("stopped already"), "{}", again.stderr);
    world.cli(&["kill", "--release", "--reason", "fine"]).exits(10);
    let socket = std::fs::metadata(world.home().join("data/stop.sock")).unwrap();
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);
    drop(held);
    assert!(serving.interrupt("TERM", Duration::from_secs(30)).success());
    // Without a listener the command uses HTTP, which needs a token.
    world.cli(&["kill", "--all"]).exits(10);
}

#[test]
fn profile_that_shows_the_home_is_refused() {
    let world = World::set_up();
    for shown in [world.home(), world.home().join("data"), world.path("")] {
        let file = format!(
            "about = \"x\"\nextends = \"default\"\n[read_only]\n\"/opt/shown\" = {{ is = \"{}\", reason = \"x\" }}\n",
            shown.display()
        );
        std::fs::write(world.home().join("profiles/showing.toml"), file).unwrap();
        let refused = world.cli(&["serve"]).exits(2);
        assert!(refused.stderr.contains("this home lies there"), "{}: {}", shown.display(), refused.stderr);
    }
}
