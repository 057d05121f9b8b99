//! Text that people must be able to trust their eyes on.

/// Whether a character changes what is seen without being seen: bidirectional controls, zero-width and tag characters.
pub const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// The text with everything that could deceive spelled out: control characters, escapes, invisible characters.
///
/// Newlines and tabs are spelled out too: what is one argument must look like one argument.
pub fn spelled_out(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if c.is_control() || is_invisible(c) {
            shown.push_str(&numbered(c));
        } else {
            shown.push(c);
        }
        shown
    })
}

/// A piece of a text: as it is, or something to be marked.
#[derive(Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    Plain(&'t str),
    /// A character that is not seen, or changes what is seen.
    Hidden(char),
    /// A word with letters that look like Latin ones and are not.
    Imitation(&'t str),
}

/// The text as [`spelled_out`] gives it, with the letters that imitate Latin ones told after the word they stand in. A tab is spelled
/// out too: what is one argument must look like one argument.
pub fn marked(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Plain(plain) => shown.push_str(&spelled_out(plain)),
            Piece::Hidden(c) => shown.push_str(&numbered(c)),
            Piece::Imitation(word) => {
                shown.push_str(word);
                word.chars().filter(|c| is_imitating(*c)).for_each(|c| shown.push_str(&numbered(c)));
            }
        }
    }
    shown
}

/// A character that an eye cannot tell, by its number.
fn numbered(c: char) -> String {
    format!("⟦U+{:04X}⟧", u32::from(c))
}

/// The text in pieces, nothing left out: what hides, turns or imitates stands by itself.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let piece = if is_hidden(c) {
            Piece::Hidden(c)
        } else if is_word(c) {
            let word = leading(rest, is_word);
            if imitates(word) { Piece::Imitation(word) } else { Piece::Plain(word) }
        } else {
            Piece::Plain(leading(rest, |c| !is_hidden(c) && !is_word(c)))
        };
        rest = &rest[length(&piece)..];
        pieces.push(piece);
    }
    joined(pieces, text)
}

/// Plain pieces that stand beside each other are one, so that a page has no more parts than it needs.
fn joined<'t>(pieces: Vec<Piece<'t>>, text: &'t str) -> Vec<Piece<'t>> {
    let (mut out, mut at, mut plain_from) = (Vec::new(), 0, 0);
    for piece in pieces {
        let end = at + length(&piece);
        if !matches!(piece, Piece::Plain(_)) {
            if plain_from < at {
                out.push(Piece::Plain(&text[plain_from..at]));
            }
            out.push(piece);
            plain_from = end;
        }
        at = end;
    }
    if plain_from < at {
        out.push(Piece::Plain(&text[plain_from..at]));
    }
    out
}

fn length(piece: &Piece<'_>) -> usize {
    match piece {
        Piece::Plain(text) | Piece::Imitation(text) => text.len(),
        Piece::Hidden(c) => c.len_utf8(),
    }
}

fn leading(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    let end = text.char_indices().find(|(_, c)| !belongs(*c)).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\t') || is_invisible(c) || passes_for_ascii(c)
}

/// Wide forms of ASCII, and signs that pass for a dot or a slash: what stands between them is no word, and still another address.
const fn passes_for_ascii(c: char) -> bool {
    matches!(c, '\u{FF01}'..='\u{FF5E}' | '\u{2024}' | '\u{2044}' | '\u{2215}' | '\u{29F8}')
}

fn is_word(c: char) -> bool {
    !is_hidden(c) && (c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Whether Latin letters stand beside some that only look like them. A whole word of another alphabet is just another language.
fn imitates(word: &str) -> bool {
    let latin = word.chars().any(|c| c.is_ascii_alphabetic());
    latin && word.chars().any(is_imitating)
}

/// Cyrillic, Greek, Armenian and Cherokee letters, and mathematical forms: the alphabets whose letters pass for Latin ones.
pub const fn is_imitating(c: char) -> bool {
    matches!(c,
        '\u{0370}'..='\u{03FF}' | '\u{0400}'..='\u{052F}' | '\u{0530}'..='\u{058F}' | '\u{13A0}'..='\u{13FF}'
        | '\u{1D400}'..='\u{1D7FF}' | '\u{2100}'..='\u{214F}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn deceptive_characters_become_visible() {
        assert_eq!(spelled_out("a\u{202e}b\x1b[31m\n"), "a⟦U+202E⟧b⟦U+001B⟧[31m⟦U+000A⟧");
    }

    #[test]
    fn ordinary_text_of_any_language_stays_as_it_is() {
        for text in ["rm -rf build", "déjà vu", "日本語", "👍"] {
            assert_eq!(spelled_out(text), text);
        }
    }

    #[test]
    fn r5_letters_that_imitate_are_told_after_their_word() {
        assert_eq!(marked("curl p\u{0430}ypal.com\tx"), "curl p\u{0430}ypal.com⟦U+0430⟧⟦U+0009⟧x");
        assert_eq!(marked("example\u{FF0E}com"), "example⟦U+FF0E⟧com");
        assert_eq!(marked("привет déjà 日本語"), "привет déjà 日本語", "another language is no trick");
    }

    proptest! {
        #[test]
        fn pieces_are_the_text(text: String) {
            let mut again = String::new();
            for piece in pieces(&text) {
                match piece {
                    Piece::Plain(part) | Piece::Imitation(part) => again.push_str(part),
                    Piece::Hidden(c) => again.push(c),
                }
            }
            prop_assert_eq!(again, text);
        }

        #[test]
        fn nothing_invisible_remains_in_what_is_marked(text: String) {
            let clean = marked(&text).chars().all(|c| !c.is_control() && !is_invisible(c));
            prop_assert!(clean);
        }

        #[test]
        fn nothing_invisible_remains(text: String) {
            let shown = spelled_out(&text);
            let clean = shown.chars().all(|c| !c.is_control() && !is_invisible(c));
            prop_assert!(clean);
        }
    }
}
