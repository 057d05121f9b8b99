//! Git, neutralised: what it is told, and how it ends.

use std::fs;
use std::time::{Duration, Instant};

use placet_workspace::{Call, Git, GitError};
use tempfile::TempDir;

use crate::harness::tests;

tests![
    the_environment_is_built_from_nothing,
    a_program_that_takes_too_long_is_ended_with_all_it_started,
    a_program_that_prints_too_much_is_ended,
    what_went_wrong_is_told,
    input_and_output_can_be_files,
    nothing_that_is_configured_is_run,
];

fn repository() -> (TempDir, Git) {
    let outer = TempDir::new().expect("a temporary directory");
    let git = Git::new(outer.path());
    git.run(["init", "--quiet", "--bare"]).expect("a repository");
    (outer, git)
}

fn the_environment_is_built_from_nothing() {
    let (_outer, git) = repository();
    let printed = git.run(["-c", "alias.x=!env", "x"]).expect("variables");
    let printed = String::from_utf8(printed).expect("text");
    let known = ["GIT_", "PATH=", "HOME=/nonexistent", "LC_ALL=C", "PWD=", "_=", "SHLVL=", "OLDPWD="];
    for line in printed.lines() {
        assert!(known.iter().any(|name| line.starts_with(name)), "{line}");
    }
    assert!(printed.contains("GIT_CONFIG_GLOBAL=/dev/null"));
}

fn a_program_that_takes_too_long_is_ended_with_all_it_started() {
    let (_outer, git) = repository();
    let started = Instant::now();
    let error = git.timeout_ms(300).run(["-c", "alias.x=!sleep 61 & sleep 62", "x"]).expect_err("too long");
    assert!(matches!(&error, GitError::TimedOut { timeout_ms: 300, .. }), "{error}");
    assert!(started.elapsed() < Duration::from_secs(20), "the pipes are closed: nothing of it is left");
}

fn a_program_that_prints_too_much_is_ended() {
    let (_outer, git) = repository();
    let error = git.output_bytes(10_000).run(["-c", "alias.x=!yes", "x"]).expect_err("too much");
    assert!(matches!(&error, GitError::TooMuch { limit_bytes: 10_000, .. }), "{error}");
}

fn what_went_wrong_is_told() {
    let (_outer, git) = repository();
    let error = git.run(["rev-parse", "--verify", "nothing"]).expect_err("there is nothing");
    assert!(error.to_string().contains("rev-parse --verify nothing") && error.to_string().contains("fatal"), "{error}");
    assert!(!git.ask(["rev-parse", "--verify", "--quiet", "nothing"]).expect("an answer"));
}

fn input_and_output_can_be_files() {
    let (outer, git) = repository();
    let id = git.call(Call::new(["hash-object", "-w", "--stdin"]).input(*b"hello")).expect("an object");
    let id = String::from_utf8(id).expect("text");
    let (from, to) = (outer.path().join("from"), outer.path().join("to"));
    fs::write(&from, &id).expect("a file");
    let files = (fs::File::open(&from).expect("a file"), fs::File::create(&to).expect("a file"));
    let call = Call::new(["cat-file", "--batch=%(objectname)"]).input_file(files.0).output_file(files.1);
    assert!(git.call(call).expect("an object").is_empty());
    assert_eq!(fs::read_to_string(to).expect("a file"), format!("{}\nhello\n", id.trim()));
}

fn nothing_that_is_configured_is_run() {
    let (outer, git) = repository();
    let tree = TempDir::new().expect("a temporary directory");
    let trace = outer.path().join("ran");
    let settings = ["core.fsmonitor", "core.editor", "core.pager", "diff.external", "core.alternateRefsCommand"];
    for name in settings {
        git.run(["config", name, &format!("touch {}; false", trace.display())]).expect("a setting");
    }
    fs::write(outer.path().join("hooks/post-index-change"), format!("#!/bin/sh\ntouch {}\n", trace.display()))
        .expect("a hook");
    git.run(["config", "core.bare", "false"]).expect("a setting");
    fs::write(tree.path().join("file"), "x").expect("a file");
    let git = git.work_tree(tree.path());
    for arguments in [&["add", "."][..], &["status", "--porcelain"], &["commit", "--quiet", "-m", "x"], &["log", "-p"]]
    {
        git.run(arguments).expect("an answer");
    }
    assert!(!trace.exists());
}
