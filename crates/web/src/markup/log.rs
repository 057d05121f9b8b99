//! What a program says while it works: whole lines as they come, with everything that could deceive the eye marked as everywhere, and what
//! is missing told where it is missing.
//!
//! A page that is open asks for what comes after, and puts it at the end; nothing that stands there is replaced, so nobody is torn away from
//! what they read. It is no part that is announced: whoever listens to a page would hear nothing else.

use maud::{DOCTYPE, Markup, html};
use placet_lang::Lang;
use placet_wire::api::{LogKind, LogPiece, LogView};

use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::text;

/// What the page of a run or an action shows of it: its newest lines.
const SHOWN_BYTES: usize = 8 << 10;

/// Whose words they are, and where they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    Agent,
    Program,
}

/// What is kept of them.
#[derive(Debug, Clone)]
pub(crate) struct LogShown {
    pub(crate) who: Speaks,
    /// Where it is fetched: the page of its own.
    pub(crate) path: String,
    /// The id by which news of it are followed.
    pub(crate) of: String,
    pub(crate) view: LogView,
}

/// A page of its own, with everything that is kept.
#[derive(Debug, Clone)]
pub(crate) struct LogPage {
    pub(crate) log: LogShown,
    pub(crate) run: placet_domain::id::RunId,
    /// Where it belongs, and what that is called.
    pub(crate) home: String,
    pub(crate) title: String,
}

pub(crate) fn log(viewer: &Viewer, shown: &LogPage) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        header #head { p.path { a href=(shown.home) { (text::line(lang, &shown.title)) } } h1 #log-title { (heading(lang, shown.log.who)) } }
        (frame(lang, &shown.log, &shown.log.view.pieces, shown.log.view.forgotten_bytes, false))
    };
    page(viewer, Here::Runs, heading(lang, shown.log.who), &Live::of_run(shown.run), &content)
}

/// The newest lines, on the page of what they belong to. Before anything was said it is there for the script alone.
pub(crate) fn section(lang: Lang, shown: &LogShown) -> Markup {
    let view = &shown.view;
    let (mut room, mut first) = (SHOWN_BYTES, view.pieces.len());
    while first > 0 && room > 0 {
        first -= 1;
        room = room.saturating_sub(view.pieces[first].text.len().max(1));
    }
    let before: u64 = view.pieces[..first].iter().map(|piece| piece.text.len() as u64 + piece.bytes).sum();
    frame(lang, shown, &view.pieces[first..], view.forgotten_bytes + before, true)
}

fn frame(lang: Lang, shown: &LogShown, pieces: &[LogPiece], earlier: u64, is_part: bool) -> Markup {
    let is_empty = pieces.is_empty() && earlier == 0 && shown.view.waiting_bytes == 0;
    html! {
        section.panel.log #log aria-labelledby="log-title" hidden[is_empty && is_part] data-log=(shown.path) data-log-of=(shown.of) data-log-next=(shown.view.next) {
            @if is_part { h2 #log-title { (heading(lang, shown.who)) } }
            p.note { (lang.log_is_no_evidence()) @if is_part { " " a href=(shown.path) { (lang.log_whole()) } } }
            @if earlier > 0 { p.note { (lang.number(earlier)) " " (lang.n_log_earlier(earlier)) } }
            pre.said tabindex="0" role="region" aria-labelledby="log-title" { (told(lang, pieces)) }
            (state(lang, shown.who, &shown.view, pieces.is_empty() && earlier == 0))
        }
    }
}

/// What came after a place, for a page that is open: the lines, and how it stands now.
pub(crate) fn log_after(lang: Lang, who: Speaks, view: &LogView) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(lang.code()) {
            head { meta charset="utf-8"; title { "Placet" } }
            body {
                pre data-log-next=(view.next) {
                    @if view.forgotten_bytes > 0 { (gap(lang, view.forgotten_bytes, lang.n_log_skipped(view.forgotten_bytes))) }
                    (told(lang, &view.pieces))
                }
                (state(lang, who, view, false))
            }
        }
    }
}

