//! Everything that can differ from a base, found wherever it is kept.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use placet_workspace::difference::{DifferenceKind, Entry, Leads, Origin};
use placet_workspace::{DifferenceError, Differences, Worktree};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::harness::tests;
use crate::project::{Project, agent};
use crate::repository::git;

tests![
    a5_a_fresh_worktree_differs_in_nothing,
    a5_every_kind_of_change_on_disk_is_found,
    a5_every_kind_of_change_in_the_index_is_found,
    a5_what_was_added_and_removed_again_is_in_history,
    a5_merges_tell_what_is_in_neither_parent,
    a5_a_rewritten_branch_tells_what_it_dropped,
    a5_bits_that_tell_git_to_look_away_hide_nothing,
    a5_links_that_lead_out_are_found,
    a5_submodules_and_repositories_inside_are_found,
    a5_what_git_does_not_show_is_found,
    a5_names_of_any_bytes_are_told,
    a5_a_pipe_where_git_reads_rules_holds_nobody_up,
    a5_a_tree_without_an_end_is_refused,
    a5_layered_and_plain_worktrees_tell_the_same,
    a5_a_layered_worktree_that_is_behind_its_branch_says_so,
    a5_random_edits_are_told_as_git_tells_them,
    a9_every_added_line_is_told,
    a9_lines_of_layered_worktrees_are_told,
];

#[track_caller]
fn differences(worktree: &Worktree) -> Differences {
    worktree.differences(worktree.base()).expect("differences")
}

/// `origin kind path [< old path]`, sorted.
#[track_caller]
fn told(worktree: &Worktree) -> Vec<String> {
    let mut told: Vec<String> = differences(worktree)
        .iter()
        .map(|each| {
            let old = each.old_path.as_ref().map(|old| format!(" < {old}")).unwrap_or_default();
            format!("{:?} {:?} {}{old}", each.origin, each.kind, each.path)
        })
        .collect();
    told.sort();
    told
}

fn write(worktree: &Worktree, name: impl AsRef<Path>, text: impl AsRef<[u8]>) {
    let path = worktree.path().join(name);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, text).expect("a file");
}

fn a5_a_fresh_worktree_differs_in_nothing() {
    let project = Project::new();
    for worktree in [project.plain("one"), project.layered("two")] {
        let differences = differences(&worktree);
        assert!(differences.is_empty(), "{differences:?}");
        assert!(differences.commits().is_empty());
        assert_eq!(differences.tip(), worktree.base());
    }
}

