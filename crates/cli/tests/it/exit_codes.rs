//! Scripts rely on exit codes: each one that is documented is produced here by a real situation.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use crate::support::{Process, Said, World, clean, eventually, placet, placet_in};

/// The codes that `placet exit-codes` documents.
fn documented() -> BTreeSet<i32> {
    let codes = placet_in(&std::env::temp_dir(), &["--json", "exit-codes"]).ok().json();
    codes.as_array().unwrap().iter().map(|row| i32::try_from(row["code"].as_i64().unwrap()).unwrap()).collect()
}

#[test]
fn every_documented_code_is_produced_by_a_real_situation() {
    let (world, run) = World::start();
    let produced = [
        done(&world),
        failed(&world),
        not_understood(&world),
        refused(&world, &run),
        integrity_broken(&world),
        waiting(&world, &run),
        conflict(&world, &run),
        not_found(&world),
        unreachable(&world),
        no_cage(&world),
        over_limit(&world),
        interrupted(),
    ];
    assert_eq!(BTreeSet::from(produced), documented());
}

/// Each No says what happened on stderr, in one line that begins alike, and mostly what to do.
#[track_caller]
fn no(said: Said, code: i32, why: &str) -> i32 {
    let said = said.exits(code);
    assert!(said.stderr.starts_with("error: "), "{}", said.stderr);
    assert!(said.stderr.contains(why), "`{why}` is not said: {}", said.stderr);
    code
}

fn done(world: &World) -> i32 {
    world.cli(&["queue"]).ok().code.unwrap()
}

fn failed(world: &World) -> i32 {
    no(world.cli(&["init", "--home", "/proc/placet"]), 1, "No such file or directory")
}

fn not_understood(world: &World) -> i32 {
    no(world.cli(&["ledger", "verify", "somewhere", "--key", "no key"]), 2, "not a verifier key");
    no(world.cli(&["frobnicate"]), 2, "unrecognized subcommand")
}

fn refused(world: &World, run: &str) -> i32 {
    no(world.by("tom", &["action", "propose", run, "nmap", "--target", "10.9.9.9"]), 3, "refused by policy");
    let action = world.propose(run, &["sh", "true"])["id"].as_str().unwrap().to_owned();
    no(world.by("admin", &["approve", &action, "--yes"]), 3, "reviewer")
}

fn integrity_broken(world: &World) -> i32 {
    let key = world.json("admin", &["ledger", "export", "copy"])["key"].as_str().unwrap().to_owned();
    let tile = world.path("copy/tile/entries/000.p").read_dir().unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&tile).unwrap();
    bytes[100] ^= 1;
    std::fs::write(tile, bytes).unwrap();
    no(world.cli(&["ledger", "verify", "copy", "--key", &key]), 4, "entry 0 was changed")
}

fn waiting(world: &World, run: &str) -> i32 {
    no(world.by("tom", &["action", "propose", run, "sh", "true", "--wait", "1"]), 5, "nothing happened within")
}

fn conflict(world: &World, run: &str) -> i32 {
    no(world.cli(&["init"]), 9, "set up already");
    no(world.cli(&["run", "start", run]), 9, "cannot be started");
    let action = world.propose(run, &["sh", "true"])["id"].as_str().unwrap().to_owned();
    let other = format!("sha256:{}", "0".repeat(64));
    no(world.by("ada", &["approve", &action, "--yes", "--seen", &other]), 9, "is not what stands now")
}

fn not_found(world: &World) -> i32 {
    no(world.by("ada", &["show", "act_00000000000070008000000000000000"]), 10, "no such action");
    no(world.by("ada", &["show", "12345678"]), 10, "no action `12345678`")
}

fn unreachable(world: &World) -> i32 {
    no(world.cli(&["--server", "http://127.0.0.1:1", "queue"]), 11, "Connection refused")
}

/// A namespace of our own in which no further ones may be made: the setting ends with it.
fn no_cage(world: &World) -> i32 {
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" \"$@\"";
    let without_namespaces = |args: &[&str]| {
        let mut command = clean(Command::new("unshare"));
        command.args(["--user", "--map-root-user", "sh", "-c", script, env!("CARGO_BIN_EXE_placet")]).args(args);
        Said::by(command.current_dir(world.dir()))
    };
    without_namespaces(&["doctor"]).exits(12);
    no(without_namespaces(&["demo", "--yes"]), 12, "no cage can be built here");
    no(without_namespaces(&["--as", "w1", "work"]), 12, "placet doctor")
}

fn over_limit(world: &World) -> i32 {
    no(world.cli(&["sandbox", "run", "--limit", "wall=300ms", "--", "sleep", "60"]), 124, "the limit `wall`")
}

fn interrupted() -> i32 {
    let tmp = tempfile::tempdir().unwrap();
    let mut demo = Process::start(placet().current_dir(tmp.path()).env("TMPDIR", tmp.path()).args(["demo", "--yes"]));
    eventually("the demo begins", Duration::from_secs(30), || demo.stderr().contains("tier"));
    demo.interrupt("INT", Duration::from_secs(30)).code().unwrap()
}
