//! CLOSE: the definition of done is run, not believed; the report says what was found.

use std::fs;

use super::repo::Repo;

fn with_checks(checks: serde_json::Value, options: &[&str]) -> Repo {
    let repo = Repo::new();
    repo.edit("agents/policy.json", |policy| policy["checks"] = checks);
    repo.commit("chore(agents): checks");
    repo.on("start", options).ok();
    repo
}

#[test]
fn a12_close_writes_a_report_with_real_results() {
    let checks = serde_json::json!([
        { "name": "unit", "command": ["sh", "-c", "grep -q answer src/main.rs && echo 3 tests passed"] },
        { "name": "docs", "command": ["false"], "when": ["docs/**"] },
    ]);
    for options in [&[][..], &["--overlay"]] {
        let repo = with_checks(checks.clone(), options);
        repo.agent("echo '// answer' >> src/main.rs; git commit -qam 'feat(core): answer'").ok();
        let close = ["--summary", "The answer is there.", "--note", "slow on old data", "--next", "measure it"];
        repo.on("close", &close).ok();
        let place = if options.is_empty() {
            repo.at("")
        } else {
            repo.root().join(".worktrees/.layers/PAY-1-backend/files/upper")
        };
        let report = fs::read_to_string(place.join(".agent/REPORT.md")).unwrap();
        for part in [
            "| Agent | backend |",
            "| Ticket | PAY-1 |",
            "| Started | 20",
            "| Closed | 20",
            "`feat/PAY-1-backend`",
            "## Summary",
            "The answer is there.",
            "feat(core): answer",
            "## Files modified",
            "`src/main.rs`",
            "## Definition of Done",
            "- [x] check unit",
            "3 tests passed",
            "- [x] no secret",
            "- [x] commits well-formed",
            "- [x] report written",
            "## Risks and notes",
            "slow on old data",
            "## Next actions",
            "measure it",
        ] {
            assert!(report.contains(part), "`{part}` is missing:\n{report}");
        }
        assert!(!report.contains("check docs"), "no file of docs changed");
        assert!(repo.recorded().ends_with(&["worktree.closed".to_owned()]));
    }
}

#[test]
fn a12_a_check_that_fails_refuses_closing_and_leaves_no_trace_in_the_worktree() {
    for options in [&[][..], &["--overlay"]] {
        let checks = serde_json::json!([
            { "name": "unit", "command": ["sh", "-c", "touch src/left-behind; echo \u{1b}[31mred; exit 3"] },
        ]);
        let repo = with_checks(checks, options);
        repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
        let said = repo.on("close", &[]).exits(3);
        assert!(said.stderr.contains("not done yet: check unit"), "{}", said.stderr);
        assert!(said.stderr.contains("ended with 3"), "{}", said.stderr);
        assert_eq!(repo.findings(), Vec::<String>::new());
        assert!(!repo.checked().to_string().contains("left-behind"));
        repo.on("close", &["--force", "the check needs a network"]).ok();
        let pr = repo.placet(&["--json", "pr", "--agent", "backend", "--ticket", "PAY-1"]).ok().json();
        assert!(pr["body"].as_str().unwrap().contains("the check needs a network"), "{pr}");
        assert!(!pr["body"].as_str().unwrap().contains('\u{1b}'), "no escape reaches a terminal");
    }
}

#[test]
fn a12_a_check_has_the_variables_ports_and_caches_that_the_agent_has() {
    let (laid, mounted) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(laid.path().join("dep.txt"), "laid\n").unwrap();
    fs::write(mounted.path().join("dep.txt"), "mounted\n").unwrap();
    let show = "echo $MODE $PORT $(cat deps/dep.txt) $(cat /opt/deps/dep.txt)";
    for options in [&[][..], &["--overlay"]] {
        let repo = Repo::new();
        repo.write(".gitignore", "deps/\n");
        repo.edit("agents/policy.json", |policy| {
            policy["checks"] = serde_json::json!([{ "name": "unit", "command": ["sh", "-c", show] }]);
            policy["ports"] = serde_json::json!({ "first": 30000, "perWorktree": 1, "names": ["PORT"] });
            policy["setup"] = serde_json::json!({
                "environment": { "set": { "MODE": "test" } },
                "caches": [
                    { "from": laid.path(), "to": "deps", "how": "hardlink" },
                    { "from": mounted.path(), "to": "/opt/deps", "how": "readOnly" },
                ],
            });
        });
        repo.commit("chore(agents): setup");
        repo.allow_caches(&[laid.path(), mounted.path()]);
        repo.trust();
        repo.on("start", options).ok();
        let work = format!("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'; {show}");
        let agent = repo.agent(&work).ok();
        assert_eq!(agent.out(), "test 30000 laid mounted\n", "{options:?}");
        let said = repo.on("close", &[]).ok();
        assert!(said.stderr.contains("passed. test 30000 laid mounted"), "{options:?}: {}", said.stderr);
    }
}

