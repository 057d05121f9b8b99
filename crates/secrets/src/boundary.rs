//! Where a token may begin: not in the middle of a word, but after an escape that only looks like a part of it.

use crate::class::WORD;

/// Whether nothing of a word stands directly before `at`.
pub(crate) fn begins(text: &[u8], at: usize) -> bool {
    at == 0 || !WORD.has(text[at - 1]) || is_escaped(text, at)
}

/// Whether an escape ends at `at`: `\n` and its kin, `%3D` in addresses, `\u0022` in JSON.
pub(crate) fn is_escaped(text: &[u8], at: usize) -> bool {
    let before = &text[at.saturating_sub(6)..at];
    matches!(before, [.., b'\\', b'n' | b'r' | b't'])
        || matches!(before, [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
        || matches!(before, [b'\\', b'u', digits @ ..] if digits.iter().all(u8::is_ascii_hexdigit))
}

/// The line around `at`, at most `reach` bytes to each side.
pub(crate) fn line_around(text: &[u8], at: usize, reach: usize) -> std::ops::Range<usize> {
    line_start(text, at, reach)..line_end(text, at, reach)
}

/// Where the line that holds `at` begins, at most `reach` bytes before it.
pub(crate) fn line_start(text: &[u8], at: usize, reach: usize) -> usize {
    let from = at.saturating_sub(reach);
    memchr::memrchr(b'\n', &text[from..at]).map_or(from, |newline| from + newline + 1)
}

/// Where the line that holds `at` ends, at most `reach` bytes after it.
pub(crate) fn line_end(text: &[u8], at: usize, reach: usize) -> usize {
    let to = text.len().min(at + reach);
    memchr::memchr(b'\n', &text[at..to]).map_or(to, |newline| at + newline)
}

/// Whether `needle`, in lower case, occurs in `text` in any case.
pub(crate) fn contains_ignoring_case(text: &[u8], needle: &[u8]) -> bool {
    let first = needle[0];
    let starts = memchr::memchr2_iter(first, first.to_ascii_uppercase(), text);
    starts.into_iter().any(|at| text[at..].get(..needle.len()).is_some_and(|found| found.eq_ignore_ascii_case(needle)))
}
