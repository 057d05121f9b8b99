//! The index as it is read here, beside git's own reading of the same file.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::*;

/// `tag path` of every entry: what both readings have to agree on.
fn told(listing: &Listing) -> Vec<(bool, bool, bool, Vec<u8>)> {
    let entry = |each: &Listed| (each.assumed, each.skipped, each.submodule, listing.bytes[each.name.clone()].to_vec());
    listing.entries.iter().map(entry).collect()
}

fn git(at: &Path, arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(at).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("git");
    child.stdin.take().expect("an input").write_all(input).expect("taken");
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success(), "{arguments:?}");
    output.stdout
}

/// A repository with these names in its index.
fn with_names(format: &str, names: &[Vec<u8>]) -> tempfile::TempDir {
    let at = tempfile::tempdir().expect("a directory");
    git(at.path(), &["init", "--quiet", &format!("--object-format={format}")], b"");
    let object = "1".repeat(if format == "sha1" { 40 } else { 64 });
    let modes = ["100644", "100755", "120000", "160000"];
    let line = |(number, name): (usize, &Vec<u8>)| {
        [modes[number % 4].as_bytes(), b" ", object.as_bytes(), b"\t", name, b"\0"].concat()
    };
    let lines: Vec<u8> = names.iter().enumerate().flat_map(line).collect();
    git(at.path(), &["update-index", "-z", "--index-info"], &lines);
    at
}

fn file_of(at: &Path) -> Vec<u8> {
    std::fs::read(at.join(".git/index")).expect("an index")
}

fn as_git_lists(at: &Path) -> Listing {
    Listing::from_printed(git(at, &["ls-files", "-z", "-v", "--stage"], b"")).expect("a list")
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![8 => b'a'..=b'z', 1 => Just(b'\n'), 1 => Just(0xff_u8), 1 => Just(b' '), 1 => Just(b'\t')];
    prop_oneof![9 => 1..40_usize, 1 => 4090..4100_usize].prop_flat_map(move |length| {
        let byte = byte.clone();
        proptest::collection::vec(byte, length)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_index_is_read_as_git_reads_it(
        names in proptest::collection::btree_set(name(), 1..20),
        format in prop_oneof![Just("sha1"), Just("sha256")],
        (assumed, skipped) in (any::<u32>(), any::<u32>()),
    ) {
        let names: Vec<Vec<u8>> = names.into_iter().collect();
        let at = with_names(format, &names);
        for (option, bits) in [("--assume-unchanged", assumed), ("--skip-worktree", skipped)] {
            let chosen = names.iter().enumerate().filter(|(number, _)| bits >> number & 1 == 1).map(|(_, name)| name);
            let input: Vec<u8> = chosen.flat_map(|name| [name, &b"\0"[..]].concat()).collect();
            git(at.path(), &["update-index", option, "-z", "--stdin"], &input);
        }
        let object_bytes = if format == "sha1" { 20 } else { 32 };
        let ours = Listing::from_file(file_of(at.path()), object_bytes).expect("a usual index");
        prop_assert_eq!(told(&ours), told(&as_git_lists(at.path())));
    }

    #[test]
    fn no_bytes_make_it_panic(rest: Vec<u8>, version in 0..5_u32, count in 0..4_u32) {
        let bytes = [&b"DIRC"[..], &version.to_be_bytes(), &count.to_be_bytes(), &rest].concat();
        let _ = Listing::from_file(bytes, 20);
    }
}

#[test]
fn a_damaged_index_is_left_to_git() {
    let at = with_names("sha1", &[b"a".to_vec(), b"b/c".to_vec()]);
    let whole = file_of(at.path());
    assert!(Listing::from_file(whole.clone(), 20).is_some());
    assert!(Listing::from_file(whole.clone(), 32).is_none(), "of another kind of repository");
    for end in 0..whole.len() {
        assert!(Listing::from_file(whole[..end].to_vec(), 20).is_none(), "{end}");
    }
}

#[test]
fn forms_that_are_not_known_here_are_left_to_git() {
    let names = [b"d/a".to_vec(), b"d/b".to_vec(), b"e/c".to_vec()];
    let known = |prepare: &[&str]| {
        let at = with_names("sha1", &names);
        git(at.path(), prepare, b"");
        Listing::from_file(file_of(at.path()), 20).is_some()
    };
    assert!(known(&["update-index", "--index-version=2"]));
    assert!(known(&["update-index", "--untracked-cache"]), "an extension that may be passed over");
    assert!(!known(&["update-index", "--index-version=4"]), "names share their beginnings");
    assert!(!known(&["update-index", "--split-index"]), "the entries are in another file");
}
