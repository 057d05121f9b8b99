//! How random a value looks: Shannon entropy, and how much of it reads like words.
//!
//! Entropy alone takes `getUserAccountNames` for a key. Words betray themselves by their pairs of letters: 313 of the
//! 676 pairs make up 96 of 100 pairs in English text and in identifiers, and random letters hit them half as often.

/// Which letter may follow which in a word: row by row from `a`, counted over identifiers and prose of source code.
const FOLLOWERS: [&str; 26] = [
    "bcdfgiklmnprstuvwxy",
    "aceijlorsuy",
    "acdehiklmoprstu",
    "abcdefilorstu",
    "abcdefghiklmnopqrstuvwxy",
    "aefilorstu",
    "aeghilmnorsu",
    "aeimorst",
    "abcdefglmnoprstvxz",
    "aeou",
    "aeilnosuwy",
    "acdefilnopstuy",
    "abdeilmopstu",
    "acdefgiklnopstuvy",
    "abcdfgiklmnoprstuvwx",
    "acdefhiloprstuy",
    "u",
    "acdefgiklmnoprstuvy",
    "acdefghiklmnopqrstuwy",
    "acdefhilmnoprstuwy",
    "abcdefgilmnoprst",
    "aeio",
    "aehinors",
    "ceipt",
    "eimnpst",
    "aeio",
];

/// One bit for each follower.
const PAIRS: [u32; 26] = {
    let (mut pairs, mut row) = ([0; 26], 0);
    while row < 26 {
        let (followers, mut at) = (FOLLOWERS[row].as_bytes(), 0);
        while at < followers.len() {
            pairs[row] |= 1 << (followers[at] - b'a');
            at += 1;
        }
        row += 1;
    }
    pairs
};

/// Shannon entropy in bits per byte.
pub(crate) fn bits_per_byte(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    value.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let len = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / len)
        .map(|share| -share * share.log2())
        .sum()
}

/// How many different bytes there are.
pub(crate) fn distinct(value: &[u8]) -> usize {
    let mut seen = [false; 256];
    value.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    seen.iter().filter(|seen| **seen).count()
}

/// Which part of the value, 0 to 1, reads like words.
pub(crate) fn wordy_share(value: &[u8]) -> f64 {
    if value.is_empty() {
        return 0.0;
    }
    let wordy: usize = letter_runs(value).filter(|run| is_wordy(run)).map(<[u8]>::len).sum();
    wordy as f64 / value.len() as f64
}

/// Whether a run of letters reads like a word.
fn is_wordy(run: &[u8]) -> bool {
    if run.len() < 3 || !run.iter().any(|letter| b"aeiouyAEIOUY".contains(letter)) {
        return false;
    }
    let usual = run.windows(2).filter(|pair| is_usual(pair[0], pair[1])).count();
    // Short runs must be flawless, longer ones may have one strange pair in five.
    usual * 5 >= (run.len() - 1) * 4
}

fn is_usual(first: u8, second: u8) -> bool {
    let index = |letter: u8| letter.to_ascii_lowercase() - b'a';
    PAIRS[usize::from(index(first))] >> index(second) & 1 == 1
}

/// Runs of letters as people write words: `getUserHTTP2` is `get`, `User`, `HTTP`.
fn letter_runs(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value
        .split(|byte| !byte.is_ascii_alphabetic())
        .flat_map(|run| run.chunk_by(|first, second| !(first.is_ascii_lowercase() && second.is_ascii_uppercase())))
        .filter(|run| !run.is_empty())
}

/// The words of an identifier, in lower case and without digits: `dbPassword_2` is `db`, `password`.
pub(crate) fn words(identifier: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    letter_runs(identifier).map(<[u8]>::to_ascii_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_that_of_the_textbook() {
        assert_eq!(bits_per_byte(b"aaaa"), 0.0);
        assert_eq!(bits_per_byte(b"abcd"), 2.0);
        assert_eq!(bits_per_byte(&(0..=255).collect::<Vec<u8>>()), 8.0);
        assert_eq!(distinct(b"abca"), 3);
    }

    #[test]
    fn identifiers_and_prose_are_wordy_and_random_strings_are_not() {
        for words in ["getUserAccountNames", "content-security-policy", "MAX_RETRY_COUNT", "authentication"] {
            assert!(wordy_share(words.as_bytes()) > 0.6, "{words}");
        }
        for random in ["k3Jd9sQz7Lw2xVb8", "9f86d081884c7d659a2f", "qzxvkjwpfhgqtzbx", "Zx9Kp2Qw7Rt4"] {
            assert!(wordy_share(random.as_bytes()) < 0.4, "{random}");
        }
    }

    #[test]
    fn an_identifier_falls_into_its_words() {
        let of = |text: &str| words(text.as_bytes()).map(|word| String::from_utf8(word).unwrap()).collect::<Vec<_>>();
        assert_eq!(of("dbPassword_2"), ["db", "password"]);
        assert_eq!(of("AWS-SECRET.key"), ["aws", "secret", "key"]);
    }
}
