//! The pages in real Chromium: every page looked at by axe, light, dark, on a phone and in French; every decision as a person makes it,
//! with and without scripts; keys, and news that come while a page is open.
//!
//! `./check` installs what drives the browser; pictures of every page are kept beside the build output.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::hosted::Scene;
use crate::support::{Said, World, placet};

fn here(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/browser").join(name)
}

/// Where `./check` puts what drives the browser.
fn tools() -> PathBuf {
    let usual = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/placet/browser");
    let dir = std::env::var_os("PLACET_BROWSER").map_or_else(usual, PathBuf::from);
    assert!(dir.join("node_modules/playwright-core").is_dir(), "what drives the browser is missing: run ./check once");
    dir
}

/// Walks through the pages with a real browser.
#[track_caller]
fn walk(script: &str, given: &Value) {
    let shots = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages");
    let mut node = Command::new("node");
    node.arg(here(script)).env("PLACET_BROWSER", tools()).env("PLACET_SHOTS", shots);
    Said::by(node.env("PLACET_GIVEN", given.to_string())).ok();
}

/// One-time links for somebody.
fn links(world: &World, name: &str, count: usize) -> Vec<String> {
    (0..count).map(|_| world.json(name, &["link"])["link"].as_str().unwrap().to_owned()).collect()
}

/// Somebody who decides and reads the ledger, in a world where scans of these hosts wait.
fn waiting(world: &World, run: &str, hosts: &[&str]) -> Vec<String> {
    let wish = |host: &&str| {
        let view = world.propose(run, &["nmap", "--target", host, "--because", "it is needed", "--", "-sV", "-Pn"]);
        view["id"].as_str().unwrap().to_owned()
    };
    hosts.iter().map(wish).collect()
}

fn hire(world: &World) {
    world.cli(&["identity", "add", "eve", "--role", "reviewer", "--role", "auditor"]).ok();
}

#[test]
fn c16_every_page_keeps_nobody_out_light_dark_on_a_phone_and_in_french() {
    let (world, run) = World::start();
    let _worker = world.worker(&[]);
    world.write("notes.py", "# count\nimport sys\nprint(len(\"a\") + 42)\n");
    let seen = world.propose(&run, &["sh", "python3 notes.py", "--file", "notes.py", "--because", "it is <b>safe</b>"]);
    let ordered = waiting(&world, &run, &["10.0.0.8"]);
    world.by("ada", &["order", "give", &ordered[0], "--yes", "--until", "2h"]).ok();
    waiting(&world, &run, &["10.0.0.5", "10.0.0.6", "10.0.0.6"]);
    world.json("admin", &["run", "new", "a plan that waits", "--scope", "all", "--agent", "tom", "--step", "look"]);
    let given = json!({ "url": world.url(), "run": run, "action": seen["id"], "links": per_person(&world) });
    walk("every-page.mjs", &given);
}

/// Links of several people, since one person has only a few at a time.
fn per_person(world: &World) -> Vec<String> {
    let people: Vec<String> = (0..8).map(|number| format!("viewer{number}")).collect();
    for name in &people {
        world.cli(&["identity", "add", name, "--role", "reviewer", "--role", "auditor", "--role", "operator"]).ok();
    }
    people.iter().flat_map(|name| links(world, name, 1)).collect()
}

#[test]
fn c16_somebody_who_has_never_seen_it_approves_rejects_changes_goes_back_and_verifies() {
    let scene = Scene::new();
    let world = &scene.world;
    hire(world);
    world.cli(&["identity", "add", "tom", "--role", "agent"]).ok();
    let hosted = scene.start("report.py", &["one", "two", "three", "four", "together"], &["--every-steps", "1"]);
    scene.stands_at(&hosted, 1);
    world.write("lab.toml", "targets = [\"10.0.0.0/24\"]\ntools = [\"nmap\"]\n");
    world.cli(&["scope", "lock", "lab", "lab.toml"]).ok();
    let run = world.json("admin", &["run", "new", "scan", "--scope", "lab", "--agent", "tom", "--step", "scan"]);
    let run = run["id"].as_str().unwrap();
    world.by("ada", &["run", "approve", run]).ok();
    world.by("admin", &["run", "start", run]).ok();
    waiting(world, run, &["10.0.0.5", "10.0.0.6", "10.0.0.7"]);
    walk("first-time.mjs", &json!({ "url": world.url(), "links": links(world, "eve", 1) }));
}

#[test]
fn c16_everything_is_decided_without_a_script_as_well() {
    let (world, run) = World::start();
    hire(&world);
    waiting(&world, &run, &["10.0.0.5", "10.0.0.6", "10.0.0.7"]);
    walk("without-script.mjs", &json!({ "url": world.url(), "name": "eve", "links": links(&world, "eve", 1) }));
}

#[test]
fn c16_keys_decide_and_news_come_by_themselves() {
    let (world, run) = World::start();
    hire(&world);
    waiting(&world, &run, &["10.0.0.5", "10.0.0.6"]);
    let binary = placet().get_program().to_string_lossy().into_owned();
    let propose = json!([binary, "--as", "tom", "action", "propose", run, "nmap", "--target", "10.0.0.9", "--", "-sV"]);
    let risky =
        json!([binary, "--as", "tom", "action", "propose", run, "nmap", "--target", "10.0.0.0/24", "--", "-sn"]);
    let given = json!({
        "url": world.url(), "links": links(&world, "eve", 1), "propose": propose, "risky": risky, "cwd": world.path(""),
    });
    walk("keys-and-news.mjs", &given);
}
