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
            shown.push_str(&format!("⟦U+{:04X}⟧", u32::from(c)));
        } else {
            shown.push(c);
        }
        shown
    })
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

    proptest! {
        #[test]
        fn nothing_invisible_remains(text: String) {
            let shown = spelled_out(&text);
            let clean = shown.chars().all(|c| !c.is_control() && !is_invisible(c));
            prop_assert!(clean);
        }
    }
}
