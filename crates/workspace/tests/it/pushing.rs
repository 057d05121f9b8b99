//! Branches that leave the host: one, as it was seen, to a remote that is plain.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use placet_workspace::{Branch, ObjectId, Push, PushError};

use crate::harness::tests;
use crate::project::Project;
use crate::repository::git;

tests![
    a11_a_branch_arrives_and_nothing_else_does,
    a11_protected_branches_are_never_pushed_to,
    a11_history_of_the_remote_is_never_rewritten,
    a11_what_was_not_seen_is_not_pushed,
    a11_remotes_that_are_not_plain_are_refused,
];

fn project() -> Project {
    let project = Project::new();
    git(project.outer(), &["clone", "--quiet", "--bare", "project", "remote.git"]);
    let remote = project.outer().join("remote.git");
    project.git(&["remote", "add", "origin", &remote.display().to_string()]);
    project.git(&["checkout", "--quiet", "-b", "feat/x"]);
    project.write("new", "x\n");
    project.commit("feat(x): y");
    project.git(&["tag", "-a", "-m", "t", "v1"]);
    project
}

fn push(project: &Project, remote: &str, branch: &str, protected: &[&str]) -> Result<(), PushError> {
    let branch: Branch = branch.parse().expect("a branch");
    let tip = project.git(&["rev-parse", branch.as_str()]).parse::<ObjectId>().expect("a commit");
    let protected: Vec<Branch> = protected.iter().map(|name| name.parse().expect("a branch")).collect();
    let push = Push { remote, branch: &branch, expected_tip: &tip, protected: &protected, credentials: &[] };
    project.open().push(&push)
}

fn refs(project: &Project) -> String {
    git(&project.outer().join("remote.git"), &["for-each-ref", "--format=%(refname)"])
}

fn a11_a_branch_arrives_and_nothing_else_does() {
    let project = project();
    let trace = project.outer().join("trace");
    let script = format!("#!/bin/sh\ntouch {}\n", trace.display());
    for hook in [
        project.path(".git/hooks/pre-push"),
        project.outer().join("remote.git/hooks/pre-receive"),
        project.outer().join("remote.git/hooks/post-receive"),
    ] {
        fs::create_dir_all(hook.parent().expect("a directory")).expect("a directory");
        fs::write(&hook, &script).expect("a hook");
        fs::set_permissions(hook, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    project.git(&["config", "push.followTags", "true"]);
    project.git(&["config", "remote.origin.receivepack", &format!("touch {}; git-receive-pack", trace.display())]);
    push(&project, "origin", "feat/x", &["main"]).expect("it arrives");
    assert_eq!(refs(&project), "refs/heads/feat/x\nrefs/heads/main");
    project.write("more", "x\n");
    project.commit("feat(x): z");
    push(&project, "origin", "feat/x", &["main"]).expect("it continues");
    let there = git(&project.outer().join("remote.git"), &["rev-parse", "feat/x"]);
    assert_eq!(there, project.git(&["rev-parse", "feat/x"]));
    assert!(!trace.exists(), "no hook was run, here or there");
}

fn a11_protected_branches_are_never_pushed_to() {
    let project = project();
    project.git(&["branch", "Main-x", "feat/x"]);
    let before = refs(&project);
    for (branch, protected) in [("main", "main"), ("feat/x", "feat/x"), ("Main-x", "main-X")] {
        let error = push(&project, "origin", branch, &["other", protected]).expect_err("it is protected");
        assert!(matches!(&error, PushError::Protected(_)), "{error}");
    }
    assert_eq!(refs(&project), before);
}

fn a11_history_of_the_remote_is_never_rewritten() {
    let project = project();
    push(&project, "origin", "feat/x", &[]).expect("it arrives");
    project.git(&["commit", "--quiet", "--amend", "-m", "instead"]);
    project.git(&["config", "remote.origin.push", "+refs/heads/*:refs/heads/*"]);
    let error = push(&project, "origin", "feat/x", &[]).expect_err("it would be rewritten");
    assert!(matches!(&error, PushError::Rejected { .. }), "{error}");
    assert_eq!(git(&project.outer().join("remote.git"), &["log", "-1", "--format=%s", "feat/x"]), "feat(x): y");
}

fn a11_what_was_not_seen_is_not_pushed() {
    let project = project();
    let branch: Branch = "feat/x".parse().expect("a branch");
    let seen = project.git(&["rev-parse", "main"]).parse::<ObjectId>().expect("a commit");
    let push = Push { remote: "origin", branch: &branch, expected_tip: &seen, protected: &[], credentials: &[] };
    let error = project.open().push(&push).expect_err("it is elsewhere");
    assert!(matches!(&error, PushError::Moved { .. }), "{error}");
}

fn a11_remotes_that_are_not_plain_are_refused() {
    let project = project();
    let trace = project.outer().join("trace");
    git(&project.root(), &["init", "--quiet", "--bare", "inside.git"]);
    let command = format!("ext::sh -c touch% {}", trace.display());
    let inside = project.path("inside.git").display().to_string();
    let urls = [
        command.as_str(),
        &inside,
        "../remote.git",
        "http://host/x",
        "git://host/x",
        "fd::7",
        "-oProxyCommand=x:y",
        "ssh://-x/y",
        "https://",
        "host",
        "/nowhere",
    ];
    for url in urls {
        project.git(&["config", "remote.odd.url", url]);
        let error = push(&project, "odd", "feat/x", &[]).expect_err("it is refused");
        assert!(matches!(&error, PushError::Remote { .. }), "{url}: {error}");
    }
    for remote in ["", "-x", "../x", "nobody"] {
        push(&project, remote, "feat/x", &[]).expect_err("there is no such remote");
    }
    let settings: [(&str, &str); 4] = [
        ("url.ext::x.insteadOf", "/"),
        ("remote.origin.vcs", "x"),
        ("remote.origin.mirror", "true"),
        ("remote.origin.pushurl", "/a"),
    ];
    for (name, value) in settings {
        project.git(&["config", "--add", name, value]);
        assert!(push(&project, "origin", "feat/x", &[]).is_err(), "{name}");
        project.git(&["config", "--unset-all", name]);
    }
    push(&project, "origin", "feat/x", &[]).expect("it arrives after all");
    assert!(!trace.exists());
}
