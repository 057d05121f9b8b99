//! The pages in real Chromium: every page looked at by axe, light, dark, on a phone and in French; every decision as a person makes it,
//! with and without scripts; keys, and news that come while a page is open.
//!
//! `./check` installs what drives the browser; pictures of every page are kept beside the build output.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::hosted::Scene;
use crate::support::{Process, Said, World, placet};

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
    // Something was decided and executed, so that every chart has something to draw.
    world.perform(&run, &["sh", "true"]);
    let refused = waiting(&world, &run, &["10.0.0.4"]);
    world.by("ada", &["reject", &refused[0], "--reason", "not today"]).ok();
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

#[test]
fn b4_two_people_sign_with_passkeys_in_a_browser_and_a_stranger_verifies_it_from_an_export() {
    let (world, run) = World::start();
    hire(&world);
    world.cli(&["identity", "add", "fay", "--role", "reviewer"]).ok();
    let risky = world.propose(&run, &["nmap", "--target", "10.0.0.0/24", "--", "-sn"]);
    let id = risky["id"].as_str().unwrap();
    let links: Vec<String> = ["eve", "fay"].iter().flat_map(|name| links(&world, name, 1)).collect();
    walk("passkeys.mjs", &json!({ "url": world.url(), "action": id, "links": links }));
    assert_eq!(world.status(id), "APPROVED");

    let key = world.json("admin", &["ledger", "head"])["key"].as_str().unwrap().to_owned();
    world.cli(&["ledger", "export", "out"]).ok();
    let said = world.cli(&["ledger", "verify", "out", "--key", &key]).ok();
    assert!(said.out().contains("2 approvals are signed by passkeys"), "{}", said.out());

    // By the terminal there is no passkey, and it says where to go.
    let next = world.propose(&run, &["nmap", "--target", "10.0.0.0/24", "--", "-sn", "-n"]);
    let next = next["id"].as_str().unwrap();
    let said = world.by("eve", &["approve", next, "--yes"]).exits(3);
    let page = format!("{}/actions/{next}", world.url().replace("127.0.0.1", "localhost"));
    assert!(said.stderr.contains(&page), "{}", said.stderr);
}

/// A real provider on this machine, and where it is.
fn provider(world: &World, secret: &str) -> (Process, String) {
    let back = format!("{}/enter/provider/back", world.url());
    let given = json!({ "secret": secret, "back": back, "alg": "RS256" });
    let mut node = Command::new("node");
    node.arg(here("provider.mjs")).env("PLACET_BROWSER", tools()).env("PLACET_GIVEN", given.to_string());
    let process = Process::start(&mut node);
    let issuer = process.line(Duration::from_secs(60), |line| line.starts_with("http://"));
    (process, issuer)
}

#[test]
fn c16_somebody_signs_on_by_a_real_provider_and_somebody_whom_nobody_named_does_not() {
    let (mut world, _) = World::start();
    hire(&world);
    let secret = "a secret of a client, 32 characters or more";
    let (_provider, issuer) = provider(&world, secret);
    let people = world.json("admin", &["identity", "list"]);
    let everybody = people.as_array().unwrap_or_else(|| people["identities"].as_array().unwrap());
    let eve = everybody.iter().find(|person| person["name"] == "eve").unwrap()["id"].as_str().unwrap();
    world.stop_control();
    let file = world.home().join("keys/oidc.secret");
    std::fs::write(&file, secret).unwrap();
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    world.edit("placet.toml", |text| {
        let oidc = format!(
            "\n[oidc]\nissuer = \"{issuer}\"\nclient_id = \"placet\"\nclient_secret_file = \"keys/oidc.secret\"\nname = \"Example\"\n"
        );
        text + &oidc + &format!("[[oidc.person]]\nidentity = \"{eve}\"\nsub = \"ada\"\n")
    });
    world.serve();
    walk("signing-on.mjs", &json!({ "url": world.url(), "issuer": issuer }));
    let log = std::fs::read_dir(world.home().join("logs")).unwrap().flatten();
    let logged: String = log.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect();
    assert!(logged.contains("whom the settings do not name") && !logged.contains(secret), "{logged}");
}
