//! Exports made by an adversary: verification ends, stays small, and follows no link.

use std::fs;
use std::os::unix::fs::symlink;

use placet_ledger::{Fault, FileProblem, bundle, leaf_hash};

use crate::exports::exported;
use crate::support::{Ledger, signed, verifier};

#[test]
fn a_link_in_place_of_a_file_or_folder_is_not_followed() {
    let ledger = Ledger::of(300);
    let elsewhere = exported(&ledger);
    for path in ["checkpoint", "tile/0/000", "tile/entries/000", "tile/entries", "tile"] {
        let dir = exported(&ledger);
        let place = dir.path().join(path);
        if place.is_dir() { fs::remove_dir_all(&place) } else { fs::remove_file(&place) }.expect("removed");
        symlink(elsewhere.path().join(path), &place).expect("linked");
        let faults = bundle::verify(dir.path(), &verifier(), None).faults;
        let refused = |fault: &Fault| matches!(fault, Fault::File { problem: FileProblem::Symlink, .. });
        assert!(faults.iter().any(refused), "{path}: {faults:?}");
    }
}

#[test]
fn a_link_beside_the_files_is_named() {
    let dir = exported(&Ledger::of(3));
    symlink("/", dir.path().join("tile/0/007")).expect("linked");
    let faults = bundle::verify(dir.path(), &verifier(), None).faults;
    assert_eq!(faults, [Fault::Unexpected { path: "tile/0/007".into(), size: 3 }]);
}

#[test]
fn a_folder_in_place_of_a_file_is_named() {
    let dir = exported(&Ledger::of(3));
    let path = dir.path().join("tile/entries/000.p/3");
    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("created");
    let faults = bundle::verify(dir.path(), &verifier(), None).faults;
    let problem = FileProblem::NotAFile;
    assert_eq!(faults[0], Fault::File { path: "tile/entries/000.p/3".into(), problem });
}

#[test]
fn a_head_that_claims_more_entries_than_the_world_has_ends_quickly() {
    for size in [1 << 40, u64::MAX - 1, u64::MAX] {
        let dir = tempfile::tempdir().expect("a folder");
        fs::write(dir.path().join("checkpoint"), signed(size, leaf_hash(b"x")).to_string()).expect("written");
        let faults = bundle::verify(dir.path(), &verifier(), None).faults;
        assert!(matches!(faults.last(), Some(Fault::TooMany { limit: 1000 })), "{:?}", faults.last());
        assert_eq!(faults.len(), 1001);
    }
}

#[test]
fn an_enormous_file_is_not_read_to_its_end() {
    let dir = exported(&Ledger::of(300));
    for path in ["tile/0/000", "tile/entries/000"] {
        let file = fs::OpenOptions::new().append(true).open(dir.path().join(path)).expect("opened");
        file.set_len(1 << 40).expect("a sparse file");
    }
    let faults = bundle::verify(dir.path(), &verifier(), None).faults;
    assert!(faults.contains(&Fault::TrailingData { path: "tile/entries/000".into() }), "{faults:?}");
    assert!(faults.iter().any(|fault| matches!(fault, Fault::TileLength { bytes: 8193, .. })), "{faults:?}");
}

#[test]
fn a_folder_that_is_not_there_is_a_ledger_without_head() {
    let dir = tempfile::tempdir().expect("a folder");
    let faults = bundle::verify(&dir.path().join("nowhere"), &verifier(), None).faults;
    assert_eq!(faults, [Fault::File { path: "checkpoint".into(), problem: FileProblem::Missing }]);
}

#[test]
fn folders_nested_without_end_are_named_and_left() {
    let dir = exported(&Ledger::of(3));
    fs::create_dir_all(dir.path().join("tile/".to_string() + &"x000/".repeat(40))).expect("created");
    let faults = bundle::verify(dir.path(), &verifier(), None).faults;
    assert!(matches!(faults.as_slice(), [Fault::Unexpected { .. }]), "{faults:?}");
}
