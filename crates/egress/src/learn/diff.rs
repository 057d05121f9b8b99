//! Rules as text, one line each, and what would change, for a person to read before anything does.

use crate::rules::Rules;

/// One line for each rule, sorted, so that the same rules are the same text.
pub fn text(rules: &Rules) -> String {
    let mut lines: Vec<String> = rules.allow.iter().map(|rule| format!("allow {rule}\n")).collect();
    lines.sort();
    lines.dedup();
    lines.concat()
}

/// A unified diff from the present rules to the proposed ones; empty where nothing would change.
pub fn diff(present: &Rules, proposed: &Rules) -> String {
    let (old, new) = (text(present), text(proposed));
    similar::TextDiff::from_lines(&old, &new).unified_diff().header("present", "proposed").to_string()
}
