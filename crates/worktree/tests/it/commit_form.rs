//! The form of commits: what is accepted, what each refusal says, and that the hook decides the same in a real shell and in
//! a real `git commit`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use placet_worktree::commit_form::{CommitForm, CommitType};
use proptest::prelude::*;

use crate::world::git;

/// Messages with what the refusal says, or nothing where they are well-formed.
fn table() -> Vec<(String, Option<&'static str>)> {
    let long = |count: usize| format!("feat(api): {}", "é".repeat(count));
    let text = |rows: &[(&str, Option<&'static str>)]| {
        rows.iter().map(|(message, refusal)| ((*message).to_owned(), *refusal)).collect::<Vec<_>>()
    };
    let mut rows = text(&[
        ("feat(api): add refunds", None),
        ("fix(core/db-2.x_y): stop the leak", None),
        ("chore(0): x", None),
        ("docs(readme): ends with a full stop.", None),
        ("refactor(api)!: drop the old route", None),
        ("test(api): ünïcode — and `code`\n\nA body\nof two lines.", None),
        ("\n\nfeat(api): empty lines before are git's to drop\n", None),
        ("feat(api): trailing space is too \t \r\n", None),
        ("feat(api): a: b (c) [d] $HOME $(id) `id` \\ ' \" * ?", None),
        ("feat(api): -n", None),
        ("", Some("it is empty")),
        ("\n \n\t\n", Some("it is empty")),
        ("add refunds", Some("does not begin with a type (feat, fix, docs, test, chore, refactor)")),
        ("feature(api): add refunds", Some("`feature` is none of the types")),
        ("Feat(api): add refunds", Some("`Feat` is none of the types")),
        ("feat: add refunds", Some("the area in parentheses is missing")),
        ("feat(): add refunds", Some("the area in parentheses is missing")),
        ("feat (api): add refunds", Some("the area in parentheses is missing")),
        ("feat(api: add refunds", Some("the area in parentheses is missing")),
        ("feat(API): add refunds", Some("the area `API` may hold lowercase letters")),
        ("feat(-api): add refunds", Some("the area `-api`")),
        ("feat(a b): add refunds", Some("the area `a b`")),
        ("feat(é): add refunds", Some("the area `é`")),
        ("feat(api) add refunds", Some("`: ` must follow the area")),
        ("feat(api)!! add refunds", Some("`: ` must follow the area")),
        ("feat(api):add refunds", Some("description after `: ` is missing")),
        ("feat(api):", Some("description after `: ` is missing")),
        ("feat(api):  ", Some("description after `: ` is missing")),
        ("feat(api):  add refunds", Some("one space follows the colon")),
        ("feat(api): tab\there", Some("control character")),
        ("feat(api): \u{1b}[31mred", Some("control character")),
        ("feat(api): add\nbody at once", Some("an empty line must stand")),
        ("Merge branch 'main' into feat/PAY-1-backend", Some("rebase onto the base")),
        ("Revert \"feat(api): add refunds\"\n\nThis reverts commit 1234.", Some("to take a commit back")),
        ("Reapply \"feat(api): add refunds\"", Some("to take a commit back")),
        ("fixup! feat(api): add refunds", Some("autosquash")),
        (" feat(api): indented", Some("does not begin with a type")),
        ("*(api): star", Some("does not begin with a type")),
        ("feat fix(api): two types", Some("the area in parentheses is missing")),
    ]);
    rows.push((long(100), None));
    rows.push((long(101), Some("has 101 characters and may have 100")));
    rows.push((format!("feat({}): x", "a".repeat(64)), None));
    rows.push((format!("feat({}): x", "a".repeat(65)), Some("at most 64")));
    rows
}

fn verdict_of_hook(shell: &str, hook: &Path, message: &Path) -> bool {
    let output = Command::new(shell).arg(hook).arg(message).stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let accepted = output.status.success();
    assert_eq!(accepted, said.is_empty(), "a hook that refuses says why, one that accepts is silent: {said}");
    assert!(accepted || said.starts_with("commit message refused: "), "{said}");
    accepted
}

/// The shells of this host; every system has the first.
fn shells() -> Vec<&'static str> {
    ["/bin/sh", "/bin/dash", "/bin/bash"].into_iter().filter(|shell| Path::new(shell).exists()).collect()
}

#[test]
fn a8_every_refusal_says_what_is_wrong_and_gives_an_example_that_is_well_formed() {
    let form = CommitForm::default();
    for (message, expected) in table() {
        match (form.check(&message), expected) {
            (Ok(_), None) => {}
            (Err(refused), Some(part)) => {
                let said = refused.to_string();
                assert!(said.contains(part), "{message:?}: {said}");
                let mended = form.check(refused.example());
                assert!(mended.is_ok(), "{message:?}: the example `{}` is refused: {mended:?}", refused.example());
            }
            (found, expected) => panic!("{message:?}: {found:?} instead of {expected:?}"),
        }
    }
}

#[test]
fn a8_examples_keep_the_words_that_were_meant() {
    let form = CommitForm::default();
    let example = |message: &str| form.check(message).unwrap_err().example().to_owned();
    assert_eq!(example("add refunds"), "feat(api): add refunds");
    assert_eq!(example("fix: stop the leak"), "fix(api): stop the leak");
    assert_eq!(example("docs(Read Me):  say more"), "docs(read-me): say more");
    assert_eq!(example("Revert \"feat(core): add refunds\""), "fix(core): revert \"add refunds\"");
}

