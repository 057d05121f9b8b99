//! Help is how people learn the tool: every command explains itself, and nothing is printed that only a terminal understands.

use std::collections::BTreeSet;

use crate::support::{Said, placet, placet_in};

fn help(path: &[String]) -> String {
    let args: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    placet_in(&std::env::temp_dir(), &args).ok().out().to_owned()
}

/// The names under `Commands:` with what is said of each.
fn commands(help: &str) -> Vec<(String, String)> {
    let section = help.split("Commands:\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| line.starts_with("  "));
    let row = |line: &str| {
        let (name, about) = line.trim().split_once("  ").unwrap_or((line.trim(), ""));
        (name.to_owned(), about.trim().to_owned())
    };
    lines.map(row).filter(|(name, _)| name != "help").collect()
}

fn walk(path: &[String], seen: &mut Vec<(Vec<String>, String)>) {
    let text = help(path);
    for (name, about) in commands(&text) {
        let path: Vec<String> = path.iter().cloned().chain([name]).collect();
        assert!(about.split_whitespace().count() >= 2, "`{}` is not explained in the list: `{about}`", path.join(" "));
        walk(&path, seen);
    }
    seen.push((path.to_vec(), text));
}

pub(crate) fn every_help() -> Vec<(Vec<String>, String)> {
    let mut seen = Vec::new();
    walk(&[], &mut seen);
    seen
}

#[test]
fn every_command_explains_itself() {
    let all = every_help();
    let leaves = all.iter().filter(|(path, _)| !path.is_empty());
    assert!(leaves.clone().count() > 40, "the walk finds the whole tree");
    for (path, text) in leaves {
        let first = text.lines().next().unwrap();
        assert!(first.split_whitespace().count() >= 2 && !first.starts_with("Usage"), "`{}`: {first}", path.join(" "));
        assert!(text.contains("Usage: placet"), "{text}");
    }
}

#[test]
fn help_and_wrong_usage_have_no_colour_codes_in_a_pipe() {
    for (path, text) in every_help() {
        assert!(!text.contains('\u{1b}'), "{path:?}");
    }
    for args in [&["--nonsense"][..], &["queue", "more"], &["run"], &["serve", "--address", "x"]] {
        let said = placet_in(&std::env::temp_dir(), args).exits(2);
        assert!(!said.stderr.contains('\u{1b}'), "{}", said.stderr);
        assert!(said.stderr.contains("--help") || said.stderr.contains("Usage:"), "{}", said.stderr);
        assert_eq!(said.out(), "");
    }
}

/// Runs a command whose answer is coloured, in a terminal of its own.
fn on_a_terminal(no_colour: &str) -> String {
    let mut command = std::process::Command::new("script");
    let line = format!("{} exit-codes; {0} doctor", env!("CARGO_BIN_EXE_placet"));
    command.args(["--quiet", "--command", &line, "/dev/null"]).env("NO_COLOR", no_colour).env("TERM", "xterm");
    Said::by(&mut command).out().to_owned()
}

#[test]
fn on_a_terminal_there_are_colours_unless_they_are_not_wanted() {
    assert!(on_a_terminal("").contains("\u{1b}["), "an empty NO_COLOR counts as none");
    assert!(!on_a_terminal("1").contains("\u{1b}["));
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = placet_in(&std::env::temp_dir(), &["completions", shell]).ok();
        for name in ["demo", "propose", "check-proof"] {
            assert!(script.out().contains(name), "{shell}: {name}");
        }
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let said = Said::by(placet().arg("man").arg(dir.path())).ok();
    assert_eq!(said.out(), "");
    let pages: BTreeSet<String> = crate::support::names_in(dir.path()).into_iter().collect();
    for (path, _) in every_help() {
        let name = std::iter::once("placet".to_owned()).chain(path).collect::<Vec<_>>().join("-");
        assert!(pages.contains(&format!("{name}.1")), "{name}: {pages:?}");
    }
}

#[test]
fn the_version_is_told_in_one_line() {
    let said = placet_in(&std::env::temp_dir(), &["--version"]).ok();
    assert_eq!(said.out(), format!("placet {}\n", env!("CARGO_PKG_VERSION")));
}
