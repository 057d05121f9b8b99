//! Room on disk, ports, and what waits: quotas that are kept before and while something is written, and told.

use serde_json::json;

use super::repo::{PAIR, Repo};

fn with_quotas(quotas: serde_json::Value) -> Repo {
    let repo = Repo::new();
    repo.edit("agents/policy.json", |policy| policy["quotas"] = quotas);
    repo.commit("chore(agents): quotas");
    repo
}

const MIB: u64 = 1 << 20;

#[test]
fn nothing_new_is_started_when_all_worktrees_together_take_too_much() {
    let repo = with_quotas(json!({ "diskBytesPerWorktree": 24 * MIB, "diskBytesTotal": 24 * MIB }));
    repo.on("start", &[]).ok();
    repo.placet(&["start", "--agent", "docs", "--ticket", "PAY-1"]).ok();
    repo.agent("head -c 24M /dev/urandom > src/large.bin").exits(124);
    repo.agent("head -c 14M /dev/urandom > src/more.bin").ok();
    let refused = repo.placet(&["start", "--agent", "docs", "--ticket", "PAY-2"]).exits(2);
    assert!(refused.stderr.contains("placet gc"), "{}", refused.stderr);
    assert!(!repo.root().join(".worktrees/PAY-2").exists());
    let gc = repo.placet(&["gc"]).ok();
    assert!(gc.out().contains("over its quota") && gc.out().contains("until there is room"), "{}", gc.out());
    let status = repo.placet(&["--json", "status"]).ok().json();
    let over: Vec<_> =
        status.as_array().unwrap().iter().map(|row| (row["agent"].clone(), row["over_quota"].clone())).collect();
    assert!(
        over.contains(&(json!("backend"), json!(true))) && over.contains(&(json!("docs"), json!(false))),
        "{status}"
    );
    repo.agent("rm -f src/large.bin src/more.bin").ok();
    repo.placet(&["start", "--agent", "docs", "--ticket", "PAY-2"]).ok();
}

#[test]
fn a_command_that_writes_more_than_its_worktree_may_take_is_stopped_and_told_why() {
    for layout in [&[][..], &["--overlay"]] {
        let repo = with_quotas(json!({ "diskBytesPerWorktree": 20 * MIB, "diskBytesTotal": 100 * MIB }));
        repo.on("start", layout).ok();
        let said = repo.agent("head -c 200M /dev/urandom > src/large.bin; sleep 5").exits(124);
        assert!(said.stderr.contains("diskBytesPerWorktree") && said.stderr.contains("20 MiB"), "{}", said.stderr);
        repo.agent("rm -f src/large.bin; echo 1 >> src/main.rs; git commit -qam 'feat(core): small'").ok();
    }
}

#[test]
fn what_a_command_changed_is_counted_as_if_every_file_was_looked_at_again() {
    for layout in [&[][..], &["--overlay"]] {
        let repo = Repo::started(layout);
        let scripts = [
            "true",
            "head -c 300K /dev/urandom > src/one.bin; mkdir src/deep; for n in $(seq 200); do echo $n > src/deep/$n; done",
            "rm -r src/one.bin src/deep; echo 1 >> src/main.rs",
            "git add -A; git commit -qm 'feat(core): one'",
            "ln src/main.rs src/again.rs; mv src/util.rs src/moved.rs",
        ];
        for script in scripts {
            repo.agent(script).ok();
            let noted = repo.noted("size").unwrap().split(' ').next().unwrap().to_owned();
            // Looks at every file.
            let status = repo.placet(&["--json", "status"]).ok().json();
            assert_eq!(noted, status[0]["disk_bytes"].to_string(), "{layout:?}: {script}");
        }
    }
}

#[test]
fn status_names_ports_and_what_waits_for_a_decision() {
    let repo = Repo::new();
    repo.edit("agents/policy.json", |policy| policy["ports"] = json!({ "names": ["WEB_PORT", "DB_PORT"] }));
    repo.commit("chore(agents): ports");
    repo.on("start", &[]).ok();
    repo.placet(&["start", "--agent", "docs", "--ticket", "PAY-1", "--overlay"]).ok();
    repo.placet(&[&["exempt", "ask"], &PAIR[..], &["--path", "Makefile", "--reason", "a target"]].concat()).ok();
    let rows = repo.placet(&["--json", "status"]).ok().json();
    let row = |agent: &str| rows.as_array().unwrap().iter().find(|row| row["agent"] == agent).unwrap().clone();
    assert_eq!(row("backend")["ports"], json!({ "WEB_PORT": 20000, "DB_PORT": 20001 }));
    assert_eq!(row("docs")["ports"], json!({ "WEB_PORT": 20010, "DB_PORT": 20011 }));
    assert_eq!(row("backend")["exemptions_waiting"], json!(["0: Makefile (a target)"]));
    assert_eq!(repo.agent("echo $WEB_PORT").ok().out(), "20000\n", "the numbers that were told");
    let shown = repo.placet(&["status"]).ok();
    for part in ["WEB_PORT=20000", "exemption 0: Makefile (a target)"] {
        assert!(shown.out().contains(part), "`{part}` is missing in {}", shown.out());
    }
}
