//! Scope globs mean what git means: every answer is compared with git itself, in all four modes. [`git`] says how git is asked.

mod classes;
mod git;
mod words;

use std::collections::BTreeSet;

use placet_domain::scope::{Case, Glob, Pattern, ScopePath, Slash, wildmatch};

use self::git::Git;
use self::words::{patterns, random_patterns, random_texts, texts};
use crate::expect;

/// In the order in which git's own tests name them: wildmatch, iwildmatch, pathmatch, ipathmatch.
const MODES: [(Slash, Case); 4] = [
    (Slash::Stops, Case::Exact),
    (Slash::Stops, Case::Ignore),
    (Slash::IsCrossed, Case::Exact),
    (Slash::IsCrossed, Case::Ignore),
];

fn ours<P: AsRef<[u8]>, T: AsRef<[u8]>>(pattern: P, texts: &[T], slash: Slash, case: Case) -> BTreeSet<usize> {
    let Ok(pattern) = Pattern::compile(pattern.as_ref(), slash, case) else { return BTreeSet::new() };
    (0..texts.len()).filter(|at| pattern.matches(texts[*at].as_ref())).collect()
}

#[derive(Default)]
struct Tally {
    compared: usize,
    yes: usize,
    disagreements: Vec<String>,
}

impl Tally {
    fn compare<T: AsRef<[u8]>>(&mut self, what: &str, texts: &[T], git: &BTreeSet<usize>, ours: &BTreeSet<usize>) {
        self.compared += 1;
        self.yes += git.len();
        let differing = git.symmetric_difference(ours).map(|at| (texts[*at].as_ref().escape_ascii(), git.contains(at)));
        self.disagreements.extend(differing.map(|(text, yes)| format!("{what} on `{text}`: git says {yes}")));
    }

    fn compare_all(
        &mut self,
        patterns: &[String],
        texts: &[String],
        (slash, case): (Slash, Case),
        git: &[BTreeSet<usize>],
    ) {
        for (pattern, git) in patterns.iter().zip(git) {
            let what = format!("`{pattern}` ({slash:?}, {case:?})");
            self.compare(&what, texts, git, &ours(pattern, texts, slash, case));
        }
    }

    fn agreed(&self, at_least: usize) {
        let found = self.disagreements.len();
        let shown = self.disagreements[..found.min(40)].join("\n");
        assert!(self.disagreements.is_empty(), "{found} disagreements:\n{shown}");
        let (compared, yes) = (self.compared, self.yes);
        assert!(compared >= at_least && yes > at_least / 4, "{compared} compared, {yes} matches");
    }
}

#[test]
fn a5_git_agrees_with_every_curated_pattern_in_every_mode() {
    let (patterns, texts) = (patterns(), texts());
    let (git, mut tally) = (Git::knowing(&texts), Tally::default());
    for (slash, case) in MODES {
        tally.compare_all(&patterns, &texts, (slash, case), &git.matched(&patterns, slash, case));
    }
    tally.agreed(760);
}

/// Git's answers for one pattern as rows of the table: of the texts with the same four answers, the first and the last.
fn rows(pattern: &str, texts: &[String], answers: &[&BTreeSet<usize>]) -> Vec<Vec<String>> {
    let said = |at: usize| -> String { answers.iter().map(|yes| if yes.contains(&at) { '1' } else { '0' }).collect() };
    let all: Vec<String> = (0..texts.len()).map(said).collect();
    let telling = |at: &usize| !all[..*at].contains(&all[*at]) || !all[at + 1..].contains(&all[*at]);
    let row = |at: usize| vec![all[at].clone(), pattern.to_owned(), texts[at].clone()];
    (0..texts.len()).filter(telling).map(row).collect()
}

const TABLE: &str = "tests/it/globs/cases.txt";

