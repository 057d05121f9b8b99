//! What programs say while they work is seen before they end: by the command line, by the API and on the pages, and never by a secret.

use placet_wire::Endpoint as _;
use placet_wire::api::LogQuery;
use placet_wire::endpoint::ReadActionLog;
use serde_json::Value;

use super::{PATIENCE, Scene};
use crate::support::AnyGet;
use crate::support::{Process, eventually};

/// Says something, has something done that says something, and goes on when that was done.
const SAYING: &str = r#"
import sys
from placet import Run
run = Run()
run.catch_up(0)
print("reading the notes", flush=True)
print("one of them is \x1b[31mempty", file=sys.stderr, flush=True)
print("token ghp_Zq8TnV3xWc5RkL7mPb2YdJf9HsGa4Ue6NiKo", flush=True)
status = run.act("sh", "echo first; echo oh >&2; sleep 6; echo second", why="count")
print("the action", status, flush=True)
run.done(1, "read")
run.finish("read")
"#;

fn log(scene: &Scene, run: &str) -> String {
    scene.world.by("ada", &["run", "log", run]).ok().out().to_owned()
}

/// The only action of a run, as it is now.
fn action(scene: &Scene, run: &str) -> Value {
    scene.world.json("ada", &["run", "show", run])["actions"][0].clone()
}

/// What the API says of it.
fn api(scene: &Scene, path: &str) -> Value {
    let client = scene.world.client("ada");
    tokio::runtime::Runtime::new().unwrap().block_on(client.get(AnyGet(path.to_owned()))).unwrap()
}

#[test]
fn c16_what_a_hosted_agent_and_its_action_say_is_seen_before_they_end() {
    let scene = Scene::new();
    let run = scene.start_script(SAYING, &[]);
    eventually("its words are seen", PATIENCE, || log(&scene, &run).contains("reading the notes"));
    eventually("all of them", PATIENCE, || log(&scene, &run).contains("token"));
    let said = log(&scene, &run);
    assert!(said.contains("token [redacted ") && !said.contains("Zq8TnV3x"), "{said}");
    assert!(said.contains("! one of them is ⟦U+001B⟧[31mempty"), "{said}");
    assert!(!said.contains("the action"), "{said}");
    let mut follows = Process::start(&mut scene.world.command(&["--as", "ada", "run", "log", &run, "--follow"]));
    follows.line(PATIENCE, |line| line.contains("reading the notes"));

    scene.approve_action(&run);
    let id = action(&scene, &run)["id"].as_str().unwrap().to_owned();
    let path = ReadActionLog { action: id.parse().unwrap(), query: LogQuery::default() }.target();
    eventually("the action's words are seen", PATIENCE, || api(&scene, &path).to_string().contains("first"));
    assert_eq!(action(&scene, &run)["status"], "EXECUTING");
    follows.line(PATIENCE, |line| line.contains("the action SUCCEEDED"));
    let after = api(&scene, &path);
    assert!(after["pieces"].as_array().unwrap().is_empty() && after["ended"] == true, "{after}");
    for (name, kept) in [("stdout", "first\nsecond\n"), ("stderr", "oh\n")] {
        assert_eq!(scene.world.by("ada", &["evidence", "get", &id, name]).ok().out(), kept, "evidence is whole");
    }
    scene.reaches(&run, "PENDING_EXPORT");
    scene.world.by("admin", &["run", "cancel", &run]).ok();
    assert!(follows.wait(PATIENCE).success());
    let lines = scene.world.by("ada", &["--json", "run", "log", &run]).ok();
    for line in lines.out().lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap()["is"].is_string(), "{line}");
    }
    let audit = scene.world.by("admin", &["run", "audit", &run]).ok();
    assert!(!audit.out().contains("reading the notes"), "nothing of it is recorded");
}

/// Fifty megabytes in lines, then something worth reading.
const FLOODING: &str = r#"
import sys
from placet import Run
run = Run()
run.catch_up(0)
for _ in range(50):
    sys.stdout.write(("x" * 99 + "\n") * 10_000)
print("the flood is over", flush=True)
run.done(1, "said a lot")
run.finish("said a lot")
"#;

#[test]
fn e8_an_agent_that_floods_is_not_slowed_and_what_was_skipped_is_told() {
    let scene = Scene::new();
    let run = scene.start_script(FLOODING, &[]);
    scene.reaches(&run, "PENDING_EXPORT");
    eventually("its last words are seen", PATIENCE, || log(&scene, &run).contains("the flood is over"));
    let pieces = scene.world.by("ada", &["--json", "run", "log", &run]).ok();
    let pieces: Vec<Value> = pieces.out().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let skipped: u64 =
        pieces.iter().filter(|piece| piece["is"] == "skipped").filter_map(|piece| piece["bytes"].as_u64()).sum();
    assert!(skipped > 40_000_000, "{skipped}");
    assert!(pieces.iter().map(|piece| piece["text"].as_str().map_or(0, str::len)).sum::<usize>() <= 64 << 10);
}
