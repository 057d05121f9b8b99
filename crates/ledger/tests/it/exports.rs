//! Exports: what is written verifies, and each kind of damage is named where it is.

use std::convert::Infallible;
use std::fs;
use std::path::Path;

use placet_ledger::bundle::{self, Tiles, WriteError};
use placet_ledger::{ConsistencyProof, Fault, FileProblem, InclusionProof, Report, Tree, leaf_hash};
use tempfile::TempDir;

use crate::support::{Ledger, bytes, entry, grow, signed, verifier};

/// An export in a folder of its own.
pub(crate) fn exported(ledger: &Ledger) -> TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    ledger.export(dir.path());
    dir
}

fn verify(dir: &TempDir) -> Report {
    bundle::verify(dir.path(), &verifier(), None)
}

fn faults(dir: &TempDir) -> Vec<Fault> {
    verify(dir).faults
}

/// Changes a file of an export.
fn change(dir: &TempDir, path: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let path = dir.path().join(path);
    let mut bytes = fs::read(&path).expect("the file is there");
    change(&mut bytes);
    fs::write(path, bytes).expect("the file can be written");
}

pub(crate) fn files(dir: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).expect("a folder") {
            let path = item.expect("an item").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let below = path.strip_prefix(dir).expect("below the folder");
                found.push(below.to_str().expect("UTF-8").into());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn an_export_has_the_files_of_the_format_and_no_others() {
    let dir = exported(&Ledger::of(600));
    assert_eq!(
        files(dir.path()),
        [
            "checkpoint",
            "tile/0/000",
            "tile/0/001",
            "tile/0/002.p/88",
            "tile/1/000.p/2",
            "tile/entries/000",
            "tile/entries/001",
            "tile/entries/002.p/88",
        ]
    );
}

#[test]
fn exports_of_all_shapes_verify() {
    for size in [0, 1, 2, 255, 256, 257, 512, 700] {
        let ledger = Ledger::of(size);
        let report = verify(&exported(&ledger));
        assert_eq!(report.faults, [], "size {size}");
        assert_eq!((report.size, report.entries), (size, size));
        assert_eq!(report.root, Some(ledger.head().root()));
        assert_eq!(report.head, Some(ledger.head()));
        assert_eq!(report.first_at, (size > 0).then(|| entry(0).at));
        assert_eq!(report.last_at, size.checked_sub(1).map(|last| entry(last).at));
    }
}

#[test]
fn every_earlier_head_is_recognised_as_known() {
    let ledger = Ledger::of(600);
    let dir = exported(&ledger);
    for size in [0, 1, 2, 255, 256, 257, 511, 512, 513, 599, 600] {
        let report = bundle::verify(dir.path(), &verifier(), Some(&ledger.head_at(size)));
        assert_eq!(report.faults, [], "known at size {size}");
    }
}

#[test]
fn a_ledger_with_three_levels_of_tiles_verifies_and_damage_is_located_on_each() {
    let ledger = Ledger::of(65_536 + 300);
    let dir = exported(&ledger);
    assert_eq!(bundle::verify(dir.path(), &verifier(), Some(&ledger.head_at(65_536))).faults, []);
    change(&dir, "tile/1/000", |bytes| bytes[32 * 9] ^= 1);
    change(&dir, "tile/2/000.p/1", |bytes| bytes[31] ^= 128);
    change(&dir, "tile/0/200", |bytes| bytes[0] ^= 1);
    change(&dir, "tile/entries/100", |bytes| bytes[10] ^= 1);
    let mut found = faults(&dir);
    found.sort();
    let tile = |path: &str, position, first, last| Fault::TileChanged { path: path.into(), position, first, last };
    assert!(matches!(found[0], Fault::EntryChanged { entry: 25_600, .. }), "{found:?}");
    assert_eq!(
        found[1..],
        [
            tile("tile/0/200", 0, 51_200, 51_200),
            tile("tile/1/000", 9, 2304, 2559),
            tile("tile/2/000.p/1", 0, 0, 65_535)
        ]
    );
}

#[test]
fn a_changed_entry_is_named() {
    for entry in [0, 100, 256, 599] {
        let ledger = Ledger::of(600);
        let dir = exported(&ledger);
        let before: usize = ledger.entries[entry / 256 * 256..entry].iter().map(|bytes| bytes.len() + 2).sum();
        let path = ["tile/entries/000", "tile/entries/001", "tile/entries/002.p/88"][entry / 256];
        change(&dir, path, |bytes| bytes[before + 12] ^= 1);
        let found = faults(&dir);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].entry(), Some(entry as u64));
        assert!(matches!(found[0], Fault::EntryChanged { .. }));
    }
}

