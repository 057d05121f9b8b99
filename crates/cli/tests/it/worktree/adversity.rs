//! ADVERSITY: a disk that is full, a repository that cannot be written, settings that hide files, and an end in the middle of
//! whatever removes or takes over. Nothing is lost, and the next command goes on.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use placet_testkit::{Random, rounds};

use super::people::with_ada;
use super::repo::{PAIR, Repo};
use crate::support::{Said, clean, placet};

#[test]
fn a5_settings_that_ignore_case_hide_nothing() {
    let repo = Repo::new();
    repo.git(&["config", "core.ignoreCase", "true"]);
    repo.on("start", &[]).ok();
    for name in ["docs/GUIDE.md", "makefile", "SRC/main.rs"] {
        let path = repo.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "another file\n").unwrap();
    }
    let found = repo.findings();
    for name in ["docs/GUIDE.md", "makefile", "SRC/main.rs"] {
        assert!(found.iter().any(|finding| finding.starts_with(&format!("{name}: "))), "{name}: {found:?}");
    }
}

/// A shell script in a mount namespace of its own; `$1` is a copy of the repository on a file system that can be changed.
fn apart(repo: &Repo, script: &str) -> Said {
    let place = tempfile::tempdir().unwrap();
    let own_user: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["--user", "--map-root-user"] };
    let mut command = clean(Command::new("unshare"));
    command.env("PLACET", placet().get_program()).env("PAIR", PAIR.join(" "));
    command.args(own_user).args(["--mount", "sh", "-c", script, "sh"]).arg(place.path()).arg(repo.root());
    Said::by(&mut command)
}

#[test]
fn a1_a_full_disk_leaves_nothing_half_done_and_the_next_command_goes_on() {
    let repo = Repo::new();
    let script = r#"
        mount -t tmpfs -o size=400m none "$1" && cp -a "$2" "$1/repo" && cd "$1/repo" || exit 99
        fill() { dd if=/dev/zero of=../fill bs=64k 2>/dev/null; dd if=/dev/zero of=../more bs=1 2>/dev/null; true; }
        free() { rm -f ../fill ../more; }
        fill; "$PLACET" start $PAIR; echo "start: $?"
        test ! -e .worktrees/PAY-1 && echo "nothing is left"
        free; "$PLACET" start $PAIR > /dev/null; echo "again: $?"
        "$PLACET" exec $PAIR -- sh -c 'echo one >> src/main.rs; git commit -qam "feat(core): one"'; echo "exec: $?"
        fill; "$PLACET" exec $PAIR -- sh -c 'echo two >> src/main.rs'; echo "full: $?"
        "$PLACET" close $PAIR; echo "close: $?"
        free; "$PLACET" adopt $PAIR > /dev/null; echo "adopt: $?"
        "$PLACET" exec $PAIR -- sh -ec 'git checkout -q src; grep -c one src/main.rs'; echo "free: $?"
        "$PLACET" close $PAIR > /dev/null; echo "closed: $?"
        git fsck --strict --no-dangling && "$PLACET" ledger export ../export --offline > /dev/null; echo "whole: $?"
    "#;
    let said = apart(&repo, script).ok();
    let code = |name: &str| {
        let line = said.out().lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_else(|| panic!("no {name}: {}\n{}", said.out(), said.stderr)).to_owned()
    };
    assert_ne!(code("start"), "0", "{}", said.stderr);
    assert!(said.out().contains("nothing is left"), "{}\n{}", said.out(), said.stderr);
    assert_ne!(code("full"), "0");
    assert_ne!(code("close"), "0");
    for name in ["again", "exec", "adopt", "free", "closed", "whole"] {
        assert_eq!(code(name), "0", "{name}: {}\n{}", said.out(), said.stderr);
    }
}

#[test]
fn a1_a_repository_that_cannot_be_written_is_said_to_be_so() {
    let repo = Repo::started(&[]);
    let script = r#"
        cp -a "$2" "$1/repo" && mount --bind "$1/repo" "$1/repo" && mount -o remount,bind,ro "$1/repo" || exit 99
        cd "$1/repo"; "$PLACET" start --agent docs --ticket PAY-2; echo "start: $?"
        "$PLACET" exec $PAIR -- true; echo "exec: $?"
        "$PLACET" gc --remove; echo "gc: $?"
    "#;
    let said = apart(&repo, script).ok();
    assert!(!said.out().contains(": 0"), "{}\n{}", said.out(), said.stderr);
    assert!(said.stderr.to_lowercase().contains("read-only"), "{}", said.stderr);
}

/// Begins a command and ends it, as a machine that fails does, after a while.
fn cut_off(repo: &Repo, args: &[&str], after_ms: u64) {
    let mut command = repo.command(args);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(after_ms));
    let _ = child.kill();
    child.wait().unwrap();
}

/// What git started for a command that was ended comes to its own end a moment later.
fn eventually_ok(what: &str, said: impl Fn() -> Said) {
    crate::support::eventually(what, Duration::from_secs(30), || said().code == Some(0));
}

