//! Corruptions of exports, more than ten thousand in `./check long`, each of which must be noticed and named where it is.
//!
//! Every case is made from a seed of its own, which a failure prints: `case(seed)` makes it again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;

use placet_ledger::tile::{decode_entries, push_entry};
use placet_ledger::{Fault, FileProblem, bundle};
use placet_testkit::{Random, rounds};
use tempfile::TempDir;

use crate::exports::{exported, files};
use crate::support::{Ledger, bytes, entry, verifier};

/// One tile that is full, one that is not, and a tile above: every kind of file, and quick to verify.
const SMALL: u64 = 270;

/// Eleven full tiles and one that is not.
const LARGE: u64 = 3_000;
const CHANGED_PER_TILE: usize = 7;

/// An export together with what its files should hold.
struct Export {
    dir: TempDir,
    files: BTreeMap<String, Vec<u8>>,
}

impl Export {
    fn of(size: u64) -> Self {
        let dir = exported(&Ledger::of(size));
        let read = |path: String| {
            let bytes = fs::read(dir.path().join(&path)).expect("a file");
            (path, bytes)
        };
        let files = files(dir.path()).into_iter().map(read).collect();
        Export { dir, files }
    }

    fn write(&self, path: &str, bytes: &[u8]) {
        fs::write(self.dir.path().join(path), bytes).expect("written");
    }

    fn restore(&self, path: &str) {
        self.write(path, &self.files[path]);
    }

    fn faults(&self) -> Vec<Fault> {
        bundle::verify(self.dir.path(), &verifier(), None).faults
    }