#[test]
fn a_changed_hash_in_a_tile_is_named_and_the_entries_are_cleared() {
    let ledger = Ledger::of(600);
    for (path, position, entries) in
        [("tile/0/001", 5, (261, 261)), ("tile/0/002.p/88", 87, (599, 599)), ("tile/1/000.p/2", 1, (256, 511))]
    {
        let dir = exported(&ledger);
        change(&dir, path, |bytes| bytes[32 * usize::from(position) + 3] ^= 4);
        let (first, last) = entries;
        assert_eq!(faults(&dir), [Fault::TileChanged { path: path.into(), position, first, last }]);
    }
}

#[test]
fn an_entry_changed_together_with_its_hash_is_narrowed_down_to_its_tile() {
    let ledger = Ledger::of(600);
    let dir = exported(&ledger);
    let mut other = ledger.clone();
    let mut changed = entry(7);
    changed.actor = "mally".into();
    other.entries[7] = bytes(&changed);
    let elsewhere = exported(&other);
    for path in ["tile/entries/000", "tile/0/000"] {
        fs::copy(elsewhere.path().join(path), dir.path().join(path)).expect("copied");
    }
    assert_eq!(faults(&dir), [Fault::EntriesChanged { first: 0, last: 255 }]);
}

#[test]
fn exchanged_entries_are_named_with_the_numbers_they_bear() {
    let ledger = Ledger::of(300);
    let dir = exported(&ledger);
    let mut entries = ledger.entries.clone();
    entries.swap(10, 20);
    change(&dir, "tile/entries/000", |bundle| {
        bundle.clear();
        for entry in &entries[..256] {
            bundle.extend_from_slice(&(entry.len() as u16).to_be_bytes());
            bundle.extend_from_slice(entry);
        }
    });
    let found = faults(&dir);
    assert!(found.contains(&Fault::EntryNumber { entry: 10, seq: 20 }), "{found:?}");
    assert!(found.contains(&Fault::EntryNumber { entry: 20, seq: 10 }), "{found:?}");
    let changed = found.iter().filter(|fault| matches!(fault, Fault::EntryChanged { .. })).count();
    assert_eq!((changed, found.len()), (2, 4));
}

#[test]
fn missing_files_are_named() {
    let ledger = Ledger::of(600);
    for path in ["tile/0/000", "tile/0/002.p/88", "tile/1/000.p/2"] {
        let dir = exported(&ledger);
        fs::remove_file(dir.path().join(path)).expect("removed");
        let problem = FileProblem::Missing;
        assert_eq!(faults(&dir), [Fault::File { path: path.into(), problem }]);
    }
    let dir = exported(&ledger);
    fs::remove_file(dir.path().join("tile/entries/001")).expect("removed");
    let problem = FileProblem::Missing;
    let missing = Fault::File { path: "tile/entries/001".into(), problem: problem.clone() };
    assert_eq!(faults(&dir), [missing, Fault::EntriesMissing { first: 256, last: 511 }]);
    let dir = exported(&ledger);
    fs::remove_file(dir.path().join("checkpoint")).expect("removed");
    assert_eq!(faults(&dir), [Fault::File { path: "checkpoint".into(), problem }]);
}

#[test]
fn entries_missing_together_with_their_tile_leave_the_rest_provable() {
    let dir = exported(&Ledger::of(600));
    for path in ["tile/entries/000", "tile/0/000"] {
        fs::remove_file(dir.path().join(path)).expect("removed");
    }
    let report = verify(&dir);
    assert_eq!(report.entries, 600 - 256);
    assert_eq!(report.root, Some(Ledger::of(600).head().root()), "the hash above stands in for the tile");
    assert!(report.faults.contains(&Fault::EntriesMissing { first: 0, last: 255 }));
    fs::remove_file(dir.path().join("tile/1/000.p/2")).expect("removed");
    assert!(faults(&dir).contains(&Fault::RootUnknown));
}

