//! Foreign words in Markdown, so that they stay where they were put.

use placet_domain::text::is_invisible;

/// Without what nobody would see: control characters, and characters that hide or reorder text. Lines and tabs remain.
pub(super) fn visible(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !(c.is_control() || is_invisible(*c))).collect()
}

/// The same on one line.
pub(super) fn line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A block with a fence that is longer than every run of backticks inside.
pub(super) fn block(text: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_matches('\n'))
}

/// A span of code, on one line, that its content cannot end.
pub(super) fn span(text: &str) -> String {
    let text = line(text);
    let ticks = "`".repeat(longest_run(&text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || text.is_empty() { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spans_and_blocks_outgrow_what_they_hold() {
        assert_eq!(span("src/**"), "`src/**`");
        assert_eq!(span("a`b"), "``a`b``");
        assert_eq!(span("`"), "`` ` ``");
        assert_eq!(span("two\nlines"), "`two lines`");
        assert_eq!(block("a\n```\nb"), "````text\na\n```\nb\n````");
    }

    #[test]
    fn what_nobody_sees_is_dropped() {
        assert_eq!(visible("a\u{1b}[31mb\u{202e}c\u{e0041}d\r\ne\tf\0\u{9b}"), "a[31mbcd\ne\tf");
    }

    proptest! {
        #[test]
        fn no_line_inside_a_block_could_close_it(text in "[`~a \\n\\r\\t]{0,60}") {
            let block = block(&text);
            let lines: Vec<&str> = block.split('\n').collect();
            let fence = lines[lines.len() - 1];
            prop_assert!(fence.len() >= 3 && fence.chars().all(|c| c == '`'));
            for line in &lines[1..lines.len() - 1] {
                prop_assert!(!line.contains(fence), "{line:?} within {fence}");
            }
        }
    }
}
