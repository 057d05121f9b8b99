//! A hosted agent asks a language model: through its one door, with its own token, on its run's account.

use std::time::Duration;

use super::{PATIENCE, Scene, output_of};
use crate::support::{Process, World, eventually};

const SCRIPT: &str = "[[turn]]\nwhen = \"\"\ntext = \"Dear reader\"\nused = { input = 10, output = 5 }\n";
/// The real key, of which nobody in a cage may ever know.
const KEY: &str = "canary-of-the-lab-0123456789";

/// Has a model played, and gives the home a gateway to it.
fn model(world: &World) -> Process {
    world.write("answers.toml", SCRIPT);
    let playing = Process::start(&mut world.command(&["model", "script", "answers.toml"]));
    let line = playing.line(Duration::from_secs(20), |line| line.starts_with("serving "));
    let url = line.trim_start_matches("serving ").trim();
    world.write("lab.key", KEY);
    let key = world.path("lab.key");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let gateway = format!(
        "[[upstream]]\nname = \"lab\"\nwire = [\"messages\"]\nbase_url = \"{url}\"\nmodels = [\"large-1\"]\n\
         key = {{ file = {key:?} }}\n[[price]]\nmodel = \"*\"\ninput = 4_000_000\noutput = 12_000_000\n"
    );
    std::fs::write(world.home().join("gateway.toml"), gateway).unwrap();
    playing
}

#[test]
fn c12_a_hosted_agent_asks_a_model_and_its_run_pays() {
    let mut playing = None;
    let scene = Scene::prepared("", |world| playing = Some(model(world)));
    assert!(scene.world.cli(&["model", "check"]).ok().out().contains("large-1"));
    let run = scene.start("asks.py", &["write"], &["--budget-usd", "1", "--model", "large-*"]);
    let seen = scene.reaches(&run, "PENDING_EXPORT");
    assert_eq!(seen["said"], "Dear reader", "and no key is in its cage");
    output_of(&scene, &run, "letter.txt");
    eventually("what is left has gone back", PATIENCE, || {
        let budget = &scene.seen(&run)["budget"];
        budget["spent"]["usd_micros"] == 100 && budget["held"].get("usd_micros").is_none_or(|held| held == 0)
    });
    let audit = scene.world.by("ada", &["run", "audit", &run]).ok();
    assert!(audit.out().contains("run.model_called"), "{}", audit.out());
}

#[test]
fn c12_what_was_held_when_the_control_plane_was_killed_counts_as_spent() {
    let mut playing = None;
    let mut scene = Scene::prepared("", |world| playing = Some(model(world)));
    let run = scene.start("asks.py", &["write"], &["--budget-usd", "1"]);
    eventually("it has called", PATIENCE, || scene.seen(&run)["budget"]["spent"]["usd_micros"] == 100);
    let held = scene.seen(&run)["budget"]["held"]["usd_micros"].as_u64().unwrap_or(0);
    scene.world.kill_control();
    scene.world.serve();
    let budget = scene.seen(&run)["budget"].clone();
    assert_eq!(budget["held"].get("usd_micros").and_then(serde_json::Value::as_u64).unwrap_or(0), 0, "{budget:#}");
    let spent = budget["spent"]["usd_micros"].as_u64().unwrap();
    assert!(spent == 100 + held || spent == 100, "all of the part, unless it had gone back just before: {budget:#}");
}
