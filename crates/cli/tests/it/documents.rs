//! Documents are true where a machine can check it: promises name tests, links lead somewhere, commands and options
//! exist, every kind of ledger entry is described, and the examples accept a real export and no other.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use placet_domain::headline::headline;

use crate::help::every_help;
use crate::house::{all_sources, root};
use crate::support::{Process, Said, World, placet};

/// Promises for a user to read, no more than one can read.
const PROMISES: std::ops::RangeInclusive<usize> = 60..=100;

/// Families of kinds of ledger entries.
const FAMILIES: &[&str] = &[
    "action",
    "evidence",
    "identity",
    "job",
    "organisation",
    "permit",
    "planner",
    "project",
    "run",
    "runtime",
    "worktree",
];

/// Options before a command that take a value.
const GLOBAL_OPTIONS: &[&str] = &["--as", "--home", "--server", "--token"];

fn read(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// Reads every Markdown file of a directory.
fn documents_in(dir: &Path) -> Vec<(PathBuf, String)> {
    let paths = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let markdown = paths.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    markdown.map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn documents() -> Vec<(PathBuf, String)> {
    ["", "docs", "docs/decisions"].iter().flat_map(|dir| documents_in(&root().join(dir))).collect()
}

/// Splits a document into lines, each with whether it is inside a code block.
fn lines(text: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut in_block = false;
    text.lines().filter_map(move |line| {
        let fence = line.trim_start().starts_with("```");
        in_block ^= fence;
        (!fence).then_some((in_block, line))
    })
}

/// Returns the name of every function in our sources.
fn functions() -> BTreeSet<String> {
    let named = |text: &str| -> Vec<String> {
        let names = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
        names.map(str::to_owned).collect()
    };
    all_sources().iter().flat_map(|(_, text)| named(text)).collect()
}

#[test]
fn promises_name_existing_tests_and_are_numbered() {
    let functions = functions();
    let text = read("docs/PROMISES.md");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with("| P"))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(PROMISES.contains(&rows.len()), "{} promises", rows.len());
    for (row, number) in rows.iter().zip(1..) {
        assert_eq!(row[0], format!("P{number}"));
        let keeper = row.last().unwrap();
        if keeper.contains("*pending") {
            continue;
        }
        let names: Vec<&str> =
            keeper.split('`').skip(1).step_by(2).filter_map(|path| path.rsplit("::").next()).collect();
        assert!(!names.is_empty(), "{} names no test: {keeper}", row[0]);
        for name in names {
            assert!(functions.contains(name), "{} names `{name}`, which does not exist", row[0]);
        }
    }
    let known: BTreeSet<String> = (1..=rows.len()).map(|number| format!("P{number}")).collect();
    let threats = read("docs/THREATS.md");
    let words = threats.split(|sign: char| !sign.is_ascii_alphanumeric());
    let numbers = words.filter(|word| word.strip_prefix('P').is_some_and(|rest| rest.parse::<u32>().is_ok()));
    for number in numbers {
        assert!(known.contains(number), "docs/THREATS.md names {number}, which is no promise");
    }
}

/// Returns the anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    let kept = kept.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'));
    kept.map(|sign| if sign == ' ' { '-' } else { sign }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = lines(text).filter(|(in_block, line)| !in_block && line.starts_with('#'));
    headings.map(|(_, line)| anchor(line.trim_start_matches('#').trim())).collect()
}

#[test]
fn links_of_documents_lead_to_files_and_headings() {
    for (path, text) in documents() {
        let targets = lines(&text).filter(|(in_block, _)| !in_block).flat_map(|(_, line)| {
            line.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect::<Vec<_>>()
        });
        for target in targets.filter(|target| !target.contains("://")) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let linked = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(linked.exists(), "{}: `{target}` leads nowhere", path.display());
            let known = heading.is_empty() || anchors(&fs::read_to_string(&linked).unwrap()).contains(heading);
            assert!(known, "{}: `{target}` names no heading", path.display());
        }
    }
}

/// Splits a shell line into commands of words, without comments and redirections.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut found = vec![vec![]];
    let mut word = String::new();
    let mut quote = None;
    for sign in line.chars().chain([' ']) {
        match (quote, sign) {
            (Some(open), _) if sign == open => quote = None,
            (None, '\'' | '"') => quote = Some(sign),
            (Some(_), _) => word.push(sign),
            (None, ' ' | ';' | '|' | '>' | '&') => {
                if !word.is_empty() {
                    found.last_mut().unwrap().push(std::mem::take(&mut word));
                }
                if sign != ' ' {
                    found.push(vec![]);
                }
            }
            (None, '#') if word.is_empty() => break,
            (None, _) => word.push(sign),
        }
    }
    found.retain(|words| words.first().is_some_and(|first| first == "placet"));
    found
}

/// Returns every command of ours in a document: in its code blocks, and whole spans of code.
fn documented_commands(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    let of_line = |(in_block, line): (bool, &str)| {
        let spans: Vec<String> = if in_block {
            vec![line.trim_start().trim_start_matches("$ ").to_owned()]
        } else {
            line.split('`').skip(1).step_by(2).map(str::to_owned).collect()
        };
        spans
            .into_iter()
            .filter(|span| span.starts_with("placet "))
            .flat_map(|span| commands(&span))
            .collect::<Vec<_>>()
    };
    lines(&joined).flat_map(of_line).collect()
}

