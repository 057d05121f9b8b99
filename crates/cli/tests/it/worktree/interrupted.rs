//! What is ended in the middle, and what comes at the same time: nothing is lost, and disk and record agree again.

use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use placet_testkit::{Random, rounds};

use super::repo::{PAIR, Repo};
use crate::support::{eventually, placet};

const LAYOUTS: [&[&str]; 2] = [&[], &["--overlay"]];

fn begin(repo: &Repo, args: &[&str]) -> Child {
    let mut command = placet();
    command.current_dir(repo.root()).args(args);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// As a machine that fails ends it.
fn end(mut child: Child) {
    let _ = child.kill();
    child.wait().unwrap();
}

fn only_rust(repo: &Repo, checks: serde_json::Value) {
    repo.edit("agents/profiles/backend_agent.json", |profile| {
        profile["scope"]["allow"] = serde_json::json!(["src/*.rs"]);
    });
    repo.edit("agents/policy.json", |policy| policy["checks"] = checks);
    repo.commit("chore(agents): only rust");
}

#[test]
fn a12_what_was_refused_waits_and_keeps_the_worktree_open() {
    let repo = Repo::new();
    only_rust(&repo, serde_json::json!([{ "name": "unit", "command": ["sh", "-c", "rm -rf src; true"] }]));
    repo.on("start", &[]).ok();
    repo.agent("echo '// kept' >> src/main.rs; echo x > src/notes.txt").exits(3);
    let said = repo.on("close", &[]).exits(3);
    assert!(said.stderr.contains("src/main.rs (not taken over)"), "{}", said.stderr);
    repo.agent("rm src/notes.txt; git commit -qam 'feat(core): kept'").ok();
    assert!(fs::read_to_string(repo.at("src/main.rs")).unwrap().contains("kept"), "a check has not thrown it away");
    repo.on("close", &[]).ok();
}

#[test]
fn a12_an_interrupted_check_leaves_the_work_as_it_was() {
    let check = "echo broken > src/main.rs; echo x > Makefile; rm -rf .agent; ln -s /tmp .agent; sleep 60";
    for layout in LAYOUTS {
        let repo = Repo::new();
        repo.edit("agents/policy.json", |policy| {
            policy["checks"] = serde_json::json!([{ "name": "unit", "command": ["sh", "-c", check] }]);
        });
        repo.commit("chore(agents): check");
        repo.on("start", layout).ok();
        repo.agent("echo '// fine' >> src/main.rs; git commit -qam 'feat(core): fine'").ok();
        let layers = repo.root().join(".worktrees/.layers/PAY-1-backend/check/files/upper/Makefile");
        let closing = begin(&repo, &[&["close"], &PAIR[..]].concat());
        eventually("the check runs", Duration::from_secs(60), || layers.exists());
        end(closing);
        eventually("its cage is gone", Duration::from_secs(30), || repo.agent("true").code == Some(0));
        assert_eq!(repo.findings(), Vec::<String>::new(), "{layout:?}");
        assert_eq!(
            repo.agent("grep -c fine src/main.rs; test ! -L .agent; test -f .agent/manifest.json").ok().out(),
            "1\n"
        );
    }
}

#[test]
fn a1_only_one_command_at_a_time_works_in_a_worktree() {
    for layout in LAYOUTS {
        let repo = Repo::started(layout);
        let first = begin(&repo, &[&["exec"], &PAIR[..], &["--", "sh", "-c", "touch src/begun; sleep 60"]].concat());
        let begun = repo.root().join(".worktrees/.layers/PAY-1-backend/files/upper/src/begun");
        eventually("it runs", Duration::from_secs(60), || begun.exists());
        for (verb, more) in [
            ("exec", &["--", "true"][..]),
            ("close", &["--force", "now"]),
            ("abort", &["--reason", "now", "--discard"]),
            ("adopt", &[]),
        ] {
            let said = repo.on(verb, more).exits(9);
            assert!(said.stderr.contains("another command works in `PAY-1-backend` now"), "{verb}: {}", said.stderr);
        }
        repo.placet(&["status"]).ok();
        end(first);
        eventually("it is free again", Duration::from_secs(30), || repo.agent("test -f src/begun").code == Some(0));
        assert!(repo.recorded().contains(&"worktree.began".to_owned()), "what was ended half-way is in the record");
    }
}

#[test]
fn a1_whenever_a_command_is_ended_disk_and_record_come_in_line_again() {
    let mut random = Random::seeded();
    let repo = Repo::new();
    let work = "for n in 1 2 3; do echo $n >> src/main.rs; git commit -qam 'feat(core): n'; done; echo x > src/more.rs";
    for round in 0..rounds(6, 20) {
        let layout = LAYOUTS[round % 2];
        let ended_first = random.between(0, 2);
        if ended_first > 0 {
            repo.on("start", layout).ok();
        }
        let args = match ended_first {
            0 => [&["start"], &PAIR[..], layout].concat(),
            1 => [&["exec"], &PAIR[..], &["--", "sh", "-ec", work]].concat(),
            _ => [&["close"], &PAIR[..]].concat(),
        };
        let child = begin(&repo, &args);
        std::thread::sleep(Duration::from_millis(random.between(1, 400)));
        end(child);
        repo.placet(&["status"]).ok();
        come_in_line(&repo);
        repo.placet(&["gc", "--remove"]).ok();
        repo.git(&["fsck", "--strict", "--no-dangling"]);
        if repo.git(&["branch", "--list", "feat/PAY-1-backend"]).trim() != "" {
            repo.git(&["branch", "-D", "feat/PAY-1-backend"]);
        }
        assert!(!repo.root().join(".worktrees/PAY-1").exists(), "round {round} left something behind");
    }
}

/// Whatever the record says, somebody can go on from there and come to an end.
#[track_caller]
fn come_in_line(repo: &Repo) {
    let recorded = repo.placet(&["--json", "status", "--all"]).ok().json();
    match recorded[0]["status"].as_str() {
        None => return,
        Some("CLOSED" | "ABORTED" | "MERGED") => return,
        Some(_) => {}
    }
    // A cage ends a moment after whoever started it.
    eventually("nobody works in it", Duration::from_secs(30), || repo.on("adopt", &[]).code == Some(0));
    repo.on("start", &["--resume"]).ok();
    repo.agent("git status --short > /dev/null; git fsck --no-dangling").ok();
    let checked = repo.checked();
    assert_eq!(checked["tip"].as_str().unwrap(), repo.git(&["rev-parse", "feat/PAY-1-backend"]).trim());
    assert_eq!(repo.findings(), Vec::<String>::new());
    repo.on("abort", &["--reason", "the next round", "--discard"]).ok();
}