#[test]
fn a5_the_installed_git_gives_the_answers_of_the_reviewed_table() {
    let is_readable = |text: &String| text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let (patterns, texts) = (patterns(), texts().into_iter().filter(is_readable).collect::<Vec<_>>());
    let git = Git::knowing(&texts);
    let answers = MODES.map(|(slash, case)| git.matched(&patterns, slash, case));
    let of_pattern =
        |(at, pattern): (usize, &String)| rows(pattern, &texts, &answers.each_ref().map(|answers| &answers[at]));
    let rows: Vec<Vec<String>> = patterns.iter().enumerate().flat_map(of_pattern).collect();
    expect::file(TABLE, &expect::table(&rows));
}

#[test]
fn a5_every_case_of_the_reviewed_table_is_answered_as_git_answers_it() {
    let mut cases = 0;
    for line in include_str!("cases.txt").lines() {
        let columns: Vec<&str> = line.split("  ").filter(|column| !column.is_empty()).map(str::trim).collect();
        let [said, pattern, text] = columns[..] else { panic!("no row: `{line}`") };
        for ((slash, case), said) in MODES.into_iter().zip(said.chars()) {
            let yes = wildmatch(pattern.as_bytes(), text.as_bytes(), slash, case);
            assert_eq!(yes, said == '1', "`{pattern}` on `{text}` ({slash:?}, {case:?})");
            cases += 1;
        }
    }
    assert!(cases >= 760, "{cases}");
}

/// Every class and every range that letter case plays with, asked about every byte.
#[test]
fn a5_git_agrees_with_brackets_about_every_byte() {
    let classes =
        ["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"];
    let ranges = ["a-f", "A-F", "Z-a", "[-a", "A-z", "@-C", "y-{", " -~", "\\A", "\\a", "A", "a", "b-A", "[:", "[:a"];
    let inside = classes.iter().map(|class| format!("[:{class}:]")).chain(ranges.map(str::to_owned));
    let patterns: Vec<String> = inside.flat_map(|inside| [format!("x[{inside}]"), format!("x[!{inside}]")]).collect();
    let texts: Vec<[u8; 2]> = (1..=u8::MAX).filter(|byte| *byte != b'/').map(|byte| [b'x', byte]).collect();
    let (git, mut tally) = (Git::knowing(&texts), Tally::default());
    for (slash, case) in MODES {
        for (pattern, git) in patterns.iter().zip(git.matched(&patterns, slash, case)) {
            tally.compare(
                &format!("`{pattern}` ({slash:?}, {case:?})"),
                &texts,
                &git,
                &ours(pattern, &texts, slash, case),
            );
        }
    }
    tally.agreed(200);
}

#[test]
fn a5_git_agrees_with_thousands_of_random_path_patterns() {
    let (patterns, texts) = (random_patterns(1, 10_000), random_texts(2, 100));
    let (git, mut tally) = (Git::knowing(&texts), Tally::default());
    for case in [Case::Exact, Case::Ignore] {
        tally.compare_all(&patterns, &texts, (Slash::Stops, case), &git.matched_by_attributes(&patterns, case));
    }
    tally.agreed(20_000);
}

#[test]
fn a5_git_agrees_with_random_patterns_that_cross_slashes() {
    let (patterns, texts) = (random_patterns(3, 1_500), random_texts(4, 60));
    let (git, mut tally) = (Git::knowing(&texts), Tally::default());
    for case in [Case::Exact, Case::Ignore] {
        let answers = git.matched(&patterns, Slash::IsCrossed, case);
        tally.compare_all(&patterns, &texts, (Slash::IsCrossed, case), &answers);
    }
    tally.agreed(3_000);
}

/// What a path glob says, where pattern and text are ones it takes.
fn globs(pattern: &str, texts: &[String], case: Case) -> Option<BTreeSet<usize>> {
    let glob: Glob = pattern.parse().ok()?;
    let path = |text: &String| ScopePath::new(text.as_bytes()).expect("a path");
    Some((0..texts.len()).filter(|at| glob.matches(&path(&texts[*at]), case)).collect())
}

