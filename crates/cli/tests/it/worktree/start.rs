//! START: one agent, one worktree, one branch, one ticket.

use serde_json::Value;

use super::repo::{PAIR, Repo};
use crate::support::{names_in, placet};

#[test]
fn a1_start_makes_worktree_and_branch_from_the_base() {
    let repo = Repo::started(&[]);
    assert_eq!(repo.git_in(&repo.at(""), &["branch", "--show-current"]).trim(), "feat/PAY-1-backend");
    assert_eq!(repo.git(&["rev-parse", "feat/PAY-1-backend"]), repo.git(&["rev-parse", "main"]));
    assert_eq!(repo.git_in(&repo.at(""), &["status", "--short"]), "", "nothing of ours shows");
    assert_eq!(repo.git(&["status", "--short"]), "", "nor in the main checkout");
}

#[test]
fn a1_a_second_start_of_the_same_pair_is_refused_or_resumed() {
    let repo = Repo::started(&[]);
    let again = repo.on("start", &[]).exits(9);
    assert!(again.stderr.contains("--resume"), "{}", again.stderr);
    repo.on("start", &["--resume"]).ok();
    repo.placet(&["start", "--agent", "docs", "--ticket", "PAY-1"]).ok();
    repo.placet(&["start", "--agent", "backend", "--ticket", "PAY-2"]).ok();
    assert_eq!(names_in(&repo.root().join(".worktrees/PAY-1")), ["backend", "docs"]);
}

#[test]
fn a1_a_start_that_fails_leaves_nothing_behind_and_says_so_in_the_ledger() {
    let repo = Repo::new();
    repo.git(&["branch", "feat/PAY-1-backend", "HEAD~1"]);
    repo.on("start", &[]).exits(1);
    assert!(!repo.root().join(".worktrees/PAY-1").exists());
    assert!(!repo.root().join(".git/worktrees").exists() || names_in(&repo.root().join(".git/worktrees")).is_empty());
    assert_eq!(repo.recorded(), ["worktree.opening", "worktree.aborted"]);
    repo.git(&["branch", "-D", "feat/PAY-1-backend"]);
    repo.on("start", &[]).ok();
}

#[test]
fn a1_what_was_closed_can_be_taken_up_again_from_where_it_was_left() {
    for layout in [&[][..], &["--overlay"]] {
        let repo = Repo::started(layout);
        repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
        repo.on("close", &[]).ok();
        let left = repo.git(&["rev-parse", "feat/PAY-1-backend"]);
        repo.on("start", layout).ok();
        assert_eq!(repo.git(&["rev-parse", "feat/PAY-1-backend"]), left);
        repo.agent("grep -q 1 src/main.rs; echo 2 >> src/main.rs; git commit -qam 'fix(core): two'").ok();
        assert_eq!(repo.checked()["commits"], 1, "what was judged once is not judged again");
        repo.on("close", &[]).ok();
        repo.placet(&["gc", "--remove"]).ok();
        repo.on("start", layout).ok();
        assert_eq!(
            repo.git(&["rev-list", "--count", "main..feat/PAY-1-backend"]).trim(),
            "2",
            "gone from disk, not lost"
        );
        repo.on("abort", &["--reason", "not now"]).ok();
        let left = repo.git(&["rev-list", "--count", "main..feat/PAY-1-backend"]);
        assert_eq!(left.trim(), "2", "nor given up with it");
    }
}

#[test]
fn reopened_ticket_says_where_it_goes_on() {
    let repo = Repo::started(&[]);
    repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
    repo.on("close", &[]).ok();
    let tip = repo.git(&["rev-parse", "--short=12", "feat/PAY-1-backend"]);
    for options in [&[][..], &["--resume"]] {
        let said = repo.on("start", options).ok();
        assert!(said.out().contains("reopened") || !options.is_empty(), "{}", said.out());
        assert!(said.out().contains("goes on from feat/PAY-1-backend"), "{}", said.out());
        assert!(said.out().contains(tip.trim()) && !said.out().contains("from main"), "{}", said.out());
    }
    let status = repo.placet(&["status"]).ok();
    assert!(status.out().contains("reopened"), "{}", status.out());
}

#[test]
fn handoff_and_status_say_who_is_followed() {
    let repo = Repo::started(&[]);
    repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
    repo.on("close", &[]).ok();
    let tip = repo.git(&["rev-parse", "--short=12", "feat/PAY-1-backend"]);
    let said = repo.on("handoff", &["--to", "docs"]).ok();
    assert!(said.out().contains("from feat/PAY-1-backend") && said.out().contains(tip.trim()), "{}", said.out());
    assert!(!said.out().contains("from main"), "{}", said.out());
    let rows = repo.placet(&["--json", "status"]).ok().json();
    let of = |agent: &str| rows.as_array().unwrap().iter().find(|row| row["agent"] == agent).unwrap().clone();
    assert_eq!((&of("docs")["follows"], &of("backend")["follows"]), (&"backend".into(), &Value::Null));
    assert!(repo.placet(&["status"]).ok().out().contains("follows backend"));
    let prompt = repo.placet(&["prompt", "--agent", "docs", "--ticket", "PAY-1"]).ok();
    assert!(prompt.out().contains("started from `feat/PAY-1-backend`"), "{}", prompt.out());
}

