//! Globs with git's own meaning. `*` and `?` stay within one path component, `**` crosses them, as in `:(glob)` pathspecs.
//!
//! Not a pathspec: a plain name does not stand for everything below it. Write `dir/` or `dir/**` for that.

use std::fmt;
use std::str::FromStr;

use gix_glob::wildmatch::Mode;
use serde::{Deserialize, Serialize};

use super::path::ScopePath;

/// Longer patterns are unreadable in review.
const LONGEST_PATTERN: usize = 1024;
/// Matching is exponential in the number of stars at worst, and the matcher gives up (does not match) after 64 nested ones:
/// a deny rule that gives up would be a hole, so that a pattern can't get near it.
const MOST_STARS: usize = 16;

/// Whether `*`, `?` and `[…]` may match a `/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slash {
    Stops,
    IsCrossed,
}

/// Whether ASCII letter case counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    Exact,
    Ignore,
}

/// Git's wildmatch in all four of its modes, with two known differences that the tests name: ignoring case, capitals and
/// ranges in brackets are folded more thoroughly than git does; and `[:` in a bracket that begins no class is misread, which
/// is why [`Glob`] refuses it.
pub fn wildmatch(pattern: &[u8], text: &[u8], slash: Slash, case: Case) -> bool {
    let mut mode = Mode::empty();
    mode.set(Mode::NO_MATCH_SLASH_LITERAL, slash == Slash::Stops);
    mode.set(Mode::IGNORE_CASE, case == Case::Ignore);
    gix_glob::wildmatch(pattern.into(), text.into(), mode)
}

/// A pattern for paths from the root of the repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Glob(String);

/// A pattern that is refused, with what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad path pattern `{pattern}`: {why}")]
pub struct BadGlob {
    pattern: String,
    why: &'static str,
}

impl Glob {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Ignoring case, a path is matched as it is and folded: a range such as `[Z-a]` means less when it is folded, and to
    /// ignore case must never match less than to mind it.
    pub fn matches(&self, path: &ScopePath, case: Case) -> bool {
        let below = if self.0.ends_with('/') { "**" } else { "" };
        let pattern = format!("{}{below}", self.0);
        let matched = |case| wildmatch(pattern.as_bytes(), path.as_bytes(), Slash::Stops, case);
        match case {
            Case::Exact => matched(Case::Exact),
            Case::Ignore => matched(Case::Exact) || matched(Case::Ignore),
        }
    }
}

fn problem(pattern: &str) -> Option<&'static str> {
    let parts = || pattern.strip_suffix('/').unwrap_or(pattern).split('/');
    let backslashes_at_end = pattern.bytes().rev().take_while(|byte| *byte == b'\\').count();
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
    } else if pattern.matches('*').count() > MOST_STARS {
        Some("it has more than 16 stars; split it into several patterns")
    } else if let Some(why) = bracket_problem(pattern.as_bytes()) {
        Some(why)
    } else if backslashes_at_end % 2 == 1 {
        Some("it ends with a lone `\\`, so it would match nothing")
    } else {
        None
    }
}

/// The classes a bracket may name.
const CLASSES: &[&[u8]] = &[
    b"alnum", b"alpha", b"blank", b"cntrl", b"digit", b"graph", b"lower", b"print", b"punct", b"space", b"upper",
    b"xdigit",
];

/// What is wrong with the bracket expressions of a pattern, if anything is.
fn bracket_problem(pattern: &[u8]) -> Option<&'static str> {
    let mut rest = pattern;
    while let [first, tail @ ..] = rest {
        rest = match first {
            b'\\' => tail.get(1..).unwrap_or_default(),
            b'[' => match after_bracket(tail) {
                Ok(after) => after,
                Err(why) => return Some(why),
            },
            _ => tail,
        };
    }
    None
}

/// What follows a bracket expression whose `[` was already read; `]` right at its start is a member, not the end.
fn after_bracket(inside: &[u8]) -> Result<&[u8], &'static str> {
    let negation = usize::from(matches!(inside.first(), Some(b'!' | b'^')));
    let mut at = negation;
    loop {
        match inside.get(at) {
            None => return Err("a `[` is never closed, so it would match nothing; escape it as `\\[`"),
            Some(b']') if at > negation => return Ok(&inside[at + 1..]),
            Some(b'\\') => at += 2,
            Some(b'[') if inside.get(at + 1) == Some(&b':') => at = after_class(inside, at + 2)?,
            Some(_) => at += 1,
        }
    }
}

/// The position behind a `[:class:]` whose name starts at `from`. Anything else that starts like a class matches nothing, or
/// not what was meant.
fn after_class(inside: &[u8], from: usize) -> Result<usize, &'static str> {
    let rest = inside.get(from..).unwrap_or_default();
    let is_named = |class: &&&[u8]| rest.strip_prefix(**class).is_some_and(|after| after.starts_with(b":]"));
    let class = CLASSES.iter().find(is_named);
    let class =
        class.ok_or("`[:` in brackets starts a class such as `[:alpha:]`, and this is none; escape it as `\\[:`")?;
    Ok(from + class.len() + 2)
}

impl FromStr for Glob {
    type Err = BadGlob;

    fn from_str(pattern: &str) -> Result<Self, BadGlob> {
        match problem(pattern) {
            Some(why) => Err(BadGlob { pattern: pattern.chars().take(200).collect(), why }),
            None => Ok(Self(pattern.to_owned())),
        }
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
        glob.0
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
            &"*".repeat(17),
        ] {
            assert!(pattern.parse::<Glob>().is_err(), "{pattern}");
        }
        for pattern in ["foo[]]bar", "foo[!]]x", "a\\[b", "[[:alpha:]]x", "[a-c]", "x\\\\"] {
            assert!(pattern.parse::<Glob>().is_ok(), "{pattern}");
        }
    }
}