    fn pick(&self, random: &mut Random, wanted: impl Fn(Kind) -> bool) -> &str {
        let paths: Vec<&String> = self.files.keys().filter(|path| wanted(Kind::of(path))).collect();
        paths[random.below(paths.len())]
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Head,
    Hashes,
    Entries,
}

impl Kind {
    fn of(path: &str) -> Self {
        match path {
            "checkpoint" => Kind::Head,
            path if path.starts_with("tile/entries/") => Kind::Entries,
            _ => Kind::Hashes,
        }
    }
}

/// What a corruption did, and so what verification must say.
enum Expected {
    /// Something about the head.
    Head,
    /// Every fault is about one of these entries, and each of them is named.
    Entries(Vec<u64>),
    /// Exactly these hashes of this tile.
    Hashes(String, Vec<usize>),
    /// The length of this tile.
    TileLength(String),
    /// That this file goes on after its end.
    Trailing(String),
    /// That this file is missing.
    Missing(String),
    /// That this file does not belong.
    Stray(String),
}

impl Expected {
    fn is_met_by(&self, faults: &[Fault]) -> bool {
        let all = |wanted: &dyn Fn(&Fault) -> bool| !faults.is_empty() && faults.iter().all(wanted);
        match self {
            Expected::Head => faults.iter().any(|fault| matches!(fault, Fault::Head { .. })),
            Expected::Entries(entries) => names_exactly(entries, faults),
            Expected::Hashes(tile, positions) => {
                let found: Vec<usize> = faults.iter().filter_map(|fault| position_in(tile, fault)).collect();
                found == *positions && faults.len() == positions.len()
            }
            Expected::TileLength(tile) => all(&|fault| matches!(fault, Fault::TileLength { path, .. } if path == tile)),
            Expected::Trailing(file) => all(&|fault| matches!(fault, Fault::TrailingData { path } if path == file)),
            Expected::Missing(file) => {
                matches!(&faults[0], Fault::File { path, problem: FileProblem::Missing } if path == file)
                    && faults[1..].iter().all(|fault| matches!(fault, Fault::EntriesMissing { .. }))
            }
            Expected::Stray(file) => all(&|fault| matches!(fault, Fault::Unexpected { path, .. } if path == file)),
        }
    }
}

fn names_exactly(entries: &[u64], faults: &[Fault]) -> bool {
    let named: Vec<Option<u64>> = faults.iter().map(Fault::entry).collect();
    entries.iter().all(|entry| named.contains(&Some(*entry)))
        && named.iter().all(|named| named.is_some_and(|named| entries.contains(&named)))
}

fn position_in(tile: &str, fault: &Fault) -> Option<usize> {
    let Fault::TileChanged { path, position, .. } = fault else { return None };
    (path == tile).then_some(usize::from(*position))
}

/// The first entry of a bundle, from its path.
fn first_entry(path: &str) -> u64 {
    let number = path.trim_start_matches("tile/entries/").split('.').next().expect("a number");
    256 * number.parse::<u64>().expect("a number")
}

/// Which entry of a bundle a byte belongs to.
fn entry_at(bundle: &[u8], byte: usize) -> u64 {
    let mut start = 0;
    let mut entry = 0;
    loop {
        let length = usize::from(u16::from_be_bytes([bundle[start], bundle[start + 1]]));
        start += 2 + length;
        if byte < start {
            return entry;
        }
        entry += 1;
    }
}

/// The entries of a bundle, to change and pack again.
fn unpack(path: &str, bundle: &[u8]) -> Vec<Vec<u8>> {
    let width = path.split_once(".p/").map_or(256, |(_, width)| width.parse().expect("a width"));
    decode_entries(bundle, width).expect("a bundle").into_iter().map(<[u8]>::to_vec).collect()
}

fn pack(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut bundle = Vec::new();
    entries.iter().for_each(|entry| push_entry(&mut bundle, entry).expect("short enough"));
    bundle
}

/// Damages one file of the export, and says what must be noticed.
fn damage(export: &Export, random: &mut Random) -> (String, Expected) {
    match random.below(16) {
        0..=5 => flip_a_bit(export, random),
        6 | 7 => cut(export, random),
        8 => lengthen(export, random),
        9 => remove(export, random),
        10 => add_a_file(export, random),
        11 => exchange_hashes(export, random),
        12 => exchange_entries(export, random),
        13 => forge_an_entry(export, random),
        14 => leave_an_entry_out(export, random),
        _ => repeat_an_entry(export, random),
    }
}

fn flip_a_bit(export: &Export, random: &mut Random) -> (String, Expected) {
    let path = export.pick(random, |_| true);
    let mut bytes = export.files[path].clone();
    let byte = random.below(bytes.len());
    let expected = match Kind::of(path) {
        Kind::Head => Expected::Head,
        Kind::Hashes => Expected::Hashes(path.into(), vec![byte / 32]),
        Kind::Entries => Expected::Entries(vec![first_entry(path) + entry_at(&bytes, byte)]),
    };
    bytes[byte] ^= 1 << random.below(8);
    export.write(path, &bytes);
    (path.into(), expected)
}

fn cut(export: &Export, random: &mut Random) -> (String, Expected) {
    let path = export.pick(random, |_| true);
    let bytes = &export.files[path];
    let end = random.below(bytes.len());
    let expected = match Kind::of(path) {
        Kind::Head => Expected::Head,
        Kind::Hashes => Expected::TileLength(path.into()),
        Kind::Entries => Expected::Entries(vec![first_entry(path) + entry_at(bytes, end)]),
    };
    export.write(path, &bytes[..end]);
    (path.into(), expected)
}

fn lengthen(export: &Export, random: &mut Random) -> (String, Expected) {
    let path = export.pick(random, |_| true);
    let mut bytes = export.files[path].clone();
    bytes.extend((0..=random.below(40)).map(|_| random.next_number() as u8));
    export.write(path, &bytes);
    let expected = match Kind::of(path) {
        Kind::Head => Expected::Head,
        Kind::Hashes => Expected::TileLength(path.into()),
        Kind::Entries => Expected::Trailing(path.into()),
    };
    (path.into(), expected)
}

fn remove(export: &Export, random: &mut Random) -> (String, Expected) {
    let path = export.pick(random, |_| true);
    fs::remove_file(export.dir.path().join(path)).expect("removed");
    (path.into(), Expected::Missing(path.into()))
}

fn add_a_file(export: &Export, random: &mut Random) -> (String, Expected) {
    let original = export.pick(random, |kind| kind != Kind::Head);
    let stray = ["tile/0/007", "tile/entries/002", "extra", "tile/0/001.p/255"][random.below(4)];
    export.write(stray, &export.files[original]);
    (stray.into(), Expected::Stray(stray.into()))
}

fn exchange_hashes(export: &Export, random: &mut Random) -> (String, Expected) {
    let path = export.pick(random, |kind| kind == Kind::Hashes);
    let mut hashes = export.files[path].clone();
    let count = hashes.len() / 32;
    let (mut a, mut b) = (random.below(count), random.below(count));
    if a == b {
        // A tile of one hash has nothing to exchange it with.
        hashes[32 * a] ^= 1;
        export.write(path, &hashes);
        return (path.into(), Expected::Hashes(path.into(), vec![a]));
    }
    (a, b) = (a.min(b), a.max(b));
    let (left, right) = hashes.split_at_mut(32 * b);
    left[32 * a..32 * a + 32].swap_with_slice(&mut right[..32]);
    export.write(path, &hashes);
    (path.into(), Expected::Hashes(path.into(), vec![a, b]))
}

/// Changes the entries of a bundle as `change` says, which answers the places where that must be noticed.
fn rewrite(
    export: &Export,
    random: &mut Random,
    change: impl FnOnce(&mut Vec<Vec<u8>>, u64, &mut Random) -> Vec<u64>,
) -> (String, Expected) {
    let path = export.pick(random, |kind| kind == Kind::Entries);
    let mut entries = unpack(path, &export.files[path]);
    let changed = change(&mut entries, first_entry(path), random);
    export.write(path, &pack(&entries));
    let expected = if changed.is_empty() { Expected::Trailing(path.into()) } else { Expected::Entries(changed) };
    (path.into(), expected)
}

fn exchange_entries(export: &Export, random: &mut Random) -> (String, Expected) {
    rewrite(export, random, |entries, first, random| {
        let a = random.below(entries.len());
        let b = (a + 1 + random.below(entries.len() - 1)) % entries.len();
        entries.swap(a, b);
        vec![first + a as u64, first + b as u64]
    })
}

/// A forger who writes proper entries is noticed like one who does not.
fn forge_an_entry(export: &Export, random: &mut Random) -> (String, Expected) {
    rewrite(export, random, |entries, first, random| {
        let at = random.below(entries.len());
        let mut forged = entry(first + at as u64);
        forged.actor = format!("mallory-{}", random.below(1000));
        entries[at] = bytes(&forged);
        vec![first + at as u64]
    })
}

fn leave_an_entry_out(export: &Export, random: &mut Random) -> (String, Expected) {
    rewrite(export, random, |entries, first, random| {
        let at = random.below(entries.len());
        entries.remove(at);
        vec![first + at as u64]
    })
}

fn repeat_an_entry(export: &Export, random: &mut Random) -> (String, Expected) {
    rewrite(export, random, |entries, first, random| {
        let at = random.below(entries.len());
        entries.insert(at, entries[at].clone());
        // The repeated entry is right in its first place; what follows the last place of a bundle is no entry at all.
        if at + 2 == entries.len() { Vec::new() } else { vec![first + at as u64 + 1] }
    })
}

fn case(export: &Export, seed: u64) {
    let (path, expected) = damage(export, &mut Random(seed));
    let faults = export.faults();
    assert!(expected.is_met_by(&faults), "seed {seed}: `{path}` was damaged, but the report is {faults:#?}");
    if export.files.contains_key(&path) {
        export.restore(&path);
    } else {
        fs::remove_file(export.dir.path().join(&path)).expect("removed");
    }
}

#[test]
fn every_single_corruption_is_noticed_and_located() {
    const THREADS: u64 = 2;
    let cases = rounds(600, 3_000) as u64;
    thread::scope(|scope| {
        for number in 0..THREADS {
            scope.spawn(move || {
                let export = Export::of(SMALL);
                (number * cases / THREADS..(number + 1) * cases / THREADS).for_each(|seed| case(&export, seed));
                assert_eq!(export.faults(), [], "the export was put back as it was");
            });
        }
    });
}

/// Damages every tile of a large ledger in several places: in its entries or in its hashes.
fn round(export: &Export, seed: u64) -> usize {
    let mut random = Random(seed);
    let mut expected: Vec<Fault> = Vec::new();
    let mut changed_entries = Vec::new();
    for index in 0..LARGE.div_ceil(256) {
        let place = format!("{index:03}");
        let find = |folder: &str| {
            let mut paths = export.files.keys().filter(|path| path.starts_with(&format!("{folder}{place}")));
            paths.next().expect("every tile has its files").clone()
        };
        let (bundle, tile) = (find("tile/entries/"), find("tile/0/"));
        let places = distinct(&mut random, export.files[&tile].len() / 32);
        if random.below(2) == 0 {
            let mut entries = unpack(&bundle, &export.files[&bundle]);
            for at in places {
                let byte = random.below(entries[at].len());
                entries[at][byte] ^= 1 << random.below(8);
                changed_entries.push(256 * index + at as u64);
            }
            export.write(&bundle, &pack(&entries));
        } else {
            let mut hashes = export.files[&tile].clone();
            for at in places {
                hashes[32 * at + random.below(32)] ^= 1 << random.below(8);
                let entry = 256 * index + at as u64;
                let (path, position) = (tile.clone(), at as u16);
                expected.push(Fault::TileChanged { path, position, first: entry, last: entry });
            }
            export.write(&tile, &hashes);
        }
    }
    let (tiles, entries): (Vec<Fault>, Vec<Fault>) =
        export.faults().into_iter().partition(|fault| matches!(fault, Fault::TileChanged { .. }));
    assert_eq!(tiles, expected, "seed {seed}");
    assert!(
        entries.is_empty() && changed_entries.is_empty() || names_exactly(&changed_entries, &entries),
        "seed {seed}: {entries:#?}"
    );
    export.files.keys().for_each(|path| export.restore(path));
    expected.len() + changed_entries.len()
}

/// Some different places below `bound`, in order.
fn distinct(random: &mut Random, bound: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..CHANGED_PER_TILE).map(|_| random.below(bound)).collect();
    places.sort_unstable();
    places.dedup();
    places
}

