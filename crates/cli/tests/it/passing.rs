//! What passes by itself when nobody looks, with a real control plane and its own clock: checkpoints of kind STEP where that was
//! agreed, and never a plan, results, an action that always asks, or a run that somebody paused.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::CreateRun;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::AnyPost;
use crate::support::{World, eventually};

/// Long enough for a person to pause it first, on a busy machine.
const PASSES_AFTER_MS: u64 = 5_000;
/// Everything that could pass by itself would have: all of it began before the first one passed.
const LONGER: Duration = Duration::from_millis(PASSES_AFTER_MS + 1_000);
const PATIENCE: Duration = Duration::from_secs(60);

/// A run of `tom` that stands still after each step, and passes that by itself. Its plan waits.
fn agreed(world: &World, steps: &[&str]) -> String {
    let id_of = |list: &str, name: &str| {
        let listed = world.json("admin", &[list, "list"]);
        let all = listed.as_object().unwrap().values().next().unwrap().as_array().unwrap().clone();
        all.iter().find(|one| one["name"] == name).unwrap()["id"].clone()
    };
    let new = json!({
        "project": id_of("project", "alpha"), "goal": "try", "scope": "all", "agent": id_of("identity", "tom"),
        "plan": steps, "checkpoints": { "every_steps": 1, "auto_pass_after_ms": PASSES_AFTER_MS },
    });
    let admin = world.client("admin");
    let made =
        tokio::runtime::Runtime::new().unwrap().block_on(admin.post(AnyPost(CreateRun {}.path()), &new)).unwrap();
    made["id"].as_str().unwrap().to_owned()
}

fn at_work(world: &World, steps: &[&str]) -> String {
    let run = agreed(world, steps);
    world.by("ada", &["run", "approve", &run]).ok();
    world.cli(&["run", "start", &run]).ok();
    world.by("tom", &["action", "propose", &run, "ls"]).ok();
    run
}

fn status(world: &World, run: &str) -> Value {
    world.json("ada", &["run", "show", run])["run"]["status"].clone()
}

fn rows(world: &World, run: &str, event: &str) -> Vec<Value> {
    let audit = world.json("admin", &["run", "audit", run])["rows"].clone();
    audit.as_array().unwrap().iter().filter(|row| row["event"] == event).cloned().collect()
}

#[test]
fn c10_a_step_checkpoint_passes_by_itself_where_that_was_agreed_and_nothing_else_does() {
    let (world, _) = World::start();
    let planned = agreed(&world, &["one", "two"]);
    let [stepping, asking, paused] = [(); 3].map(|()| at_work(&world, &["one", "two"]));
    let finished = at_work(&world, &["one"]);
    world.by("tom", &["run", "step", &paused, "1", "--summary", "half"]).ok();
    world.by("ada", &["run", "pause", &paused, "--reason", "to look closer"]).ok();
    world.by("tom", &["run", "step", &stepping, "1", "--summary", "half"]).ok();
    world.by("tom", &["action", "propose", &asking, "rm", "out/old.txt"]).ok();
    assert_eq!(status(&world, &asking), "CHECKPOINT_REACHED");
    world.by("tom", &["run", "step", &finished, "1", "--summary", "all"]).ok();
    world.by("tom", &["run", "finish", &finished, "--summary", "done"]).ok();
    eventually("it goes on by itself", PATIENCE, || status(&world, &stepping) == "EXECUTING");
    std::thread::sleep(LONGER);
    for (run, expected) in [
        (&planned, "PENDING_APPROVAL"),
        (&asking, "CHECKPOINT_REACHED"),
        (&paused, "PAUSED"),
        (&finished, "PENDING_EXPORT"),
        (&stepping, "EXECUTING"),
    ] {
        assert_eq!(status(&world, run), expected);
        let passed = usize::from(*run == stepping);
        assert_eq!(rows(&world, run, "run.checkpoint_lapsed").len(), passed, "{expected}");
        assert_eq!(rows(&world, run, "run.checkpoint_passed").len(), 0, "nobody passed one: {expected}");
    }
    is_recorded_as_such(&world, &stepping);
}

/// That nobody looked is on the record, and not before the time that was agreed.
fn is_recorded_as_such(world: &World, run: &str) {
    let lapsed = rows(world, run, "run.checkpoint_lapsed").remove(0);
    let reached = rows(world, run, "run.checkpoint_reached").remove(0);
    assert_eq!(lapsed["actor"], "runtime", "no person is said to have decided: {lapsed:#}");
    let at = |row: &Value| row["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let waited_ms = at(&lapsed) - at(&reached);
    assert!(waited_ms >= i64::try_from(PASSES_AFTER_MS).unwrap(), "{waited_ms}: {lapsed:#} {reached:#}");
}