const fn heading(lang: Lang, who: Speaks) -> &'static str {
    match who {
        Speaks::Agent => lang.log_of_agent(),
        Speaks::Program => lang.log_of_program(),
    }
}

/// How it stands: what waits to be whole, and whether anything follows.
fn state(lang: Lang, who: Speaks, view: &LogView, is_silent: bool) -> Markup {
    html! {
        p.note.log-state {
            @if view.ended { (lang.log_ended()) @if who == Speaks::Program { " " (lang.log_is_evidence_now()) } }
            @else if view.waiting_bytes > 0 { (lang.number(view.waiting_bytes)) " " (lang.n_log_waits(view.waiting_bytes)) }
            @else if is_silent { (lang.log_silent()) }
        }
    }
}

fn told(lang: Lang, pieces: &[LogPiece]) -> Markup {
    html! {
        @for piece in pieces {
            @match piece.is {
                LogKind::Stdout => span.line { (lines(lang, &piece.text)) },
                LogKind::Stderr => span.line.stderr title="stderr" { (lines(lang, &piece.text)) },
                LogKind::NoText => (gap(lang, piece.bytes, lang.n_log_no_text(piece.bytes))),
                LogKind::Skipped => (gap(lang, piece.bytes, lang.n_log_skipped(piece.bytes))),
                LogKind::Began => span.line.told { strong.ask { "— " (lang.log_began()) " —" } },
            }
        }
    }
}

/// A line that has no end yet gets none.
fn lines(lang: Lang, text: &str) -> Markup {
    let (whole, rest) = text.rfind('\n').map_or(("", text), |end| text.split_at(end + 1));
    html! {
        @if !whole.is_empty() { (text::lines(lang, whole)) }
        @if !rest.is_empty() { (text::code_line(lang, rest)) }
    }
}

fn gap(lang: Lang, bytes: u64, what: &str) -> Markup {
    html! { span.line.told { strong.ask { "… " (lang.number(bytes)) " " (what) } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(is: LogKind, text: &str, bytes: u64) -> LogPiece {
        LogPiece { is, text: text.to_owned(), bytes }
    }

    fn shown(pieces: Vec<LogPiece>) -> LogShown {
        let view = LogView { pieces, next: 7, ..LogView::default() };
        LogShown { who: Speaks::Agent, path: "/runs/r/log".to_owned(), of: "r".to_owned(), view }
    }

    #[test]
    fn r5_what_a_program_says_is_harmless_and_its_tricks_are_marked() {
        let said = "<script>x</script>\nrm \u{202e}gpj\u{1b}[31m\n";
        let html = section(Lang::En, &shown(vec![piece(LogKind::Stdout, said, 0)])).into_string();
        assert!(html.contains("&lt;script&gt;") && html.contains("⟦U+202E⟧") && html.contains("⟦U+001B⟧"), "{html}");
        assert!(!html.contains("<script") && !html.contains("aria-live") && !html.contains("role=\"log\""), "{html}");
    }

    #[test]
    fn c16_what_is_missing_is_told_where_it_is_missing() {
        let pieces = vec![
            piece(LogKind::Stdout, "one\n", 0),
            piece(LogKind::Skipped, "", 4_096),
            piece(LogKind::Stderr, "two\n", 0),
            piece(LogKind::NoText, "", 12),
            piece(LogKind::Began, "", 0),
        ];
        let html = section(Lang::En, &shown(pieces)).into_string();
        for part in ["4,096 bytes were skipped", "class=\"line stderr\"", "12 bytes are no text", "started again"] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn c16_a_part_of_a_page_shows_the_newest_lines_and_says_how_much_came_before() {
        let line = "x".repeat(1_023) + "\n";
        let html = section(Lang::En, &shown(vec![piece(LogKind::Stdout, &line, 0); 20])).into_string();
        assert_eq!(html.matches("class=\"line\"").count(), 8);
        assert!(html.contains("12,288 bytes came before"), "{html}");
        let silent = section(Lang::En, &shown(Vec::new())).into_string();
        assert!(silent.contains(" hidden"), "{silent}");
    }
}
