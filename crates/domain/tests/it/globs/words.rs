//! What is compared: patterns and texts that somebody thought of, and random ones.

use std::collections::BTreeSet;

/// Ordinary, tricky and malformed patterns. None of them has `//`, `.` or `..`, which git would tidy up before it matches.
const PATTERNS: &str = r"
*|**|***|?|??|???|a*|*a|a*b|*a*|a?|?a|a?b|*?|?*|*?*|**?|?**
a/*|*/a|a/*/b|*/*|*/*/*|*/b|a/?|?/a|?/?|a?b|a*/b|a/*b|*a/b*|a*b/c*|*.rs|src/*.rs|src/*|*/x.rs
**/a|a/**|**/a/**|a/**/b|**/b|**/*|*/**|**/**|a/**/|**/a/b|a/b/**|a/**/b/**/c|**/*/b|**/b/*|a/*/**|a/**/*|**/?|?/**
a**|**a|a**b|**a**|a**/b|a/**b|**a/b|a/b**|a***b|a/***|***/b|a/***/b|**b/**|**.rs|src/**.rs|src/**/*.rs|src**/x.rs|**x.rs
[a]|[ab]|[a-c]|[!a]|[^a]|[!a-c]|[^a-c]|[a-]|[-a]|[!-a]|[a-c]b|[ab][bc]|*[a]|[a]*|[a]?|?[b]|[a]/[b]|[!a]/b|[c-a]|[a-a]|[b-b]c
[]]|[]a]|[!]]|[!]a]|[^]]|[]-a]|[]-]|[a]]|[[]|[[a]|[\]]|[\]a]|[\a]|[\[]|[!\]]|[a\-c]|[a-\c]|[\a-c]|[\\]|[!\\]|[\\a]|[\\-\]]|[\--a]
[/]|a[/]b|a[!a]b|a[^a]b|a[.-0]b|a[!/]b|[/]a|a[/b]b|*[/]*|**[/]b|a[+-9]b|[!b]/b|a[]/]b|a[]-a]b|a[/-/]b
[[:alpha:]]|[[:upper:]]|[[:lower:]]|[[:digit:]]|[[:alnum:]]|[[:punct:]]|[[:space:]]|[[:xdigit:]]|[[:blank:]]|[[:cntrl:]]|[[:graph:]]|[[:print:]]
[![:alpha:]]|[^[:upper:]]|[[:alpha:]a]|[a[:digit:]]|[[:upper:][:digit:]]|[[:lower:]]*|a[[:punct:]]b|a[[:print:]]b|a[[:graph:]]b|[![:punct:]]b|[[:digit:]-a]|[a-[:digit:]]
[[:foo:]]|[[:alpha]|[[:alpha:]|[[:|[[:]|[[::]]|[:alpha:]|[[:ALPHA:]]|[[:alpha:|[[:a]b:]c]|[[a:]]|[[:alpha:]-z]|[[:al]pha:]]
[|[!|[^|[]|[!]|[^]|[a|[a-|a[|a[b|[a-c|[\|[\]|[]b|*[|a*[|**[a
\a|\*|\?|\[|\]|\\|\a\b|a\b|a\*b|a\?b|a\[b|\[a]|\[a\]|a\\b|\**|*\*|\*\*|**\*|\**/b|a\/b|a/\*|\\*|*\\|a\|\\\|**\/b|a/**\/b
A|A*|*A|A/b|a/B|[A]|[A-C]|[!A]|[^A-C]|[a-C]|[Z-a]|[Z-y]|[A-z]|\A|**/A|A/**|A**B|[[:upper:]]b|[[:lower:]]B|[^B]b|[!a-c]B|[@-C]
foo/bar|foo/*|foo/**|**/bar|f*/b*r|foo/[a-c]ar|foo/b[!x]r|f**r|f**/bar|foo*bar|foo?bar|foo[/]bar|foo[^a-z]bar|f*b|**/foo/bar|foo/bar/**|*/bar|**bar";

const TEXTS: &[&str] = &[
    "a",
    "b",
    "c",
    "A",
    "B",
    "z",
    "0",
    "-",
    "]",
    "[",
    "\\",
    "^",
    "!",
    "*",
    "?",
    ":",
    "ab",
    "aB",
    "AB",
    "abc",
    "a-b",
    "a]b",
    "a[b",
    "a\\b",
    "a*b",
    "a?b",
    "a.b",
    "**",
    "[a]",
    "a/b",
    "A/B",
    "a/B",
    "a/b/c",
    "a/x/b",
    "a/x/y/b",
    "b/a",
    "x/a/b",
    "a/]b",
    "ab/c",
    "a/*",
    "x.rs",
    "src/x.rs",
    "src/a/x.rs",
    "src/a/b/x.rs",
    "foo/bar",
    "FOO/bar",
    "foo/x/bar",
    "foobar",
    "foo/bar/a",
    "é",
    "a b",
    "pha:]",
    "[:",
    "b:]c]",
    "lalpha:]",
    "\u{1}",
];

/// The patterns that somebody thought of. A slash at the end means something of its own to git, so those are left out.
pub(super) fn patterns() -> Vec<String> {
    let patterns: BTreeSet<&str> = PATTERNS.split(['|', '\n']).filter(|pattern| !pattern.is_empty()).collect();
    patterns.into_iter().filter(|pattern| !pattern.ends_with('/')).map(ToOwned::to_owned).collect()
}

pub(super) fn texts() -> Vec<String> {
    TEXTS.iter().map(ToString::to_string).collect()
}

/// A small generator of numbers (splitmix64), so that the same patterns are tried every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % sides as u64).expect("fewer than the sides")
    }

    fn word(&mut self, longest: usize, pieces: &[&str]) -> String {
        let length = 1 + self.roll(longest);
        (0..length).map(|_| pieces[self.roll(pieces.len())]).collect()
    }
}

const PIECES: &[&str] = &[
    "a",
    "b",
    "c",
    "A",
    "B",
    "/",
    "/",
    "*",
    "*",
    "**",
    "**/",
    "/**",
    "?",
    "[",
    "]",
    "!",
    "^",
    "-",
    "\\",
    ":",
    "[:alpha:]",
    "[:upper:]",
    "[:x:]",
    "[a",
    "[!",
    "[^a]",
    "[a-c]",
    "[!/]",
    "]b",
    "[[:",
    ":]]",
    "[]",
    "\\/",
    "a/",
    "/b",
];
const LETTERS: &[&str] = &["a", "a", "b", "c", "A", "B", "/", "/", "[", "]", "-", "\\", ":", "!", "*"];

/// Whether git takes the word as it is instead of tidying it up first.
fn is_tidy(word: &str) -> bool {
    word.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}

fn random_words(seed: u64, count: usize, longest: usize, pieces: &[&str]) -> Vec<String> {
    let mut dice = Dice(seed);
    let words = std::iter::repeat_with(|| dice.word(longest, pieces)).filter(|word| is_tidy(word));
    let mut seen = BTreeSet::new();
    words.filter(|word| seen.insert(word.clone())).take(count).collect()
}

pub(super) fn random_patterns(seed: u64, count: usize) -> Vec<String> {
    random_words(seed, count, 9, PIECES)
}

pub(super) fn random_texts(seed: u64, count: usize) -> Vec<String> {
    random_words(seed, count, 6, LETTERS)
}