/// Says what is wrong with a documented command: a name that is no command, or an option that it does not have.
fn flaw(words: &[String], help: &BTreeMap<Vec<String>, String>) -> Option<String> {
    let mut rest = &words[1..];
    while let Some(first) = rest.first().filter(|word| word.starts_with('-')) {
        rest = rest.get(if GLOBAL_OPTIONS.contains(&first.as_str()) { 2.. } else { 1.. })?;
    }
    let depth = (0..=rest.len()).rev().find(|depth| help.contains_key(&rest[..*depth])).unwrap();
    let (path, rest) = rest.split_at(depth);
    let text = &help[path];
    let is_group = text.contains("\nCommands:\n");
    let lowercase = |word: &String| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    if let Some(name) = rest.first().filter(|word| is_group && lowercase(word) && !word.starts_with('-')) {
        return Some(format!("`{name}` is no command"));
    }
    let options = rest.iter().take_while(|word| *word != "--").filter(|word| word.starts_with("--"));
    let missing = options.map(|word| word.split('=').next().unwrap()).find(|option| !text.contains(option))?;
    Some(format!("`{missing}` is no option"))
}

#[test]
fn documented_commands_and_options_exist() {
    let help: BTreeMap<Vec<String>, String> = every_help().into_iter().collect();
    for wrong in ["placet frob", "placet --as ada run frob RUN", "placet run show RUN --frob"] {
        assert!(flaw(&commands(wrong)[0], &help).is_some(), "{wrong}");
    }
    let mut count = 0;
    for (path, text) in documents().into_iter().filter(|(path, _)| !path.ends_with("CHANGELOG.md")) {
        for words in documented_commands(&text) {
            count += 1;
            let found = flaw(&words, &help);
            assert_eq!(found, None, "{}: {}", path.display(), words.join(" "));
        }
    }
    assert!(count > 150, "{count} commands were found");
}

/// Returns every kind of ledger entry that the domain names.
fn kinds() -> BTreeSet<String> {
    let is_kind = |text: &&str| {
        let word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        text.split_once('.').is_some_and(|(family, rest)| FAMILIES.contains(&family) && word(rest))
    };
    let domain = root().join("crates/domain/src");
    let declaring = all_sources().into_iter().filter(|(path, text)| {
        path.starts_with(&domain) && (text.contains("EventMeta::new") || text.contains("fn kind(&self)"))
    });
    let found: BTreeSet<String> = declaring
        .flat_map(|(_, text)| text.split('"').filter(is_kind).map(str::to_owned).collect::<Vec<_>>())
        .collect();
    found.into_iter().chain(["refused".to_owned()]).collect()
}

#[test]
fn c13_every_kind_of_entry_has_its_own_documented_headline() {
    let kinds = kinds();
    assert!(kinds.len() > 120, "the kinds were found: {kinds:?}");
    let names: BTreeSet<_> = kinds.iter().map(|kind| headline(kind)).collect();
    assert_eq!(names.len(), kinds.len(), "no two kinds have the same headline");
    let (ledger, api) = (read("docs/ledger.md"), read("docs/api.md").replace('\n', " "));
    for kind in &kinds {
        assert!(ledger.contains(&format!("`{kind}`")), "docs/ledger.md does not describe `{kind}`");
        let usual = kind.strip_prefix("run.").map_or_else(|| kind.replace('.', "_"), str::to_owned);
        let exception = format!("`{kind}` is `{}`", headline(kind));
        assert!(headline(kind) == usual || api.contains(&exception), "docs/api.md does not say that {exception}");
    }
}

fn python(world: &World, script: &str, argument: &str) -> Said {
    let mut command = crate::support::clean(std::process::Command::new("python3"));
    Said::by(command.arg(root().join("docs/examples").join(script)).arg(world.path(argument)))
}

#[test]
fn examples_accept_a_real_export_and_no_other() {
    let (world, _) = World::start();
    world.cli(&["ledger", "export", "export"]).ok();
    world.cli(&["ledger", "prove", "3", "--to", "proof.json"]).ok();
    python(&world, "check_proof.py", "proof.json").ok();
    python(&world, "check_export.py", "export").ok();

    let proof = fs::read_to_string(world.path("proof.json")).unwrap();
    world.write("proof.json", proof.replacen("\\\"v\\\":1", "\\\"v\\\":2", 1));
    python(&world, "check_proof.py", "proof.json").exits(1);
    let head = fs::read_to_string(world.path("export/checkpoint")).unwrap();
    let size: u64 = head.lines().nth(1).unwrap().parse().unwrap();
    let shorter = head.replacen(&format!("\n{size}\n"), &format!("\n{}\n", size - 1), 1);
    world.write("export/checkpoint", shorter);
    python(&world, "check_export.py", "export").exits(1);
}

#[test]
fn example_answers_are_served() {
    let answers = root().join("docs/examples/answers.toml");
    let playing = Process::start(placet().args(["model", "script"]).arg(answers));
    playing.line(Duration::from_secs(20), |line| line.starts_with("serving "));
    playing.kill();
}
