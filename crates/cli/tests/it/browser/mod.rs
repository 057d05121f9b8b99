//! The pages in real Chromium: every page looked at by axe, light, dark, on a phone and in French; every decision as a person makes it,
//! with and without scripts; keys, and news that come while a page is open.
//!
//! Each walk tells what it got and sent, and that is what [`table`] says of it: what nobody walks to is missing there.
//!
//! `./check` installs what drives the browser; pictures of every page are kept beside the build output.

mod runs;
mod table;
mod tricks;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::hosted::{Scene, model};
use crate::lying::without_signatures;
use crate::notify::with_chat;
use crate::requests::Host;
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

/// A walk of this many pages, by four people at most, on a machine that others use too.
const PATIENCE: Duration = Duration::from_secs(300);

/// Walks through the pages with a real browser, and goes where the table says that it goes.
#[track_caller]
fn walk(name: &str, given: &Value) {
    let shots = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("pages");
    let mut node = Command::new("node");
    node.arg(here(&format!("{name}.mjs"))).env("PLACET_BROWSER", tools()).env("PLACET_SHOTS", shots);
    let said = Said::within(PATIENCE, node.env("PLACET_GIVEN", given.to_string())).ok();
    let told: Vec<String> =
        said.json().as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect();
    table::assert_walked(name, &told);
}

