//! Make targets, through a real make: they call what they should, and what AGENT and TICKET hold is never executed.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use placet_worktree::team::{MAKE_INCLUDE, makefile_lacks_include};

use crate::world::World;

/// A repository whose Makefile includes the targets, and a program in the place of placet that writes down its arguments.
fn world() -> World {
    let world = World::with_team();
    world.write("Makefile", &format!("all:\n\t@echo own\n\n{MAKE_INCLUDE}\n"));
    world.write("bin/placet", "#!/bin/sh\nfor argument; do printf '%s\\0' \"$argument\"; done > called\n");
    fs::set_permissions(world.path("bin/placet"), fs::Permissions::from_mode(0o755)).unwrap();
    world
}

fn make(world: &World, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut make = Command::new("make");
    make.current_dir(world.root()).env_clear().args(arguments).envs(environment.iter().copied());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(world.path("bin")).chain(std::env::split_paths(&path));
    make.env("PATH", std::env::join_paths(paths).unwrap());
    make.output().unwrap()
}

/// What placet was called with.
fn called(world: &World) -> Vec<String> {
    let text = world.read("called");
    fs::remove_file(world.path("called")).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn a15_each_target_calls_its_command_with_agent_and_ticket() {
    let world = world();
    for command in ["start", "prompt", "scope-check", "close"] {
        let output = make(&world, &[&format!("agent-{command}"), "AGENT=backend", "TICKET=PAY-1"], &[]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(called(&world), [command, "--agent=backend", "--ticket=PAY-1"]);
    }
    assert!(make(&world, &["agent-status"], &[]).status.success());
    assert_eq!(called(&world), ["status"]);
}

#[test]
fn a15_values_may_come_from_the_environment_and_from_the_makefile() {
    let world = world();
    make(&world, &["agent-start"], &[("AGENT", "docs"), ("TICKET", "A-1")]);
    assert_eq!(called(&world), ["start", "--agent=docs", "--ticket=A-1"]);
    world.edit("Makefile", "all:", "AGENT = docs\nTICKET := A-2\nall:");
    make(&world, &["agent-start"], &[]);
    assert_eq!(called(&world), ["start", "--agent=docs", "--ticket=A-2"]);
}

#[test]
fn a15_a_missing_agent_reaches_placet_as_empty_which_refuses_it() {
    let world = world();
    make(&world, &["agent-start", "TICKET=A-1"], &[]);
    assert_eq!(called(&world), ["start", "--agent=", "--ticket=A-1"]);
}

#[test]
fn a15_the_failure_of_a_command_is_the_failure_of_make() {
    let world = world();
    world.write("bin/placet", "#!/bin/sh\nexit 3\n");
    assert!(!make(&world, &["agent-scope-check", "AGENT=a", "TICKET=A-1"], &[]).status.success());
}

/// Values that would run something, were they read by make or by a shell. Each would make a file `canary`.
const HOSTILE: &[&str] = &[
    "x; touch canary",
    "x\"; touch canary; \"",
    "'; touch canary; '",
    "$(touch canary)",
    "$$(touch canary)",
    "`touch canary`",
    "$(shell touch canary)",
    "${shell touch canary}",
    "$$(shell touch canary)",
    "$(eval X:=$(shell touch canary))",
    "x\ntouch canary",
    "x && touch canary #",
    "$(file >canary)",
    "--help",
    "-rf",
    "a b",
    "*",
    "\\",
    "\\\"",
    "#x",
    "a=b",
    "%",
];

#[test]
fn a15_hostile_values_arrive_as_they_are_and_run_nothing() {
    let world = world();
    for value in HOSTILE {
        for target in ["agent-start", "agent-prompt", "agent-scope-check", "agent-close"] {
            let (agent, ticket) = (format!("AGENT={value}"), format!("TICKET={value}"));
            let output = make(&world, &[target, &agent, &ticket], &[]);
            assert!(!world.path("canary").exists(), "{value:?}");
            assert!(output.status.success(), "{value:?}: {output:?}");
            assert_eq!(called(&world)[1..], [format!("--agent={value}"), format!("--ticket={value}")], "{value:?}");
        }
        make(&world, &["agent-start"], &[("AGENT", value), ("TICKET", value)]);
        assert!(!world.path("canary").exists(), "{value:?} from the environment");
        assert_eq!(called(&world)[1..], [format!("--agent={value}"), format!("--ticket={value}")], "{value:?}");
    }
}

#[test]
fn a15_hostile_values_run_nothing_through_the_teams_own_targets_either() {
    let world = world();
    for value in HOSTILE {
        make(&world, &["all", &format!("AGENT={value}")], &[]);
        assert!(!world.path("canary").exists(), "{value:?}");
    }
}

#[test]
fn a15_the_first_target_stays_the_teams_and_the_include_is_recognised() {
    let world = world();
    assert_eq!(make(&world, &[], &[]).stdout, b"own\n");
    assert!(!makefile_lacks_include(world.root()));
    world.write("Makefile", "all:\n");
    assert!(makefile_lacks_include(world.root()));
    assert!(makefile_lacks_include(Path::new("/nonexistent")));
}
