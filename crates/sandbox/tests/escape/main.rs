//! Attempts to break out of a cage, each in a cage of its own, as root and as an ordinary user.
//!
//! An attempt is a row of a table: what it tries, which wall is expected to stop it, and what it is told. It is carried
//! out by this very binary inside the cage; outside, the host is compared with how it was before. Attempts are harmless
//! even where they succeed: they open and close, name processes and addresses that are nobody's, and pass operands the
//! kernel would reject with *another* code than the wall does, so that the code tells who answered.

#![expect(clippy::disallowed_methods, reason = "scenarios block on purpose: the cage knows no async runtime")]

mod attempt;
mod coverage;
mod files;
#[path = "../it/harness.rs"]
mod harness;
mod host;
mod inside;
mod kernel;
mod net;
mod process;
mod raw;
mod repository;
mod resources;
mod scene;
mod special;

use std::process::ExitCode;

use harness::Test;

fn main() -> ExitCode {
    placet_sandbox::helper_entry();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [inside::FLAG, name] => inside::run(name),
        [harness::AS_USER_FLAG, name] => harness::run_one(name, &scenarios()),
        _ => harness::run(&arguments, coverage::TESTS, &[], &scenarios()),
    }
}

fn scenarios() -> Vec<Test> {
    let attempts = attempt::all().into_iter().map(|case| Test { name: case.name().leak(), body: host::withstands });
    attempts.chain(host::TESTS.iter().copied()).collect()
}
