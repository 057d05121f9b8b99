//! All attacks at a glance, compared with the reviewed table in `coverage.txt`.
//!
//! To accept a change, run the tests with `PLACET_ACCEPT_COVERAGE=1` and review the difference.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Row, all};

/// Fewer means that some were lost; more are welcome.
const LEAST: usize = 30;

fn line(row: &Row) -> String {
    let name = format!("{}::{}", row.group, row.name);
    format!("{name:<52} {:<20} {:<36} {}\n", row.barrier, row.told, row.tries)
}

#[test]
fn the_attacks_are_the_reviewed_ones() {
    let text: String = all().iter().map(line).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/attacks/coverage.txt");
    if std::env::var_os("PLACET_ACCEPT_COVERAGE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, reviewed, "the attacks differ from {}", path.display());
}

#[test]
fn there_are_many_and_none_twice() {
    let all = all();
    assert!(all.len() >= LEAST, "{} attacks", all.len());
    let names: BTreeSet<_> = all.iter().map(|row| (row.group, row.name)).collect();
    assert_eq!(names.len(), all.len());
}

/// A text that every answer begins with would be no expectation at all.
#[test]
fn every_attack_says_what_the_attacker_is_told() {
    for row in all() {
        assert!(row.told.len() >= 4 && !row.tries.is_empty(), "{}::{}", row.group, row.name);
    }
}
