//! The container backend: configurations always, scenarios where an engine is named.
//!
//! `PLACET_TEST_ENGINE=podman` starts a Podman of its own, with everything in a temporary directory (needs root, podman,
//! runc, catatonit and a static busybox; no network). `PLACET_TEST_ENGINE=/path/to/socket` uses an engine that runs
//! already, and leaves one small image there. Without it the scenarios with an engine do not exist, and that is said.
#![expect(clippy::print_stderr, reason = "standard output belongs to the list of tests")]

mod configurations;
mod engine;
mod scenarios;

pub(crate) use scenarios::{ABANDON_FLAG, launch_and_wait_to_be_killed};

use crate::harness::Test;

/// Run once, as the caller.
pub(crate) fn tests() -> Vec<Test> {
    let with_engine = if engine::is_named() { scenarios::TESTS } else { &[] };
    if with_engine.is_empty() {
        eprintln!("{} scenarios need an engine: set PLACET_TEST_ENGINE to run them", scenarios::TESTS.len());
    }
    [configurations::TESTS, with_engine].concat()
}

/// Ends the engine, if one was started.
pub(crate) fn tear_down() {
    engine::tear_down();
}
