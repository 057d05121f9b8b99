//! Scrubbing: stored entries are hashed again before anything is signed.

use std::convert::Infallible;

use placet_ledger::{Fault, Scan, StoredEntry, Tree, leaf_hash, verify_entries};

use crate::reference;
use crate::support::{Ledger, bytes, entry, grow};

fn rows(ledger: &Ledger) -> Vec<StoredEntry<Vec<u8>>> {
    let numbered = (0..).zip(&ledger.entries);
    numbered.map(|(seq, bytes)| StoredEntry { seq, bytes: bytes.clone(), leaf: leaf_hash(bytes) }).collect()
}

fn scrub(tree: Tree, rows: Vec<StoredEntry<Vec<u8>>>) -> Scan {
    verify_entries(tree, rows.into_iter().map(Ok::<_, Infallible>)).expect("reading cannot fail")
}

#[test]
fn sound_rows_give_the_tree_to_sign() {
    let ledger = Ledger::of(600);
    let scan = scrub(Tree::empty(), rows(&ledger));
    assert_eq!(scan.times(), Some(("2026-01-31T09:00:00.000Z", "2026-01-31T09:00:00.599Z")));
    assert_eq!(scan.into_tree().expect("sound").root(), reference::root(&ledger.leaves()));
}

#[test]
fn rows_that_follow_a_resumed_tree_are_enough() {
    let ledger = Ledger::of(600);
    let (tree, _) = grow(&ledger.leaves()[..500]);
    let scan = scrub(tree, rows(&ledger).split_off(500));
    assert_eq!(scan.into_tree().expect("sound").root(), reference::root(&ledger.leaves()));
}

#[test]
fn a_changed_row_is_named() {
    let mut rows = rows(&Ledger::of(300));
    rows[123].bytes[5] ^= 1;
    let faults = scrub(Tree::empty(), rows).into_tree().expect_err("damaged");
    assert!(matches!(faults.as_slice(), [Fault::EntryChanged { entry: 123, .. }]), "{faults:?}");
}

#[test]
fn a_missing_row_is_named_and_ends_the_scan() {
    let mut rows = rows(&Ledger::of(300));
    rows.drain(40..42);
    let faults = scrub(Tree::empty(), rows).into_tree().expect_err("damaged");
    assert_eq!(faults, [Fault::EntriesMissing { first: 40, last: 41 }]);
}

#[test]
fn a_row_that_comes_twice_is_named() {
    let mut rows = rows(&Ledger::of(5));
    rows.push(rows[2].clone());
    let faults = scrub(Tree::empty(), rows).into_tree().expect_err("damaged");
    assert_eq!(faults, [Fault::EntryNumber { entry: 5, seq: 2 }]);
}

#[test]
fn entries_recorded_wrongly_are_named_even_if_their_hashes_match() {
    let mut ledger = Ledger::of(5);
    let mut early = entry(2);
    early.at = "2020-01-01T00:00:00.000Z".into();
    ledger.entries[2] = bytes(&early);
    ledger.entries[3] = bytes(&entry(9));
    ledger.entries[4].push(b' ');
    let faults = scrub(Tree::empty(), rows(&ledger)).into_tree().expect_err("damaged");
    assert!(matches!(faults[0], Fault::EntryTime { entry: 2, .. }), "{faults:?}");
    assert_eq!(faults[1], Fault::EntryNumber { entry: 3, seq: 9 });
    assert!(matches!(faults[2], Fault::EntryForm { entry: 4, .. }), "{faults:?}");
    assert_eq!(faults.len(), 3);
}

#[test]
fn a_failing_source_is_not_mistaken_for_the_end() {
    let mut rows = rows(&Ledger::of(2)).into_iter().map(Ok).collect::<Vec<_>>();
    rows.push(Err("disk on fire"));
    assert_eq!(verify_entries(Tree::empty(), rows).expect_err("failed"), "disk on fire");
}
