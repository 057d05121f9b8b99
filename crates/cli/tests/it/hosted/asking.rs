//! A hosted agent asks a language model: through its one door, with its own token, on its run's account.

use std::time::Duration;

use placet_store::{Config, Store};

use super::{PATIENCE, Scene, output_of};
use crate::support::{Process, World, eventually, ledger_key};

const SCRIPT: &str = "[[turn]]\nwhen = \"\"\ntext = \"Dear reader\"\nused = { input = 10, output = 5 }\n";
/// Longer than any test waits for it.
const THINKING: &str = "delay_ms = 600_000\n";
/// The real key, of which nobody in a cage may ever know.
const KEY: &str = "canary-of-the-lab-0123456789";

/// Has a model played, and gives the home a gateway to it.
pub(crate) fn model(world: &World, how: &str) -> Process {
    world.write("answers.toml", format!("{SCRIPT}{how}"));
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
    let scene = Scene::prepared("", |world| playing = Some(model(world, "")));
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

/// What the run has spent and holds in money and tokens, by the store itself while nobody has it open.
fn spent_and_held(scene: &Scene, run: &str) -> [(u64, u64); 2] {
    let home = scene.world.home();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let found = runtime.block_on(async {
        let store = Store::open(Config::new(home.join("data"), ledger_key(&home))).await.unwrap();
        store.run(run.parse().unwrap()).await.unwrap().unwrap()
    });
    let budget = found.budget.unwrap();
    [budget.spent, budget.held()].map(|amounts| (amounts.usd_micros, amounts.tokens))
}

#[test]
fn c12_exactly_what_was_held_when_the_control_plane_was_killed_counts_as_spent() {
    let mut playing = None;
    let mut scene = Scene::prepared("", |world| playing = Some(model(world, THINKING)));
    let run = scene.start("asks.py", &["write"], &["--budget-usd", "1", "--budget-tokens", "1000000"]);
    // As long as the model thinks, what was held for its answer cannot go back.
    eventually("its call is under way", PATIENCE, || {
        scene.seen(&run)["budget"]["held"]["usd_micros"].as_u64() > Some(0)
    });
    scene.world.kill_control();
    let [spent, held] = spent_and_held(&scene, &run);
    assert!(held.0 > 0 && held.1 > 0, "{held:?}");
    scene.world.serve();
    scene.stop_worker();
    scene.world.stop_control();
    assert_eq!(spent_and_held(&scene, &run), [(spent.0 + held.0, spent.1 + held.1), (0, 0)]);
}