#[test]
fn a1_what_removes_can_be_ended_at_any_moment() {
    let mut random = Random::seeded();
    let repo = Repo::new();
    for round in 0..rounds(4, 8) {
        let layout: &[&str] = if round % 2 == 0 { &[] } else { &["--overlay"] };
        repo.on("start", layout).ok();
        repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
        let tip = repo.git(&["rev-parse", "feat/PAY-1-backend"]);
        if round % 4 < 2 {
            repo.on("close", &[]).ok();
            cut_off(&repo, &["gc", "--remove"], random.between(1, 250));
        } else {
            cut_off(&repo, &[&["abort"], &PAIR[..], &["--reason", "cut off"]].concat(), random.between(1, 250));
        }
        repo.placet(&["status"]).ok();
        let recorded = repo.placet(&["--json", "status", "--all"]).ok().json();
        if recorded[0]["status"] == "OPEN" {
            eventually_ok("it can be adopted", || repo.on("adopt", &[]));
            assert_eq!(repo.agent("grep -c 1 src/main.rs").ok().out(), "1\n", "round {round}");
            repo.on("abort", &["--reason", "after all"]).ok();
        }
        eventually_ok("what is left goes", || repo.placet(&["gc", "--remove"]));
        repo.git(&["fsck", "--strict", "--no-dangling"]);
        assert_eq!(repo.git(&["rev-parse", "feat/PAY-1-backend"]), tip, "commits stay");
        assert!(!repo.root().join(".worktrees/PAY-1").exists(), "round {round} left something behind");
        repo.git(&["branch", "-D", "feat/PAY-1-backend"]);
    }
}

#[test]
fn a1_a_start_with_caches_that_was_ended_in_the_middle_is_adopted_with_all_of_them() {
    let mut random = Random::seeded();
    let cache = tempfile::tempdir().unwrap();
    for number in 0..3_000 {
        let dir = cache.path().join(format!("package-{}", number % 50));
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join(format!("{number}.js")), format!("{number}\n")).unwrap();
    }
    let repo = Repo::new();
    repo.write(".gitignore", "*.log\nnode_modules/\n");
    repo.edit("agents/policy.json", |policy| {
        policy["setup"] = serde_json::json!({
            "caches": [{ "from": cache.path(), "to": "node_modules", "how": "hardlink" }],
            "generate": [{ "name": "made", "command": ["sh", "-c", "echo made > made.log"] }],
        });
    });
    repo.commit("chore(agents): caches");
    repo.allow_caches(&[cache.path()]);
    repo.trust();
    for round in 0..rounds(2, 4) {
        let layout: &[&str] = if round % 2 == 0 { &[] } else { &["--overlay"] };
        cut_off(&repo, &[&["start"], &PAIR[..], layout].concat(), random.between(40, 500));
        let recorded = repo.placet(&["--json", "status", "--all"]).ok().json();
        match recorded[0]["status"].as_str() {
            Some("OPENING" | "OPEN") => eventually_ok("it can be adopted", || repo.on("adopt", &[])),
            _ => drop(repo.on("start", layout).ok()),
        }
        let seen = repo.agent("find node_modules -type f | wc -l; cat made.log node_modules/package-49/2999.js").ok();
        assert_eq!(seen.out(), "3000\nmade\n2999\n", "round {round}");
        assert_eq!(repo.findings(), Vec::<String>::new(), "what was given is no work of the agent's");
        repo.on("abort", &["--reason", "the next round"]).ok();
    }
}

#[test]
fn a13_a_merge_that_was_ended_in_the_middle_is_finished_by_merging_again() {
    let mut random = Random::seeded();
    let repo = with_ada(Repo::new());
    let merge = [&["--as", "ada", "merge"], &PAIR[..]].concat();
    for round in 0..rounds(2, 4) {
        repo.on("start", &[]).ok();
        let work = "for n in $(seq 200); do echo $n $RANDOM >> src/made-$n.rs; done; git add -A";
        repo.agent(&format!("{work}; echo {round} >> src/main.rs; git commit -qam 'feat(core): {round}'")).ok();
        repo.on("close", &[]).ok();
        let tip = repo.git(&["rev-parse", "feat/PAY-1-backend"]);
        cut_off(&repo, &merge, random.between(20, 400));
        // Git that was started for it may still be at work; in the end it is merged, and that is all there is to say.
        crate::support::eventually("it is merged", Duration::from_secs(30), || {
            let said = repo.placet(&merge);
            let locked = repo.root().join(".git/index.lock");
            assert!(matches!(said.code, Some(0 | 1 | 9)), "{}", said.stderr);
            // As somebody would who reads what git says of a lock that nobody holds any more.
            if said.stderr.contains("index.lock") {
                let _ = fs::remove_file(locked);
            }
            said.code == Some(0) || said.stderr.contains("MERGED")
        });
        repo.git(&["merge-base", "--is-ancestor", tip.trim(), "main"]);
        assert_eq!(repo.git(&["status", "--short"]), "", "round {round}");
        repo.git(&["fsck", "--strict", "--no-dangling"]);
        repo.placet(&["gc", "--remove"]).ok();
        repo.git(&["branch", "-D", "feat/PAY-1-backend"]);
    }
}
