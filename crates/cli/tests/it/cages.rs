//! An approval covers the cage: what a profile's name amounts to is sealed, shown, and compared before anything runs.

use serde_json::Value;

use crate::support::{Said, World};

const TOOL: &str =
    "[ours]\nprogram = \"/usr/bin/sh\"\nkind = \"execute_code\"\nprefix = [\"-c\"]\nprofile = \"ours\"\n";

fn profile(memory: &str, reason: &str) -> String {
    format!(
        "about = \"our builds\"\nextends = \"default\"\n[limits]\nmemory = {{ is = \"{memory}\", reason = \"{reason}\" }}\n"
    )
}

fn write_profile(world: &World, memory: &str, reason: &str) {
    std::fs::write(world.home().join("profiles/ours.toml"), profile(memory, reason)).unwrap();
}

/// A team with a profile of its own, and a tool that runs in it.
fn team() -> (World, String) {
    let mut world = World::set_up();
    write_profile(&world, "512MiB", "small machines");
    world.edit("tools.toml", |text| format!("{text}\n{TOOL}"));
    world.serve();
    let run = world.undertake();
    (world, run)
}

fn because(world: &World, id: &str) -> String {
    world.json("ada", &["show", id])["because"].as_str().unwrap().to_owned()
}

#[test]
fn c5_the_card_names_what_the_profile_amounts_to_and_explain_shows_it() {
    let (world, run) = team();
    let view = world.propose(&run, &["ours", "true"]);
    let id = view["id"].as_str().unwrap();
    let sealed = world.json("ada", &["show", id])["spec"]["profile_digest"].as_str().unwrap().to_owned();
    let card = world.by("ada", &["show", id]).ok();
    assert!(card.out().contains("cage     ours, no network") && card.out().contains(&sealed), "{}", card.out());
    let explained = world.cli(&["--json", "sandbox", "explain", "--profile", "ours"]).ok();
    assert_eq!(explained.json()["digest"], Value::from(sealed.as_str()));
    assert!(world.cli(&["sandbox", "explain", "--profile", "ours"]).ok().out().contains(&sealed));
}

#[test]
fn c5_a_profile_that_was_changed_after_the_approval_is_not_run_in() {
    let (mut world, run) = team();
    let id = world.cleared(&run, &["ours", "echo ran"]);
    write_profile(&world, "64GiB", "more is more");
    let worker = world.worker(&[]);
    assert_eq!(world.done(&id).status, "FAILED");
    let why = because(&world, &id);
    assert!(why.starts_with("not started: the profile `ours` of this worker is sha256:"), "{why}");
    assert!(why.contains("approved was sha256:") && why.contains("propose it again"), "{why}");
    let counted = ["permit.redeemed", "job.completed"].map(|event| world.times(&run, &id, event));
    assert_eq!(counted, [0, 1], "the permit was never spent, and the refusal is on record");
    let said = world.by("ada", &["evidence", "list", &id]).ok();
    assert!(said.out().starts_with("not started: the profile `ours`"), "{}", said.out());

    world.stop_control();
    world.serve();
    let again = world.perform(&run, &["ours", "echo ran"]);
    assert_eq!(again.status, "SUCCEEDED", "approved anew, in the cage that is there now");
    assert_eq!(world.evidence(&again.id, "stdout"), b"ran\n");
    drop(worker);
}

#[test]
fn c5_other_words_about_the_same_cage_change_nothing() {
    let (world, run) = team();
    let id = world.cleared(&run, &["ours", "echo ran"]);
    write_profile(&world, "524288KiB", "said differently");
    let _worker = world.worker(&[]);
    assert_eq!(world.done(&id).status, "SUCCEEDED");
}

#[test]
fn c5_a_worker_without_the_profile_says_so_and_spends_nothing() {
    let (world, run) = team();
    let id = world.cleared(&run, &["ours", "echo ran"]);
    std::fs::create_dir(world.path("none")).unwrap();
    let _worker = world.worker(&["--profiles", "none"]);
    assert_eq!(world.done(&id).status, "FAILED");
    assert!(because(&world, &id).contains("this worker has no profile `ours`"), "{}", because(&world, &id));
    assert_eq!(world.times(&run, &id, "permit.redeemed"), 0);
}

#[test]
fn c5_a_tool_of_a_profile_that_is_gone_keeps_the_control_plane_from_starting() {
    let (mut world, _) = team();
    world.stop_control();
    std::fs::remove_file(world.home().join("profiles/ours.toml")).unwrap();
    let said = Said::by(&mut world.command(&["serve"])).exits(2);
    assert!(said.stderr.contains("tool `ours` runs in the profile `ours`, which does not exist"), "{}", said.stderr);
}
