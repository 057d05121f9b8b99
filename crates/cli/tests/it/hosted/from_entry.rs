//! A team's own agent in the catalogue, with its program: planned from an intent, started by a worker, held to its entry (C4).

use std::fs;

use super::{Scene, agents, output_of};

/// An entry of the team's own that starts this script of ours, and the files beside it.
pub(super) fn entry(scene: &Scene, script: &str) {
    let shipped = scene.world.cli(&["catalog", "show", "code_agent", "--source"]).ok();
    let launch = format!(
        "speaks = \"placet-api\"\nprogram = \"/usr/bin/python3\"\narguments = [\"{script}\"]\nfiles = [\"writer\"]"
    );
    let ours =
        shipped.out().replace("id = \"code_agent\"", "id = \"writer\"").replace("level = \"L2\"", "level = \"L3\"");
    let catalog = scene.world.home().join("catalog");
    fs::create_dir_all(catalog.join("writer")).unwrap();
    for file in [script, "placet.py"] {
        fs::copy(agents(file), catalog.join("writer").join(file)).unwrap();
    }
    fs::write(catalog.join("writer.toml"), ours.replace("speaks = \"placet-api\"", &launch)).unwrap();
}

/// Steps that a person declared, for an agent of the catalogue.
const INTENT: &str = r#"
goal = "write the report"
mode = "CHECKPOINT"
agent = "writer"
steps = [{ title = "the question", capability = "write_text" }, { title = "put it together", capability = "write_text" }]
"#;

#[test]
fn c4_an_agent_of_the_catalogue_is_planned_started_and_finished_without_naming_its_program() {
    let mut scene = Scene::new();
    entry(&scene, "report.py");
    scene.world.cli(&["catalog", "check"]).ok();
    scene.restart();
    scene.world.write("intent.toml", INTENT);
    let made = scene.world.json("admin", &["run", "plan", "--intent", "intent.toml", "--scope", "all"]);
    let run = made["execution_id"].as_str().unwrap().to_owned();
    let shown = scene.world.by("ada", &["run", "approve", &run]).ok();
    for part in ["starts /usr/bin/python3 report.py", "with   placet.py", "with   report.py", "chosen: writer"] {
        assert!(shown.stderr.contains(part), "{part}: {}", shown.stderr);
    }
    scene.world.by("admin", &["run", "start", &run]).ok();
    scene.stands_at(&run, 1);
    scene.world.by("ada", &["run", "approve", &run]).ok();
    scene.approve_action(&run);
    scene.reaches(&run, "PENDING_EXPORT");
    let whole = output_of(&scene, &run, "report.md");
    let to = scene.world.path("results");
    scene.world.by("ada", &["run", "export", &run, "--to", to.to_str().unwrap(), "--output", &whole]).ok();
    assert_eq!(fs::read_to_string(to.join("report.md")).unwrap(), "## the question\n\nSection 1.\n");
    scene.is_gone(&run);
}

#[test]
fn c4_files_that_an_entry_names_and_nobody_brought_are_told_before_anything_is_planned() {
    let scene = Scene::new();
    entry(&scene, "report.py");
    fs::remove_dir_all(scene.world.home().join("catalog/writer")).unwrap();
    let told = scene.world.cli(&["catalog", "check"]).exits(2);
    assert!(
        told.stderr.contains("catalog/writer") && told.stderr.contains("`files` of the agent `writer`"),
        "{told:?}"
    );
}
