//! What changed in a text since a person approved it: line by line, and within a line that became another one word by word.
//!
//! Line ends count: they are marked where they differ.

use std::ops::Range;

use maud::{Markup, html};
use placet_domain::text::lines;
use placet_lang::Lang;
use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices, group_diff_ops};

use crate::markup::colour::{self, Syntax};

/// How many lines around a change are shown.
const CONTEXT: usize = 3;
/// Comparing takes the product of what differs.
const MOST_COMPARED: usize = 1_500;
/// Longer lines are not compared word by word.
const LONGEST_COMPARED: usize = 400;

pub(crate) struct Change<'t> {
    before: Vec<&'t str>,
    now: Vec<&'t str>,
    ops: Vec<DiffOp>,
}

impl<'t> Change<'t> {
    /// Nothing where it would take more than a moment, whatever somebody put into them.
    pub(crate) fn between(before: &'t str, now: &'t str) -> Option<Self> {
        if [before, now].iter().any(|text| lines(text).count() > MOST_COMPARED) {
            return None;
        }
        let [before, now] = [before, now].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        let ops = capture_diff_slices(Algorithm::Myers, &before, &now);
        Some(Self { before, now, ops })
    }

    /// How many lines came, and how many went.
    pub(crate) fn tally(&self) -> (usize, usize) {
        let of = |op: &DiffOp| match op {
            DiffOp::Equal { .. } => (0, 0),
            DiffOp::Delete { old_len, .. } => (0, *old_len),
            DiffOp::Insert { new_len, .. } => (*new_len, 0),
            DiffOp::Replace { old_len, new_len, .. } => (*new_len, *old_len),
        };
        self.ops.iter().map(of).fold((0, 0), |(come, gone), (more, less)| (come + more, gone + less))
    }

    /// Changed lines with a little around them, each with its number before and after.
    pub(crate) fn shown(&self, lang: Lang, syntax: Syntax) -> Markup {
        self.first(lang, syntax, usize::MAX)
    }

    /// The same, no further than so many lines.
    pub(crate) fn first(&self, lang: Lang, syntax: Syntax, most: usize) -> Markup {
        let groups = group_diff_ops(self.ops.clone(), CONTEXT);
        let rows = groups
            .iter()
            .flat_map(|group| std::iter::once(gap()).chain(group.iter().flat_map(|op| self.rows(lang, syntax, op))));
        html! {
            div.code tabindex="0" role="region" aria-label=(lang.changed_since()) { table { @for row in rows.take(most) { (row) } } }
        }
    }

    fn rows(&self, lang: Lang, syntax: Syntax, op: &DiffOp) -> Vec<Markup> {
        let row = |change: similar::Change<&str>| {
            let (class, sign) = sign(change.tag());
            let content = without_end(change.value());
            let words = self.other_words(op, change.old_index(), change.new_index(), content);
            html! {
                tr class=(class) {
                    th { @if let Some(index) = change.old_index() { (index + 1) } }
                    th { @if let Some(index) = change.new_index() { (index + 1) } }
                    td { pre { span.sign { (sign) } (colour::changed_line(lang, syntax, content, &words)) } }
                }
            }
        };
        op.iter_changes(&self.before, &self.now).map(row).collect()
    }

    /// The words of a line that are others than in the line it came from, or became: told where as many lines stand for as many.
    fn other_words(&self, op: &DiffOp, old: Option<usize>, new: Option<usize>, content: &str) -> Vec<Range<usize>> {
        let (olds, news) = (op.old_range(), op.new_range());
        let other = match (op, old, new) {
            (DiffOp::Replace { old_len, new_len, .. }, Some(old), None) if old_len == new_len => {
                self.now.get(news.start + (old - olds.start))
            }
            (DiffOp::Replace { old_len, new_len, .. }, None, Some(new)) if old_len == new_len => {
                self.before.get(olds.start + (new - news.start))
            }
            _ => None,
        };
        other.map(|other| changed(content, without_end(other))).unwrap_or_default()
    }
}

fn gap() -> Markup {
    html! { tr.gap { th {} th {} td { "⋯" } } }
}

fn without_end(line: &str) -> &str {
    line.strip_suffix('\n').unwrap_or(line)
}

/// The parts of a line that another one does not have. Nothing where the two have little in common: then all of it is another line.
fn changed(line: &str, other: &str) -> Vec<Range<usize>> {
    if line.len().max(other.len()) > LONGEST_COMPARED {
        return Vec::new();
    }
    let (mine, others) = (words(line), words(other));
    let (mut ranges, mut at) = (Vec::new(), 0);
    for op in capture_diff_slices(Algorithm::Myers, &mine, &others) {
        let length: usize = mine[op.old_range()].iter().map(|word| word.len()).sum();
        if !matches!(op, DiffOp::Equal { .. }) && length > 0 {
            ranges.push(at..at + length);
        }
        at += length;
    }
    let share: usize = ranges.iter().map(|range| range.len()).sum();
    if 2 * share > line.len() { Vec::new() } else { ranges }
}

/// Runs of letters and digits, and every other character by itself.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let end = if is_word(first) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

const fn sign(tag: ChangeTag) -> (&'static str, &'static str) {
    match tag {
        ChangeTag::Equal => ("", " "),
        ChangeTag::Delete => ("gone", "-"),
        ChangeTag::Insert => ("come", "+"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_words_that_are_others_are_told_within_a_line_and_a_line_that_is_all_new_is_not_marked_up() {
        assert_eq!(changed("let x = 41; y = 1", "let x = 42; y = 2"), [8..10, 16..17]);
        assert_eq!(changed("rm -rf a", "curl b | sh"), Vec::<Range<usize>>::new());
        let change = Change::between("a\nb\n", "a\nc\nd\n").expect("small texts");
        assert_eq!(change.tally(), (2, 1));
    }
}