#[test]
fn a_bundle_that_ends_early_is_named_with_the_first_missing_entry() {
    let ledger = Ledger::of(600);
    let dir = exported(&ledger);
    let whole: usize = ledger.entries[256..300].iter().map(|bytes| bytes.len() + 2).sum();
    for cut in [whole, whole + 1, whole + 30] {
        change(&dir, "tile/entries/001", |bytes| bytes.truncate(cut));
        ledger_restored(&dir, &ledger, |dir| {
            assert_eq!(faults(dir), [Fault::EntriesMissing { first: 300, last: 511 }]);
        });
    }
}

/// Runs a check and puts the export back as it was.
fn ledger_restored(dir: &TempDir, ledger: &Ledger, check: impl FnOnce(&TempDir)) {
    check(dir);
    let whole = exported(ledger);
    for path in files(whole.path()) {
        fs::copy(whole.path().join(&path), dir.path().join(&path)).expect("copied");
    }
}

#[test]
fn a_changed_length_is_named_as_damage_of_its_entry() {
    let ledger = Ledger::of(600);
    let before: usize = ledger.entries[..40].iter().map(|bytes| bytes.len() + 2).sum();
    for bit in 0..16 {
        let dir = exported(&ledger);
        change(&dir, "tile/entries/000", |bytes| bytes[before + bit / 8] ^= 1 << (bit % 8));
        let found = faults(&dir);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].entry(), Some(40), "{found:?}");
    }
}

#[test]
fn data_after_the_end_is_named() {
    let ledger = Ledger::of(600);
    let dir = exported(&ledger);
    change(&dir, "tile/entries/002.p/88", |bytes| bytes.push(0));
    assert_eq!(faults(&dir), [Fault::TrailingData { path: "tile/entries/002.p/88".into() }]);
    let dir = exported(&ledger);
    change(&dir, "tile/0/000", |bytes| bytes.extend([0; 32]));
    let path = "tile/0/000".into();
    assert_eq!(faults(&dir), [Fault::TileLength { path, bytes: 8193, expected_bytes: 8192 }]);
}

#[test]
fn an_entry_that_was_signed_though_wrong_is_named() {
    let mut ledger = Ledger::of(300);
    let mut early = entry(200);
    early.at = "2020-01-01T00:00:00.000Z".into();
    ledger.entries[200] = bytes(&early);
    ledger.entries[210] = bytes(&entry(211));
    ledger.entries[220].insert(0, b' ');
    let found = faults(&exported(&ledger));
    assert!(matches!(found[0], Fault::EntryTime { entry: 200, .. }), "{found:?}");
    assert_eq!(found[1], Fault::EntryNumber { entry: 210, seq: 211 });
    assert!(matches!(found[2], Fault::EntryTime { entry: 211, .. } | Fault::EntryForm { entry: 220, .. }), "{found:?}");
    assert_eq!(found.last().and_then(Fault::entry), Some(220));
}

#[test]
fn a_rolled_back_ledger_is_noticed_by_whoever_knows_a_later_head() {
    let ledger = Ledger::of(600);
    let old = Ledger { entries: ledger.entries[..500].to_vec() };
    let dir = exported(&old);
    assert_eq!(faults(&dir), [], "an old copy is an honest one");
    let report = bundle::verify(dir.path(), &verifier(), Some(&ledger.head()));
    assert_eq!(report.faults, [Fault::RolledBack { size: 500, known_size: 600 }]);
}

#[test]
fn a_fork_is_noticed_by_whoever_knows_a_head_of_the_other_history() {
    let honest = Ledger::of(600);
    let mut forked = honest.clone();
    let mut other = entry(300);
    other.kind = "forged".into();
    forked.entries[300] = bytes(&other);
    let dir = exported(&forked);
    assert_eq!(faults(&dir), [], "both histories are signed");
    for known_size in [301, 400, 512, 513, 600] {
        let report = bundle::verify(dir.path(), &verifier(), Some(&honest.head_at(known_size)));
        let computed = forked.head_at(known_size).root();
        let (known, known_size) = (honest.head_at(known_size).root(), known_size as u64);
        assert_eq!(report.faults, [Fault::Forked { known_size, known, computed }]);
    }
    assert_eq!(bundle::verify(dir.path(), &verifier(), Some(&honest.head_at(300))).faults, []);
}

