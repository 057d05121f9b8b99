//! All attempts at a glance, compared with the reviewed table in `coverage.txt`, and what holds for the table.
//!
//! To accept a change, run the tests with `PLACET_ACCEPT_COVERAGE=1` and review the difference.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use placet_sandbox::Profile;

use crate::attempt::{self, Barrier, Case};
use crate::harness::tests;

tests![
    the_attempts_are_the_reviewed_ones,
    there_are_many_in_every_group_and_none_twice,
    every_attempt_is_made_by_root_and_by_an_ordinary_user,
    a_rule_that_is_named_exists_and_answers_with_that_code,
    every_refused_call_is_attempted,
];

/// Fewer means that some were lost; more are welcome.
const LEAST: usize = 300;

fn row(case: &Case) -> String {
    let attempt = case.attempt;
    let [name, barrier, refusal] = [case.name(), attempt.barrier.to_string(), attempt.refusal.to_owned()];
    format!("{name:<46} {barrier:<32} {refusal:<26} {}\n", attempt.tries)
}

fn the_attempts_are_the_reviewed_ones() {
    let text: String = attempt::all().iter().map(row).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/escape/coverage.txt");
    if std::env::var_os("PLACET_ACCEPT_COVERAGE").is_some() {
        std::fs::write(&path, &text).expect("the table is written");
    }
    let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
    // A few calls exist on this architecture alone.
    let same =
        if cfg!(target_arch = "x86_64") { text == reviewed } else { text.lines().all(|row| reviewed.contains(row)) };
    assert!(same, "the attempts differ from {}:\n{text}", path.display());
}

fn there_are_many_in_every_group_and_none_twice() {
    let all = attempt::all();
    assert!(all.len() >= LEAST, "{} attempts", all.len());
    let names: BTreeSet<_> = all.iter().map(Case::name).collect();
    assert_eq!(names.len(), all.len());
    for group in ["files", "kernel", "net", "process", "resources"] {
        let count = all.iter().filter(|case| case.group == group).count();
        assert!(count >= 15, "{group} has {count}");
    }
}

/// By the list of this very binary. Started by an ordinary user it cannot become root, and makes every attempt as that user.
fn every_attempt_is_made_by_root_and_by_an_ordinary_user() {
    let own = std::env::current_exe().expect("the path of this binary");
    let said = Command::new(own).arg("--list").output().expect("the list");
    let text = String::from_utf8(said.stdout).expect("text");
    let listed: BTreeSet<&str> = text.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let callers: &[&str] = if rustix::process::geteuid().is_root() { &["root", "user"] } else { &["user"] };
    for caller in callers {
        let wanted = attempt::all().iter().map(|case| format!("{caller}::{}", case.name())).collect::<Vec<_>>();
        let missing: Vec<_> = wanted.iter().filter(|name| !listed.contains(name.as_str())).collect();
        assert!(wanted.len() >= LEAST && missing.is_empty(), "not made as {caller}: {missing:?}");
    }
}

fn a_rule_that_is_named_exists_and_answers_with_that_code() {
    let profiles: Vec<_> = Profile::NAMES.iter().filter_map(|name| Profile::builtin(name)).collect();
    for case in attempt::all() {
        let Barrier::Seccomp(wanted) = case.attempt.barrier else { continue };
        let profile = profiles.iter().find(|profile| profile.name() == case.attempt.profile).expect("a profile");
        let rule = profile.syscalls().iter().find(|rule| rule.name == wanted);
        let code = rule.map(|rule| crate::raw::errno_name(rule.errno));
        assert_eq!(code.as_deref(), Some(case.attempt.refusal), "{}", case.name());
    }
}

fn every_refused_call_is_attempted() {
    let barriers: Vec<_> = attempt::all().iter().map(|case| case.attempt.barrier).collect();
    let profile = Profile::builtin("research_only").expect("a profile");
    let missing = profile.syscalls().iter().filter(|rule| !barriers.contains(&Barrier::Seccomp(rule.name)));
    assert_eq!(missing.map(|rule| rule.name).collect::<Vec<_>>(), Vec::<&str>::new());
}
