//! A table of pairs, class by class of what patterns can say, each asked of git in its four modes and as an ignore rule.
//!
//! A line of the table is a pattern and the texts it is asked about. Nothing is expected by hand: the answer that counts is
//! the one of the git that is installed.

use std::collections::BTreeSet;

use placet_domain::scope::{Case, Slash, wildmatch};

use super::MODES;
use super::git::Git;

/// What git's own tests of its matcher cover: 190 pairs, each in four modes.
const LEAST_PAIRS: usize = 190;
const LEAST_CASES: usize = 4 * LEAST_PAIRS;

struct Pair {
    class: &'static str,
    pattern: &'static str,
    text: &'static str,
}

fn pairs() -> Vec<Pair> {
    let (mut pairs, mut class) = (Vec::new(), "");
    for line in include_str!("classes.txt").lines() {
        if let Some(name) = line.strip_prefix("# ") {
            class = name;
            continue;
        }
        let mut words = line.split(' ');
        let pattern = words.next().expect("a pattern");
        pairs.extend(words.map(|text| Pair { class, pattern, text }));
    }
    pairs
}

/// All words of one kind, in the order of the alphabet, so that a word has a number.
fn distinct(words: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    words.collect::<BTreeSet<_>>().into_iter().collect()
}

fn number(words: &[&str], word: &str) -> usize {
    words.binary_search(&word).expect("a word of the table")
}

struct Table {
    pairs: Vec<Pair>,
    patterns: Vec<&'static str>,
    texts: Vec<&'static str>,
}

impl Table {
    fn read() -> Self {
        let pairs = pairs();
        let patterns = distinct(pairs.iter().map(|pair| pair.pattern));
        let texts = distinct(pairs.iter().map(|pair| pair.text));
        Self { pairs, patterns, texts }
    }

    /// Git's answer to each pair, in order.
    fn answers(&self, matched: &[BTreeSet<usize>]) -> Vec<bool> {
        let answer =
            |pair: &Pair| matched[number(&self.patterns, pair.pattern)].contains(&number(&self.texts, pair.text));
        self.pairs.iter().map(answer).collect()
    }
}

#[test]
fn a5_all_four_modes_agree_with_git_in_every_class_of_patterns() {
    let table = Table::read();
    let git = Git::knowing(&table.texts);
    let (mut cases, mut wrong, mut told) = (0, Vec::new(), BTreeSet::new());
    for (slash, case) in MODES {
        let answers = table.answers(&git.matched(&table.patterns, slash, case));
        for (pair, answer) in table.pairs.iter().zip(answers) {
            cases += 1;
            told.insert((pair.class, answer));
            if wildmatch(pair.pattern.as_bytes(), pair.text.as_bytes(), slash, case) != answer {
                let Pair { class, pattern, text } = pair;
                wrong.push(format!("{class}: `{pattern}` on `{text}` ({slash:?}, {case:?}): git says {answer}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(table.pairs.len() >= LEAST_PAIRS && cases >= LEAST_CASES, "{} pairs, {cases} cases", table.pairs.len());
    let classes: BTreeSet<&str> = table.pairs.iter().map(|pair| pair.class).collect();
    assert_eq!((classes.len(), told.len()), (13, 26), "git says yes and no in every class: {told:?}");
}

/// An ignore rule also covers what is below a directory that it matches.
fn is_covered(pattern: &str, text: &str, case: Case) -> bool {
    let above = text.match_indices('/').map(|(at, _)| &text[..at]);
    above.chain([text]).any(|name| wildmatch(pattern.as_bytes(), name.as_bytes(), Slash::Stops, case))
}

#[test]
fn a5_ignore_rules_of_git_cover_what_our_patterns_match() {
    // A slash at the end, a blank or a lone backslash means something of its own in a file of rules; the table has none but
    // the last.
    let mut table = Table::read();
    table.pairs.retain(|pair| !pair.pattern.ends_with('\\'));
    let git = Git::knowing(&table.texts);
    for case in [Case::Exact, Case::Ignore] {
        let answers = table.answers(&git.ignored(&table.patterns, case));
        for (Pair { class, pattern, text }, answer) in table.pairs.iter().zip(answers) {
            assert_eq!(is_covered(pattern, text, case), answer, "{class}: `{pattern}` on `{text}` ({case:?})");
        }
    }
}