#[test]
fn a8_a_commit_that_is_not_well_formed_is_not_taken_over_until_it_is() {
    for options in [&[][..], &["--overlay"]] {
        let repo = Repo::started(options);
        let before = repo.git(&["rev-parse", "feat/PAY-1-backend"]);
        let said = repo.agent("echo 1 >> src/main.rs; git commit -q --no-verify -am 'no form at all'").exits(3);
        assert!(said.stderr.contains("it does not begin with a type"), "{}", said.stderr);
        assert_eq!(repo.git(&["rev-parse", "feat/PAY-1-backend"]), before);
        repo.on("close", &[]).exits(3);
        repo.agent("git commit -q --amend -m 'feat(core): with a form'").ok();
        repo.on("close", &[]).ok();
    }
}

#[test]
fn a12_what_is_not_committed_keeps_it_open() {
    let repo = Repo::started(&[]);
    repo.agent("echo 1 >> src/main.rs").ok();
    let said = repo.on("close", &[]).exits(3);
    assert!(said.stderr.contains("everything committed"), "{}", said.stderr);
}

#[test]
fn a14_the_next_agent_of_a_ticket_starts_from_the_branch_of_the_one_before() {
    let repo = Repo::new();
    repo.edit("agents/policy.json", |policy| {
        policy["sequences"] = serde_json::json!({ "default": ["backend", "docs"] })
    });
    repo.commit("chore(agents): sequence");
    repo.on("start", &[]).ok();
    let early = repo.on("handoff", &[]).exits(9);
    assert!(early.stderr.contains("done first"), "{}", early.stderr);
    repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
    repo.on("close", &[]).ok();
    repo.on("handoff", &[]).ok();
    let base = repo.git(&["rev-parse", "feat/PAY-1-docs"]);
    assert_eq!(base, repo.git(&["rev-parse", "feat/PAY-1-backend"]));
    let docs = ["--agent", "docs", "--ticket", "PAY-1"];
    let said = repo.placet(
        &[
            &["exec"],
            &docs[..],
            &["--", "sh", "-ec", "cat src/main.rs; echo 2 >> docs/guide.md; git commit -qam 'docs(guide): two'"],
        ]
        .concat(),
    );
    assert!(said.ok().out().contains('1'), "the work of the one before is there");
    let checked = repo.placet(&[&["--json", "scope-check"], &docs[..]].concat()).ok().json();
    assert_eq!(checked["commits"], 1, "only its own work is judged");
}

#[test]
fn a11_only_the_agent_s_own_branch_leaves_and_only_when_asked() {
    let repo = Repo::new();
    let remote = tempfile::tempdir().unwrap();
    repo.git_in(remote.path(), &["init", "-q", "--bare", "-b", "main"]);
    repo.git(&["remote", "add", "origin", &remote.path().display().to_string()]);
    repo.on("start", &[]).ok();
    repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
    repo.on("pr", &[]).exits(9);
    repo.on("close", &[]).ok();
    let said = repo.on("pr", &[]).ok();
    assert!(said.out().contains("feat(core): one") && said.out().contains("feat/PAY-1-backend"), "{}", said.out());
    assert_eq!(repo.git_in(remote.path(), &["branch", "--list"]), "", "nothing is pushed unless asked for");
    repo.on("pr", &["--push", "origin"]).ok();
    assert_eq!(repo.git_in(remote.path(), &["branch", "--format=%(refname:short)"]).trim(), "feat/PAY-1-backend");
    let pushed = repo.agent("git push origin HEAD:main");
    assert_ne!(pushed.code, Some(0), "from the cage nothing can be pushed at all");
}

#[test]
fn disk_is_given_back_without_losing_work() {
    let repo = Repo::started(&[]);
    repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
    repo.on("close", &[]).ok();
    repo.placet(&["start", "--agent", "docs", "--ticket", "PAY-1"]).ok();
    fs::write(repo.root().join(".worktrees/PAY-1/docs/docs/draft.md"), "unsaved").unwrap();
    repo.placet(&["abort", "--agent", "docs", "--ticket", "PAY-1", "--reason", "moved"]).exits(9);
    let shown = repo.placet(&["--json", "gc"]).ok().json();
    let removable: Vec<_> = shown["worktrees"].as_array().unwrap().iter().map(|row| row["removable"].clone()).collect();
    assert_eq!(removable, [true, false], "{shown}");
    assert!(repo.at("").exists(), "showing removes nothing");
    repo.placet(&["gc", "--remove"]).ok();
    assert!(!repo.at("").exists());
    assert_eq!(repo.git(&["rev-list", "--count", "main..feat/PAY-1-backend"]).trim(), "1", "the branch stays");
    assert!(repo.root().join(".worktrees/PAY-1/docs/docs/draft.md").exists(), "unsaved work is never removed");
    repo.placet(&["abort", "--agent", "docs", "--ticket", "PAY-1", "--reason", "moved", "--discard"]).ok();
    assert!(!repo.root().join(".worktrees/PAY-1").exists());
}
