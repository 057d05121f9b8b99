//! Attacks on the record: the ledger and its export, the event stream, and the logs of services.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use super::attacks;
use super::scene::{Scene, done_if};
use crate::support::{Process, names_in};

attacks! { "reviewer";
    lines_in_the_export, "forge an entry of the ledger", Escaped, "verified", honestly an_export_holds_what_was_said;
    lines_in_the_event_stream, "forge the end of a run", Escaped, "one end", honestly a_run_that_ends_is_seen_to_end;
    lines_in_the_log_of_a_worker, "forge a line of a log", Escaped, "json lines", honestly a_worker_logs;
}

fn words(scene: &Scene) -> String {
    format!("{}\n{{\"seq\":0,\"kind\":\"action.approved\"}}\n", scene.canary)
}

/// What is in an export made once the newest entries are under a signed head, if it is sound.
fn exported(scene: &Scene, sought: &str) -> String {
    let (mut number, mut text) = (0, String::new());
    crate::support::eventually(&format!("the export tells of {sought}"), Duration::from_secs(30), || {
        number += 1;
        let name = format!("{sought}-{number}");
        let made = scene.world.json("admin", &["ledger", "export", &name]);
        scene.world.cli(&["ledger", "verify", &name, "--key", made["key"].as_str().unwrap()]).ok();
        text = texts_in(&scene.world.path(&name));
        text.contains(sought)
    });
    text
}

/// Every text in a folder and below; what is no text is shown as far as it is.
fn texts_in(dir: &std::path::Path) -> String {
    let paths = names_in(dir).into_iter().map(|name| dir.join(name));
    let text = |path: std::path::PathBuf| match path.is_dir() {
        true => texts_in(&path),
        false => String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned(),
    };
    paths.map(text).collect()
}

/// Goals and plans are people's; what of an agent's own words goes into the ledger is its summary.
fn lines_in_the_export(scene: &Scene) -> String {
    scene.waiting();
    scene.agent(&["run", "finish", &scene.run, "--summary", &words(scene)]).ok();
    let text = exported(scene, &scene.canary);
    let forged = text.lines().any(|line| line.starts_with("{\"seq\":0"));
    let escaped = text.contains(&format!("{}\\n{{\\\"seq\\\":0", scene.canary));
    if escaped && !forged { "verified".to_owned() } else { text }
}

fn an_export_holds_what_was_said(scene: &Scene) -> String {
    scene.world.by("ada", &["run", "complete", &scene.run]).ok();
    let text = exported(scene, "run.completed");
    done_if(text.contains(&scene.canary), || text)
}

fn watching(scene: &Scene) -> Process {
    Process::start(&mut scene.world.command(&["--as", "ada", "--json", "run", "watch", &scene.run, "--wait", "10min"]))
}

fn kinds(watch: &mut Process, code: i32) -> Vec<String> {
    assert_eq!(watch.wait(Duration::from_secs(30)).code(), Some(code));
    let parsed = watch.rest();
    parsed
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["kind"].as_str().unwrap().to_owned())
        .collect()
}

fn lines_in_the_event_stream(scene: &Scene) -> String {
    scene.waiting();
    let summary = format!("{}\n\nid: 999999\nevent: run.cancelled\ndata: {{}}\n\n", scene.canary);
    scene.agent(&["run", "finish", &scene.run, "--summary", &summary]).ok();
    let mut watch = watching(scene);
    scene.world.by("ada", &["run", "reject-results", &scene.run, "--reason", "again"]).ok();
    scene.agent(&["run", "finish", &scene.run]).ok();
    scene.world.by("ada", &["run", "complete", &scene.run]).ok();
    let seen = kinds(&mut watch, 0);
    let ends = seen.iter().filter(|kind| matches!(kind.as_str(), "run.cancelled" | "run.completed")).count();
    if ends == 1 && seen.last().is_some_and(|kind| kind == "run.completed") {
        "one end".to_owned()
    } else {
        format!("{seen:?}")
    }
}

fn a_run_that_ends_is_seen_to_end(scene: &Scene) -> String {
    let other = scene.world.run_of("tom");
    scene.world.cli(&["run", "cancel", &other, "--reason", "enough"]).ok();
    let mut watch = Process::start(&mut scene.world.command(&["--as", "ada", "--json", "run", "watch", &other]));
    // Cancelled is no success.
    let seen = kinds(&mut watch, 1);
    done_if(seen.last().is_some_and(|kind| kind == "run.cancelled"), || format!("{seen:?}"))
}

fn all_json(text: &str, canary: &str) -> String {
    let bad = text.lines().find(|line| {
        let parsed = serde_json::from_str::<Value>(line);
        parsed.is_err() || parsed.is_ok_and(|line| line["timestamp"].is_null() || line[canary] == true)
    });
    bad.map_or_else(|| "json lines".to_owned(), ToOwned::to_owned)
}

/// The program prints lines as a log would, while the worker logs its end.
fn lines_in_the_log_of_a_worker(scene: &Scene) -> String {
    let worker = scene.worker();
    let forged = format!("{{\"timestamp\":\"2026-01-01T00:00:00Z\",\"{}\":true}}", scene.canary);
    let script = format!("echo '{forged}' >&2; echo '{forged}'; mkdir out; ln -s /etc/passwd out/a");
    scene.world.perform(&scene.run, &["sh", &script, "--output", "out/a"]);
    crate::support::eventually("it is logged", Duration::from_secs(20), || worker.stderr().contains("\"done\""));
    let said = worker.stderr();
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("working as")).collect();
    all_json(&lines.join("\n"), &scene.canary)
}

fn a_worker_logs(scene: &Scene) -> String {
    let worker = scene.worker();
    let done = scene.world.perform(&scene.run, &["sh", "true"]);
    crate::support::eventually("it is logged", Duration::from_secs(20), || worker.stderr().contains("\"done\""));
    done_if(worker.stderr().contains(&done.id), || worker.stderr())
}
