//! People are told by the real binary: a chat behind TLS, a desktop, and somebody who stands in.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::requests::Host;
use crate::support::{Process, Said, World, eventually};

const LONG: Duration = Duration::from_secs(60);

/// Settings of a chat behind TLS on this machine, with its address in a private file.
pub(crate) fn with_chat(world: &World, host: &Host, name: &str, networks: &str) {
    let keys = world.home().join("keys");
    fs::write(keys.join("host.pem"), host.issuer.pem()).unwrap();
    fs::write(keys.join("team.url"), format!("https://{}/services/T0/canary\n", host.address)).unwrap();
    fs::set_permissions(keys.join("team.url"), fs::Permissions::from_mode(0o600)).unwrap();
    let route = format!(
        "\n[[notify]]\nname = \"{name}\"\nwhat = [\"action\", \"plan\"]\nchat = {{ url_file = \"keys/team.url\", ca_file = \"keys/host.pem\"{networks} }}\n"
    );
    world.edit("placet.toml", |text| text + &route);
}

/// A command that ended otherwise than well.
#[track_caller]
fn refused(said: Said) -> Said {
    assert_ne!(said.code, Some(0), "{}", said.what);
    said
}

/// A run whose plan waits.
fn plan_for(world: &World, goal: &str) -> String {
    let run = world.json("admin", &["run", "new", goal, "--scope", "all", "--agent", "tom", "--step", "try"]);
    run["id"].as_str().unwrap().to_owned()
}

#[test]
fn b12_a_chat_behind_tls_is_told_by_the_control_plane_and_by_a_test() {
    let mut world = World::set_up();
    let host = Host::start(PathBuf::from("/nowhere"));
    with_chat(&world, &host, "team", ", networks = [\"127.0.0.0/8\"]");
    let listed = world.cli(&["notify", "check"]).ok();
    let listed = listed.out();
    assert!(listed.contains("team") && listed.contains("at once") && !listed.contains("canary"), "{listed}");
    world.cli(&["notify", "test", "team"]).ok();
    assert_eq!(host.heard().len(), 1);
    assert!(host.heard()[0].starts_with("POST /services/T0/canary HTTP/1.1"), "{:?}", host.heard());
    world.serve();
    world.undertake();
    // The plan of the run waited before it was started: by the time five seconds have passed nothing waits, and nothing is told of it.
    let run = plan_for(&world, "look around");
    eventually("the chat is told of a plan that waits", LONG, || host.heard().len() > 1);
    world.by("ada", &["run", "approve", &run]).ok();
}

#[test]
fn b12_what_is_wrong_with_a_way_to_tell_is_said_before_anybody_waits_for_it() {
    let world = World::set_up();
    let host = Host::start(PathBuf::from("/nowhere"));
    with_chat(&world, &host, "team", "");
    let failed = refused(world.cli(&["notify", "test", "team"]));
    assert!(failed.out().contains("this machine") && failed.out().contains("`networks`"), "{}", failed.out());
    assert!(!failed.out().contains("canary") && host.heard().is_empty(), "{}", failed.out());
    let unknown = refused(world.cli(&["notify", "test", "nobody"]));
    assert!(unknown.stderr.contains("placet notify check"), "{}", unknown.stderr);
}

