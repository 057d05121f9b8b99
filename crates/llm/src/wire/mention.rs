//! Whether a body mentions something anywhere, without understanding all of it.
//!
//! The answer may be a needless yes (a text that happens to be exactly such a word), never a wrong no: a word that matters can only
//! be hidden by escaping its letters, and a body that escapes letters counts as mentioning everything.

use memchr::memmem;

/// Whether one of the words stands somewhere as a whole JSON string, as a name or as a value.
pub(crate) fn mentions(body: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| is_quoted(body, word)) || escapes_letters(body)
}

/// Inside a text the quote after the word would be escaped, so this finds real JSON strings only.
fn is_quoted(body: &[u8], word: &str) -> bool {
    memmem::find_iter(body, word).any(|at| {
        let before = body[..at].last();
        before == Some(&b'"') && body.get(at + word.len()) == Some(&b'"')
    })
}

/// `\u0041` and the like: letters, digits and the underscore never need it, and no agent that was seen does it.
fn escapes_letters(body: &[u8]) -> bool {
    let mut escapes = memmem::find_iter(body, "\\u00");
    escapes.any(|at| body.get(at + 4).is_some_and(|digit| (b'3'..=b'7').contains(digit)) && !is_bracket(body, at))
}

/// `<`, `>` and `=` (`\u003c` to `\u003e`), which some libraries escape because of HTML.
fn is_bracket(body: &[u8], at: usize) -> bool {
    body.get(at + 4..at + 6).is_some_and(|hex| matches!(hex, [b'3', b'c'..=b'e' | b'C'..=b'E']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_counts_where_json_means_it() {
        assert!(mentions(br#"{"type":"image"}"#, &["image"]));
        assert!(mentions(br#"{"image" : {}}"#, &["image"]));
        assert!(!mentions(br#"{"text":"an \"image\" of it, or imagery"}"#, &["image"]));
    }

    #[test]
    fn escaped_letters_hide_nothing() {
        assert!(mentions(br#"{"type":"im\u0061ge"}"#, &["image"]));
        assert!(mentions(br#"{"type":"file\u005fid"}"#, &["file_id"]));
        assert!(mentions(br#"{"type":"x\u00317"}"#, &["x17"]));
        assert!(!mentions(br#"{"text":"\u001b[0m \u00e9 \u003cb\u003E \u0026"}"#, &["image"]));
    }
}
