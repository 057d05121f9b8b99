//! Characters that an eye does not see, or that change what it sees.

/// Whether a character changes what is seen without being seen: bidirectional controls, zero-width, blank and tag characters.
pub const fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{13430}'..='\u{13446}' | '\u{16FE4}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D159}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

/// Whether a character is not seen as itself: the above, control characters, every blank but the one of the space bar, and whatever
/// has no picture that people agreed on (unassigned and private ones).
pub fn is_unseen(c: char) -> bool {
    !matches!(c, ' '..='~') && (c.is_control() || c.is_whitespace() || is_invisible(c) || is_without_picture(c))
}

/// Whether it is put onto the character before it.
pub(super) fn is_combining(c: char) -> bool {
    !c.is_ascii() && is_escaped(c.escape_debug()) && !is_without_picture(c)
}

/// Marks that strike out, cross or enclose what they stand on: the letter below is not read as itself any more.
pub(super) const fn strikes_out(c: char) -> bool {
    matches!(c, '\u{0334}'..='\u{0338}' | '\u{0488}' | '\u{0489}' | '\u{1AB7}' | '\u{1ABE}' | '\u{20D2}' | '\u{20D3}' | '\u{20D8}'..='\u{20E0}'
        | '\u{20E2}'..='\u{20E6}' | '\u{20EA}' | '\u{20EB}')
}

/// Letters and signs that are written from right to left, and make a program that shows them turn what stands around them.
pub(super) const fn turns(c: char) -> bool {
    matches!(c, '\u{0590}'..='\u{08FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFE}' | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// The standard library knows what has a picture: in a debug form everything else is escaped. A mark that is put onto something is
/// escaped only where nothing stands before it.
fn is_without_picture(c: char) -> bool {
    let mut utf8 = [0; 5];
    utf8[0] = b'a';
    let end = 1 + c.encode_utf8(&mut utf8[1..]).len();
    let after_a_letter = std::str::from_utf8(&utf8[..end]).unwrap_or_default();
    is_escaped(after_a_letter.escape_debug().skip(1))
}

fn is_escaped(mut shown: impl Iterator<Item = char>) -> bool {
    shown.next() == Some('\\') && shown.next() == Some('u')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r5_every_blank_but_one_is_unseen_and_letters_of_any_language_are_not() {
        for c in "\t\n\r\u{a0}\u{1680}\u{2000}\u{2003}\u{200a}\u{2028}\u{202f}\u{205f}\u{2800}\u{3000}\u{3164}\u{e000}\u{ffff}\u{378}".chars() {
            assert!(is_unseen(c), "U+{:04X}", u32::from(c));
        }
        for c in " ~éßжשع日本語한กि👍\u{301}—…“€".chars() {
            assert!(!is_unseen(c), "{c} U+{:04X}", u32::from(c));
        }
        assert!(is_combining('\u{301}') && is_combining('\u{e34}') && !is_combining('a') && !is_combining('\u{200b}'));
    }
}
