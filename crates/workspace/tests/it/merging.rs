//! Work that is taken over: as it was seen, whole, and never over what is somebody's.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use placet_workspace::{Branch, Merge, MergeError, Merging, ObjectId};

use crate::harness::tests;
use crate::project::Project;

tests![
    a13_a_branch_that_nobody_has_checked_out_moves_and_no_file_does,
    a13_a_clean_main_checkout_follows_and_no_hook_runs,
    a13_conflicts_are_named_and_nothing_changes,
    a13_what_is_in_the_main_checkout_is_never_lost,
    a13_while_a_merge_waits_nobody_else_moves_the_branch,
    a13_what_was_not_seen_is_not_taken_over,
    a13_a_branch_that_another_checkout_has_stays,
    a13_an_interrupted_merge_is_finished_as_it_was_recorded,
    a13_what_a_person_did_after_an_interrupted_merge_stays,
];

/// `feat/x` changes `src/one.rs` and adds `new`; `main` went on with `src/two.rs`; `side` is checked out.
fn project() -> Project {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "feat/x"]);
    project.write("src/one.rs", "changed\n");
    project.write("new", "x\n");
    project.commit("feat(x): y");
    project.git(&["checkout", "--quiet", "main"]);
    project.write("src/two.rs", "went on\n");
    project.commit("went on");
    project.git(&["checkout", "--quiet", "-b", "side"]);
    project
}

fn branch(name: &str) -> Branch {
    name.parse().expect("a branch")
}

fn at(project: &Project, name: &str) -> ObjectId {
    project.git(&["rev-parse", name]).parse().expect("a commit")
}

fn merge(project: &Project) -> Result<Merging, MergeError> {
    let (from, into, tip) = (branch("feat/x"), branch("main"), at(project, "feat/x"));
    let message = "Merge feat/x (PAY-1)";
    let by = ("ada", "ada@people.invalid");
    project.open().merge(&Merge { branch: &from, expected_tip: &tip, into: &into, message, by })
}

fn a13_a_branch_that_nobody_has_checked_out_moves_and_no_file_does() {
    let project = project();
    let before = at(&project, "main");
    let merging = merge(&project).expect("it can be merged");
    assert_eq!(at(&project, "main"), before, "nothing is done yet");
    let commit = merging.finish().expect("merged");
    assert_eq!(at(&project, "main"), commit);
    assert_eq!(
        project.git(&["log", "-1", "--format=%s|%an|%ce", "main"]),
        "Merge feat/x (PAY-1)|ada|ada@people.invalid"
    );
    let parents = project.git(&["log", "-1", "--format=%P", "main"]);
    assert_eq!(parents, format!("{before} {}", at(&project, "feat/x")));
    assert_eq!(project.git(&["show", "main:src/two.rs"]), "went on");
    assert_eq!(project.git(&["status", "--short"]), "");
    assert!(!project.path("new").exists());
    let again = merge(&project).expect("it is there");
    assert!(again.is_nothing_new());
    assert_eq!(again.finish().expect("nothing to do"), commit);
}

