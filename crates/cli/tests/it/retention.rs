//! `placet evidence expire` and `preserve`, and what a scrub says of evidence. Days cannot be waited for here: what is removed after
//! them, the suites of the store and the control plane show.

use serde_json::{Value, json};

use crate::support::World;

fn keeping(world: &World, text: &str) {
    world.edit("placet.toml", |settings| format!("{settings}\n[retention]\n{text}\n"));
}

#[test]
fn c14_without_a_setting_nothing_is_removed_and_it_says_what_to_set() {
    let (world, _run) = World::start();
    let view: Value = world.json("admin", &["evidence", "expire", "--dry-run"]);
    assert_eq!((&view["removable_count"], &view["evidence_days"]), (&json!(0), &Value::Null), "{view}");
    let refused = world.cli(&["evidence", "expire", "--yes"]).exits(2);
    assert!(refused.stderr.contains("[retention]"), "{}", refused.stderr);
    world.cli(&["evidence", "expire"]).exits(2);
    world.cli(&["evidence", "expire", "--yes", "--dry-run"]).exits(2);
}

#[test]
fn c14_only_administrators_remove_and_a_typo_in_the_days_refuses_to_start() {
    let mut world = World::set_up();
    for (days, said) in [("evidence_days = 0", "1 to 36500 days"), ("evidence_day = 9", "evidence_day")] {
        let before = std::fs::read_to_string(world.home().join("placet.toml")).unwrap();
        keeping(&world, days);
        let refused = world.cli(&["serve"]).exits(2);
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
        world.edit("placet.toml", |_| before);
    }
    keeping(&world, "evidence_days = 90\nresults_days = 2555");
    world.serve();
    let run = world.undertake();
    world.by("ada", &["evidence", "expire", "--yes"]).exits(3);
    let removed: Value = world.json("admin", &["evidence", "expire", "--yes"]);
    assert_eq!(removed["removed"], 0);
    world.by("ada", &["evidence", "preserve", "--run", &run, "--reason", "look"]).exits(3);
    let said = world.cli(&["evidence", "preserve", "--run", &run, "--reason", "the auditors asked"]).ok();
    assert!(said.out().contains(&run) && said.out().contains("the auditors asked"), "{}", said.out());
    let shown = world.cli(&["evidence", "expire", "--dry-run"]).ok();
    for part in ["after 90 days", "after 2555 days", "preserved"] {
        assert!(shown.out().contains(part), "{}", shown.out());
    }
    world.cli(&["evidence", "preserve", "--run", &run, "--end", "--reason", "done"]).ok();
}

#[test]
fn c14_a_scrub_finds_evidence_that_is_gone_without_an_entry() {
    let (mut world, run) = World::start();
    world.write("notes.txt", "something to look at");
    world.propose(&run, &["sh", "cat notes.txt", "--file", "notes.txt"]);
    world.stop_control();
    let sound: Value = world.json("admin", &["ledger", "scrub"]);
    assert_eq!(sound["evidence"]["faults"], json!([]), "{sound}");
    assert_eq!((&sound["evidence"]["intact"], &sound["evidence"]["removed"]), (&json!(1), &json!(0)));
    let below = |path: &std::path::Path| {
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let folders = below(&world.home().join("data/evidence"));
    let files: Vec<_> = folders.iter().flat_map(|folder| below(folder)).collect();
    let [file] = &files[..] else { panic!("one piece: {files:?}") };
    std::fs::remove_file(file).unwrap();
    let broken = world.cli(&["ledger", "scrub"]).exits(4);
    assert!(broken.out().contains("no entry of the ledger says that it was removed"), "{}", broken.out());
}
