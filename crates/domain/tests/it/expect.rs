//! Reviewed text files: what the code says now must be what somebody has read and checked in.
//!
//! `UPDATE_EXPECT=1` writes the files anew; the review then happens in the diff of the commit.

use std::fs;
use std::path::Path;

/// Compares with a file, given by its path from the root of the crate.
pub(crate) fn file(path: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, actual).expect("the expected file can be written");
        return;
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let differences = diff(&expected, actual);
    assert!(differences.is_empty(), "{}\n{differences}\nif this is intended: UPDATE_EXPECT=1", path.display());
}

/// The lines that differ, `-` as it was reviewed and `+` as it is; empty when there are none.
fn diff(expected: &str, actual: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), actual.lines().collect());
    let gone = old.iter().filter(|line| !new.contains(line)).map(|line| format!("- {line}\n"));
    let come = new.iter().filter(|line| !old.contains(line)).map(|line| format!("+ {line}\n"));
    let changed: String = gone.chain(come).collect();
    if changed.is_empty() && expected != actual {
        "the same lines in another order or number".to_owned()
    } else {
        changed
    }
}

/// Rows with their columns aligned, each column as wide as its widest cell.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| format!("{cell:<0$}", width(column).unwrap_or(0)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[test]
fn a_changed_line_is_named() {
    assert_eq!(diff("a\nb\n", "a\nc\n"), "- b\n+ c\n");
    assert_eq!(diff("a\n", "a\n"), "");
    assert_eq!(diff("a\nb\n", "b\na\n"), "the same lines in another order or number");
}
