//! The files an action is given, as text where they are text: whole, or against what the run had before under that name.
//!
//! What is no text is said to be none; nothing is guessed at. Colours help the eye and say nothing.

use maud::{Markup, html};
use placet_control::read::files::{FileShown, Ruling, Shown};
use placet_domain::id::ActionId;
use placet_domain::text::lines;
use placet_lang::Lang;

use crate::markup::card::Ask;
use crate::markup::change::Change;
use crate::markup::colour::{self, Syntax};
use crate::markup::forms::Form;
use crate::markup::layout::Viewer;
use crate::markup::parts::{digest, size};
use crate::markup::text;

/// More lines than anybody reads on a card; the rest is a download away.
const MOST_LINES: usize = 2_000;

/// Where all of a file is.
fn link(file: &FileShown) -> String {
    format!("/evidence/{}/{}", file.project, file.digest)
}

/// Files that nobody marks: those of the agent that a plan starts.
pub(crate) fn given(lang: Lang, files: &[FileShown]) -> Markup {
    html! {
        @for file in files {
            @let change = change(file);
            details.file open { summary { (named(lang, file, change.as_ref())) } (content(lang, file, change.as_ref())) }
        }
    }
}

/// What is marked as seen is folded, and says so. Where nothing is left to decide nothing is left to be marked; a mark is still taken back.
pub(crate) fn files(viewer: &Viewer, action: ActionId, files: &[FileShown], ask: &Ask) -> Markup {
    let (lang, is_asked) = (viewer.lang, *ask != Ask::Settled);
    html! {
        @if is_asked { (tally(lang, files)) }
        @for (index, file) in files.iter().enumerate() {
            @let change = change(file);
            details.file open[file.seen != Some(true)] {
                summary { (named(lang, file, change.as_ref())) @if file.seen == Some(true) { strong.good { (lang.seen_by_you()) } } }
                @if let Some(seen) = file.seen.filter(|seen| *seen || is_asked) { (mark(viewer, action, index, seen)) }
                (content(lang, file, change.as_ref()))
            }
        }
    }
}

/// How many of them whoever looks has seen, where they mark them.
fn tally(lang: Lang, files: &[FileShown]) -> Markup {
    let (seen, of) = (files.iter().filter(|file| file.seen == Some(true)).count(), files.len());
    html! { @if files.iter().any(|file| file.seen.is_some()) { p.note { strong { (seen) " " (lang.of()) " " (of) } " " (lang.files_seen()) } } }
}

/// A mark of one's own: it approves nothing, and whoever sets none decides all the same.
fn mark(viewer: &Viewer, action: ActionId, index: usize, seen: bool) -> Markup {
    let (lang, wanted) = (viewer.lang, if seen { "no" } else { "yes" });
    Form::to(format!("/actions/{action}/seen"), viewer).in_place().with(&html! {
        input type="hidden" name="file" value=(index);
        input type="hidden" name="seen-file" value=(wanted);
        button.plain data-other=(if seen { lang.mark_seen() } else { lang.unmark_seen() }) { (if seen { lang.unmark_seen() } else { lang.mark_seen() }) }
    })
}

/// What it is called, how large it is, where it stands in the scope, and how much of it changed.
pub(crate) fn named(lang: Lang, file: &FileShown, change: Option<&Change<'_>>) -> Markup {
    html! {
        code { (text::line(lang, &file.path)) }
        (ruling(lang, file.ruling))
        @if let Some(change) = change { @let (come, gone) = change.tally(); small.tally-lines { "+" (come) " −" (gone) } }
        small { (size(lang, file.size_bytes)) " · " (digest(file.digest)) }
    }
}

fn ruling(lang: Lang, ruling: Ruling) -> Markup {
    let (mood, word) = match ruling {
        Ruling::Within => ("good", lang.within_scope()),
        Ruling::Protected => ("bad", lang.protected()),
        Ruling::Outside => ("ask", lang.outside_scope()),
        Ruling::Unjudged => return html! {},
    };
    html! { span.status data-mood=(mood) { (word) } }
}

/// What changed since, where that can be told.
pub(crate) fn change(file: &FileShown) -> Option<Change<'_>> {
    match &file.shown {
        Shown::Text { now, before: Some(before), .. } => Change::between(before, now),
        Shown::Text { before: None, .. } | Shown::Opaque | Shown::Unread | Shown::Withheld | Shown::Removed => None,
    }
}

