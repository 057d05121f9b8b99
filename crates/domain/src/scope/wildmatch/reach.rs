//! How far a pattern has come on the way into a directory, and what it can still match below it.
//!
//! Other than [`super::walk`], which answers for one whole text, this keeps every place of the pattern that fits what was
//! entered so far. It is made for walks through a tree: each name is looked at once, however many paths lead through it.

use super::{Case, Pattern, Token};

/// A pattern on its way through the directories of a path.
#[derive(Debug, Clone)]
pub(in crate::scope) struct Progress<'pattern> {
    tokens: &'pattern [Token],
    case: Case,
    /// Tokens that may come next; the number of tokens stands for the end.
    next: Vec<usize>,
}

/// What a pattern can match below a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::scope) enum Reach {
    Nothing,
    /// Only what has this one name.
    File(Vec<u8>),
    /// Only what is below the directory of this name.
    Directory(Vec<u8>),
    /// Some of the names that there could be.
    Names,
    /// Whatever there could be.
    Everything,
}

impl Reach {
    pub(in crate::scope) fn file(&self) -> Option<&Vec<u8>> {
        match self {
            Self::File(name) => Some(name),
            Self::Nothing | Self::Directory(_) | Self::Names | Self::Everything => None,
        }
    }

    pub(in crate::scope) fn directory(&self) -> Option<&Vec<u8>> {
        match self {
            Self::Directory(name) => Some(name),
            Self::Nothing | Self::File(_) | Self::Names | Self::Everything => None,
        }
    }
}

impl<'pattern> Progress<'pattern> {
    /// At the root, before any directory was entered.
    pub(in crate::scope) fn new(pattern: &'pattern Pattern, case: Case) -> Self {
        let mut start = Self { tokens: &pattern.tokens, case, next: Vec::new() };
        start.expect(0);
        start
    }

    pub(in crate::scope) fn entered(&self, directory: &[u8]) -> Self {
        let mut entered = Self { next: Vec::new(), ..*self };
        let mut now = self.next.clone();
        for byte in directory.iter().chain(b"/") {
            entered.next.clear();
            now.iter().for_each(|at| entered.take(*at, *byte));
            std::mem::swap(&mut now, &mut entered.next);
        }
        Self { next: now, ..entered }
    }

    pub(in crate::scope) fn reach(&self) -> Reach {
        let mut open = self.next.iter().map(|at| &self.tokens[*at..]).filter(|rest| !rest.is_empty());
        if open.clone().any(takes_everything) {
            return Reach::Everything;
        }
        let Some(first) = open.next() else { return Reach::Nothing };
        let reach = only_name(first);
        if open.all(|rest| only_name(rest) == reach) { reach } else { Reach::Names }
    }

    /// What may come after a token has taken a byte.
    fn take(&mut self, at: usize, byte: u8) {
        let tokens = self.tokens;
        match tokens.get(at) {
            None => {}
            Some(Token::Within) if byte == b'/' => {}
            Some(Token::Within | Token::Across) => self.expect(at),
            // Within a component there is no way out of it but its slash.
            Some(Token::Components) if byte == b'/' => self.expect(at),
            Some(Token::Components) => self.note(at),
            Some(one) if one.takes_in(byte, self.case) => self.expect(at + 1),
            Some(Token::Byte(_) | Token::OneOf(_)) => {}
        }
    }

    /// Notes a token and, since stars may take nothing, those that follow its stars.
    fn expect(&mut self, at: usize) {
        let stars = self.tokens[at..].iter().take_while(|token| token.is_star()).count();
        (at..=at + stars).for_each(|at| self.note(at));
    }

    fn note(&mut self, at: usize) {
        if !self.next.contains(&at) {
            self.next.push(at);
        }
    }
}

fn takes_everything(rest: &[Token]) -> bool {
    match rest {
        [Token::Across] | [Token::Components, Token::Within] => true,
        [Token::Components, behind @ ..] => takes_everything(behind),
        _ => false,
    }
}

/// What is reached if the next component has one name only.
fn only_name(rest: &[Token]) -> Reach {
    let mut name = Vec::new();
    for token in rest {
        match token {
            Token::Byte(b'/') => return Reach::Directory(name),
            Token::Byte(byte) => name.push(*byte),
            Token::OneOf(_) | Token::Within | Token::Across | Token::Components => return Reach::Names,
        }
    }
    Reach::File(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Slash;
    use super::*;

    fn compiled(pattern: &str) -> Pattern {
        Pattern::compile(pattern.as_bytes(), Slash::Stops, Case::Exact).expect("a pattern that can match")
    }

    fn reach(pattern: &str, directories: &[&str]) -> Reach {
        let pattern = compiled(pattern);
        let start = Progress::new(&pattern, Case::Exact);
        directories.iter().fold(start, |progress, name| progress.entered(name.as_bytes())).reach()
    }

    /// Whether a pattern matches what has this name here.
    fn ends(progress: &Progress<'_>, name: &str) -> bool {
        let step = |before: Vec<usize>, byte| {
            let mut after = Progress { next: Vec::new(), ..*progress };
            before.iter().for_each(|at| after.take(*at, byte));
            after.next
        };
        name.bytes().fold(progress.next.clone(), step).contains(&progress.tokens.len())
    }

    #[test]
    fn a_pattern_names_what_it_can_only_reach_by_one_name() {
        assert_eq!(reach("src/a.rs", &[]), Reach::Directory(b"src".to_vec()));
        assert_eq!(reach("src/a.rs", &["src"]), Reach::File(b"a.rs".to_vec()));
        assert_eq!(reach("src/a.rs", &["docs"]), Reach::Nothing);
        assert_eq!(reach("crates/*/src/**", &["crates"]), Reach::Names);
        assert_eq!(reach("crates/*/src/**", &["crates", "x"]), Reach::Directory(b"src".to_vec()));
        assert_eq!(reach("**/src/*", &["a"]), Reach::Names);
    }

    #[test]
    fn whatever_is_below_is_matched_by_stars_at_the_end() {
        for pattern in ["src/**", "src/**/*", "src/**/**", "**", "**/src/**", "*/**"] {
            assert_eq!(reach(pattern, &["src"]), Reach::Everything, "{pattern}");
            assert_eq!(reach(pattern, &["src", "deep"]), Reach::Everything, "{pattern}");
        }
        assert_eq!(reach("src/*", &["src"]), Reach::Names);
        assert_eq!(reach("src/*", &["src", "deep"]), Reach::Nothing);
    }

    proptest! {
        #[test]
        fn to_go_by_directories_is_to_match_the_whole_path(pattern in "(a|b|A|/|\\*|\\*\\*/|/\\*\\*|\\?|\\[a-b\\]){1,8}",
            path in prop::collection::vec("[abAB]{1,3}", 1..4)) {
            let pattern = compiled(&pattern);
            let (name, directories) = path.split_last().expect("at least one name");
            for case in [Case::Exact, Case::Ignore] {
                let start = Progress::new(&pattern, case);
                let progress = directories.iter().fold(start, |progress, name| progress.entered(name.as_bytes()));
                let whole = match case {
                    Case::Exact => pattern.matches(path.join("/").as_bytes()),
                    Case::Ignore => pattern.matches_some_spelling_of(path.join("/").as_bytes()),
                };
                prop_assert_eq!(ends(&progress, name), whole);
                prop_assert!(progress.reach() != Reach::Nothing || !whole);
                prop_assert!(progress.reach() != Reach::Everything || whole);
            }
        }
    }
}