#[test]
fn a2_the_manifest_says_what_was_recorded_and_is_never_committed() {
    let repo = Repo::started(&[]);
    let text = std::fs::read(repo.at(".agent/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&text).unwrap();
    let mut fields: Vec<_> = manifest.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    let expected = [
        "agent",
        "branch",
        "createdAt",
        "createdBy",
        "displayName",
        "scopeAllowlist",
        "scopeDenylist",
        "ticket",
        "worktreePath",
    ];
    assert_eq!(fields, expected);
    assert_eq!((&manifest["agent"], &manifest["ticket"]), (&"backend".into(), &"PAY-1".into()));
    let said = repo.agent("git add -f .agent/manifest.json; git commit -qm 'feat(agent): smuggle'");
    assert!(said.exits(3).stderr.contains(".agent/manifest.json"));
    assert_eq!(repo.git(&["rev-parse", "feat/PAY-1-backend"]), repo.git(&["rev-parse", "main"]), "nothing moved");
}

#[test]
fn a3_mistakes_in_the_team_s_files_are_told_with_file_line_and_path() {
    let repo = Repo::new();
    repo.edit("agents/profiles/backend_agent.json", |profile| profile["scope"]["allow"] = serde_json::json!([]));
    let said = repo.on("start", &[]).exits(2);
    assert!(said.stderr.contains("agents/profiles/backend_agent.json:"), "{}", said.stderr);
    assert!(said.stderr.contains("/scope/allow"), "{}", said.stderr);
    let unknown = Repo::new().placet(&["start", "--agent", "backnd", "--ticket", "PAY-1"]).exits(2);
    assert!(unknown.stderr.contains("did you mean `backend`?"), "{}", unknown.stderr);
}

#[test]
fn a4_the_prompt_names_scope_rules_branch_and_ticket() {
    let repo = Repo::started(&[]);
    let said = repo.on("prompt", &["--title", "Refunds {{ 7 * 7 }}"]).ok();
    for part in ["PAY-1", "src/**", "feat/PAY-1-backend", "`feat`, `fix`, `docs`", "Refunds {{ 7 * 7 }}", "Makefile"] {
        assert!(said.out().contains(part), "`{part}` is missing in {}", said.out());
    }
}

#[test]
fn a10_a_tree_with_somebody_s_environment_in_it_is_no_place_for_an_agent() {
    let repo = Repo::new();
    repo.write("src/.env.production", "X=1\n");
    repo.commit("chore(oops): environment");
    let said = repo.on("start", &[]).exits(1);
    assert!(said.stderr.contains("src/.env.production"), "{}", said.stderr);
    assert!(!repo.root().join(".worktrees/PAY-1").exists());
}

#[test]
fn a15_make_targets_do_what_the_commands_do() {
    let repo = Repo::new();
    repo.write("Makefile", "include agents/agents.mk\n");
    let binary = placet().get_program().to_owned();
    let bin = std::path::Path::new(&binary).parent().unwrap().display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
    let make = |target: &str| {
        let mut make = crate::support::clean(std::process::Command::new("make"));
        make.current_dir(repo.root()).env("PATH", &path).args([target, "AGENT=backend", "TICKET=PAY-1"]);
        crate::support::Said::by(&mut make)
    };
    make("agent-start").ok();
    assert!(make("agent-prompt").ok().out().contains("PAY-1"));
    make("agent-scope-check").ok();
    repo.agent("echo '// more' >> src/main.rs; git commit -qam 'feat(core): more'").ok();
    make("agent-close").ok();
    assert!(repo.at(".agent/REPORT.md").exists());
}

#[test]
fn an_interrupted_start_is_adopted_whatever_is_left_of_it() {
    for options in [&[][..], &["--overlay"]] {
        let repo = Repo::started(options);
        // As a crash in the middle would leave it: the files are gone, the record says it is there.
        if options.is_empty() {
            std::fs::remove_dir_all(repo.at("")).unwrap();
        } else {
            std::fs::remove_dir_all(repo.root().join(".worktrees/.layers/PAY-1-backend")).unwrap();
        }
        let said = repo.on("exec", &["--", "true"]);
        assert!(said.stderr.contains("placet adopt"), "{}", said.stderr);
        repo.on("adopt", &[]).ok();
        repo.agent("echo 1 >> src/util.rs; git commit -qam 'feat(core): go on'").ok();
        assert_eq!(repo.placet(&[&["--json", "scope-check"], &PAIR[..]].concat()).ok().json()["commits"], 1);
    }
}

#[test]
fn a_home_that_was_set_up_twice_is_the_same_home() {
    let repo = Repo::new();
    let before = std::fs::read(repo.root().join(".placet/keys/ledger.seed")).unwrap();
    let said = repo.placet(&["--json", "init"]).ok().json();
    assert_eq!(said["written"], serde_json::json!([]));
    assert_eq!(std::fs::read(repo.root().join(".placet/keys/ledger.seed")).unwrap(), before);
    assert_eq!(repo.git(&["status", "--short"]), "");
}
