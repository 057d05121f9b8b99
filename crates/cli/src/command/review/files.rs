//! The files an action is given, as text: whole, or first what changed since a person approved it under that name. Pure.
//!
//! What is no text is said to be none. Every line is marked where it deceives the eye.

use std::fmt::Write as _;

use placet_domain::text::{lines, marked, marked_line};
use placet_wire::api::{FileShownAs, FileView};
use similar::{Algorithm, ChangeTag, capture_diff_slices, group_diff_ops};

use crate::out::{ASK, BAD, BOLD, DIM, GOOD, styled};

/// Lines around a change.
const CONTEXT: usize = 3;
/// Comparing takes the product of what differs.
const MOST_COMPARED: usize = 1_500;
/// More lines than anybody reads on a card.
const MOST_LINES: usize = 2_000;

pub(crate) fn text(files: &[FileView]) -> String {
    let mut text = String::new();
    for file in files {
        let about = format!("{} bytes, {}", file.size_bytes, file.digest);
        let _ =
            writeln!(text, "\n{} {}\n  {}", styled(BOLD, "File"), styled(BOLD, marked(&file.path)), styled(DIM, about));
        content(&mut text, file);
    }
    text
}

fn content(out: &mut String, file: &FileView) {
    let says = match (file.shown, &file.text) {
        (FileShownAs::Text, Some(now)) => return whole_or_change(out, file, now),
        (FileShownAs::Opaque | FileShownAs::Text, _) => "uninspectable: these bytes are no text",
        (FileShownAs::Unread, _) => "too much for a card; fetch it before you decide",
        (FileShownAs::Withheld, _) => "not for you, as long as nobody lets it out",
        (FileShownAs::Removed, _) => "its bytes were removed",
    };
    let _ = writeln!(out, "  {}", styled(BAD, says));
}

fn whole_or_change(out: &mut String, file: &FileView, now: &str) {
    let comparable = |text: &&str| lines(text).count() <= MOST_COMPARED;
    if let Some(before) = file.before.as_deref().filter(|before| comparable(before) && comparable(&now)) {
        let _ = writeln!(out, "  {}", styled(ASK, "what changed since a person approved it under this name"));
        change(out, before, now);
        let _ = writeln!(out, "  {}", styled(DIM, "the whole file"));
    }
    for (number, line) in (1..).zip(lines(now).take(MOST_LINES)) {
        let _ = writeln!(out, "{} {}", styled(DIM, format!("{number:>5}")), marked_line(line));
    }
    if file.is_cut || lines(now).count() > MOST_LINES {
        let _ = writeln!(out, "  {}", styled(BAD, "there is more than is shown; fetch it before you decide"));
    }
}

/// Line ends count: they are marked where they differ.
fn change(out: &mut String, before: &str, now: &str) {
    let [before, now] = [before, now].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    for group in group_diff_ops(capture_diff_slices(Algorithm::Myers, &before, &now), CONTEXT) {
        let _ = writeln!(out, "  {}", styled(DIM, "⋯"));
        for change in group.iter().flat_map(|op| op.iter_changes(&before, &now)) {
            let line = marked_line(change.value().strip_suffix('\n').unwrap_or(change.value()));
            let number = change.new_index().or(change.old_index()).map_or(0, |index| index + 1);
            let _ = match change.tag() {
                ChangeTag::Equal => writeln!(out, "{number:>5}   {line}"),
                ChangeTag::Delete => writeln!(out, "{number:>5} {}", styled(BAD, format!("- {line}"))),
                ChangeTag::Insert => writeln!(out, "{number:>5} {}", styled(GOOD, format!("+ {line}"))),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use placet_domain::digest::Digest;

    use super::*;

    fn file(shown: FileShownAs, now: Option<&str>, before: Option<&str>) -> String {
        let (text_now, before) = (now.map(str::to_owned), before.map(str::to_owned));
        let file = FileView {
            path: "a\u{202e}.sh".to_owned(),
            digest: Digest::of(b""),
            size_bytes: 3,
            shown,
            text: text_now,
            before,
            is_cut: false,
        };
        anstream::adapter::strip_str(&text(&[file])).to_string()
    }

    #[test]
    fn b4_a_change_is_shown_line_by_line_and_never_hides_the_file() {
        let before: String = (1..=20).map(|number| format!("line {number}\n")).collect();
        let now = before.replace("line 10\n", "line ten\r\n");
        let shown = file(FileShownAs::Text, Some(&now), Some(&before));
        assert!(shown.contains("   10 - line 10\n   10 + line ten⟦U+000D⟧\n"), "{shown}");
        assert!(shown.contains("the whole file\n    1 line 1\n"), "{shown}");
        assert!(shown.contains("File a⟦U+202E⟧.sh"), "{shown}");
    }

    #[test]
    fn r5_what_is_no_text_says_so_and_what_deceives_is_told() {
        assert!(file(FileShownAs::Opaque, None, None).contains("uninspectable"));
        let tricky = file(FileShownAs::Text, Some("a\tp\u{0430}ypal.com\u{1b}[2J"), None);
        assert!(tricky.contains("    1 a    p\u{0430}ypal.com⟦U+0430⟧⟦U+001B⟧[2J"), "{tricky}");
    }
}