/// One-time links for somebody.
fn links(world: &World, name: &str, count: usize) -> Vec<String> {
    // Cookies belong to one host, and the walks use the world's numeric address.
    let at_number = |link: &str| link.replacen("http://localhost:", "http://127.0.0.1:", 1);
    (0..count).map(|_| at_number(world.json(name, &["link"])["link"].as_str().unwrap())).collect()
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

/// A run of `tom` whose plan waits.
fn planned(world: &World, scope: &str, options: &[&str]) -> String {
    let usual = ["run", "new", "look after things", "--scope", scope, "--agent", "tom", "--step", "look"];
    world.json("admin", &[&usual, options].concat())["id"].as_str().unwrap().to_owned()
}

/// The same, approved, started and at work.
fn under_way(world: &World, scope: &str, options: &[&str]) -> String {
    let run = planned(world, scope, options);
    world.by("ada", &["run", "approve", &run]).ok();
    world.by("admin", &["run", "start", &run]).ok();
    world.by("tom", &["action", "propose", &run, "ls"]).ok();
    run
}

/// One that says it is done.
fn finished(world: &World, scope: &str, options: &[&str]) -> String {
    let run = under_way(world, scope, options);
    finishes(world, &run);
    run
}

fn finishes(world: &World, run: &str) {
    world.by("tom", &["run", "step", run, "1", "--summary", "looked"]).ok();
    world.by("tom", &["run", "finish", run, "--summary", "everything is well"]).ok();
}

/// Where hosted runs live, somebody who is hired from outside, and a network that they look after.
fn lab(scene: &Scene) {
    let world = &scene.world;
    world.cli(&["identity", "add", "tom", "--role", "agent"]).ok();
    world.write("lab.toml", "allow = [\"out/**\"]\ntargets = [\"10.0.0.0/24\"]\ntools = [\"nmap\", \"sh\", \"ls\"]\n");
    world.cli(&["scope", "lock", "lab", "lab.toml"]).ok();
}

#[test]
fn c16_every_page_keeps_nobody_out_light_dark_on_a_phone_and_in_french() {
    let mut playing = None;
    let scene = Scene::prepared("", |world| playing = Some(model(world, "")));
    lab(&scene);
    let world = &scene.world;
    let asking = scene.start_steps(tricks::ASKING, &["ask"], &["--budget-usd", "1", "--model", "large-*"]);
    let hosted = scene.start("report.py", &["one", "two", "three"], &["--every-steps", "1"]);
    let run = under_way(world, "lab", &["--budget-usd", "5"]);
    // Something was decided and executed, so that every chart has something to draw.
    let done = world.perform(&run, &["sh", "true"]).id;
    let refused = waiting(world, &run, &["10.0.0.4"]);
    world.by("ada", &["reject", &refused[0], "--reason", "not today"]).ok();
    let ordered = waiting(world, &run, &["10.0.0.8"]);
    world.by("ada", &["order", "give", &ordered[0], "--yes", "--until", "2h"]).ok();
    waiting(world, &run, &["10.0.0.5", "10.0.0.6", "10.0.0.6"]);
    world.write("notes.py", "# count\nimport sys\nprint(len(\"a\") + 42)\n");
    let seen = world.propose(&run, &["sh", "python3 notes.py", "--file", "notes.py", "--because", "it is <b>safe</b>"]);
    let two = world.propose(&run, &["nmap", "--target", "10.0.0.0/24", "--", "-sn"]);
    let (hostile, changed) = (tricks::hostile(world, &run), tricks::changed(world, &run));
    let pictured = scene.start_steps(tricks::DRAWING, &["draw", "tell"], &["--every-steps", "1"]);
    scene.stands_at(&pictured, 1);
    let people = world.json("admin", &["identity", "list"]);
    let everybody = people.as_array().unwrap_or_else(|| people["identities"].as_array().unwrap());
    let known = |name: &str| everybody.iter().find(|person| person["name"] == name).unwrap()["id"].as_str().unwrap();
    let (tom, w1) = (known("tom"), known("w1"));
    let (plan, results) = (planned(world, "lab", &[]), finished(world, "lab", &[]));
    scene.stands_at(&hosted, 1);
    scene.reaches(&asking, "PENDING_EXPORT");
    let action = |id: &str| format!("/actions/{id}");
    let of_run = |id: &str| format!("/runs/{id}");
    let pages = json!({
        "inbox": "/", "chosen": format!("/?action={}", seen["id"].as_str().unwrap()), "action": action(seen["id"].as_str().unwrap()), "two-people": action(two["id"].as_str().unwrap()),
        "hostile": action(&hostile), "hostile-inbox": format!("/?action={hostile}"), "folded": format!("/?action={}", tricks::long(world, &run)), "changed": action(&changed), "pictured": of_run(&pictured),
        "executed": action(&done), "rejected": action(&refused[0]), "runs": "/runs", "run": of_run(&run), "plan": of_run(&plan),
        "results": of_run(&results), "checkpoint": of_run(&hosted), "asking": of_run(&asking), "agent-says": format!("/runs/{hosted}/log"), "program-says": format!("/actions/{done}/log"), "rollback": format!("/runs/{hosted}/rollback/1"),
        "decisions": "/decisions", "me": "/me", "orders": "/orders", "agents": "/agents", "agent": format!("/agents/{tom}"), "found": format!("/ledger?run={run}&kind=action."), "workers": "/workers", "worker": format!("/workers/{w1}"), "policy": "/policy",
        "ledger": "/ledger", "entry": "/ledger/3", "finding": "/find?q=nmap", "settings": "/settings", "help": "/help",
    });
    let links: Vec<String> = ["vera", "zoe"]
        .iter()
        .flat_map(|name| {
            world.cli(&["identity", "add", name, "--role", "reviewer", "--role", "admin", "--role", "operator"]).ok();
            links(world, name, 1)
        })
        .collect();
    walk("every-page", &json!({ "url": world.url(), "pages": pages, "links": links }));
}

#[test]
fn phone_shows_card_and_whole_hosts() {
    let (world, run) = World::start();
    let origin = "https://up.example.org";
    let script = format!(
        "curl --silent --show-error --header 'Content-Type: application/json' --data @docs/all.json {origin}/v1/things?key=1"
    );
    let one = world.propose(&run, &["sh", &script, "--because", "it is needed"])["id"].clone();
    let two = world.propose(&run, &["nmap", "--target", "10.0.0.0/24", "--", "-sn"])["id"].clone();
    walk(
        "on-a-phone",
        &json!({ "url": world.url(), "links": links(&world, "ada", 1), "origin": origin, "one": one, "two": two }),
    );
}

#[test]
fn c16_somebody_who_has_never_seen_it_approves_rejects_changes_goes_back_and_verifies() {
    let scene = Scene::new();
    let world = &scene.world;
    hire(world);
    lab(&scene);
    let hosted = scene.start("report.py", &["one", "two", "three", "four", "together"], &["--every-steps", "1"]);
    scene.stands_at(&hosted, 1);
    let run = under_way(world, "lab", &[]);
    waiting(world, &run, &["10.0.0.5", "10.0.0.6", "10.0.0.7"]);
    walk("first-time", &json!({ "url": world.url(), "links": links(world, "eve", 1) }));
}

/// Mail here is a file that appears.
const MAIL: &str = "[mail]\nprogram = \"/usr/bin/touch\"\nkind = \"send_email\"\n";

/// Actions whose worker was ended while they ran.
fn interrupted(world: &World, run: &str) -> Vec<String> {
    let worker = world.worker(&["--jobs", "4"]);
    let begins = |number: usize| world.cleared(run, &["sh", &format!("sleep 30{number}")]);
    let begun: Vec<String> = (0..4).map(begins).collect();
    begun.iter().for_each(|id| world.reaches(id, &["EXECUTING"]));
    worker.kill();
    begun.iter().for_each(|id| world.reaches(id, &["INTERRUPTED"]));
    begun
}

#[test]
fn c16_everything_is_decided_without_a_script_as_well() {
    let mut world = World::set_up();
    world.edit("tools.toml", |text| format!("{text}\n{MAIL}"));
    world.term("lease_ms", 1_500);
    world.serve();
    let run = world.undertake();
    let begun = interrupted(&world, &run);
    let rehearsing = under_way(&world, "all", &["--mode", "simulation"]);
    let proposed = |args: &[&str]| world.propose(&rehearsing, args)["id"].as_str().unwrap().to_owned();
    let mails = ["first.txt", "second.txt"].map(|name| proposed(&["mail", name]));
    finishes(&world, &rehearsing);
    let of = |index: usize| {
        let hosts: Vec<String> = (1..6).map(|host| format!("10.0.0.{}", 10 * (index + 1) + host)).collect();
        let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
        let waits = waiting(&world, &run, &[hosts[0], hosts[1], hosts[2], hosts[3], hosts[4], hosts[4]]);
        let two = world.propose(&run, &["nmap", "--target", "10.0.0.0/24", "--", "-sn"]);
        world.write("notes.sh", "#!/bin/sh\necho one\necho two\n");
        world.write("mixed.txt", "one\r\ntwo\n");
        let given = ["--file", "notes.sh", "--file", "mixed.txt", "--env", "MODE=fast"];
        let rewritten = world.propose(&run, &[&["sh", &format!("sh notes.sh {index}")][..], &given].concat());
        let again = world.propose(&run, &["sh", &format!("sh notes.sh {index} again"), "--file", "notes.sh"]);
        json!({
            "rewrite": rewritten["id"], "again": again["id"], "approve": waits[0], "reject": waits[1], "amend": waits[2], "order": waits[3], "twin": waits[4], "two": two["id"],
            "perform": mails[index], "retry": begun[2 * index], "abandon": begun[2 * index + 1],
        })
    };
    let people = ["eve", "fay"];
    let links: Vec<String> = people
        .iter()
        .flat_map(|name| {
            world.cli(&["identity", "add", name, "--role", "reviewer"]).ok();
            links(&world, name, 1)
        })
        .collect();
    walk("deciding", &json!({ "url": world.url(), "links": links, "of": [of(0), of(1)] }));
}

#[test]
fn c16_whatever_people_set_is_set_by_hand_with_a_script_and_without() {
    let (mut world, _) = World::start();
    world.stop_control();
    let host = Host::start(PathBuf::from("/nowhere"));
    for name in ["vera-chat", "zoe-chat"] {
        with_chat(&world, &host, name, ", networks = [\"127.0.0.0/8\"]");
    }
    with_chat(&world, &host, "closed", "");
    world.serve();
    world.cli(&["identity", "add", "tess", "--role", "auditor"]).ok();
    let of = |name: &str| {
        world.cli(&["identity", "add", name, "--role", "reviewer", "--role", "admin"]).ok();
        json!({ "name": name, "link": links(&world, name, 1)[0] })
    };
    walk("settling", &json!({ "url": world.url(), "of": [of("vera"), of("zoe")] }));
    assert_eq!(host.heard().len(), 2, "each test arrived once: {:?}", host.heard());
}

#[test]
fn c16_keys_decide_and_news_come_by_themselves() {
    let (world, run) = World::start();
    hire(&world);
    waiting(&world, &run, &["10.0.0.5", "10.0.0.6"]);
    let binary = placet().get_program().to_string_lossy().into_owned();
    let twins = waiting(&world, &run, &["10.0.0.7", "10.0.0.7"]);
    world.write("notes.sh", "#!/bin/sh\necho one\n");
    let filed = world.propose(&run, &["sh", "sh notes.sh", "--file", "notes.sh"]);
    let propose = json!([binary, "--as", "tom", "action", "propose", run, "nmap", "--target", "10.0.0.9", "--", "-sV"]);
    let risky =
        json!([binary, "--as", "tom", "action", "propose", run, "nmap", "--target", "10.0.0.0/24", "--", "-sn"]);
    let given = json!({
        "url": world.url(), "links": links(&world, "eve", 1), "propose": propose, "risky": risky, "cwd": world.path(""),
        "filed": filed["id"], "twin": twins[0],
    });
    walk("keys-and-news", &given);
}

#[test]
fn c16_open_pages_change_with_what_others_decide_and_what_somebody_writes_stays() {
    let (world, run) = World::start();
    hire(&world);
    let actions = waiting(&world, &run, &["10.0.0.5", "10.0.0.6", "10.0.0.7"]);
    let twins = waiting(&world, &run, &["10.0.0.77", "10.0.0.77"]);
    let binary = placet().get_program().to_string_lossy().into_owned();
    let given = json!({
        "url": world.url(), "links": links(&world, "eve", 1), "binary": binary, "cwd": world.path(""), "run": run,
        "actions": actions, "twins": twins,
    });
    walk("up-to-date", &given);
}

#[test]
fn b4_two_people_sign_with_passkeys_in_a_browser_and_a_stranger_verifies_it_from_an_export() {
    let (world, run) = World::start();
    hire(&world);
    world.cli(&["identity", "add", "fay", "--role", "reviewer"]).ok();
    let risky = world.propose(&run, &["nmap", "--target", "10.0.0.0/24", "--", "-sn"]);
    let id = risky["id"].as_str().unwrap();
    let people: Vec<String> = ["eve", "fay"].iter().flat_map(|name| links(&world, name, 1)).collect();
    let given = json!({ "url": world.url(), "action": id, "links": people });
    walk("passkeys", &given);
    assert_eq!(world.status(id), "APPROVED");

    let key = world.json("admin", &["ledger", "head"])["key"].as_str().unwrap().to_owned();
    world.cli(&["ledger", "export", "out"]).ok();
    let said = world.cli(&["ledger", "verify", "out", "--key", &key]).ok();
    assert!(said.out().contains("2 approvals are signed by passkeys"), "{}", said.out());
    let said = without_signatures(&world, &key, "action.approved");
    assert!(said.contains("is not signed by a passkey, and had to be"), "{said}");

    // By the terminal there is no passkey, and it says where to go.
    let next = world.propose(&run, &["nmap", "--target", "10.0.0.0/24", "--", "-sn", "-n"]);
    let next = next["id"].as_str().unwrap();
    let said = world.confirms("eve", next).exits(3);
    let page = format!("{}/actions/{next}", world.url().replace("127.0.0.1", "localhost"));
    assert!(said.stderr.contains(&page), "{}", said.stderr);
}

#[test]
fn c16_doors_of_whoever_has_passkeys_are_changed_by_passkeys_in_a_browser_and_by_the_host() {
    let (mut world, _) = World::start();
    hire(&world);
    world.cli(&["identity", "add", "gus", "--role", "reviewer"]).ok();
    let link = |name: &str| links(&world, name, 1).remove(0);
    let given = json!({ "url": world.url(), "eve": link("eve"), "gus": link("gus"), "admin": link("admin") });
    walk("doors", &given);
    // Eve lost all of hers and comes in as at first; the administrator has one, which no token gets around.
    link("eve");
    let said = world.by("admin", &["link"]).exits(3);
    assert!(said.stderr.contains("placet identity end-passkeys"), "{}", said.stderr);

    let key = world.json("admin", &["ledger", "head"])["key"].as_str().unwrap().to_owned();
    world.cli(&["ledger", "export", "out"]).ok();
    let said = world.cli(&["ledger", "verify", "out", "--key", &key]).ok();
    assert!(said.out().contains("6 changes of doors are signed by passkeys"), "{}", said.out());
    for kind in [
        "identity.passkey_added",
        "identity.passkey_removed",
        "identity.password_set",
        "identity.invited",
        "identity.token_replaced",
    ] {
        let said = without_signatures(&world, &key, kind);
        assert!(said.contains("is not signed by a passkey, and had to be"), "{kind}: {said}");
    }

    let end = ["identity", "end-passkeys", "admin", "--reason", "it fell into a lake"];
    world.cli(&end).exits(9);
    world.stop_control();
    world.cli(&["identity", "end-passkeys", "nobody", "--reason", "x"]).exits(10);
    world.cli(&end).ok();
    world.cli(&end).exits(3);
    world.serve();
    links(&world, "admin", 1);
    world.cli(&["ledger", "export", "after"]).ok();
    let said = world.cli(&["ledger", "verify", "after", "--key", &key]).ok();
    assert!(said.out().contains("passkeys ended on the host, by whoever keeps its files: 1"), "{}", said.out());
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
    walk("signing-on", &json!({ "url": world.url(), "issuer": issuer }));
    let log = std::fs::read_dir(world.home().join("logs")).unwrap().flatten();
    let logged: String = log.map(|entry| std::fs::read_to_string(entry.path()).unwrap()).collect();
    assert!(logged.contains("whom the settings do not name") && !logged.contains(secret), "{logged}");
}

#[test]
fn c16_people_come_by_a_proxy_that_speaks_tls_under_the_name_that_the_settings_say() {
    let (mut world, run) = World::start();
    hire(&world);
    waiting(&world, &run, &["10.0.0.5"]);
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    world.stop_control();
    world.edit("placet.toml", |text| format!("public_url = \"https://localhost:{port}\"\n{text}"));
    world.serve();
    let url = format!("https://localhost:{port}");
    let binary = placet().get_program().to_string_lossy().into_owned();
    let propose = |target: &str| {
        json!([binary, "--as", "tom", "action", "propose", run, "nmap", "--target", target, "--", "-sV"])
    };
    let given = json!({
        "url": url, "behind": world.url(), "links": links(&world, "eve", 1), "propose": propose("10.0.0.9"),
        "proposeMore": propose("10.0.0.8"), "cwd": world.path(""),
    });
    walk("behind-a-proxy", &given);
}