#[test]
fn corruptions_all_over_a_larger_ledger_are_all_located() {
    let export = Export::of(LARGE);
    let rounds = rounds(15, 90);
    let corruptions: usize = (0..rounds as u64).map(|seed| round(&export, seed)).sum();
    assert!(corruptions > 77 * rounds, "only {corruptions} corruptions were made");
    assert_eq!(export.faults(), [], "the export was put back as it was");
}

/// Puts two files of the same shape in each other's place.
fn exchange_files(export: &Export, folder: &str, a: usize, b: usize) -> Vec<Fault> {
    let path = |number: usize| format!("{folder}{number:03}");
    export.write(&path(a), &export.files[&path(b)]);
    export.write(&path(b), &export.files[&path(a)]);
    let faults = export.faults();
    [a, b].iter().for_each(|number| export.restore(&path(*number)));
    faults
}

#[test]
fn exchanged_tiles_and_bundles_are_noticed_and_located() {
    let export = Export::of(LARGE);
    for seed in 0..rounds(5, 20) as u64 {
        let mut random = Random(seed);
        let a = random.below(11);
        let b = (a + 1 + random.below(10)) % 11;

        let faults = exchange_files(&export, "tile/0/", a, b);
        let names = [a, b].map(|number| format!("tile/0/{number:03}"));
        let located = |fault: &Fault| matches!(fault, Fault::TileChanged { path, .. } if names.contains(path));
        assert!(faults.len() == 512 && faults.iter().all(located), "seed {seed}: {faults:?}");

        let faults = exchange_files(&export, "tile/entries/", a, b);
        let (here, there) = (256 * a.min(b) as u64, 256 * a.max(b) as u64);
        assert_eq!(faults[0].entry(), Some(here), "seed {seed}");
        assert_eq!(faults[1], Fault::EntryNumber { entry: here, seq: there }, "seed {seed}");
    }
    assert_eq!(export.faults(), [], "the export was put back as it was");
}

