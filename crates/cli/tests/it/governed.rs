//! Governed runs with the command line alone: checkpoints, budgets, modes and the switch.

use crate::support::{Said, World};

/// A control plane, a project with people, and a scope for reading and deleting.
fn scene() -> World {
    let mut world = World::set_up();
    world.serve();
    world.by("admin", &["project", "new", "alpha"]).ok();
    world.write("scope.toml", "allow = [\"docs/**\"]\ntools = [\"cat\", \"rm\"]");
    world.by("admin", &["scope", "lock", "lab", "scope.toml"]).ok();
    for (name, role) in [("ada", "reviewer"), ("ben", "reviewer"), ("tom", "agent"), ("w1", "worker")] {
        world.by("admin", &["identity", "add", name, "--role", role]).ok();
    }
    world
}

fn id_in(said: &Said) -> String {
    let id = said.out().split_whitespace().rfind(|word| word.contains("act_") || word.contains("run_")).unwrap();
    id[id.len() - 8..].to_owned()
}

/// A run at work, made with these options.
fn at_work(world: &World, options: &[&str]) -> String {
    let usual = ["run", "new", "tidy up", "--scope", "lab", "--agent", "tom", "--step", "look", "--step", "tidy"];
    let run = id_in(&world.by("admin", &[&usual[..], options].concat()).ok());
    world.by("ada", &["run", "approve", &run]).ok();
    world.by("admin", &["run", "start", &run]).ok();
    world.by("tom", &["action", "propose", &run, "cat", "README.md"]).ok();
    run
}

#[test]
fn c10_a_person_looks_at_a_checkpoint_and_lets_it_go_on_otherwise() {
    let world = scene();
    let run = at_work(&world, &["--every-steps", "1"]);
    world.by("ada", &["run", "checkpoint", &run]).exits(10);
    world.by("tom", &["run", "step", &run, "1", "--summary", "two old files"]).ok();
    let shown = world.by("ada", &["run", "checkpoint", &run]).ok();
    for part in ["checkpoint 1 (STEP)", "two old files", "step 1 of 2 (50 %)", "next: tidy", "approve"] {
        assert!(shown.out().contains(part), "{part}: {}", shown.out());
    }
    let on = world.by("ada", &["run", "modify", &run, "--note", "only one", "--step", "tidy one file"]).ok();
    assert!(on.out().contains("EXECUTING") && on.out().contains("only one"), "{}", on.out());
    let seen = world.by("ada", &["run", "show", &run]).ok();
    assert!(seen.out().contains("✓ 1. look") && seen.out().contains("2. tidy one file"), "{}", seen.out());
}

#[test]
fn c9_a_deletion_stops_the_run_and_two_people_let_it_go_on() {
    let world = scene();
    let run = at_work(&world, &[]);
    let action = id_in(&world.by("tom", &["action", "propose", &run, "rm", "docs/old.md"]).ok());
    let shown = world.by("ada", &["run", "checkpoint", &run]).ok();
    assert!(shown.out().contains("(ACTION)") && shown.stderr.contains("placet approve"), "{}", shown.out());
    world.by("ada", &["run", "approve", &run]).exits(2);
    let alone = world.by("ada", &["approve", &action, "--yes"]).exits(2);
    assert!(alone.stderr.contains("two people are asked") && alone.stderr.contains("--confirm rm"), "{}", alone.stderr);
    world.by("ada", &["approve", &action, "--yes", "--confirm", "rm"]).exits(2);
    let seen = world.json("ada", &["show", &action]);
    let wrong =
        world.by("ada", &["approve", &action, "--yes", "--confirm", "sh", "--seen", seen["review"].as_str().unwrap()]);
    assert!(wrong.exits(2).stderr.contains("`sh` is not the tool"), "nothing by another name");
    assert_eq!(world.json("ada", &["show", &action])["approvals_missing"], 2, "nothing of it was a yes");
    world.confirms("ada", &action).ok();
    world.confirms("ben", &action).ok();
    assert!(world.by("ada", &["run", "show", &run]).ok().out().contains("EXECUTING"));
}

#[test]
fn c12_a_budget_is_shown_and_given_by_a_reviewer() {
    let world = scene();
    let run = at_work(&world, &["--budget-minutes", "5", "--budget-actions", "3"]);
    let seen = world.by("ada", &["run", "show", &run]).ok();
    assert!(seen.out().contains("wall_ms 0 of 300000, actions 0 of 3"), "{}", seen.out());
    world.by("admin", &["run", "budget", &run, "--budget-actions", "5"]).exits(3);
    world.by("ada", &["run", "budget", &run, "--budget-actions", "5"]).ok();
    let nothing = world.by("ada", &["run", "budget", &run]).exits(2);
    assert!(nothing.stderr.contains("name a limit"), "{}", nothing.stderr);
}

