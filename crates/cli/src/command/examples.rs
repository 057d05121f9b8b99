//! The examples in the help texts are commands that really parse: people copy them.

use clap::{Command, CommandFactory as _, Parser as _};

use super::Cli;

/// The words of a shell line up to a redirection. Knows single quotes, which is all that the examples use.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(c),
        }
    }
    words.into_iter().take_while(|word| word != ">").collect()
}

fn examples(command: &Command, found: &mut Vec<String>) {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    // What is set in the environment before the command is no part of what is parsed.
    let lines = text
        .lines()
        .filter_map(|line| line.starts_with("  ").then(|| line.find("placet ").map(|at| line[at..].to_owned()))?);
    found.extend(lines);
    command.get_subcommands().for_each(|inner| examples(inner, found));
}

#[test]
fn every_example_in_the_help_parses() {
    let mut found = Vec::new();
    examples(&Cli::command(), &mut found);
    assert!(found.len() >= 20, "the examples are found: {found:?}");
    for line in found {
        let parsed = Cli::try_parse_from(words(&line));
        assert!(parsed.is_ok(), "`{line}`: {}", parsed.unwrap_err());
    }
}

#[test]
fn every_documented_command_has_arguments_without_clashes() {
    Cli::command().debug_assert();
}

#[test]
fn options_for_everybody_never_share_their_id_with_a_command_s_own() {
    fn check(command: &Command, global: &[String]) {
        for inner in command.get_subcommands() {
            let own = inner.get_arguments().map(|argument| argument.get_id().to_string());
            let shared: Vec<String> = own.filter(|id| global.contains(id)).collect();
            assert!(shared.is_empty(), "`{}` takes {shared:?} for something else", inner.get_name());
            check(inner, global);
        }
    }
    let cli = Cli::command();
    let global = cli.get_arguments().filter(|argument| argument.is_global_set());
    let global: Vec<String> = global.map(|argument| argument.get_id().to_string()).collect();
    assert!(global.contains(&"acting_as".to_owned()), "{global:?}");
    check(&cli, &global);
}
