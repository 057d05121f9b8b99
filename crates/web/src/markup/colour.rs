//! Colours of source text: comments, strings, numbers and the words of a language, told line by line.
//!
//! A helper for the eye and nothing else: a line is coloured by itself, so what spans several lines is coloured as if it did not. It never
//! hides, joins or moves a character; whatever stands in the line passes through [`text`](crate::markup::text).

use std::ops::Range;

use maud::{Markup, html};
use placet_lang::Lang;

use crate::markup::text;

/// How the lines of a file are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Syntax {
    comment: &'static [&'static str],
    words: &'static [&'static str],
}

const PLAIN: Syntax = Syntax { comment: &[], words: &[] };

/// Endings of names, how a comment begins, and the words that carry the meaning.
const SYNTAXES: &[(&[&str], Syntax)] = &[
    (
        &["rs"],
        Syntax {
            comment: &["//"],
            words: &[
                "as", "async", "await", "break", "const", "continue", "crate", "else", "enum", "extern", "fn", "for",
                "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self",
                "static", "struct", "super", "trait", "type", "unsafe", "use", "where", "while",
            ],
        },
    ),
    (
        &["py"],
        Syntax {
            comment: &["#"],
            words: &[
                "and", "as", "assert", "async", "await", "class", "def", "del", "elif", "else", "except", "finally",
                "for", "from", "global", "if", "import", "in", "is", "lambda", "not", "or", "pass", "raise", "return",
                "try", "while", "with", "yield",
            ],
        },
    ),
    (
        &["js", "ts", "mjs", "jsx", "tsx", "java", "c", "h", "cpp", "go"],
        Syntax {
            comment: &["//", "/*"],
            words: &[
                "async",
                "await",
                "break",
                "case",
                "catch",
                "class",
                "const",
                "continue",
                "default",
                "do",
                "else",
                "export",
                "extends",
                "finally",
                "for",
                "func",
                "function",
                "if",
                "import",
                "in",
                "interface",
                "let",
                "new",
                "of",
                "package",
                "return",
                "static",
                "struct",
                "switch",
                "this",
                "throw",
                "try",
                "type",
                "typeof",
                "var",
                "void",
                "while",
            ],
        },
    ),
    (
        &["sh", "bash", "mk", "Makefile", "Dockerfile"],
        Syntax {
            comment: &["#"],
            words: &[
                "case", "do", "done", "elif", "else", "esac", "exec", "export", "fi", "for", "function", "if", "in",
                "set", "then", "while",
            ],
        },
    ),
    (
        &["toml", "yaml", "yml", "ini", "cfg", "conf"],
        Syntax { comment: &["#", ";"], words: &["true", "false", "null"] },
    ),
    (&["json"], Syntax { comment: &[], words: &["true", "false", "null"] }),
    (
        &["sql"],
        Syntax {
            comment: &["--"],
            words: &[
                "ALTER", "CREATE", "DELETE", "DROP", "FROM", "INSERT", "INTO", "SELECT", "SET", "TABLE", "UPDATE",
                "VALUES", "WHERE",
            ],
        },
    ),
];

impl Syntax {
    /// By the end of the name.
    pub(crate) fn of(path: &str) -> Self {
        let name = path.rsplit('/').next().unwrap_or(path);
        let end = name.rsplit('.').next().unwrap_or(name);
        SYNTAXES.iter().find(|(ends, _)| ends.contains(&end)).map_or(PLAIN, |(_, syntax)| *syntax)
    }
}

/// What is odd or long is shown by [`text`] alone: colours must not come between the parts of a trick. How a line ends is told behind it.
pub(crate) fn line(lang: Lang, syntax: Syntax, content: &str) -> Markup {
    changed_line(lang, syntax, content, &[])
}

/// The same, with the parts of it told that differ from the line it came from.
pub(crate) fn changed_line(lang: Lang, syntax: Syntax, content: &str, changed: &[Range<usize>]) -> Markup {
    let (body, end) = content.split_at(content.strip_suffix('\r').unwrap_or(content).len());
    if !text::is_plain_line(body) {
        return text::code_line(lang, content);
    }
    html! {
        @for (is_changed, (class, part)) in divided(parts(syntax, body), changed) {
            @match (class, is_changed) {
                (Some(class), true) => u { b class=(class) { (part) } },
                (None, true) => u { (part) },
                (Some(class), false) => b class=(class) { (part) },
                (None, false) => (part),
            }
        }
        (text::code_line(lang, end))
    }
}