#[test]
fn c2_modes_are_part_of_what_is_approved_and_shown() {
    let world = scene();
    let run = at_work(&world, &["--mode", "supervised"]);
    let seen = world.by("ada", &["run", "show", &run]).ok();
    assert!(seen.out().contains("SUPERVISED, execute") && seen.out().contains("PENDING_APPROVAL"), "{}", seen.out());
    let dry = at_work(&world, &["--effect", "dry-run"]);
    assert!(world.by("ada", &["run", "show", &dry]).ok().out().contains("REHEARSED"));
    let wrong = world.by("admin", &["run", "new", "g", "--scope", "lab", "--agent", "tom", "--mode", "free"]).exits(2);
    assert!(wrong.stderr.contains("SUPERVISED"), "{}", wrong.stderr);
}

#[test]
fn d11_everything_is_stopped_at_once_also_what_is_being_executed() {
    let world = scene();
    world.write("scope.toml", "allow = [\"docs/**\"]\ntools = [\"cat\", \"sh\"]");
    world.by("admin", &["scope", "lock", "lab", "scope.toml"]).ok();
    let run = at_work(&world, &[]);
    let _worker = world.worker(&[]);
    let action = id_in(&world.by("tom", &["action", "propose", &run, "sh", "sleep 300"]).ok());
    world.by("ada", &["approve", &action, "--yes"]).ok();
    world.reaches(&action, &["EXECUTING"]);
    world.by("ada", &["kill", "--release"]).exits(2);
    world.by("ada", &["kill", "--all", "--reason", "agents misbehave"]).ok();
    let refused = world.by("tom", &["action", "propose", &run, "cat", "README.md"]);
    assert!(refused.code != Some(0) && refused.stderr.contains("agents misbehave"), "{}", refused.stderr);
    world.reaches(&action, &["FAILED", "INTERRUPTED"]);
    world.by("ada", &["kill", "--release", "--reason", "fine"]).exits(3);
    world.by("admin", &["kill", "--release", "--reason", "fine"]).ok();
    world.by("tom", &["action", "propose", &run, "cat", "README.md"]).ok();
}

#[test]
fn d11_everything_is_stopped_without_a_word() {
    let world = scene();
    let run = at_work(&world, &[]);
    world.by("ada", &["kill", "--all"]).ok();
    let refused = world.by("tom", &["action", "propose", &run, "cat", "README.md"]);
    assert!(refused.code != Some(0) && refused.stderr.contains("nobody said why"), "{}", refused.stderr);
    let queue = world.by("ada", &["queue"]).ok();
    assert!(queue.stderr.contains("everything is stopped: nobody said why"), "{}", queue.stderr);
}

#[test]
fn d11_in_safe_mode_agents_look_and_change_nothing() {
    let world = scene();
    world.write("scope.toml", "allow = [\"docs/**\"]\ntools = [\"cat\", \"sh\"]");
    world.by("admin", &["scope", "lock", "lab", "scope.toml"]).ok();
    let run = at_work(&world, &[]);
    let _worker = world.worker(&[]);
    let action = id_in(&world.by("tom", &["action", "propose", &run, "sh", "sleep 300"]).ok());
    world.by("ada", &["approve", &action, "--yes"]).ok();
    world.reaches(&action, &["EXECUTING"]);
    world.by("ada", &["safe-mode", "on", "--reason", "something writes"]).ok();
    let told = world.by("ada", &["safe-mode"]).ok();
    assert!(told.out().contains("safe mode is on: something writes"), "{}", told.out());
    assert!(world.by("ada", &["queue"]).ok().stderr.contains("safe mode is on"));
    let refused = world.by("tom", &["action", "propose", &run, "sh", "touch here"]).exits(9);
    assert!(refused.stderr.contains("something writes"), "{}", refused.stderr);
    world.reaches(&action, &["FAILED", "INTERRUPTED"]);
    let look = id_in(&world.by("tom", &["action", "propose", &run, "cat", "/etc/hostname"]).ok());
    world.reaches(&look, &["SUCCEEDED"]);
    world.by("ada", &["safe-mode", "off", "--reason", "fine"]).exits(3);
    world.by("admin", &["safe-mode", "off", "--reason", "found it"]).ok();
    world.by("tom", &["action", "propose", &run, "sh", "touch here"]).ok();
    assert!(world.by("ada", &["safe-mode"]).ok().out().contains("safe mode is off"));
}