fn content(lang: Lang, file: &FileShown, change: Option<&Change<'_>>) -> Markup {
    let syntax = Syntax::of(&file.path);
    match &file.shown {
        Shown::Opaque => {
            html! { p.note.bad { (lang.uninspectable()) " " a href=(link(file)) download { (lang.download()) } } }
        }
        Shown::Unread => {
            html! { p.note.bad { (lang.unread()) " " a href=(link(file)) download { (lang.download()) } } }
        }
        Shown::Withheld => html! { p.note { (lang.withheld()) } },
        Shown::Removed => html! { p.note { (lang.removed_bytes()) } },
        Shown::Text { now, is_cut, .. } => html! {
            @if text::is_odd_anywhere(now) { p.note.bad { (lang.odd_text()) } }
            @match change {
                Some(change) => {
                    p.note { (lang.changed_since()) }
                    (change.shown(lang, syntax))
                    details { summary { (lang.whole_file()) } (whole(lang, syntax, now, MOST_LINES)) }
                },
                None => (whole(lang, syntax, now, MOST_LINES)),
            }
            @if *is_cut || lines(now).count() > MOST_LINES {
                p.note { (lang.too_large()) " " a href=(link(file)) download { (lang.download()) } }
            }
        },
    }
}

/// What changed in it, or else how it begins, no further than so many lines.
pub(crate) fn beginning(lang: Lang, file: &FileShown, change: Option<&Change<'_>>, most: usize) -> Markup {
    let syntax = Syntax::of(&file.path);
    match (change, &file.shown) {
        (Some(change), _) => change.first(lang, syntax, most),
        (None, Shown::Text { now, .. }) => whole(lang, syntax, now, most),
        (None, Shown::Opaque | Shown::Unread | Shown::Withheld | Shown::Removed) => html! {},
    }
}

fn whole(lang: Lang, syntax: Syntax, content: &str, most: usize) -> Markup {
    html! {
        div.code tabindex="0" role="region" aria-label=(lang.given_files()) {
            table {
                @for (number, line) in (1..).zip(lines(content).take(most)) {
                    tr { th { (number) } td { pre { (colour::line(lang, syntax, line)) } } }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use placet_domain::digest::Digest;
    use placet_domain::id::ProjectId;

    use super::*;
    use crate::markup::order::tests::viewer;

    fn action() -> ActionId {
        format!("act_{}", "0".repeat(32)).parse().expect("an id")
    }

    #[test]
    fn c16_what_is_marked_as_seen_is_folded_and_says_so_and_the_others_are_open() {
        let file = |path: &str, seen| FileShown {
            path: path.to_owned(),
            digest: Digest::of(b""),
            size_bytes: 3,
            shown: Shown::Text { now: "text".to_owned(), before: None, is_cut: false },
            project: ProjectId::from_bytes([1; 16]),
            ruling: Ruling::Within,
            seen,
        };
        let marked =
            files(&viewer(), action(), &[file("a", Some(true)), file("b", Some(false))], &Ask::Yes).into_string();
        assert!(marked.contains("<strong>1 of 2</strong> files seen"), "{marked}");
        assert_eq!((marked.matches("<details class=\"file\">").count(), marked.matches("seen by you").count()), (1, 1));
        assert_eq!(marked.matches("<details class=\"file\" open>").count(), 1);
        let plain = files(&viewer(), action(), &[file("a", None)], &Ask::Yes).into_string();
        assert!(
            !plain.contains("<form") && !plain.contains("files seen"),
            "who marks nothing is offered nothing: {plain}"
        );
    }

    fn shown(path: &str, shown: Shown) -> String {
        let (path, digest, project) = (path.to_owned(), Digest::of(b""), ProjectId::from_bytes([1; 16]));
        let file = FileShown { path, digest, size_bytes: 3, project, shown, ruling: Ruling::Protected, seen: None };
        files(&viewer(), action(), &[file], &Ask::Yes).into_string()
    }

    #[test]
    fn b4_a_change_is_shown_line_by_line_with_numbers_of_both_sides() {
        let before: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let now = before.replace("line 10\n", "line ten\n");
        let shown = shown("a.txt", Shown::Text { now, before: Some(before), is_cut: false });
        let (shown, _) = shown.split_once("The whole file").expect("which stands below the change");
        assert!(
            shown.contains("<tr class=\"gone\"><th>10</th><th></th><td><pre><span class=\"sign\">-</span>line <u>"),
            "{shown}"
        );
        assert!(shown.contains("<tr class=\"come\"><th></th><th>10</th>"), "{shown}");
        assert!(shown.contains("+1 −1") && shown.contains("line <u>ten</u>") && shown.contains("protected"), "{shown}");
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
        let lone = shown_of("# x\rrm -rf docs\n", "one\n");
        assert!(lone.contains("⟦U+000D⟧</mark>rm -rf docs"), "{lone}");
        let whole = shown("a.sh", Shown::Text { now: "one\r\ntwo\r\n".into(), before: None, is_cut: false });
        assert_eq!(whole.matches("⟦U+000D⟧").count(), 2, "{whole}");
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