/// Every spelling of a text in upper and lower case.
fn spellings(text: &str) -> Vec<String> {
    let both = |letter: char| BTreeSet::from([letter.to_ascii_lowercase(), letter.to_ascii_uppercase()]);
    let longer = |all: Vec<String>, letter: char| {
        all.iter().flat_map(|start| both(letter).into_iter().map(move |end| format!("{start}{end}"))).collect()
    };
    text.chars().fold(vec![String::new()], longer)
}

/// Compares path globs with git. Minding case they are equal. Ignoring it, a path is matched if git matches some spelling
/// of it exactly; and that is never less than what git itself matches when it ignores case.
fn compare_globs(tally: &mut Tally, patterns: &[String], texts: &[String]) {
    let (git, spelled) = (Git::knowing(texts), texts.iter().map(|text| spellings(text)).collect::<Vec<_>>());
    let exact = git.matched_by_attributes(patterns, Case::Exact);
    let folded = git.matched_by_attributes(patterns, Case::Ignore);
    for ((pattern, exact), folded) in patterns.iter().zip(exact).zip(folded) {
        let Some(minding) = globs(pattern, texts, Case::Exact) else { continue };
        tally.compare(&format!("glob `{pattern}`"), texts, &exact, &minding);
        let ignoring = globs(pattern, texts, Case::Ignore).expect("a pattern that is taken");
        let compiled =
            Pattern::compile(pattern.as_bytes(), Slash::Stops, Case::Exact).expect("a pattern that is taken");
        let some_spelling = |at: &usize| spelled[*at].iter().any(|text| compiled.matches(text.as_bytes()));
        let mut least: BTreeSet<usize> = (0..texts.len()).filter(some_spelling).collect();
        least.extend(exact.iter().chain(&folded));
        tally.compare(&format!("glob `{pattern}` ignoring case"), texts, &least, &ignoring);
    }
}

fn paths(texts: Vec<String>) -> Vec<String> {
    texts.into_iter().filter(|text| ScopePath::new(text.as_bytes()).is_ok()).collect()
}

#[test]
fn a5_a_path_glob_means_what_git_means() {
    let mut tally = Tally::default();
    compare_globs(&mut tally, &patterns(), &paths(texts()));
    tally.agreed(300);
}

#[test]
fn a5_a_random_path_glob_means_what_git_means() {
    let mut tally = Tally::default();
    compare_globs(&mut tally, &random_patterns(5, 6_000), &paths(random_texts(6, 40)));
    tally.agreed(4_000);
}

/// A pattern that can match something is refused only for a reason that a person can act on.
#[test]
fn a5_what_a_path_glob_refuses_is_malformed() {
    for pattern in patterns().iter().filter(|pattern| pattern.parse::<Glob>().is_err()) {
        let why = pattern.parse::<Glob>().unwrap_err().to_string();
        assert!(why.contains("never closed") || why.contains("starts a class") || why.contains("lone"), "{why}");
    }
}

/// A pattern is a team's, a path is an agent's: neither may keep the judge busy for long. How many steps it takes is counted
/// where the steps are taken; this is the whole of it, on a clock with much room for slow machines.
#[test]
fn a5_no_pattern_that_is_taken_makes_a_long_path_slow() {
    let long = "a".repeat(4_000);
    let deep = "a/".repeat(2_000) + "a";
    for piece in ["*a", "**/a/", "**/*a", "a*/", "*?", "**/a*a/"] {
        let pattern = piece.repeat(1_000 / piece.len()) + "b";
        let glob: Glob = pattern.parse().expect("a pattern that is taken");
        let start = std::time::Instant::now();
        for path in [&long, &deep] {
            let path = ScopePath::new(path.as_bytes()).expect("a path");
            assert!(!glob.matches(&path, Case::Ignore));
        }
        assert!(start.elapsed().as_secs() < 2, "`{pattern}` takes {:?}", start.elapsed());
    }
}