fn verify_with(dir: &Path, ledger: &Ledger, known_size: usize) -> Vec<Fault> {
    bundle::verify(dir, &verifier(), Some(&ledger.head_at(known_size))).faults
}

#[test]
fn every_rolled_back_and_every_forked_history_is_noticed_by_whoever_remembers() {
    for seed in 0..rounds(40, 200) as u64 {
        let mut random = Random(seed);
        let size = 2 + random.below(60);
        let honest = Ledger::of(size as u64);

        let older = Ledger { entries: honest.entries[..1 + random.below(size - 1)].to_vec() };
        let (size_now, known_size) = (older.entries.len() as u64, size as u64);
        let found = verify_with(exported(&older).path(), &honest, size);
        assert_eq!(found, [Fault::RolledBack { size: size_now, known_size }], "seed {seed}");

        let mut forked = honest.clone();
        let differs = random.below(size);
        let mut other = entry(differs as u64);
        other.kind = "forged".into();
        forked.entries[differs] = bytes(&other);
        let dir = exported(&forked);
        let found = verify_with(dir.path(), &honest, size);
        assert!(matches!(found.as_slice(), [Fault::Forked { .. }]), "seed {seed}: {found:?}");
        assert_eq!(verify_with(dir.path(), &honest, differs), [], "seed {seed}: up to there, history is the same");
    }
}
