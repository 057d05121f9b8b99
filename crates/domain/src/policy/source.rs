//! A policy file as text: where its statements begin and end, and which line and column a byte is on.
//!
//! Cedar reads the statements. They are cut apart here so that one broken rule does not hide the problems of the others,
//! and so that every problem gets a place in the file the team edits.

use std::ops::Range;

use super::problem::PolicyProblem;
use crate::complaint::Complaint;

pub(super) struct Source<'text> {
    file: &'text str,
    text: &'text str,
    /// The text with comments turned to spaces and the insides of strings to `_`: as long as the text, and safe to search.
    code: String,
}

impl<'text> Source<'text> {
    pub(super) fn new(file: &'text str, text: &'text str) -> Self {
        Self { file, text, code: blanked(text) }
    }

    pub(super) const fn file(&self) -> &'text str {
        self.file
    }

    pub(super) fn slice(&self, span: &Range<usize>) -> &'text str {
        &self.text[span.clone()]
    }

    /// Every statement with its `;`, without the comments before it; what follows the last `;` counts if it is code.
    pub(super) fn statements(&self) -> Vec<Range<usize>> {
        let ends = self.code.match_indices(';').map(|(at, _)| at + 1).chain([self.code.len()]);
        let mut from = 0;
        let spans = ends.map(|end| std::mem::replace(&mut from, end)..end);
        spans.filter_map(|span| self.trimmed(span)).collect()
    }

    fn trimmed(&self, span: Range<usize>) -> Option<Range<usize>> {
        let code = &self.code[span.clone()];
        let start = span.start + (code.len() - code.trim_start().len());
        let end = span.start + code.trim_end().len();
        (start < end).then_some(start..end)
    }

    /// Where the annotation `@name` of a statement stands.
    pub(super) fn annotation(&self, statement: &Range<usize>, name: &str) -> Option<usize> {
        let code = &self.code[statement.clone()];
        let found = code.match_indices('@').find(|(at, _)| annotation_name(&code[at + 1..]) == name);
        found.map(|(at, _)| statement.start + at)
    }

    /// Where `words` stand at or after `from`; `from` itself if they are spelt with escapes.
    pub(super) fn find_from(&self, from: usize, words: &str) -> usize {
        self.text[from..].find(words).map_or(from, |at| from + at)
    }

    /// Line and column of a byte, both counted from 1.
    pub(super) fn place(&self, offset: usize) -> (usize, usize) {
        let offset = (0..=offset.min(self.text.len())).rev().find(|&at| self.text.is_char_boundary(at)).unwrap_or(0);
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    pub(super) fn problem(&self, offset: usize, complaint: Complaint) -> PolicyProblem {
        let (line, column) = self.place(offset);
        let Complaint { message, hint } = complaint;
        PolicyProblem { file: self.file.to_owned(), line, column, message, hint }
    }
}

/// The name that an annotation starts with; Cedar allows spaces after the `@`.
fn annotation_name(after_at: &str) -> &str {
    let name = after_at.trim_start();
    name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Code,
    Comment,
    Text,
    Escape,
}

fn blanked(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut inside = Inside::Code;
    for (at, c) in text.char_indices() {
        let (shown, next) = match (inside, c) {
            (Inside::Code, '"') => (c, Inside::Text),
            (Inside::Code, '/') if text[at..].starts_with("//") => (' ', Inside::Comment),
            (Inside::Code, _) => (c, Inside::Code),
            (Inside::Comment, '\n' | '\r') => (c, Inside::Code),
            (Inside::Comment, _) => (' ', Inside::Comment),
            (Inside::Text, '"') => (c, Inside::Code),
            (Inside::Text, '\\') => ('_', Inside::Escape),
            (Inside::Text | Inside::Escape, _) => ('_', Inside::Text),
        };
        inside = next;
        if shown == c { code.push(c) } else { code.extend(std::iter::repeat_n(shown, c.len_utf8())) }
    }
    code
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn statements(text: &str) -> Vec<&str> {
        let source = Source::new("a.cedar", text);
        source.statements().iter().map(|span| source.slice(span)).collect()
    }

    #[test]
    fn statements_end_at_semicolons_outside_of_strings_and_comments() {
        let text = "// one; two\n@a(\"x;\\\";y\") permit (b); // c;\nforbid (d);\n// the end;\n";
        assert_eq!(statements(text), ["@a(\"x;\\\";y\") permit (b);", "forbid (d);"]);
    }

    #[test]
    fn what_is_left_over_is_a_statement_too() {
        assert_eq!(statements("permit (a); forbid"), ["permit (a);", "forbid"]);
        assert_eq!(statements("permit (\"a; b"), ["permit (\"a; b"]);
        assert_eq!(statements(" \n// nothing\n"), [""; 0]);
    }

    #[test]
    fn annotations_are_found_by_their_whole_name_and_not_in_strings() {
        let text = "@reason(\"see @id\") @idle(\"\") @id(\"x\") permit (a);";
        let source = Source::new("a.cedar", text);
        let statement = source.statements().remove(0);
        assert_eq!(source.annotation(&statement, "id"), text.find("@id(\"x\")"));
        assert_eq!(source.annotation(&statement, "risk"), None);
    }

    #[test]
    fn places_are_counted_as_editors_count_them() {
        let source = Source::new("a.cedar", "ä\nüx");
        assert_eq!((source.place(0), source.place(3), source.place(5)), ((1, 1), (2, 1), (2, 2)));
        assert_eq!(source.place(1), (1, 1), "the middle of a character is that character");
        assert_eq!(source.place(99), (2, 3), "beyond the end is the end");
    }

    proptest! {
        #[test]
        fn nothing_moves_and_nothing_panics(text in "[a-z;\"/\\\\\n @ä]{0,60}") {
            let source = Source::new("a.cedar", &text);
            prop_assert_eq!(source.code.len(), text.len());
            for span in source.statements() {
                prop_assert!(!source.slice(&span).is_empty());
            }
        }
    }
}