fn a5_every_kind_of_change_on_disk_is_found() {
    let project = Project::new();
    let worktree = project.plain("one");
    write(&worktree, "file", "other\n");
    write(&worktree, "new/deep/file", "x\n");
    write(&worktree, "build/out", "x\n");
    write(&worktree, "a.log", "x\n");
    fs::remove_file(worktree.path().join("docs/read.md")).expect("gone");
    fs::set_permissions(worktree.path().join("src/one.rs"), fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::remove_file(worktree.path().join("src/two.rs")).expect("gone");
    symlink("one.rs", worktree.path().join("src/two.rs")).expect("a link");
    let expected = [
        "Ignored Added a.log",
        "Ignored Added build/out",
        "Unstaged Deleted docs/read.md",
        "Unstaged Modified file",
        "Unstaged Modified src/one.rs",
        "Unstaged TypeChanged src/two.rs",
        "Untracked Added new/deep/file",
    ];
    assert_eq!(told(&worktree), expected);
    let found = differences(&worktree);
    let one = found.iter().find(|each| each.path.as_bytes() == b"src/one.rs").expect("it differs");
    assert_eq!((one.old, one.new), (Some(Entry::File), Some(Entry::Program)));
}

fn a5_every_kind_of_change_in_the_index_is_found() {
    let project = Project::new();
    let worktree = project.plain("one");
    let at = worktree.path();
    write(&worktree, "added", "x\n");
    write(&worktree, "intended", "x\n");
    write(&worktree, "file", "staged\n");
    git(&at, &["add", "added", "file"]);
    git(&at, &["add", "--intent-to-add", "intended"]);
    git(&at, &["rm", "--quiet", "docs/read.md"]);
    git(&at, &["mv", "src/one.rs", "src/renamed.rs"]);
    git(&at, &["update-index", "--chmod=+x", "src/two.rs"]);
    write(&worktree, "file", "later\n");
    let expected = [
        "Staged Added added",
        "Staged Deleted docs/read.md",
        "Staged ModeChanged src/two.rs",
        "Staged Modified file",
        "Staged Renamed src/renamed.rs < src/one.rs",
        "Unstaged Added intended",
        "Unstaged Modified file",
        "Unstaged Modified src/two.rs",
    ];
    assert_eq!(told(&worktree), expected);
}

fn a5_what_was_added_and_removed_again_is_in_history() {
    let project = Project::new();
    let worktree = project.plain("one");
    let at = worktree.path();
    write(&worktree, "secret", "x\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "--quiet", "-m", "in"]);
    git(&at, &["rm", "--quiet", "secret"]);
    git(&at, &["mv", "file", "moved"]);
    git(&at, &["commit", "--quiet", "-m", "out"]);
    let expected = ["Committed Added secret", "Committed Deleted secret", "Committed Renamed moved < file"];
    assert_eq!(told(&worktree), expected);
    let found = differences(&worktree);
    let commits: Vec<&str> = found.commits().iter().map(|commit| commit.id.as_str()).collect();
    assert_eq!(commits, git(&at, &["rev-list", "HEAD", "^main"]).lines().collect::<Vec<_>>());
    assert!(found.iter().all(|each| each.commit.is_some()));
}

fn a5_merges_tell_what_is_in_neither_parent() {
    let project = Project::new();
    let worktree = project.plain("one");
    let at = worktree.path();
    write(&worktree, "mine", "x\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "--quiet", "-m", "mine"]);
    git(&at, &["checkout", "--quiet", "-b", "side", "main"]);
    write(&worktree, "theirs", "x\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "--quiet", "-m", "theirs"]);
    git(&at, &["checkout", "--quiet", "feat/T-1-one"]);
    git(&at, &["merge", "--quiet", "--no-commit", "--no-ff", "side"]);
    write(&worktree, "smuggled", "x\n");
    write(&worktree, "theirs", "changed in the merge\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "--quiet", "-m", "merge"]);
    let expected =
        ["Committed Added mine", "Committed Added smuggled", "Committed Added theirs", "Committed Added theirs"];
    assert_eq!(told(&worktree).iter().map(|line| line.replace("Modified", "Added")).collect::<Vec<_>>(), expected);
    let lines = worktree.added_lines(&differences(&worktree)).expect("lines");
    let lines: Vec<String> = lines.map(|line| String::from_utf8(line.expect("a line").text).expect("text")).collect();
    assert!(lines.contains(&"changed in the merge".to_owned()), "{lines:?}");
}

fn a5_a_rewritten_branch_tells_what_it_dropped() {
    let project = Project::new();
    let worktree = project.plain("one");
    git(&worktree.path(), &["reset", "--quiet", "--hard", "HEAD~1"]);
    assert_eq!(told(&worktree), ["Committed Modified file"]);
    assert!(differences(&worktree).iter().all(|each| each.commit.is_none()));
}

fn a5_bits_that_tell_git_to_look_away_hide_nothing() {
    let project = Project::new();
    let worktree = project.plain("one");
    let at = worktree.path();
    git(&at, &["update-index", "--assume-unchanged", "file"]);
    git(&at, &["update-index", "--skip-worktree", "src/one.rs"]);
    git(&at, &["update-index", "--skip-worktree", "docs/read.md"]);
    write(&worktree, "file", "hidden\n");
    write(&worktree, "src/one.rs", "hidden\n");
    fs::remove_file(at.join("docs/read.md")).expect("gone");
    assert_eq!(git(&at, &["status", "--porcelain"]), "", "git itself sees nothing");
    assert_eq!(
        told(&worktree),
        ["Unstaged Deleted docs/read.md", "Unstaged Modified file", "Unstaged Modified src/one.rs"]
    );
    let lines = worktree.added_lines(&differences(&worktree)).expect("lines");
    assert_eq!(lines.map(|line| line.expect("a line").text).collect::<Vec<_>>(), [b"hidden", b"hidden"]);
    let kept = git(&at, &["ls-files", "-v"]);
    assert!(kept.contains("h file") && kept.contains("S src/one.rs"), "the index is as it was: {kept}");
    assert!(
        fs::read_dir(worktree.git_dir())
            .expect("a directory")
            .flatten()
            .all(|entry| { !entry.file_name().to_string_lossy().starts_with("placet-index") })
    );
}

fn a5_links_that_lead_out_are_found() {
    let project = Project::new();
    let worktree = project.plain("one");
    let at = worktree.path();
    let links = [
        ("absolute", "/etc/passwd", Leads::Outside),
        ("up", "../../x", Leads::Outside),
        ("inside", "src/one.rs", Leads::Inside),
        ("dangling", "nowhere", Leads::Inside),
        ("through", "absolute/x", Leads::Outside),
        ("into-git", ".git/config", Leads::Outside),
    ];
    for (name, target, _) in links {
        symlink(target, at.join(name)).expect("a link");
    }
    let check = |origin: Origin| {
        let found = differences(&worktree);
        for (name, target, leads) in links {
            let found = found.iter().find(|each| each.path.as_bytes() == name.as_bytes()).expect("it differs");
            let link = found.link.as_ref().expect("a link");
            assert_eq!((found.origin, link.leads), (origin, leads), "{name}");
            assert_eq!(link.target.as_bytes(), target.as_bytes());
        }
    };
    check(Origin::Untracked);
    git(&at, &["add", "."]);
    git(&at, &["commit", "--quiet", "-m", "links"]);
    check(Origin::Committed);
}

fn a5_submodules_and_repositories_inside_are_found() {
    let project = Project::new();
    let worktree = project.plain("one");
    let at = worktree.path();
    let head = project.head();
    git(&at, &["update-index", "--add", "--cacheinfo", &format!("160000,{head},module")]);
    let module =
        |found: &Differences| found.iter().find(|each| each.path.as_bytes() == b"module").cloned().expect("it differs");
    assert_eq!(module(&differences(&worktree)).new, Some(Entry::Submodule));
    git(&at, &["init", "--quiet", "inner"]);
    write(&worktree, "inner/file", "x\n");
    git(&at, &["init", "--quiet", "--bare", "bare"]);
    git(&at, &["init", "--quiet", "module"]);
    let found = differences(&worktree);
    let staged = found.iter().filter(|each| each.path.as_bytes() == b"module" && each.origin == Origin::Staged);
    assert_eq!(staged.map(|each| each.new).collect::<Vec<_>>(), [Some(Entry::Submodule)]);
    for name in ["inner", "bare", "module"] {
        let repository = |each: &&placet_workspace::Difference| each.new == Some(Entry::Repository);
        assert!(found.iter().filter(repository).any(|each| each.path.as_bytes() == name.as_bytes()), "{name}");
    }
    assert!(found.iter().any(|each| each.path.as_bytes() == b"inner/file"), "files inside count, too");
}

fn a5_what_git_does_not_show_is_found() {
    let project = Project::new();
    let worktree = project.plain("one");
    let at = worktree.path();
    assert!(Command::new("mkfifo").arg(at.join("pipe")).status().is_ok_and(|status| status.success()));
    let _socket = UnixListener::bind(at.join("s")).expect("a socket");
    fs::write(project.outer().join("elsewhere"), "x\n").expect("a file");
    fs::hard_link(project.outer().join("elsewhere"), at.join("twin")).expect("a second name");
    fs::remove_file(at.join("file")).expect("gone");
    assert!(Command::new("mkfifo").arg(at.join("file")).status().is_ok_and(|status| status.success()));
    let found = differences(&worktree);
    let of = |name: &str| found.iter().filter(|each| each.path.as_bytes() == name.as_bytes()).collect::<Vec<_>>();
    assert!(matches!(of("pipe")[..], [each] if matches!(each.new, Some(Entry::Special(_)))), "{found:?}");
    assert!(matches!(of("s")[..], [each] if matches!(each.new, Some(Entry::Special(_)))), "{found:?}");
    assert_eq!(of("twin")[0].names, 2);
    assert!(of("file").iter().any(|each| matches!(each.new, Some(Entry::Special(_)))), "{found:?}");
    let lines = worktree.added_lines(&found).expect("lines");
    assert!(lines.into_iter().any(|line| line.is_err()), "a pipe where a tracked file was is told, not waited for");
}

fn a5_names_of_any_bytes_are_told() {
    let project = Project::new();
    let worktree = project.plain("one");
    let long = format!("{}/f", vec!["n".repeat(200); 15].join("/"));
    let names: [&[u8]; 7] =
        [b"new\nline", b"\xff\xfe", b" ", b"-rf", b"tab\tquote\"back\\", b":100644 100644", b"\x1b[2J"];
    for name in names {
        write(&worktree, OsStr::from_bytes(name), "line\n");
    }
    write(&worktree, &long, "line\n");
    let check = |origin: Origin| {
        let found = differences(&worktree);
        let paths: BTreeSet<&[u8]> =
            found.iter().filter(|each| each.origin == origin).map(|each| each.path.as_bytes()).collect();
        assert_eq!(paths, names.into_iter().chain([long.as_bytes()]).collect::<BTreeSet<_>>());
        let lines = worktree.added_lines(&found).expect("lines").map(|line| line.expect("a line"));
        let paths: BTreeSet<Vec<u8>> = lines.map(|line| line.path.as_bytes().to_vec()).collect();
        assert_eq!(paths.len(), names.len() + 1);
    };
    check(Origin::Untracked);
    git(&worktree.path(), &["add", "."]);
    check(Origin::Staged);
    git(&worktree.path(), &["commit", "--quiet", "-m", "names"]);
    check(Origin::Committed);
}

fn a5_a_pipe_where_git_reads_rules_holds_nobody_up() {
    for name in [".gitignore", ".gitattributes", "src/.gitignore", "src/.gitattributes"] {
        let project = Project::new();
        let (plain, layered) = (project.plain("one"), project.layered("two"));
        for root in [plain.path(), layered.cage().upper] {
            let _ = fs::remove_file(root.join(name));
            fs::create_dir_all(root.join("src")).expect("a directory");
            assert!(Command::new("mkfifo").arg(root.join(name)).status().is_ok_and(|status| status.success()));
            fs::write(root.join("src/one.rs"), "x\n").expect("a file");
        }
        for worktree in [plain, layered] {
            let error = worktree.differences(worktree.base()).expect_err("it is told");
            assert!(matches!(error, DifferenceError::Blocked { .. }), "{name}: {error}");
        }
    }
}

fn a5_a_tree_without_an_end_is_refused() {
    let project = Project::new();
    let worktree = project.plain("one");
    let script = "for i in $(seq 40); do mkdir -p d/d/d/d/d/d/d/d/d/d/d/d/d/d/d && cd -P d/d/d/d/d/d/d/d/d/d/d/d/d/d/d || exit 1; done";
    let made = Command::new("sh").args(["-c", script]).current_dir(worktree.path()).status();
    assert!(made.is_ok_and(|status| status.success()));
    assert!(worktree.differences(worktree.base()).is_err());
}

/// What agents do, in both kinds of worktrees; afterwards both tell the same.
fn a5_layered_and_plain_worktrees_tell_the_same() {
    let deeds = "echo more >> file; echo new > src/new; rm docs/read.md; chmod 644 tool; mkdir -p build; echo x > build/x; \
                 rm -r src/two.rs; ln -s /etc out; ln -sfn src link; mkdir deep; echo d > deep/d; rm .gitignore; echo '*.tmp' > .gitignore";
    let project = Project::new();
    let (plain, layered) = (project.plain("one"), project.layered("two"));
    let status = Command::new("sh").args(["-ec", deeds]).current_dir(plain.path()).status();
    assert!(status.is_ok_and(|status| status.success()));
    agent(&layered, deeds);
    // The rule that was removed still counts for a layered worktree: rules of the base tell what is ignored.
    let both =
        |worktree| told(worktree).into_iter().map(|line| line.replace("Ignored", "Untracked")).collect::<BTreeSet<_>>();
    assert_eq!(both(&layered), both(&plain));
    assert!(both(&plain).contains("Unstaged Deleted docs/read.md") && both(&plain).contains("Untracked Added out"));
    let leads = |worktree| {
        differences(worktree).iter().find(|each| each.path.as_bytes() == b"out").and_then(|each| each.link.clone())
    };
    assert_eq!(leads(&layered), leads(&plain));
    agent(
        &layered,
        "rm -r deep src; mkdir src; echo only > src/only; rm tool; mkdir tool; echo x > tool/x; git init --quiet inner",
    );
    let told = told(&layered);
    for line in [
        "Unstaged Deleted src/one.rs",
        "Untracked Added src/only",
        "Unstaged Deleted tool",
        "Untracked Added tool/x",
        "Untracked Added inner",
    ] {
        assert!(told.contains(&line.to_owned()), "{line}: {told:?}");
    }
}

fn a5_a_layered_worktree_that_is_behind_its_branch_says_so() {
    let project = Project::new();
    let worktree = project.layered("one");
    let tree = project.outer().join("tree");
    project.git(&["worktree", "add", "--quiet", "--detach", &tree.display().to_string(), "feat/T-1-one"]);
    fs::write(tree.join("file"), "committed\n").expect("a file");
    fs::write(tree.join("new"), "committed\n").expect("a file");
    fs::remove_file(tree.join("docs/read.md")).expect("gone");
    git(&tree, &["add", "-A"]);
    git(&tree, &["commit", "--quiet", "-m", "elsewhere"]);
    project.git(&["update-ref", "refs/heads/feat/T-1-one", &git(&tree, &["rev-parse", "HEAD"])]);
    let expected = [
        "Committed Added new",
        "Committed Deleted docs/read.md",
        "Committed Modified file",
        "Unstaged Deleted new",
        "Unstaged Modified file",
        "Untracked Added docs/read.md",
    ];
    assert_eq!(told(&worktree), expected);
    agent(&worktree, "echo committed > file; echo committed > new; rm docs/read.md");
    assert_eq!(told(&worktree), expected[..3], "now the files are what the branch has");
}

#[derive(Clone, Debug)]
enum Edit {
    Write(usize, u8),
    Remove(usize),
    Link(usize, usize),
    Mode(usize, bool),
    Stage(usize),
    Move(usize, usize),
    Commit,
}

const NAMES: &[&str] =
    &["file", "src/one.rs", "src/two.rs", "docs/read.md", "new", "src/deep/new", "a.log", "build/x", "sp ace", "n\nl"];

fn edit() -> impl Strategy<Value = Edit> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), 0..3_u8).prop_map(|(name, content)| Edit::Write(name, content)),
        2 => name.clone().prop_map(Edit::Remove),
        1 => (name.clone(), name.clone()).prop_map(|(name, to)| Edit::Link(name, to)),
        1 => (name.clone(), any::<bool>()).prop_map(|(name, executable)| Edit::Mode(name, executable)),
        3 => name.clone().prop_map(Edit::Stage),
        1 => (name.clone(), name).prop_map(|(from, to)| Edit::Move(from, to)),
        1 => Just(Edit::Commit),
    ]
}

fn apply(worktree: &Worktree, edit: &Edit) {
    let at = |name: &usize| worktree.path().join(NAMES[*name]);
    let clear = |name: &usize| {
        let _ = fs::remove_file(at(name));
        let _ = fs::create_dir_all(at(name).parent().expect("a parent"));
    };
    let run = |arguments: &[&str]| {
        drop(
            Command::new("git")
                .args(["-c", "user.name=x", "-c", "user.email=x"])
                .args(arguments)
                .current_dir(worktree.path())
                .output(),
        )
    };
    match edit {
        Edit::Write(name, content) => {
            clear(name);
            let _ = fs::write(at(name), format!("{content}\n").repeat(5));
        }
        Edit::Remove(name) => drop(fs::remove_file(at(name))),
        Edit::Link(name, to) => {
            clear(name);
            let _ = symlink(NAMES[*to], at(name));
        }
        Edit::Mode(name, executable) => {
            let mode = if *executable { 0o755 } else { 0o644 };
            if fs::symlink_metadata(at(name)).is_ok_and(|meta| meta.is_file()) {
                let _ = fs::set_permissions(at(name), fs::Permissions::from_mode(mode));
            }
        }
        Edit::Stage(name) => run(&["add", "--force", "--all", "--", NAMES[*name]]),
        Edit::Move(from, to) => run(&["mv", "--force", NAMES[*from], NAMES[*to]]),
        Edit::Commit => run(&["commit", "--quiet", "-m", "some"]),
    }
}

/// What plain git tells of the same tree: staged, unstaged, untracked and ignored names.
fn as_git_tells(worktree: &Worktree) -> BTreeSet<(String, Vec<u8>)> {
    let arguments = ["status", "--porcelain=v2", "-z", "-uall", "--ignored=traditional", "--no-renames"];
    let printed = Command::new("git").args(arguments).current_dir(worktree.path()).output().expect("git").stdout;
    let mut told = BTreeSet::new();
    for part in printed.split(|&byte| byte == 0).filter(|part| !part.is_empty()) {
        match part[0] {
            b'1' => {
                let words: Vec<&[u8]> = part.splitn(9, |&byte| byte == b' ').collect();
                for (origin, letter) in [("Staged", words[1][0]), ("Unstaged", words[1][1])] {
                    if letter != b'.' {
                        told.insert((origin.to_owned(), words[8].to_vec()));
                    }
                }
            }
            b'?' => drop(told.insert(("Untracked".to_owned(), part[2..].to_vec()))),
            b'!' => drop(told.insert(("Ignored".to_owned(), part[2..].to_vec()))),
            _ => panic!("{}", String::from_utf8_lossy(part)),
        }
    }
    told
}

fn a5_random_edits_are_told_as_git_tells_them() {
    let mut runner = TestRunner::new(Config { cases: 12, failure_persistence: None, ..Config::default() });
    let property = |edits: Vec<Edit>| {
        let project = Project::new();
        let worktree = project.plain("one");
        edits.iter().for_each(|edit| apply(&worktree, edit));
        let found = differences(&worktree);
        let mut ours = BTreeSet::new();
        for each in found.iter().filter(|each| each.origin != Origin::Committed) {
            ours.insert((format!("{:?}", each.origin), each.path.as_bytes().to_vec()));
            if let (Some(old), DifferenceKind::Renamed) = (&each.old_path, each.kind) {
                ours.insert((format!("{:?}", each.origin), old.as_bytes().to_vec()));
            }
        }
        prop_assert_eq!(ours, as_git_tells(&worktree));
        let in_commits = git(&worktree.path(), &["rev-list", "HEAD", "^main"]).lines().count();
        prop_assert_eq!(found.commits().len(), in_commits);
        Ok(())
    };
    runner.run(&proptest::collection::vec(edit(), 1..25), property).expect("the same");
}

fn a9_every_added_line_is_told() {
    let project = Project::new();
    let worktree = project.plain("one");
    let at = worktree.path();
    write(&worktree, "file", "second\ncommitted\n");
    git(&at, &["add", "."]);
    git(&at, &["commit", "--quiet", "-m", "c"]);
    write(&worktree, "file", "second\n");
    git(&at, &["mv", "src/one.rs", "src/moved.rs"]);
    git(&at, &["commit", "--quiet", "-am", "taken back"]);
    write(&worktree, "file", "second\nstaged\n");
    git(&at, &["add", "file"]);
    write(&worktree, "file", "unstaged\nsecond\n");
    write(&worktree, "untracked", b"one\n\0binary\nlast without end");
    write(&worktree, "a.log", "ignored\n");
    let lines = worktree.added_lines(&differences(&worktree)).expect("lines");
    let told: Vec<String> = lines
        .map(|line| line.expect("a line"))
        .map(|line| format!("{:?} {}:{} {}", line.origin, line.path, line.line, String::from_utf8_lossy(&line.text)))
        .collect();
    let expected = [
        "Committed file:2 committed",
        "Staged file:2 staged",
        "Unstaged file:1 unstaged",
        "Untracked untracked:1 one",
        "Untracked untracked:2 \0binary",
        "Untracked untracked:3 last without end",
        "Ignored a.log:1 ignored",
    ];
    assert_eq!(told, expected);
}

fn a9_lines_of_layered_worktrees_are_told() {
    let project = Project::new();
    let worktree = project.layered("one");
    agent(&worktree, "echo more >> file; echo new > new");
    let lines = worktree.added_lines(&differences(&worktree)).expect("lines").map(|line| line.expect("a line"));
    let told: Vec<String> =
        lines.map(|line| format!("{}:{} {}", line.path, line.line, String::from_utf8_lossy(&line.text))).collect();
    assert_eq!(told, ["file:2 more", "new:1 new"]);
}
