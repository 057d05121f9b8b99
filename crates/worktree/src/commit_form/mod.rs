//! The form of commits: `<type>(<area>): <description>`. A pure check of a message, and the text of a `commit-msg` hook that
//! checks the same.
//!
//! The hook is a courtesy: it tells an agent at once. What counts is this check, which runs again outside the cage on every
//! commit, so that skipping the hook gains nothing. Two things differ by design: the hook drops comment lines, because git
//! calls it before it drops them itself, and it says less.
//!
//! Git's own subjects (`Merge …`, `Revert "…"`, `fixup! …`) are refused: a branch of an agent is a straight line, and to
//! take something back is a change like any other, `fix(area): revert …`.

mod refusal;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use refusal::{CommitFlaw, CommitRefused};

/// Longer ones are cut off by every tool that lists commits.
pub const LONGEST_DESCRIPTION: usize = 100;
/// An area is a word or a path, not a sentence.
pub const LONGEST_AREA: usize = 64;
/// What git takes for space in messages.
const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// The first word of a commit, such as `feat`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitType(String);

/// A word that cannot be a commit type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad commit type `{0}`: write 1 to 16 lowercase letters or digits, a letter first, such as `feat`")]
pub struct BadCommitType(String);

impl CommitType {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_type_character(character: char) -> bool {
    matches!(character, 'a'..='z' | '0'..='9')
}

impl FromStr for CommitType {
    type Err = BadCommitType;

    fn from_str(text: &str) -> Result<Self, BadCommitType> {
        let plain = text.chars().all(is_type_character) && text.starts_with(|first: char| first.is_ascii_lowercase());
        if plain && text.len() <= 16 {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadCommitType(placet_domain::text::spelled_out(text)))
        }
    }
}

impl TryFrom<String> for CommitType {
    type Error = BadCommitType;

    fn try_from(text: String) -> Result<Self, BadCommitType> {
        text.parse()
    }
}

impl From<CommitType> for String {
    fn from(kind: CommitType) -> Self {
        kind.0
    }
}

impl fmt::Display for CommitType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The first line of a well-formed commit, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject<'m> {
    pub kind: &'m str,
    pub area: &'m str,
    pub is_breaking: bool,
    pub description: &'m str,
}

/// Which commits are well-formed, by the types a team uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitForm {
    types: Vec<CommitType>,
}

impl Default for CommitForm {
    fn default() -> Self {
        let names = ["feat", "fix", "docs", "test", "chore", "refactor"];
        Self { types: names.map(|name| CommitType(name.into())).into() }
    }
}

impl CommitForm {
    /// With no types at all every commit would be refused; the usual ones stand in for an empty list.
    pub fn new(types: Vec<CommitType>) -> Self {
        if types.is_empty() { Self::default() } else { Self { types } }
    }

    pub fn types(&self) -> &[CommitType] {
        &self.types
    }

    /// Takes the first line of a message apart, or says what is wrong with it.
    pub fn check<'m>(&self, message: &'m str) -> Result<Subject<'m>, CommitRefused> {
        let mut lines = message.lines().map(|line| line.trim_end_matches(SPACE)).skip_while(|line| line.is_empty());
        let first = lines.next().unwrap_or_default();
        let subject = self.subject(first).map_err(|flaw| CommitRefused::new(first, flaw, &self.types))?;
        match lines.next() {
            None | Some("") => Ok(subject),
            Some(_) => Err(CommitRefused::new(first, CommitFlaw::BodyTooNear, &self.types)),
        }
    }

    fn subject<'m>(&self, line: &'m str) -> Result<Subject<'m>, CommitFlaw> {
        if let Some(flaw) = CommitFlaw::of_gits_own(line) {
            return Err(flaw);
        }
        let rest = line.trim_start_matches(is_type_character);
        let kind = &line[..line.len() - rest.len()];
        if !self.types.iter().any(|known| known.as_str() == kind) {
            return Err(self.unknown_type(line));
        }
        let (area, rest) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).ok_or(CommitFlaw::NoArea)?;
        check_area(area)?;
        let (is_breaking, rest) = rest.strip_prefix('!').map_or((false, rest), |rest| (true, rest));
        let description = rest.strip_prefix(':').ok_or(CommitFlaw::NoColon)?;
        Ok(Subject { kind, area, is_breaking, description: check_description(description)? })
    }

    fn unknown_type(&self, line: &str) -> CommitFlaw {
        let word: String = line.chars().take_while(|character| character.is_alphanumeric()).take(32).collect();
        let looks_meant = line[word.len()..].starts_with(['(', ':', '!']);
        let known = self.types.iter().map(CommitType::as_str).collect::<Vec<_>>().join(", ");
        if looks_meant && !word.is_empty() {
            CommitFlaw::UnknownType { given: word, known }
        } else {
            CommitFlaw::NoType { known }
        }
    }

    /// The text of a `commit-msg` hook for these types. It needs a POSIX shell, `tr` and `wc`, and nothing of ours.
    pub fn hook(&self) -> String {
        let types: Vec<&str> = self.types.iter().map(CommitType::as_str).collect();
        include_str!("commit-msg.sh").replace("@TYPES@", &types.join(" "))
    }
}

fn check_area(area: &str) -> Result<(), CommitFlaw> {
    let plain = |character| is_type_character(character) || matches!(character, '.' | '_' | '/' | '-');
    if area.is_empty() {
        Err(CommitFlaw::NoArea)
    } else if area.starts_with(is_type_character) && area.chars().all(plain) && area.len() <= LONGEST_AREA {
        Ok(())
    } else {
        Err(CommitFlaw::BadArea { given: placet_domain::text::spelled_out(area).chars().take(80).collect() })
    }
}

fn check_description(after_colon: &str) -> Result<&str, CommitFlaw> {
    let description = after_colon.strip_prefix(' ').ok_or(CommitFlaw::NoDescription)?;
    let length = description.chars().count();
    if description.is_empty() {
        Err(CommitFlaw::NoDescription)
    } else if description.starts_with(' ') {
        Err(CommitFlaw::ExtraSpace)
    } else if description.contains(|character: char| character.is_ascii_control()) {
        Err(CommitFlaw::ControlCharacter)
    } else if length > LONGEST_DESCRIPTION {
        Err(CommitFlaw::TooLong { length })
    } else {
        Ok(description)
    }
}
