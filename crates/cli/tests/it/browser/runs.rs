//! Every decision about a run, in real Chromium: plans, checkpoints, results, wishes for more network, and going back.

use std::time::Duration;

use serde_json::{Value, json};

use super::{finished, lab, links, planned, under_way, walk};
use crate::hosted::Scene;
use crate::network::ASK;
use crate::support::{World, eventually, placet};

/// Names that an action asks for, and that are nobody's here.
const HOSTS: [&str; 4] = ["news.test", "maps.test", "mail.test", "shop.test"];

/// A run that was refused all of them.
fn wishing(world: &World) -> String {
    world.write("net.toml", "allow = [\"out/**\"]\ntargets = [\"known.test\"]\ntools = [\"python3\", \"ls\"]\n");
    world.cli(&["scope", "lock", "net", "net.toml"]).ok();
    let run = under_way(world, "net", &[]);
    let asked = HOSTS.map(|host| format!("    ask('http://{host}/x')"));
    // Until people were asked: what nobody was asked about when an action ends is not asked any more.
    let script = format!("{ASK}\nimport time\nfor _ in range(300):\n{}\n    time.sleep(0.2)", asked.join("\n"));
    world.cleared(&run, &["python3", "--network", "http://known.test/", "--", "-c", &script]);
    eventually("people are asked about all of them", Duration::from_secs(60), || {
        world.json("ada", &["run", "wishes", &run])["wishes"].as_array().unwrap().len() == HOSTS.len()
    });
    run
}

/// One that stands at its first checkpoint.
fn standing(world: &World) -> String {
    let steps = ["--step", "sort", "--step", "count", "--step", "write", "--every-steps", "1"];
    let run = under_way(world, "lab", &steps);
    world.by("tom", &["run", "step", &run, "1", "--summary", "the first"]).ok();
    run
}

/// Creates a run that waits for budget: the only action of its budget was executed, and it proposes another.
fn used_up(world: &World, busy_seconds: u32) -> String {
    let run = planned(world, "lab", &["--budget-actions", "1", "--warn-at", "100"]);
    world.by("ada", &["run", "approve", &run]).ok();
    world.by("admin", &["run", "start", &run]).ok();
    let busy = world.cleared(&run, &["sh", &format!("sleep {busy_seconds}")]);
    world.reaches(&busy, &["EXECUTING"]);
    world.by("tom", &["action", "propose", &run, "ls"]).ok();
    eventually("its budget is used up", Duration::from_secs(60), || {
        world.json("ada", &["run", "show", &run])["run"]["status"] == "PAUSED"
    });
    run
}

#[test]
fn c10_every_decision_about_a_run_is_made_by_hand_with_a_script_and_without() {
    let scene = Scene::new();
    lab(&scene);
    let world = &scene.world;
    let hosted = [(); 2].map(|()| scene.start("report.py", &["one", "two", "three"], &["--every-steps", "1"]));
    // Created before the wishes, whose action occupies one of the worker's two places; the first of these runs frees its place for the
    // second.
    let used = [8, 25].map(|seconds| used_up(world, seconds));
    let wishes = wishing(world);
    hosted.iter().for_each(|run| drop(scene.stands_at(run, 1)));
    let of = |index: usize| -> Value {
        json!({
            "used": used[index],
            "refused": planned(world, "lab", &[]), "whole": planned(world, "lab", &[]), "stops": standing(world),
            "finished": finished(world, "lab", &[]), "hosted": hosted[index], "wishes": wishes,
            "hosts": HOSTS[2 * index..2 * index + 2],
        })
    };
    let hired = ["eve", "fay"].iter().flat_map(|name| {
        world.cli(&["identity", "add", name, "--role", "reviewer", "--role", "operator"]).ok();
        links(world, name, 1)
    });
    let hired: Vec<String> = hired.collect();
    let binary = placet().get_program().to_string_lossy().into_owned();
    walk(
        "running",
        &json!({
            "url": world.url(), "links": hired, "of": [of(0), of(1)], "binary": binary, "cwd": world.path(""),
        }),
    );
}

/// Talks all the time, hostile once, while its action talks too.
const TALKING: &str = r#"
import sys, threading, time
from placet import Run
run = Run()
run.catch_up(0)
print("<b>bold</b> \x1b[31mred \u202etxt.exe", flush=True)
sys.stdout.buffer.write(b"\xff\xfe\x00\n")
sys.stdout.flush()
def talk():
    number = 0
    while True:
        number += 1
        print("looking at note", number, flush=True)
        if number % 4 == 0:
            print("note", number, "is empty", file=sys.stderr, flush=True)
        time.sleep(0.4)
threading.Thread(target=talk, daemon=True).start()
run.act("sh", "for step in $(seq 1000); do echo step $step of 1000; sleep 0.4; done", why="count")
"#;

#[test]
fn c16_what_programs_say_appears_on_open_pages_by_itself_and_nobody_is_torn_away() {
    let scene = Scene::new();
    let world = &scene.world;
    let run = scene.start_script(TALKING, &[]);
    scene.approve_action(&run);
    let id = world.json("ada", &["run", "show", &run])["actions"][0]["id"].as_str().unwrap().to_owned();
    world.reaches(&id, &["EXECUTING"]);
    world.cli(&["identity", "add", "eve", "--role", "reviewer", "--role", "operator"]).ok();
    walk("saying", &json!({ "url": world.url(), "links": links(world, "eve", 3), "run": run, "action": id }));
}
