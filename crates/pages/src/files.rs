//! The files an action is given, as text where they are text: whole, or against what the run had before under that name.
//!
//! What is no text is said to be none; nothing is guessed at. Colours help the eye and say nothing.

use maud::{Markup, html};
use placet_domain::digest::Digest;
use similar::{Algorithm, ChangeTag, capture_diff_slices, group_diff_ops};

use crate::colour::{self, Syntax};
use crate::lang::Lang;
use crate::parts::{digest, size};
use crate::text;

/// How many lines around a change are shown.
const CONTEXT: usize = 3;
/// More lines than anybody reads on a card; the rest is a download away.
const MOST_LINES: usize = 2_000;
/// Comparing takes the product of what differs.
const MOST_COMPARED: usize = 1_500;

/// A file and what there is to see of it.
#[derive(Debug, Clone)]
pub struct FileShown {
    pub path: String,
    pub digest: Digest,
    pub size_bytes: u64,
    pub shown: Shown,
    /// Where all of it is.
    pub link: String,
}

#[derive(Debug, Clone)]
pub enum Shown {
    /// Text, as far as it is shown, and what the run had under that name before.
    Text { now: String, before: Option<String>, is_cut: bool },
    /// No text.
    Opaque,
    /// Too much for a card.
    Unread,
    /// Not for this person, as long as nobody let it out.
    Withheld,
    /// Its bytes are gone.
    Removed,
}

pub(crate) fn files(lang: Lang, files: &[FileShown]) -> Markup {
    html! {
        @for file in files {
            details.file open {
                summary {
                    code { (text::line(lang, &file.path)) }
                    small { (size(lang, file.size_bytes)) " · " (digest(file.digest)) }
                }
                (content(lang, file))
            }
        }
    }
}

fn content(lang: Lang, file: &FileShown) -> Markup {
    let syntax = Syntax::of(&file.path);
    match &file.shown {
        Shown::Opaque => {
            html! { p.note.bad { (lang.uninspectable()) " " a href=(file.link) download { (lang.download()) } } }
        }
        Shown::Unread => html! { p.note.bad { (lang.unread()) " " a href=(file.link) download { (lang.download()) } } },
        Shown::Withheld => html! { p.note { (lang.withheld()) } },
        Shown::Removed => html! { p.note { (lang.removed_bytes()) } },
        Shown::Text { now, before, is_cut } => html! {
            @if now.lines().any(text::is_odd) { p.note.bad { (lang.odd_text()) } }
            @match before.as_deref().filter(|before| is_comparable(before) && is_comparable(now)) {
                Some(before) => {
                    p.note { (lang.changed_since()) }
                    (difference(lang, syntax, before, now))
                    details { summary { (lang.whole_file()) } (whole(lang, syntax, now)) }
                },
                None => (whole(lang, syntax, now)),
            }
            @if *is_cut || now.lines().count() > MOST_LINES {
                p.note { (lang.too_large()) " " a href=(file.link) download { (lang.download()) } }
            }
        },
    }
}

fn whole(lang: Lang, syntax: Syntax, content: &str) -> Markup {
    html! {
        div.code tabindex="0" role="region" aria-label=(lang.given_files()) {
            table {
                @for (number, line) in (1..).zip(content.lines().take(MOST_LINES)) {
                    tr { th { (number) } td { pre { (colour::line(lang, syntax, line)) } } }
                }
            }
        }
    }
}

/// Whether two such texts are compared in a moment, whatever somebody put into them.
fn is_comparable(text: &str) -> bool {
    text.lines().count() <= MOST_COMPARED
}

/// Changed lines with a little around them, each with its number before and after. Line ends count: they are marked where they differ.
fn difference(lang: Lang, syntax: Syntax, before: &str, now: &str) -> Markup {
    let (before, now): (Vec<&str>, Vec<&str>) =
        (before.split_inclusive('\n').collect(), now.split_inclusive('\n').collect());
    let groups = group_diff_ops(capture_diff_slices(Algorithm::Myers, &before, &now), CONTEXT);
    html! {
        div.code tabindex="0" role="region" aria-label=(lang.changed_since()) {
            table {
                @for group in &groups {
                    tr.gap { th {} th {} td { "⋯" } }
                    @for change in group.iter().flat_map(|op| op.iter_changes(&before, &now)) {
                        @let (class, sign) = sign(change.tag());
                        tr class=(class) {
                            th { @if let Some(index) = change.old_index() { (index + 1) } }
                            th { @if let Some(index) = change.new_index() { (index + 1) } }
                            td { pre { span.sign { (sign) } (colour::line(lang, syntax, change.value().strip_suffix('\n').unwrap_or(change.value()))) } }
                        }
                    }
                }
            }
        }
    }
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

    fn shown(path: &str, shown: Shown) -> String {
        let file =
            FileShown { path: path.to_owned(), digest: Digest::of(b""), size_bytes: 3, shown, link: "/e".to_owned() };
        files(Lang::En, &[file]).into_string()
    }

    #[test]
    fn b4_a_change_is_shown_line_by_line_with_numbers_of_both_sides() {
        let before: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let now = before.replace("line 10\n", "line ten\n");
        let shown = shown("a.txt", Shown::Text { now, before: Some(before), is_cut: false });
        let (shown, _) = shown.split_once("The whole file").expect("which stands below the change");
        assert!(
            shown.contains("<tr class=\"gone\"><th>10</th><th></th><td><pre><span class=\"sign\">-</span>line "),
            "{shown}"
        );
        assert!(shown.contains("<tr class=\"come\"><th></th><th>10</th>"), "{shown}");
        assert!(
            shown.contains("line <b class=\"n\">13</b>") && !shown.contains(">14<"),
            "three lines around it: {shown}"
        );
    }

    #[test]
    fn r5_a_change_never_hides_the_file_and_a_line_end_is_a_change() {
        let shown_of = |now: &str, before: &str| {
            shown("a.sh", Shown::Text { now: now.to_owned(), before: Some(before.to_owned()), is_cut: false })
        };
        let small = shown_of("rm -rf docs\necho 2\n", "rm -rf docs\necho 1\n");
        assert!(small.contains("The whole file") && small.matches("docs").count() >= 2, "{small}");
        let ends = shown_of("one\r\n", "one\n");
        assert!(ends.contains("class=\"come\"") && ends.contains("⟦U+000D⟧"), "{ends}");
        let many: String = (0..40_000).map(|n| format!("{n}\n")).collect();
        let other: String = (0..40_000).map(|n| format!("x{n}\n")).collect();
        let large = shown_of(&many, &other);
        assert!(!large.contains("class=\"come\"") && large.contains("too large") | large.contains("Too large"));
    }

    #[test]
    fn r5_what_is_no_text_says_so_and_markup_in_a_file_stays_text() {
        assert!(shown("a.bin", Shown::Opaque).contains("Uninspectable"));
        let html = shown("a.html", Shown::Text { now: "<img src=x onerror=a()>".into(), before: None, is_cut: false });
        assert!(!html.contains("<img") && html.contains("&lt;"), "{html}");
        let bidi = shown("a.rs", Shown::Text { now: "let x = \"\u{202e}\";\nfn".into(), before: None, is_cut: false });
        assert!(bidi.contains("⟦U+202E⟧") && bidi.contains("are marked"), "{bidi}");
    }
}