fn a13_a_clean_main_checkout_follows_and_no_hook_runs() {
    let project = project();
    project.git(&["checkout", "--quiet", "main"]);
    let trace = project.outer().join("trace");
    for hook in ["post-merge", "pre-merge-commit", "post-checkout", "reference-transaction", "commit-msg"] {
        let path = project.path(&format!(".git/hooks/{hook}"));
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(&path, format!("#!/bin/sh\ntouch {}\n", trace.display())).expect("a hook");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    merge(&project).expect("it can be merged").finish().expect("merged");
    assert!(!trace.exists(), "no hook was run");
    fs::remove_dir_all(project.path(".git/hooks")).expect("no hooks");
    assert_eq!(project.git(&["status", "--short"]), "");
    assert_eq!(fs::read_to_string(project.path("new")).expect("it is there"), "x\n");
    assert_eq!(project.git(&["rev-parse", "HEAD"]), at(&project, "main").to_string());
}

fn a13_conflicts_are_named_and_nothing_changes() {
    let project = project();
    project.git(&["checkout", "--quiet", "main"]);
    project.write("src/one.rs", "otherwise\n");
    project.write("new", "otherwise\n");
    project.commit("otherwise");
    let before = at(&project, "main");
    let error = merge(&project).expect_err("both changed it");
    assert_eq!(error.to_string(), "2 files are in conflict: `new`, `src/one.rs`");
    assert_eq!(at(&project, "main"), before);
    assert_eq!(project.git(&["status", "--short"]), "");
}

fn a13_what_is_in_the_main_checkout_is_never_lost() {
    let project = project();
    project.git(&["checkout", "--quiet", "main"]);
    let before = at(&project, "main");
    let refused = |what: &str| {
        let error = merge(&project).expect_err(what).to_string();
        assert_eq!(at(&project, "main"), before, "{what}");
        error
    };
    project.write("file", "not committed\n");
    assert!(refused("changed").contains("`file` changed: commit or stash"));
    project.git(&["add", "file"]);
    assert!(refused("staged").contains("`file` changed"));
    project.git(&["reset", "--quiet", "--hard"]);
    project.write("new", "mine\n");
    assert!(refused("untracked").contains("in the way: `new`"));
    project.write(".git/info/exclude", "new\n");
    assert!(refused("ignored").contains("in the way: `new`"));
    assert_eq!(fs::read_to_string(project.path("new")).expect("it is there"), "mine\n");
}

fn a13_while_a_merge_waits_nobody_else_moves_the_branch() {
    let project = project();
    let (before, merging) = (at(&project, "main"), merge(&project).expect("it can be merged"));
    let moved = std::process::Command::new("git")
        .current_dir(project.root())
        .args(["-c", "core.filesRefLockTimeout=10", "update-ref", "refs/heads/main", "feat/x"])
        .output()
        .expect("git");
    assert!(!moved.status.success(), "it is locked");
    drop(merging);
    assert_eq!(at(&project, "main"), before, "what is not finished never happened");
    merge(&project).expect("the lock is gone").finish().expect("merged");
}

fn a13_what_was_not_seen_is_not_taken_over() {
    let project = project();
    let (from, into, seen) = (branch("feat/x"), branch("main"), at(&project, "main"));
    let asked = Merge { branch: &from, expected_tip: &seen, into: &into, message: "m", by: ("a", "a@x") };
    assert!(matches!(project.open().merge(&asked), Err(MergeError::Moved { .. })));
}

fn a13_a_branch_that_another_checkout_has_stays() {
    let project = project();
    let other = project.outer().join("other");
    project.git(&["worktree", "add", "--quiet", &other.display().to_string(), "main"]);
    let error = merge(&project).expect_err("its files would not follow");
    assert!(matches!(&error, MergeError::Elsewhere { .. }), "{error}");
}

/// The commit of a merge that nobody finished, with `main` checked out.
fn interrupted(project: &Project) -> ObjectId {
    project.git(&["checkout", "--quiet", "main"]);
    let commit = merge(project).expect("it can be merged").commit().clone();
    assert_ne!(at(project, "main"), commit);
    commit
}

fn merge_again(project: &Project, commit: &ObjectId) -> Result<Merging, MergeError> {
    let (from, into, tip) = (branch("feat/x"), branch("main"), at(project, "feat/x"));
    let merge =
        Merge { branch: &from, expected_tip: &tip, into: &into, message: "", by: ("ada", "ada@people.invalid") };
    project.open().merge_again(&merge, commit)
}

/// How far whoever was interrupted came with the files of the main checkout.
type End = fn(&Project, &ObjectId);

fn a13_an_interrupted_merge_is_finished_as_it_was_recorded() {
    let untouched = |_: &Project, _: &ObjectId| {};
    let half_written = |project: &Project, _: &ObjectId| project.write("new", "x\n");
    let one_more = |project: &Project, _: &ObjectId| {
        project.write("new", "x\n");
        project.write("src/one.rs", "changed\n");
    };
    let all_but_the_branch = |project: &Project, commit: &ObjectId| {
        project.git(&["read-tree", "-m", "-u", "main", commit.as_str()]);
    };
    let ends: [End; 4] = [untouched, half_written, one_more, all_but_the_branch];
    for end in ends {
        let project = project();
        let commit = interrupted(&project);
        end(&project, &commit);
        merge_again(&project, &commit).expect("it goes on").finish().expect("it ends");
        assert_eq!(at(&project, "main"), commit);
        assert_eq!(project.git(&["status", "--short"]), "");
        assert!(merge_again(&project, &commit).expect("it is there").is_nothing_new());
    }
}

fn a13_what_a_person_did_after_an_interrupted_merge_stays() {
    for (name, text) in [("new", "mine\n"), ("src/one.rs", "mine\n"), ("src/two.rs", "mine\n")] {
        let project = project();
        let (commit, main) = (interrupted(&project), at(&project, "main"));
        project.write(name, text);
        let error = merge_again(&project, &commit).expect_err("it is theirs");
        assert!(matches!(&error, MergeError::NotClean { .. }), "{error}");
        assert_eq!(
            (at(&project, "main"), fs::read_to_string(project.path(name)).expect("it")),
            (main, text.to_owned())
        );
    }
    let project = project();
    let commit = interrupted(&project);
    project.write("src/two.rs", "further\n");
    project.commit("further");
    let error = merge_again(&project, &commit).expect_err("it went on");
    assert!(matches!(&error, MergeError::Moved { .. }), "{error}");
    let error = merge_again(&project, &at(&project, "main")).expect_err("it is no merge");
    assert!(matches!(&error, MergeError::Another { .. }), "{error}");
}
