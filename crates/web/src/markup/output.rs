//! What a program said and what it left, where its outcome stands: the first and the last lines of each stream, and small texts among its
//! outputs, with what could deceive the eye marked as everywhere. The whole is there to be fetched; what is no text is not shown as text.

use maud::{Markup, html};
use placet_domain::text::spelled_out;
use placet_lang::Lang;

use crate::markup::text;

/// An output with more lines than this is folded: what was said comes first.
const MOST_UNFOLDED: usize = 20;
/// What evidence puts before the path of an output.
const LEFT: &str = "out/";
/// Names that are no paths.
pub(crate) const STREAMS: &[&str] = &["stdout", "stderr"];

/// One stream of a program, or one file that it left.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    /// As evidence has it: `stdout`, `stderr`, or the path of a file.
    pub(crate) name: String,
    /// Nothing where it is no text, too large to be looked into, or not for the viewer.
    pub(crate) excerpt: Option<Excerpt>,
}

/// What is shown of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) head: String,
    /// The end, where not everything is shown.
    pub(crate) tail: String,
    /// How many bytes stand between them.
    pub(crate) left_out_bytes: u64,
}

/// What people call an item of evidence: a file by its path in the workspace. One that is called as a stream is keeps the whole name.
pub(crate) fn left_as(name: &str) -> &str {
    name.strip_prefix(LEFT).filter(|path| !STREAMS.contains(path)).unwrap_or(name)
}

pub(crate) fn said(lang: Lang, outputs: &[Output]) -> Markup {
    html! {
        @for Output { name, excerpt } in outputs {
            @match (excerpt, STREAMS.contains(&name.as_str())) {
                (Some(excerpt), true) => { h3 { code { (name) } } (text_of(lang, name, excerpt)) },
                (None, true) => { h3 { code { (name) } } p.note { (lang.uninspectable_output()) } },
                (Some(excerpt), false) => (left(lang, left_as(name), excerpt)),
                // It is fetched below.
                (None, false) => {},
            }
        }
    }
}

fn left(lang: Lang, path: &str, excerpt: &Excerpt) -> Markup {
    html! {
        details.left open[excerpt.head.lines().count() <= MOST_UNFOLDED] {
            summary { code { (text::line(lang, path)) } }
            (text_of(lang, path, excerpt))
        }
    }
}

fn text_of(lang: Lang, name: &str, Excerpt { head, tail, left_out_bytes }: &Excerpt) -> Markup {
    html! {
        pre.said tabindex="0" role="region" aria-label=(spelled_out(name)) {
            (text::lines(lang, head))
            @if *left_out_bytes > 0 {
                strong.ask { "… " (lang.number(*left_out_bytes)) " " (lang.n_bytes_left_out(*left_out_bytes)) } "\n"
                (text::lines(lang, tail))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r5_what_a_program_said_is_shown_with_its_tricks_marked_and_a_gap_is_told() {
        let (head, tail) = ("ok\u{202e}\n<b>bold</b>\n".to_owned(), "last".to_owned());
        let excerpt = Some(Excerpt { head, tail, left_out_bytes: 4_096 });
        let outputs =
            [Output { name: "stdout".to_owned(), excerpt }, Output { name: "stderr".to_owned(), excerpt: None }];
        let shown = said(Lang::En, &outputs).into_string();
        for part in ["⟦U+202E⟧", "&lt;b&gt;bold", "4,096 bytes in between", "last", "No text that can be shown"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn r5_a_small_text_that_was_left_is_shown_where_it_was_left_and_a_long_one_is_folded() {
        let of = |name: &str, head: String| Output {
            name: name.to_owned(),
            excerpt: Some(Excerpt { head, ..Excerpt::default() }),
        };
        let outputs = [
            of("out/out/a.txt", "<i>one\u{202e}\n".to_owned()),
            of("out/docs/long.txt", "line\n".repeat(MOST_UNFOLDED + 1)),
            Output { name: "out/picture.png".to_owned(), excerpt: None },
        ];
        let shown = said(Lang::En, &outputs).into_string();
        assert!(shown.contains("<details class=\"left\" open><summary><code>out/a.txt</code>"), "{shown}");
        assert!(shown.contains("<details class=\"left\"><summary><code>docs/long.txt</code>"), "{shown}");
        assert!(shown.contains("&lt;i&gt;one") && shown.contains("⟦U+202E⟧") && !shown.contains("picture"), "{shown}");
        assert_eq!((left_as("stdout"), left_as("out/stdout")), ("stdout", "out/stdout"), "no file passes for a stream");
    }
}