/// The parts cut where a change begins or ends, each with whether it is one.
fn divided<'t>(parts: Vec<Part<'t>>, changed: &[Range<usize>]) -> Vec<(bool, Part<'t>)> {
    let (mut out, mut at) = (Vec::new(), 0);
    for (class, mut part) in parts {
        while !part.is_empty() {
            let within = changed.iter().find(|range| range.contains(&at));
            let ahead = changed.iter().map(|range| range.start).filter(|start| *start > at).min();
            let until = within.map(|range| range.end).or(ahead).unwrap_or(usize::MAX);
            let (piece, after) = part.split_at(part.len().min(until - at));
            out.push((within.is_some(), (class, piece)));
            at += piece.len();
            part = after;
        }
    }
    out
}

type Part<'t> = (Option<&'static str>, &'t str);

fn parts(syntax: Syntax, content: &str) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut rest = content;
    while let Some(first) = rest.chars().next() {
        let (class, length) = next(syntax, rest, first);
        let (part, after) = rest.split_at(length);
        parts.push((class, part));
        rest = after;
    }
    parts
}

/// What begins here, and how long it is; never nothing.
fn next(syntax: Syntax, rest: &str, first: char) -> (Option<&'static str>, usize) {
    if syntax.comment.iter().any(|begin| rest.starts_with(begin)) {
        return (Some("c"), rest.len());
    }
    if first == '"' || first == '\'' {
        return (Some("s"), string(rest, first));
    }
    if first.is_ascii_digit() {
        return (Some("n"), run(rest, |c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_')));
    }
    if first.is_alphabetic() || first == '_' {
        let length = run(rest, |c| c.is_alphanumeric() || c == '_');
        return (syntax.words.contains(&&rest[..length]).then_some("k"), length);
    }
    (None, first.len_utf8())
}

fn run(rest: &str, belongs: impl Fn(char) -> bool) -> usize {
    rest.char_indices().find(|(_, c)| !belongs(*c)).map_or(rest.len(), |(at, _)| at)
}

/// To the same quote, or to the end of the line where there is none.
fn string(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_strings_numbers_and_comments_are_told_apart() {
        let shown = line(Lang::En, Syntax::of("src/a.rs"), "let x = \"a//b\"; // 42").into_string();
        assert_eq!(shown, "<b class=\"k\">let</b> x = <b class=\"s\">&quot;a//b&quot;</b>; <b class=\"c\">// 42</b>");
        assert_eq!(line(Lang::En, Syntax::of("a.txt"), "let it be").into_string(), "let it be");
    }

    #[test]
    fn what_changed_within_a_line_is_told_and_colours_stay() {
        let shown = changed_line(Lang::En, Syntax::of("a.rs"), "let x = 1;", &[4..5, 8..9]).into_string();
        assert_eq!(shown, "<b class=\"k\">let</b> <u>x</u> = <u><b class=\"n\">1</b></u>;");
        assert!(line(Lang::En, Syntax::of("a.rs"), "let x;\r").into_string().ends_with("⟦U+000D⟧</mark>"));
    }

    #[test]
    fn r5_an_address_of_another_alphabet_is_marked_in_a_file_too() {
        let shown =
            line(Lang::En, Syntax::of("a.sh"), "curl \u{0430}\u{0440}\u{0440}\u{04CF}\u{0435}.com").into_string();
        assert!(shown.contains("<mark class=\"odd\""), "{shown}");
    }

    proptest! {
        #[test]
        fn r5_no_character_is_lost_by_colouring(content: String) {
            for name in ["a.rs", "a.py", "a.sql", "a"] {
                let again: String = parts(Syntax::of(name), &content).iter().map(|(_, part)| *part).collect();
                prop_assert_eq!(&again, &content);
            }
        }
    }
}