#[test]
fn a8_a_well_formed_first_line_is_taken_apart() {
    let form = CommitForm::default();
    let subject = form.check("refactor(core/db)!: drop the old route\n\nbody").unwrap();
    assert_eq!((subject.kind, subject.area, subject.is_breaking), ("refactor", "core/db", true));
    assert_eq!(subject.description, "drop the old route");
    assert!(!form.check("fix(a): b").unwrap().is_breaking);
}

#[test]
fn a8_types_are_the_teams_and_the_hook_knows_them() {
    let form = CommitForm::new(vec!["perf".parse().unwrap(), "ops2".parse().unwrap()]);
    assert!(form.check("perf(api): faster").is_ok());
    assert!(form.check("feat(api): more").is_err());
    assert!(form.hook().contains("types='perf ops2'"));
    assert_eq!(CommitForm::new(vec![]), CommitForm::default());
    for bad in ["", "Feat", "2x", "a b", "a'b", "x\n", "abcdefghijklmnopq"] {
        assert!(bad.parse::<CommitType>().is_err(), "{bad:?}");
    }
}

#[test]
fn a8_the_hook_decides_like_the_check_in_every_shell() {
    let dir = tempfile::tempdir().unwrap();
    let (hook, message) = (dir.path().join("commit-msg"), dir.path().join("message"));
    fs::write(&hook, CommitForm::default().hook()).unwrap();
    for (text, expected) in table() {
        fs::write(&message, &text).unwrap();
        for shell in shells() {
            assert_eq!(verdict_of_hook(shell, &hook, &message), expected.is_none(), "{shell}: {text:?}");
        }
    }
}

#[test]
fn a8_the_hook_drops_comments_and_what_follows_the_scissors_like_git() {
    let dir = tempfile::tempdir().unwrap();
    let (hook, message) = (dir.path().join("commit-msg"), dir.path().join("message"));
    fs::write(&hook, CommitForm::default().hook()).unwrap();
    let scissors = "# ------------------------ >8 ------------------------";
    fs::write(&message, format!("# type here\nfeat(a): b\n# more\n{scissors}\ndiff --git a b\n")).unwrap();
    assert!(verdict_of_hook("/bin/sh", &hook, &message));
    fs::write(&message, format!("# nothing\n{scissors}\nfeat(a): b\n")).unwrap();
    assert!(!verdict_of_hook("/bin/sh", &hook, &message));
}

fn commits_with(dir: &Path, message: &str) -> bool {
    let mut commit = git(dir);
    commit.args(["commit", "--quiet", "--allow-empty", "--file=-"]).stdin(Stdio::piped()).stderr(Stdio::null());
    let mut child = commit.spawn().unwrap();
    child.stdin.take().unwrap().write_all(message.as_bytes()).unwrap();
    child.wait().unwrap().success()
}

#[test]
fn a8_a_real_commit_is_refused_by_the_hook_exactly_when_the_check_refuses_it() {
    let dir = tempfile::tempdir().unwrap();
    assert!(git(dir.path()).args(["init", "--quiet"]).status().unwrap().success());
    let hook = dir.path().join(".git/hooks/commit-msg");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, CommitForm::default().hook()).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    for (message, expected) in table() {
        assert_eq!(commits_with(dir.path(), &message), expected.is_none(), "{message:?}");
    }
    let log = git(dir.path()).args(["log", "--format=%B%x00"]).output().unwrap().stdout;
    let log = String::from_utf8(log).unwrap();
    let written: Vec<&str> = log.split('\0').map(str::trim).filter(|message| !message.is_empty()).collect();
    assert_eq!(written.len(), table().iter().filter(|(_, refusal)| refusal.is_none()).count());
    for message in written {
        assert!(CommitForm::default().check(message).is_ok(), "what git wrote is well-formed: {message:?}");
    }
}

/// Messages near the border of the form.
fn nearly_well_formed() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "feat",
        "fix",
        "docs",
        "(",
        ")",
        "api",
        "!",
        ":",
        " ",
        "  ",
        "add",
        "é",
        "\n",
        "\t",
        "Merge ",
        "$x",
        "*",
        "[a]",
        "\\",
        "a/b",
        "-",
        "\r",
        "\u{1f600}",
        "'",
        "\"",
        "%s",
    ]);
    let tail = prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat());
    let head = prop::sample::select(vec!["", "feat", "feat(", "feat(api)", "feat(api):", "feat(api): ", "fix(a)!: "]);
    (head, tail).prop_map(|(head, tail)| format!("{head}{tail}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a8_hook_and_check_agree_on_whatever_is_written(message in nearly_well_formed()) {
        let dir = tempfile::tempdir().unwrap();
        let (hook, file) = (dir.path().join("hook"), dir.path().join("message"));
        fs::write(&hook, CommitForm::default().hook()).unwrap();
        fs::write(&file, &message).unwrap();
        prop_assert_eq!(verdict_of_hook("/bin/sh", &hook, &file), CommitForm::default().check(&message).is_ok());
    }
}
