//! Letters and signs that pass for ASCII ones and are not.
//!
//! By exclusion, not by a list of known tricks: beside ASCII letters only those that ordinary Latin writing uses, and scripts that are
//! written without blanks between words, are taken for what they seem.

/// Signs that pass for a dot, a slash, a colon, a hyphen, a bar or a quote, and wide and small forms of ASCII: what stands between them is
/// no word, and still another address.
pub(super) const fn passes_for_ascii(c: char) -> bool {
    matches!(c,
        '\u{FF01}'..='\u{FF5E}' | '\u{FF61}' | '\u{FE50}'..='\u{FE6F}' | '\u{02B9}'..='\u{02BC}' | '\u{02C8}' | '\u{02D0}' | '\u{02D7}'
        | '\u{037E}' | '\u{0387}' | '\u{0589}' | '\u{05C0}' | '\u{05C3}' | '\u{2010}'..='\u{2012}' | '\u{2024}' | '\u{2043}' | '\u{2044}'
        | '\u{2212}' | '\u{2215}' | '\u{2216}' | '\u{2223}' | '\u{2236}' | '\u{2571}' | '\u{2572}' | '\u{2758}' | '\u{29F8}' | '\u{29F9}'
        | '\u{A789}' | '\u{A78A}' | '\u{A4F8}'..='\u{A4FF}')
}

/// Whether Latin letters stand beside some that only look like them, or the whole word is written in letters that do. Any other word
/// of another alphabet is just another language.
pub(super) fn imitates(word: &str) -> bool {
    if word.is_ascii() {
        return false;
    }
    let latin = word.chars().any(|c| c.is_ascii_alphabetic());
    if latin { word.chars().any(is_imitating) } else { is_wholly_of_doubles(word) }
}

/// A letter or digit that has no place beside ASCII letters.
pub fn is_imitating(c: char) -> bool {
    (c.is_alphanumeric() && !c.is_ascii() && !is_latin(c) && !is_without_blanks(c)) || is_stroke(c)
}

/// Letters of languages that are written in Latin ones, as they are: with accents, and a few of their own. Not those of phonetics, small
/// capitals, dotless, long or superscript ones, which no address of these languages needs.
const fn is_latin(c: char) -> bool {
    matches!(c,
        '\u{00B5}' | '\u{00C0}'..='\u{0130}' | '\u{0132}'..='\u{0137}' | '\u{0139}'..='\u{013E}' | '\u{0141}'..='\u{0148}'
        | '\u{014A}'..='\u{017E}' | '\u{01A0}' | '\u{01A1}' | '\u{01AF}' | '\u{01B0}' | '\u{01CD}'..='\u{01DC}' | '\u{01E2}'..='\u{01F5}'
        | '\u{01F8}'..='\u{021B}' | '\u{021E}' | '\u{021F}' | '\u{0226}'..='\u{0233}' | '\u{1E00}'..='\u{1EFF}')
}

/// Scripts that stand beside Latin words without a blank (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese), and marks that are put
/// onto letters.
const fn is_without_blanks(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}' | '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1100}'..='\u{11FF}' | '\u{1780}'..='\u{17FF}'
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{318F}' | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7FF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FFDC}' | '\u{20000}'..='\u{3FFFF}')
}

/// Strokes of those scripts that pass for a slash, a bar or a dot.
const fn is_stroke(c: char) -> bool {
    matches!(c, 'ノ' | '丶' | '丨' | '丿' | '〳' | '〵')
}

/// A word of two letters or more, each of which looks like a Latin one.
fn is_wholly_of_doubles(word: &str) -> bool {
    let letters = || word.chars().filter(|c| c.is_alphabetic());
    letters().count() > 1 && letters().all(is_double)
}

fn is_double(c: char) -> bool {
    const DOUBLES: &str = "асеорхуѕіјԁԛԝһӏѵАВСЕНІЈКМОРЅТХҮԚԜοονιρυαϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧօոսհցզքԀ";
    matches!(c, '\u{0250}'..='\u{02AF}' | '\u{1D00}'..='\u{1D7F}' | '\u{1D400}'..='\u{1D7FF}' | '\u{2100}'..='\u{214F}' | '\u{2160}'..='\u{2188}'
        | '\u{A4D0}'..='\u{A4F7}')
        || DOUBLES.contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r5_words_with_letters_that_only_look_latin_imitate() {
        for word in [
            "\u{0261}oogle.com",
            "p\u{0430}ypal",
            "g\u{0131}thub",
            "\u{1D00}pple",
            "micro\u{017F}oft",
            "ap\u{1D429}le",
            "ex\u{0585}mple",
            "pay-\u{0440}al",
            "a\u{A4D0}c",
            "x\u{0660}",
            "\u{2170}dentity",
            "\u{0441}\u{043E}\u{0440}\u{0443}",
            "example.com\u{30CE}x",
            "\u{0251}\u{0261}",
        ] {
            assert!(imitates(word), "{word}");
        }
    }

    #[test]
    fn r5_other_languages_imitate_nothing() {
        for word in [
            "déjà",
            "Straße",
            "Þór",
            "phở",
            "Țară",
            "Łódź",
            "привет",
            "мир",
            "Ελλάδα",
            "日本語",
            "Pythonで書く",
            "API接口",
            "한국어",
            "naïve-2",
            "и",
            "о",
            "שלום",
        ] {
            assert!(!imitates(word), "{word}");
        }
    }
}
