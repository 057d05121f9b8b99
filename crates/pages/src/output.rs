//! What a program said, where its outcome stands: the first and the last lines of each stream, with what could deceive the eye marked as
//! everywhere. The whole is there to be fetched; what is no text is not shown as text.

use maud::{Markup, html};

use crate::lang::Lang;
use crate::text;

/// One stream of a program.
#[derive(Debug, Clone)]
pub struct Output {
    /// `stdout` or `stderr`.
    pub name: String,
    /// Nothing where it is no text, too large to be looked into, or not for the viewer.
    pub excerpt: Option<Excerpt>,
}

/// What is shown of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excerpt {
    pub head: String,
    /// The end, where not everything is shown.
    pub tail: String,
    /// How many bytes stand between them.
    pub left_out_bytes: u64,
}

pub(crate) fn streams(lang: Lang, outputs: &[Output]) -> Markup {
    html! {
        @for Output { name, excerpt } in outputs {
            h3 { code { (name) } }
            @match excerpt {
                None => p.note { (lang.uninspectable_output()) },
                Some(excerpt) => (said(lang, name, excerpt)),
            }
        }
    }
}

fn said(lang: Lang, name: &str, Excerpt { head, tail, left_out_bytes }: &Excerpt) -> Markup {
    html! {
        pre.said tabindex="0" role="region" aria-label=(name) {
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
        let shown = streams(Lang::En, &outputs).into_string();
        for part in ["⟦U+202E⟧", "&lt;b&gt;bold", "4,096 bytes in between", "last", "No text that can be shown"] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}
