//! What a worker does with an approved action: exactly that, in a cage, with everything it leaves as evidence.

use placet_wire::Endpoint as _;
use placet_wire::api::EntryQuery;
use placet_wire::endpoint::{ListEntries, ListWorkers};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::AnyGet;
use crate::support::{Process, World};

/// A world with a worker. `tools` is added to the tools it offers.
fn start(tools: &str) -> (World, String, Process) {
    let mut world = World::set_up();
    world.edit("tools.toml", |text| format!("{text}\n{tools}"));
    world.serve();
    let run = world.undertake();
    let worker = world.worker(&[]);
    (world, run, worker)
}

/// The only worker, as people see it.
fn seen(world: &World) -> serde_json::Value {
    let client = world.client("ada");
    let workers = AnyGet(ListWorkers {}.path());
    let list = tokio::runtime::Runtime::new().unwrap().block_on(client.get(workers)).unwrap();
    list["workers"][0].clone()
}

#[test]
fn c16_a_worker_says_what_it_is_when_it_starts_and_nothing_when_it_starts_again() {
    let (world, run, worker) = start("");
    world.perform(&run, &["sh", "true"]);
    let first = seen(&world);
    let declared = &first["declaration"];
    assert_eq!(declared["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&declared["actions_at_once"], &declared["runs_at_once"]), (&2.into(), &4.into()));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(declared["kernel"], kernel.trim());
    assert_eq!(first["other_version"], false);
    assert_eq!(first.get("other_profiles"), None, "both read the same files");
    let doctor = world.cli(&["--json", "doctor"]).ok().json();
    assert_eq!(declared["cage"]["tier"], doctor["cage"]["tier"], "as the machine itself finds it");
    let entries = |world: &World| {
        let client = world.client("admin");
        let query = EntryQuery { after: None, limit: Some(500) };
        let all = tokio::runtime::Runtime::new().unwrap().block_on(client.get(ListEntries { query })).unwrap();
        all.entries.iter().filter(|entry| entry.entry["kind"] == "identity.declared").count()
    };
    assert_eq!(entries(&world), 1);
    worker.kill();
    let _again = world.worker(&[]);
    world.perform(&run, &["sh", "true"]);
    assert_eq!(entries(&world), 1);
    let _more = world.worker(&["--jobs", "3", "--host", "0"]);
    crate::support::eventually("the change is seen", Duration::from_secs(60), || {
        seen(&world)["declaration"]["actions_at_once"] == 3
    });
    assert_eq!(entries(&world), 2);
}

#[test]
fn output_is_evidence_byte_for_byte() {
    let (world, run, _worker) = start("");
    let script = r"i=0; while [ $i -lt 256 ]; do printf \\$(printf %03o $i); i=$((i+1)); done; printf 'no newline' >&2";
    let done = world.perform(&run, &["sh", script]);
    assert_eq!(done.status, "SUCCEEDED");
    assert_eq!(world.evidence(&done.id, "stdout"), (0..=255).collect::<Vec<u8>>());
    assert_eq!(world.evidence(&done.id, "stderr"), b"no newline");
    world.by("ada", &["evidence", "verify", &done.id]).ok();
}

/// As programs print them. Made of pieces, so that it is a secret to nobody else.
fn token() -> String {
    ["gh", "p_", "wJ4k9QzT2mX7vB1nR5cY8dL3", "fH6sA0eU9pKq"].concat()
}

#[test]
fn a9_a_secret_that_a_program_prints_is_told_and_not_shown_and_the_evidence_stays_as_it_was() {
    let (world, run, worker) = start("");
    let script = format!("printf 'one\\nusing %s now\\n' {}", token());
    let done = world.perform(&run, &["sh", &script]);
    let printed = format!("one\nusing {} now\n", token());
    let listed = world.by("ada", &["evidence", "list", &done.id]).ok();
    assert!(listed.out().contains("secret stdout:2:7 github"), "{}", listed.out());
    assert!(!listed.out().contains(&token()));
    assert_eq!(done.manifest["secrets"][0]["secrets"][0]["shown"], "ghp_**** (40 bytes)");
    let shown = world.by("ada", &["evidence", "get", &done.id, "stdout"]).ok();
    assert!(shown.out().starts_with("one\nusing [redacted github"), "{}", shown.out());
    assert!(shown.stderr.contains("--raw"), "{}", shown.stderr);
    let raw = world.by("ada", &["evidence", "get", &done.id, "stdout", "--raw"]).ok();
    assert_eq!(raw.out(), printed);
    world.by("ada", &["evidence", "verify", &done.id]).ok();
    assert!(!worker.stderr().contains(&token()), "nor in a log");
}

#[test]
fn arguments_arrive_exactly_as_they_were_sealed() {
    let (world, run, _worker) = start("");
    let strange = ["two\nlines", "'\"`$(id)`\\", "ünïcödé 🦀 日本", "", " ", "-n", "--", "*", "a\tb\r", "\u{202e}evil"];
    let script = "import os, sys; os.write(1, b'\\0'.join(map(os.fsencode, sys.argv[1:])))";
    let mut args = vec!["python3", "--", "-c", script];
    args.extend(strange);
    let done = world.perform(&run, &args);
    assert_eq!(
        String::from_utf8(world.evidence(&done.id, "stdout")).unwrap(),
        strange.join("\0"),
        "{:?}",
        done.manifest
    );
}

#[test]
fn the_environment_has_what_was_approved_and_nothing_of_the_host() {
    let (world, run, _worker) = start("");
    let done = world.perform(&run, &["sh", "env", "--env", "GREETING=good day, \"Ada\"", "--env", "EMPTY="]);
    let seen = String::from_utf8(world.evidence(&done.id, "stdout")).unwrap();
    assert!(seen.contains("GREETING=good day, \"Ada\"\n") && seen.contains("EMPTY=\n"), "{seen}");
    for foreign in ["PLACET", "CARGO", "RUST", "SSH", "LOGNAME"] {
        assert!(!seen.contains(foreign), "{foreign}: {seen}");
    }
}

#[test]
fn files_are_those_that_were_approved_whatever_happens_to_their_source() {
    let (world, run, _worker) = start("");
    world.write("input.txt", "as approved\n");
    let view = world.propose(&run, &["sh", "cat input.txt", "--file", "input.txt"]);
    let id = view["id"].as_str().unwrap();
    // Between proposal and execution: the file changes on disk, and another one is handed over under the same name.
    world.write("input.txt", "as an attacker wants it\n");
    let other = world.propose(&run, &["sh", "cat input.txt", "--file", "input.txt"]);
    assert_ne!(view["digest"], other["digest"], "other bytes are another action");
    world.by("ada", &["approve", id, "--yes"]).ok();
    assert_eq!(world.done(id).status, "SUCCEEDED");
    assert_eq!(world.evidence(id, "stdout"), b"as approved\n");
}

#[test]
fn what_cannot_be_prepared_is_reported_and_not_tried_again_and_again() {
    let (world, run) = World::start();
    world.write("input.txt", "gone before anybody fetches it\n");
    let id = world.cleared(&run, &["sh", "cat input.txt", "--file", "input.txt"]);
    let kept = world.home().join("data/evidence");
    let removed = Command::new("find").arg(kept).args(["-type", "f", "-delete"]).status().unwrap();
    assert!(removed.success());
    let _worker = world.worker(&[]);
    let done = world.done(&id);
    assert_eq!(done.status, "FAILED");
    let why = done.manifest["exit"].to_string();
    assert!(why.contains("input.txt") && why.contains("cannot be fetched"), "{why}");
    assert_eq!(world.times(&run, &id, "permit.redeemed"), 0, "nothing was begun");
}

#[test]
fn outputs_are_collected_and_missing_ones_are_not_invented() {
    let (world, run, _worker) = start("");
    let script = "mkdir -p out/deep && printf result > out/deep/a.txt && printf more > not-declared.txt";
    let done = world.perform(&run, &["sh", script, "--output", "out/deep/a.txt", "--output", "out/b.txt"]);
    assert_eq!(done.status, "SUCCEEDED");
    let names: Vec<&str> =
        done.manifest["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["stdout", "stderr", "out/out/deep/a.txt"]);
    assert_eq!(world.evidence(&done.id, "out/out/deep/a.txt"), b"result");
}

#[test]
fn an_output_that_is_a_link_to_a_file_of_the_host_is_not_taken() {
    let (world, run, _worker) = start("");
    world.write("secret.txt", "of the host");
    let secret = world.path("secret.txt");
    let script = format!(
        "mkdir out && ln -s {} out/link && ln -s /etc/passwd out/passwd && ln -s ../.. out/up && ls out",
        secret.display()
    );
    let done =
        world.perform(&run, &["sh", &script, "--output", "out/link", "--output", "out/passwd", "--output", "out/up"]);
    assert_eq!(done.status, "FAILED", "{:?}", done.manifest);
    assert_eq!(done.manifest["items"].as_array().unwrap().len(), 2, "only what it printed: {:?}", done.manifest);
    assert_eq!(done.manifest["not_taken"].as_array().unwrap().len(), 3, "each is named: {:?}", done.manifest);
}

#[test]
fn a_program_that_differs_from_its_pin_is_not_started() {
    let digest = format!("sha256:{}", "ab".repeat(32));
    let (world, run, _worker) =
        start(&format!("[pinned]\nprogram = \"/usr/bin/cat\"\nkind = \"read_file\"\nprogram_digest = \"{digest}\""));
    let done = world.perform(&run, &["pinned", "/etc/hostname"]);
    assert_eq!(done.status, "FAILED");
    let why = done.manifest["exit"]["not_started"]["why"].as_str().unwrap();
    assert!(why.contains(&digest) && why.contains("approved was"), "{why}");
    assert_eq!(world.evidence(&done.id, "stdout"), b"");
}

#[test]
fn a_program_that_is_what_was_pinned_is_started() {
    let digest = placet_domain::digest::Digest::of(&std::fs::read("/usr/bin/cat").unwrap());
    let (world, run, _worker) =
        start(&format!("[pinned]\nprogram = \"/usr/bin/cat\"\nkind = \"read_file\"\nprogram_digest = \"{digest}\""));
    world.write("a.txt", "a");
    let done = world.perform(&run, &["pinned", "a.txt", "--file", "a.txt"]);
    assert_eq!(
        (done.status.as_str(), done.manifest["program"].as_str()),
        ("SUCCEEDED", Some(digest.to_string().as_str()))
    );
}

#[test]
fn a_program_that_is_not_there_is_evidence_too() {
    let (world, run, _worker) = start("[ghost]\nprogram = \"/usr/bin/no-such-program\"\nkind = \"read_file\"");
    let done = world.perform(&run, &["ghost"]);
    assert_eq!(done.status, "FAILED");
    assert!(
        done.manifest["exit"]["not_started"]["why"].as_str().unwrap().contains("no-such-program"),
        "{:?}",
        done.manifest
    );
}

#[test]
fn limits_end_an_action_and_are_named_in_its_evidence() {
    let sh = "program = \"/usr/bin/sh\"\nkind = \"execute_code\"\nprefix = [\"-c\"]";
    let (world, run, _worker) =
        start(&format!("[short]\n{sh}\nlimits.timeout_ms = 500\n[quiet]\n{sh}\nlimits.output_bytes = 1000"));
    let started = Instant::now();
    let long = world.perform(&run, &["short", "echo begun; sleep 60"]);
    assert!(started.elapsed() < Duration::from_secs(30));
    assert_eq!((long.status.as_str(), &long.manifest["exit"]["limit"]["which"]), ("FAILED", &"timeout_ms".into()));
    assert_eq!(world.evidence(&long.id, "stdout"), b"begun\n", "what it said before is kept");
    let loud = world.perform(&run, &["quiet", "yes"]);
    assert_eq!((loud.status.as_str(), &loud.manifest["exit"]["limit"]["which"]), ("FAILED", &"output_bytes".into()));
    let kept = world.evidence(&loud.id, "stdout");
    assert!(kept.len() <= 1_000 && kept.starts_with(b"y\ny\n"), "{} bytes", kept.len());
}

#[test]
fn a_bad_ending_is_a_failure_with_evidence() {
    let (world, run, _worker) = start("");
    let done = world.perform(&run, &["sh", "echo sorry >&2; exit 42"]);
    assert_eq!((done.status.as_str(), &done.manifest["exit"]["code"]), ("FAILED", &42.into()));
    assert_eq!(world.evidence(&done.id, "stderr"), b"sorry\n");
    let killed = world.perform(&run, &["sh", "kill -SEGV $$"]);
    assert_eq!((killed.status.as_str(), &killed.manifest["exit"]["signal"]), ("FAILED", &11.into()));
}

#[test]
fn two_jobs_run_at_once_and_never_see_each_other() {
    let (world, run, _worker) = start("");
    let script = |own: &str| format!("echo {own} > {own}; sleep 2; ls");
    let ids = ["left", "right"].map(|own| world.cleared(&run, &["sh", &script(own)]));
    let done = ids.map(|id| world.done(&id));
    for (own, done) in ["left\n", "right\n"].iter().zip(&done) {
        assert_eq!(world.evidence(&done.id, "stdout"), own.as_bytes());
    }
    let number = |done: &crate::support::Done, field: &str| done.manifest[field].as_i64().unwrap();
    let (first, second) = (&done[0], &done[1]);
    assert!(number(first, "started_at") < number(second, "finished_at"), "they overlap");
    assert!(number(second, "started_at") < number(first, "finished_at"), "they overlap");
}

#[test]
fn a_worker_that_is_asked_to_stop_finishes_what_it_has_begun() {
    let (world, run, mut worker) = start("");
    let id = world.cleared(&run, &["sh", "sleep 1; echo finished"]);
    world.reaches(&id, &["EXECUTING"]);
    assert!(worker.interrupt("TERM", Duration::from_secs(30)).success());
    assert_eq!(world.done(&id).status, "SUCCEEDED");
    assert_eq!(world.evidence(&id, "stdout"), b"finished\n");
    assert!(!world.path("scratch").exists(), "it leaves no workspace");
}
