//! Scope globs mean what git means: every answer is compared with git itself, in all four modes. [`git`] says how git is asked.

mod git;

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use placet_domain::scope::{Case, Glob, ScopePath, Slash, wildmatch};

use self::git::{Git, NUMBERS};

const MODES: [(Slash, Case); 4] = [
    (Slash::Stops, Case::Exact),
    (Slash::Stops, Case::Ignore),
    (Slash::IsCrossed, Case::Exact),
    (Slash::IsCrossed, Case::Ignore),
];

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

fn ours(pattern: &str, texts: &[String], slash: Slash, case: Case) -> BTreeSet<usize> {
    let says_yes = |text: &String| {
        catch_unwind(|| wildmatch(pattern.as_bytes(), text.as_bytes(), slash, case))
            .unwrap_or_else(|_| panic!("the matcher panics: pattern `{pattern}`, text `{text}`, {slash:?}, {case:?}"))
    };
    (0..texts.len()).filter(|at| says_yes(&texts[*at])).collect()
}

/// What a path glob says, where pattern and text are ones it takes.
fn globs(pattern: &str, texts: &[String], case: Case) -> Option<BTreeSet<usize>> {
    let glob: Glob = pattern.parse().ok()?;
    let path = |text: &String| ScopePath::new(text.as_bytes()).ok();
    Some((0..texts.len()).filter(|at| path(&texts[*at]).is_some_and(|path| glob.matches(&path, case))).collect())
}

/// Where the matcher is known to differ from git.
///
/// `[:` in a bracket that begins no class is misread. And to ignore case, git folds the text but neither the members of a
/// bracket nor an escaped letter, so that `[A]` and `\A` match nothing at all; ours folds both, and the ends of ranges too.
fn differs(pattern: &str, case: Case) -> bool {
    let classes =
        ["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"];
    let plain = classes.iter().fold(pattern.to_owned(), |rest, class| rest.replace(&format!("[:{class}:]"), ""));
    let folds = plain.contains('[') && plain.contains(|c: char| c.is_ascii_uppercase() || c == '-');
    let escapes_capital = plain.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_uppercase());
    plain.contains("[:") || (case == Case::Ignore && (folds || escapes_capital))
}

#[derive(Default)]
struct Tally {
    compared: usize,
    yes: usize,
    disagreements: Vec<String>,
}

impl Tally {
    fn compare_raw(&mut self, pattern: &str, (slash, case): (Slash, Case), texts: &[String], git: &BTreeSet<usize>) {
        if !differs(pattern, case) {
            let what = format!("`{pattern}` ({slash:?}, {case:?})");
            self.compare(&what, texts, git, &ours(pattern, texts, slash, case));
        }
    }

    fn compare(&mut self, what: &str, texts: &[String], git: &BTreeSet<usize>, ours: &BTreeSet<usize>) {
        self.compared += 1;
        self.yes += git.len();
        let differing = git.symmetric_difference(ours).map(|at| (&texts[*at], git.contains(at)));
        self.disagreements.extend(differing.map(|(text, yes)| format!("{what} on `{text}`: git says {yes}")));
    }

    fn agreed(&self, at_least: usize) {
        let found = self.disagreements.len();
        assert!(
            self.disagreements.is_empty(),
            "{found} disagreements:\n{}",
            self.disagreements[..found.min(40)].join("\n")
        );
        assert!(
            self.compared >= at_least && self.yes > at_least / 4,
            "{} compared, {} matches",
            self.compared,
            self.yes
        );
    }
}

