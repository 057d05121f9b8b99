//! Path rules with git's own meaning: `*` and `?` stay within one path component, `**` crosses them, as in `:(glob)` pathspecs.
//!
//! How patterns are compared is the business of [`super::wildmatch`]; here it is decided which of them are fit to be rules.
//! Not a pathspec: a plain name does not stand for everything below it. Write `dir/` or `dir/**` for that.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::path::ScopePath;
use super::wildmatch::reach::Progress;
use super::wildmatch::{Case, Malformed, Pattern, Slash};

/// Longer patterns are unreadable in review. The time of a comparison grows with the product of pattern and path, so that
/// this is also what bounds it; the number of stars needs no limit.
const LONGEST_PATTERN: usize = 1024;

/// A pattern for paths from the root of the repository. It is compiled when it is read: comparing allocates nothing.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Glob {
    text: String,
    pattern: Arc<Pattern>,
}

/// A pattern that is refused, with what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad path pattern `{}`: {why}", crate::text::spelled_out(pattern))]
pub struct BadGlob {
    pattern: String,
    why: String,
}

impl Glob {
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Ignoring case, a path is matched if any spelling of it in upper and lower case is. That is never less than minding
    /// case, and never less than what git matches ignoring it: git folds brackets such as `[A]` and `[Z-a]` by halves.
    pub fn matches(&self, path: &ScopePath, case: Case) -> bool {
        self.matches_bytes(path.as_bytes(), case)
    }

    pub(super) fn matches_bytes(&self, path: &[u8], case: Case) -> bool {
        match case {
            Case::Exact => self.pattern.matches(path),
            Case::Ignore => self.pattern.matches_some_spelling_of(path),
        }
    }

    /// The glob at the root of a tree, to be led through its directories.
    pub(super) fn progress(&self, case: Case) -> Progress<'_> {
        Progress::new(&self.pattern, case)
    }
}

/// What is wrong with the text of a pattern, whatever its wildcards.
fn problem(pattern: &str) -> Option<&'static str> {
    let parts = || pattern.strip_suffix('/').unwrap_or(pattern).split('/');
    if pattern.is_empty() {
        Some("it is empty; write `**` for everything")
    } else if pattern.len() > LONGEST_PATTERN {
        Some("it is longer than 1024 bytes")
    } else if pattern.contains('\0') {
        Some("it contains a NUL byte")
    } else if pattern.starts_with('/') {
        Some("it starts with `/`; patterns begin at the root of the repository anyway")
    } else if parts().any(|part| part == ".." || part == ".") {
        Some("`.` and `..` never match a path; write the path itself")
    } else if parts().any(str::is_empty) {
        Some("it has an empty component (`//`)")
    } else {
        None
    }
}

/// The pattern with its wildcards understood. A directory stands for everything below it.
fn compiled(pattern: &str) -> Result<Pattern, Malformed> {
    let below = if pattern.ends_with('/') { "**" } else { "" };
    let whole = format!("{pattern}{below}");
    let pattern = Pattern::compile(whole.as_bytes(), Slash::Stops, Case::Exact)?;
    // Git takes half a class (`[[:alpha]`) for single bytes, which is hardly what was meant.
    if pattern.has_half_class() { Err(Malformed::UnknownClass) } else { Ok(pattern) }
}

impl FromStr for Glob {
    type Err = BadGlob;

    fn from_str(pattern: &str) -> Result<Self, BadGlob> {
        let refused = |why: String| BadGlob { pattern: pattern.chars().take(200).collect(), why };
        if let Some(why) = problem(pattern) {
            return Err(refused(why.to_owned()));
        }
        let compiled = compiled(pattern).map_err(|why| refused(why.to_string()))?;
        Ok(Self { text: pattern.to_owned(), pattern: Arc::new(compiled) })
    }
}

impl TryFrom<String> for Glob {
    type Error = BadGlob;

    fn try_from(pattern: String) -> Result<Self, BadGlob> {
        pattern.parse()
    }
}

impl From<Glob> for String {
    fn from(glob: Glob) -> Self {
        glob.text
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Glob({:?})", self.text)
    }
}

/// A glob is its text; what was compiled of it follows.
impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Glob {}

impl PartialOrd for Glob {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Glob {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        let path = ScopePath::new(path.as_bytes()).expect("a valid path");
        pattern.parse::<Glob>().expect("a valid pattern").matches(&path, Case::Exact)
    }

    #[test]
    fn stars_stay_within_a_component_and_double_stars_do_not() {
        assert!(matches("src/*.rs", "src/a.rs"));
        assert!(!matches("src/*.rs", "src/a/b.rs"));
        assert!(matches("src/**", "src/a/b.rs"));
        assert!(matches("**/ci.yml", "a/b/ci.yml"));
        assert!(matches("**/ci.yml", "ci.yml"));
    }

    #[test]
    fn a_bracket_never_matches_a_slash() {
        assert!(!matches("foo[/]bar", "foo/bar"));
        assert!(!matches("foo[^a-z]bar", "foo/bar"));
    }

    #[test]
    fn a_directory_stands_for_what_is_below_it_and_not_for_its_neighbours() {
        assert!(matches("docs/", "docs/a/b.md"));
        assert!(!matches("docs/", "docs.md"));
        assert!(!matches("docs", "docs/a.md"));
    }

    #[test]
    fn to_ignore_case_never_matches_less_than_to_mind_it() {
        let glob: Glob = "[Z-a]x".parse().expect("a valid pattern");
        for path in ["_x", "Zx", "ax"] {
            let path = ScopePath::new(path.as_bytes()).expect("a valid path");
            assert!(glob.matches(&path, Case::Exact) && glob.matches(&path, Case::Ignore), "{path:?}");
        }
    }

    #[test]
    fn ignoring_case_means_any_spelling_also_in_brackets_and_behind_backslashes() {
        for pattern in ["[S]ecret", r"\Secret", "[R-T]ecret", "[[:upper:]]ecret", "SECRET", "[!a-r]ecre[T]"] {
            let glob: Glob = pattern.parse().expect("a valid pattern");
            for path in ["secret", "Secret", "SECRET"] {
                let path = ScopePath::new(path.as_bytes()).expect("a valid path");
                assert!(glob.matches(&path, Case::Ignore), "`{pattern}` on {path:?}");
            }
        }
    }

    #[test]
    fn patterns_that_could_not_mean_what_they_say_are_refused() {
        for pattern in [
            "",
            "/etc/**",
            "a/../b",
            "./a",
            "a//b",
            "a\0b",
            "foo[bar",
            "foo[",
            "foo[]bar",
            "[[:alhpa:]]",
            "[a[:]",
            "foo\\",
            "foo\\\\\\",
            "a//",
            &"a".repeat(1025),
        ] {
            assert!(pattern.parse::<Glob>().is_err(), "{pattern}");
        }
        for pattern in ["foo[]]bar", "foo[!]]x", "a\\[b", "[[:alpha:]]x", "[a-c]", "x\\\\", &"*a".repeat(512)] {
            assert!(pattern.parse::<Glob>().is_ok(), "{pattern}");
        }
    }
}