#[test]
fn a_head_for_another_root_is_noticed() {
    let ledger = Ledger::of(600);
    let dir = exported(&ledger);
    let wrong = signed(600, leaf_hash(b"elsewhere"));
    fs::write(dir.path().join("checkpoint"), wrong.to_string()).expect("written");
    let (signed, computed) = (wrong.root(), ledger.head().root());
    assert_eq!(faults(&dir), [Fault::RootMismatch { size: 600, signed, computed }]);
}

#[test]
fn files_that_do_not_belong_are_named() {
    let dir = exported(&Ledger::of(300));
    for path in ["notes.txt", "tile/0/002", "tile/entries/001.p/43", "tile/0/001.p/44.bak", "tile/3/000"] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        fs::write(path, "x").expect("written");
    }
    let found: Vec<String> = faults(&dir).iter().map(Fault::to_string).collect();
    let stray = |path: &str| format!("`{path}` does not belong to a ledger of 300 entries");
    let expected = ["notes.txt", "tile/0/001.p/44.bak", "tile/0/002", "tile/3/000", "tile/entries/001.p/43"];
    assert_eq!(found, expected.map(stray));
}

#[test]
fn proofs_and_trees_can_be_built_from_an_export() {
    let ledger = Ledger::of(600);
    let dir = exported(&ledger);
    let tiles = Tiles::open(dir.path(), 600);
    let proof = InclusionProof::build(77, 600, &tiles).expect("all tiles are there");
    assert_eq!(proof.verify(&leaf_hash(&ledger.entries[77]), ledger.head().head()), Ok(()));
    let proof = ConsistencyProof::build(300, 600, &tiles).expect("all tiles are there");
    assert_eq!(proof.verify(ledger.head_at(300).head(), ledger.head().head()), Ok(()));
    assert_eq!(Tree::resume(600, &tiles).expect("resumed"), grow(&ledger.leaves()).0);
    assert!(InclusionProof::build(77, 601, &tiles).is_err());
}

#[test]
fn an_export_never_goes_into_a_folder_that_holds_something() {
    let dir = exported(&Ledger::of(3));
    let again = bundle::write(dir.path(), &Ledger::of(3).head(), Ledger::of(3).entries.iter().map(Ok::<_, Infallible>));
    assert!(matches!(again, Err(WriteError::NotEmpty { .. })));
}

#[test]
fn an_export_that_failed_has_no_head() {
    let ledger = Ledger::of(300);
    let mut other = ledger.clone();
    other.entries[5][3] ^= 1;
    let too_few = Ledger { entries: ledger.entries[..299].to_vec() };
    for wrong in [other, too_few] {
        let dir = tempfile::tempdir().expect("a folder");
        let refused = bundle::write(dir.path(), &ledger.head(), wrong.entries.iter().map(Ok::<_, Infallible>));
        assert!(matches!(refused, Err(WriteError::RootMismatch { .. } | WriteError::TooFew { .. })), "{refused:?}");
        assert!(!dir.path().join("checkpoint").exists());
    }
}

#[test]
fn entries_newer_than_the_head_are_left_out_of_an_export() {
    let ledger = Ledger::of(300);
    let dir = tempfile::tempdir().expect("a folder");
    let entries = ledger.entries.iter().map(Ok::<_, Infallible>);
    bundle::write(dir.path(), &ledger.head_at(260), entries).expect("written");
    assert_eq!(verify(&dir).entries, 260);
}

#[test]
fn a_report_can_be_handed_on_as_json() {
    let dir = exported(&Ledger::of(3));
    change(&dir, "tile/entries/000.p/3", |bytes| bytes[12] ^= 1);
    let json = serde_json::to_value(verify(&dir)).expect("JSON");
    assert_eq!(json["faults"][0]["fault"], "entry_changed");
    assert_eq!(json["faults"][0]["entry"], 0);
    assert!(json["head"].as_str().is_some_and(|head| head.starts_with("example.com/ledger\n3\n")));
}