fn curated() -> Vec<String> {
    let patterns: BTreeSet<&str> = PATTERNS.split(['|', '\n']).filter(|pattern| !pattern.is_empty()).collect();
    patterns.into_iter().filter(|pattern| !pattern.ends_with('/')).map(ToOwned::to_owned).collect()
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

#[test]
fn a4_git_agrees_with_every_curated_pattern_in_every_mode() {
    let (patterns, texts) = (curated(), owned(TEXTS));
    assert!(patterns.len() >= 190, "{}", patterns.len());
    let (git, mut tally) = (Git::knowing(&texts), Tally::default());
    for pattern in &patterns {
        for (slash, case) in MODES {
            tally.compare_raw(pattern, (slash, case), &texts, &git.matched(pattern, slash, case));
        }
    }
    tally.agreed(760);
}

/// Compares path globs with git: minding case they are equal; ignoring it, they match whatever git matches minding it, and
/// what git matches ignoring it unless that is one of the known differences.
fn compare_globs(tally: &mut Tally, patterns: &[String], texts: &[String]) {
    let git = Git::knowing(texts);
    let exact = git.matched_at_once(patterns, Case::Exact);
    let folded = git.matched_at_once(patterns, Case::Ignore);
    for ((pattern, exact), folded) in patterns.iter().zip(exact).zip(folded) {
        let Some(minding) = globs(pattern, texts, Case::Exact) else { continue };
        tally.compare(&format!("glob `{pattern}`"), texts, &exact, &minding);
        let ignoring = globs(pattern, texts, Case::Ignore).expect("a pattern that is taken");
        let mut least: BTreeSet<usize> = exact;
        if differs(pattern, Case::Ignore) {
            least.extend(&ignoring);
        } else {
            least.extend(folded);
        }
        tally.compare(&format!("glob `{pattern}` ignoring case"), texts, &least, &ignoring);
    }
}

fn paths(texts: Vec<String>) -> Vec<String> {
    texts.into_iter().filter(|text| ScopePath::new(text.as_bytes()).is_ok()).collect()
}

#[test]
fn a4_a_path_glob_means_what_git_means() {
    let mut tally = Tally::default();
    compare_globs(&mut tally, &curated(), &paths(owned(TEXTS)));
    tally.agreed(300);
}

#[test]
fn a4_a_random_path_glob_means_what_git_means() {
    let (patterns, texts) = (random_words(5, 6_000, 9, PIECES), random_words(6, NUMBERS.len(), 6, LETTERS));
    let mut tally = Tally::default();
    compare_globs(&mut tally, &patterns, &paths(texts));
    tally.agreed(4_000);
}

/// A pattern that can match something is refused only for a reason that a person can act on.
#[test]
fn a4_what_a_path_glob_refuses_is_malformed() {
    for pattern in curated().iter().filter(|pattern| pattern.parse::<Glob>().is_err()) {
        let why = pattern.parse::<Glob>().unwrap_err().to_string();
        assert!(why.contains("never closed") || why.contains("starts a class") || why.contains("lone"), "{why}");
    }
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

#[test]
fn a4_git_agrees_with_thousands_of_random_path_patterns() {
    let (patterns, texts) = (random_words(1, 6_000, 9, PIECES), random_words(2, NUMBERS.len(), 6, LETTERS));
    let (git, mut tally) = (Git::knowing(&texts), Tally::default());
    for case in [Case::Exact, Case::Ignore] {
        for (pattern, git) in patterns.iter().zip(git.matched_at_once(&patterns, case)) {
            tally.compare_raw(pattern, (Slash::Stops, case), &texts, &git);
        }
    }
    tally.agreed(6_000);
}

#[test]
fn a4_git_agrees_with_random_patterns_that_cross_slashes() {
    let (patterns, texts) = (random_words(3, 300, 8, PIECES), random_words(4, NUMBERS.len(), 6, LETTERS));
    let (git, mut tally) = (Git::knowing(&texts), Tally::default());
    for pattern in &patterns {
        for case in [Case::Exact, Case::Ignore] {
            tally.compare_raw(pattern, (Slash::IsCrossed, case), &texts, &git.matched(pattern, Slash::IsCrossed, case));
        }
    }
    tally.agreed(300);
}

/// A pattern is a team's, a path is an agent's: neither may keep the judge busy for long.
#[test]
fn a4_no_pattern_that_is_taken_makes_a_long_path_slow() {
    let long = "a".repeat(4_000);
    let deep = "a/".repeat(2_000) + "a";
    for pattern in [
        "*a".repeat(15) + "b",
        "**/a/".repeat(8) + "b",
        "**/*a".repeat(5) + "b",
        "a*/".repeat(14) + "b",
        "*?".repeat(16),
    ] {
        let glob: Glob = pattern.parse().expect("a pattern that is taken");
        let start = std::time::Instant::now();
        for path in [&long, &deep] {
            let path = ScopePath::new(path.as_bytes()).expect("a path");
            glob.matches(&path, Case::Ignore);
        }
        assert!(start.elapsed().as_secs() < 2, "`{pattern}` takes {:?}", start.elapsed());
    }
}