/// A server of mail that answers nothing to its first letter, with a route to ada.
fn with_post_office(world: &World) -> Process {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../control/tests/it/notify/post_office.py");
    let office = Process::start(Command::new("/usr/bin/python3").args([script, r#"{"tls": "none", "stall": 1}"#]));
    let port = said(&office, "open")["port"].as_u64().unwrap();
    let route = format!(
        "\n[[notify]]\nname = \"people\"\nwhat = [\"plan\"]\nmail = {{ server = \"127.0.0.1:{port}\", tls = \"none\", from = \"placet@example.org\", people = {{ ada = \"ada@example.org\" }} }}\n"
    );
    world.edit("placet.toml", |text| text + &route);
    office
}

/// The next of this kind that the server says.
fn said(office: &Process, kind: &str) -> Value {
    let line = office.line(LONG, |line| line.contains(&format!("\"kind\": \"{kind}\"")));
    serde_json::from_str(&line).unwrap()
}

fn message_id(letter: &Value) -> String {
    let text = letter["letter"].as_str().unwrap();
    text.lines().find_map(|line| line.strip_prefix("Message-ID: ")).unwrap().trim().to_owned()
}

#[test]
fn b12_a_control_plane_that_is_killed_before_its_letter_is_answered_sends_it_again_under_the_same_id_and_then_no_more()
{
    let (mut world, _run) = World::start();
    world.stop_control();
    let office = with_post_office(&world);
    world.serve();
    plan_for(&world, "look around");
    let lost = said(&office, "stalled");
    world.kill_control();
    world.serve();
    let taken = said(&office, "taken");
    assert_eq!(message_id(&taken), message_id(&lost));
    assert_eq!(taken["to"], serde_json::json!(["ada@example.org"]));
    // The next letter to somebody begins when it is written down that they took the last.
    plan_for(&world, "look again");
    let second = message_id(&said(&office, "taken"));
    assert_ne!(second, message_id(&taken), "what was taken is not sent again");
    world.kill_control();
    world.serve();
    plan_for(&world, "look once more");
    let mut third = message_id(&said(&office, "taken"));
    if third == second {
        // It was killed between their yes and its being written down.
        third = message_id(&said(&office, "taken"));
    }
    assert!(third != second && third != message_id(&taken), "nor after another end");
}

/// A desktop that writes down what it is told, word by word.
fn with_desktop(world: &World) -> PathBuf {
    let (bin, told) = (world.path("bin"), world.path("told"));
    fs::create_dir(&bin).unwrap();
    let script = format!("#!/bin/sh\nfor word in \"$@\"; do printf '%s\\n' \"$word\"; done >> {}\n", told.display());
    fs::write(bin.join("notify-send"), script).unwrap();
    fs::set_permissions(bin.join("notify-send"), fs::Permissions::from_mode(0o755)).unwrap();
    told
}

#[test]
fn b4_a_desktop_is_told_what_begins_to_wait_and_words_of_others_do_nothing_there() {
    let (world, _run) = World::start();
    let told = with_desktop(&world);
    let path = format!("{}:{}", world.path("bin").display(), std::env::var("PATH").unwrap());
    let mut desktop = world.command(&["--as", "ada", "notify", "desktop", "--every", "1"]);
    let mut desktop = Process::start(desktop.env("PATH", path));
    eventually("it looks", LONG, || desktop.stderr().contains("telling what comes from now on"));
    let goal = "now --help <b>now</b> $(touch pwned) `id` http://evil.example";
    let run = plan_for(&world, goal);
    let read = || fs::read_to_string(&told).unwrap_or_default();
    eventually("the desktop is told", LONG, || read().contains("a plan waits"));
    let said = read();
    let by_name = world.url().replace("127.0.0.1", "localhost");
    assert!(said.contains(&format!("{by_name}/runs/{run}")), "{said}");
    assert!(!said.contains("<b>") && !said.contains("://evil") && !said.contains('`'), "{said}");
    assert!(!world.path("pwned").exists());
    assert_eq!(said.matches("a plan waits").count(), 1, "once: {said}");
    assert!(desktop.interrupt("INT", LONG).success());
}

#[test]
fn a13_who_is_away_names_a_stand_in_and_comes_back() {
    let (world, _run) = World::start();
    world.cli(&["identity", "add", "bob", "--role", "reviewer"]).ok();
    let said = world.by("ada", &["away", "--to", "bob", "--days", "7"]).ok();
    assert!(said.out().contains("ada is away until") && said.out().contains("bob is told instead"), "{}", said.out());
    let chained = refused(world.by("bob", &["away", "--to", "ada", "--days", "7"]));
    assert!(chained.stderr.contains("who is away stands in for nobody"), "{}", chained.stderr);
    world.by("ada", &["away", "--back"]).ok();
    let wrong = refused(world.by("ada", &["away", "--to", "bob"]));
    assert!(wrong.stderr.contains("--days 7"), "{}", wrong.stderr);
}
