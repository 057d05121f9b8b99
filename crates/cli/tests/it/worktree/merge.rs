//! MERGE: whoever is accountable takes over what is closed; conflicts are an answer.

use std::fs;

use super::people::with_ada;
use super::repo::{PAIR, Repo};
use crate::support::Said;

fn merge(repo: &Repo, who: &str) -> Said {
    repo.placet(&[&["--as", who, "merge"], &PAIR[..]].concat())
}

/// Closed, with `script` as its work.
fn closed(script: &str) -> Repo {
    let repo = with_ada(Repo::started(&[]));
    repo.agent(&format!("{script}; git add -A; git commit -qm 'feat(core): work'")).ok();
    repo.on("close", &[]).ok();
    repo
}

#[test]
fn a13_only_whoever_is_accountable_for_the_merge_takes_work_over() {
    let repo = with_ada(Repo::started(&[]));
    repo.agent("echo '// more' >> src/main.rs; git commit -qam 'feat(core): more'").ok();
    let open = merge(&repo, "ada").exits(9);
    assert!(open.stderr.contains("placet close"), "{}", open.stderr);
    repo.on("close", &[]).ok();
    let main = repo.git(&["rev-parse", "main"]);
    let refused = merge(&repo, "admin").exits(3);
    assert!(refused.stderr.contains("`merge`"), "{}", refused.stderr);
    assert_eq!(repo.git(&["rev-parse", "main"]), main, "nothing moved");
    merge(&repo, "ada").ok();
    let said = repo.git(&["log", "-1", "--format=%s|%an|%ae", "main"]);
    assert_eq!(said.trim(), "Merge feat/PAY-1-backend (PAY-1)|ada|ada@people.invalid");
    assert!(fs::read_to_string(repo.root().join("src/main.rs")).unwrap().contains("// more"), "the checkout follows");
    assert_eq!(repo.git(&["status", "--short"]), "");
    assert_eq!(repo.recorded().last().unwrap(), "worktree.merged");
    let again = merge(&repo, "ada").exits(9);
    assert!(again.stderr.contains("MERGED"), "{}", again.stderr);
}

#[test]
fn a13_a_main_checkout_with_another_branch_is_not_touched() {
    let repo = closed("echo '// more' >> src/main.rs");
    repo.git(&["switch", "-qc", "mine"]);
    repo.write("docs/guide.md", "half-written\n");
    merge(&repo, "ada").ok();
    assert_eq!(repo.git(&["status", "--short"]), " M docs/guide.md\n");
    assert!(!fs::read_to_string(repo.root().join("src/main.rs")).unwrap().contains("// more"));
    assert!(repo.git(&["show", "main:src/main.rs"]).contains("// more"));
}

#[test]
fn a13_a_main_checkout_that_is_not_clean_refuses_and_says_what_to_do() {
    let repo = closed("echo '// more' >> src/main.rs; echo x > src/new.rs");
    let main = repo.git(&["rev-parse", "main"]);
    repo.write("docs/guide.md", "half-written\n");
    let said = merge(&repo, "ada").exits(9);
    assert!(said.stderr.contains("`docs/guide.md` changed: commit or stash"), "{}", said.stderr);
    repo.git(&["checkout", "-q", "docs/guide.md"]);
    repo.write("src/new.rs", "mine\n");
    let said = merge(&repo, "ada").exits(9);
    assert!(said.stderr.contains("src/new.rs"), "{}", said.stderr);
    assert_eq!(repo.git(&["rev-parse", "main"]), main);
    assert_eq!(repo.recorded().last().unwrap(), "worktree.closed", "nothing is recorded that did not happen");
    fs::remove_file(repo.root().join("src/new.rs")).unwrap();
    merge(&repo, "ada").ok();
}

#[test]
fn a14_conflicts_are_a_normal_outcome_and_change_nothing() {
    let repo = closed("echo 'pub fn theirs() {}' > src/util.rs");
    repo.write("src/util.rs", "pub fn ours() {}\n");
    repo.commit("feat(core): ours");
    let main = repo.git(&["rev-parse", "main"]);
    let said = merge(&repo, "ada").exits(9);
    assert!(said.stderr.contains("1 file is in conflict: `src/util.rs`"), "{}", said.stderr);
    assert_eq!(repo.git(&["rev-parse", "main"]), main);
    assert_eq!(repo.git(&["status", "--short"]), "");
    assert_eq!(repo.recorded().last().unwrap(), "worktree.closed");
}

#[test]
fn a14_a_ticket_goes_from_one_agent_to_the_next_and_into_the_base() {
    let repo = with_ada(Repo::new());
    repo.edit("agents/policy.json", |policy| {
        policy["sequences"] = serde_json::json!({ "default": ["backend", "docs"] })
    });
    repo.edit("agents/raci.json", |raci| {
        raci["merge"]["accountable"] = serde_json::json!(["ada"]);
        raci["merge"]["informed"] = serde_json::json!(["admin"]);
    });
    repo.commit("chore(agents): sequence");
    repo.placet(&["duties", "apply"]).ok();
    let docs = ["--agent", "docs", "--ticket", "PAY-1"];
    repo.on("start", &[]).ok();
    repo.agent("echo 'pub fn refund() {}' >> src/util.rs; git commit -qam 'feat(core): refunds'").ok();
    repo.on("close", &[]).ok();
    repo.on("handoff", &["--overlay"]).ok();
    let script = "grep -q refund src/util.rs; echo Refunds. >> docs/guide.md; git commit -qam 'docs(guide): refunds'";
    repo.placet(&[&["exec"], &docs[..], &["--", "sh", "-ec", script]].concat()).ok();
    repo.placet(&[&["close"], &docs[..]].concat()).ok();
    let said = repo.placet(&[&["--json", "--as", "ada", "merge"], &docs[..]].concat()).ok().json();
    assert_eq!((&said["into"], &said["nothing_new"]), (&"main".into(), &false.into()));
    let log = repo.git(&["log", "--first-parent", "-1", "--format=%s", "main"]);
    assert_eq!(log.trim(), "Merge feat/PAY-1-docs (PAY-1)");
    assert_eq!(repo.git(&["diff", "--name-only", "main^1", "main"]), "docs/guide.md\nsrc/util.rs\n");
    let before = repo.placet(&[&["--json", "--as", "ada", "merge"], &PAIR[..]].concat()).ok().json();
    assert_eq!((&before["nothing_new"], &before["commit"]), (&true.into(), &said["commit"]), "it came with the rest");
    let told = repo.placet(&["--as", "admin", "notices"]).ok();
    assert!(told.out().contains("worktree.merged"), "{}", told.out());
    let gc = repo.placet(&["--json", "gc"]).ok().json();
    assert_eq!(
        (&gc["worktrees"][0]["removable"], &gc["worktrees"][0]["because"]),
        (&true.into(), &"merged into main".into())
    );
}
