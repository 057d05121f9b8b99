//! The scenarios of the cage, each run as root and as an ordinary user.
//!
//! The cage's helper is this very binary executed again, before any thread exists, so the usual harness cannot be used.
//! This one lists and selects tests the way `cargo test` and `cargo nextest` expect. Started as root, it runs every
//! scenario twice: as it is, and in a copy of itself that became an ordinary user.

#![expect(clippy::disallowed_methods, reason = "scenarios block on purpose: the cage knows no async runtime")]

mod browser;
mod confinement;
#[cfg(feature = "container")]
mod container;
mod doors;
mod ends;
mod harness;
mod inside;
mod layers;
mod limits;
mod plans;
mod processes;
mod profiles;
mod programs;
mod repositories;
mod rule_plans;
mod rules;
mod secrets;
mod standstill;
mod submounts;
mod syscalls;
mod terminal;
mod tools;
mod traces;
mod users;
mod view;
mod world;
mod zygotes;

use std::process::ExitCode;

fn main() -> ExitCode {
    placet_sandbox::helper_entry();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [inside::FLAG, probe, operands @ ..] => inside::run(probe, operands),
        [world::REPORT_FLAG] => world::report(),
        [ends::ABANDON_FLAG, marker] => ends::launch_and_wait_to_be_killed(marker),
        [standstill::ABANDON_FLAG, marker] => standstill::freeze_and_wait_to_be_killed(marker),
        [submounts::FLAG, directory] => submounts::look_below(directory),
        [harness::AS_USER_FLAG, name] => harness::run_one(name, &scenarios()),
        #[cfg(feature = "container")]
        [container::ABANDON_FLAG, socket, marker] => container::launch_and_wait_to_be_killed(socket, marker),
        _ => run(&arguments),
    }
}

#[cfg(not(feature = "container"))]
fn run(arguments: &[String]) -> ExitCode {
    harness::run(arguments, &plain(), submounts::TESTS, &scenarios())
}

#[cfg(feature = "container")]
fn run(arguments: &[String]) -> ExitCode {
    let plain = [plain(), container::tests()].concat();
    let code = harness::run(arguments, &plain, submounts::TESTS, &scenarios());
    container::tear_down();
    code
}

fn scenarios() -> Vec<harness::Test> {
    let all = [
        view::TESTS,
        layers::TESTS,
        rules::TESTS,
        repositories::TESTS,
        secrets::TESTS,
        users::TESTS,
        terminal::TESTS,
        tools::TESTS,
        browser::TESTS,
        confinement::TESTS,
        doors::TESTS,
        syscalls::TESTS,
        programs::TESTS,
        profiles::TESTS,
        limits::TESTS,
        ends::TESTS,
        standstill::TESTS,
        traces::TESTS,
        zygotes::TESTS,
    ];
    all.concat()
}

/// Run once, as the caller.
fn plain() -> Vec<harness::Test> {
    [plans::TESTS, profiles::texts::TESTS, rule_plans::TESTS, tools::of_the_caller::TESTS].concat()
}
