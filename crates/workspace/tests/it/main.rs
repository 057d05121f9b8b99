//! Scenarios with real cages: what commands leave in their layers, and what becomes of it. Each is run as root and as an
//! ordinary user.
//!
//! The runner is the one of the cage's own scenarios, for the same reason: its helper is this very binary executed again.

mod booby;
mod differing;
mod finding;
mod git;
#[path = "../../../sandbox/tests/it/harness.rs"]
mod harness;
mod harvest;
mod hostile;
mod layers;
mod merging;
mod planted;
mod project;
mod pushing;
mod repository;
mod spaces;
mod worktrees;
mod world;

use std::process::ExitCode;

fn main() -> ExitCode {
    placet_sandbox::helper_entry();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [harness::AS_USER_FLAG, name] => harness::run_one(name, &scenarios()),
        [spaces::killed::FLAG, root] => spaces::killed::go_back_and_forth(root.as_ref()),
        _ => harness::run(&arguments, &plain(), &of_root(), &scenarios()),
    }
}

/// Without a cage, or too many to be run twice: whoever owns a repository, the traps in it are the same.
fn plain() -> Vec<harness::Test> {
    [git::TESTS, &booby::tests()].concat()
}

fn of_root() -> Vec<harness::Test> {
    [harvest::of_root::TESTS, finding::of_root::TESTS].concat()
}

fn scenarios() -> Vec<harness::Test> {
    [
        layers::TESTS,
        hostile::TESTS,
        harvest::TESTS,
        planted::TESTS,
        finding::TESTS,
        worktrees::TESTS,
        differing::TESTS,
        pushing::TESTS,
        merging::TESTS,
        spaces::TESTS,
        spaces::killed::TESTS,
        spaces::large::TESTS,
    ]
    .concat()
}
