//! Why a commit message is refused, and how it could read instead.

use std::fmt;

use super::{CommitType, LONGEST_AREA, LONGEST_DESCRIPTION};

/// What is wrong with a commit message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommitFlaw {
    #[error("it is empty")]
    Empty,
    #[error("a merge has no place on an agent's branch; rebase onto the base instead")]
    Merge,
    #[error("to take a commit back is a change like any other; name type and area")]
    Revert,
    #[error("a commit for `git rebase --autosquash` must be folded into the one it belongs to")]
    Fixup,
    #[error("it does not begin with a type ({known})")]
    NoType { known: String },
    #[error("`{given}` is none of the types ({known})")]
    UnknownType { given: String, known: String },
    #[error("the area in parentheses is missing")]
    NoArea,
    #[error(
        "the area `{given}` may hold lowercase letters, digits, `.`, `_`, `/`, `-`, begins with a letter or digit and has at most {LONGEST_AREA} characters"
    )]
    BadArea { given: String },
    #[error("`: ` must follow the area")]
    NoColon,
    #[error("the description after `: ` is missing")]
    NoDescription,
    #[error("one space follows the colon, not several")]
    ExtraSpace,
    #[error("the description holds a control character, such as a tab")]
    ControlCharacter,
    #[error("the description has {length} characters and may have {LONGEST_DESCRIPTION}; move the rest into the body")]
    TooLong { length: usize },
    #[error("an empty line must stand between the first line and the body")]
    BodyTooNear,
}

impl CommitFlaw {
    /// Subjects that git writes itself, for which a plain "no type" would not help.
    pub(super) fn of_gits_own(line: &str) -> Option<Self> {
        let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| line.starts_with(prefix));
        if line.is_empty() {
            Some(Self::Empty)
        } else if starts(&["Merge "]) {
            Some(Self::Merge)
        } else if starts(&["Revert \"", "Reapply \""]) {
            Some(Self::Revert)
        } else if starts(&["fixup! ", "squash! ", "amend! "]) {
            Some(Self::Fixup)
        } else {
            None
        }
    }
}

/// A commit message that is not well-formed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct CommitRefused {
    line: String,
    flaw: CommitFlaw,
    example: String,
}

impl CommitRefused {
    pub(super) fn new(line: &str, flaw: CommitFlaw, types: &[CommitType]) -> Self {
        let example = example(line, &flaw, types);
        Self { line: placet_domain::text::spelled_out(line).chars().take(200).collect(), flaw, example }
    }

    pub fn flaw(&self) -> &CommitFlaw {
        &self.flaw
    }

    /// A first line of the right form, made from the words of the wrong one.
    pub fn example(&self) -> &str {
        &self.example
    }
}

impl fmt::Display for CommitRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "commit message `{}`: {}; write for instance `{}`", self.line, self.flaw, self.example)
    }
}

/// Keeps what is usable of the line: its type if there is one, its area if it is well-formed, its words.
fn example(line: &str, flaw: &CommitFlaw, types: &[CommitType]) -> String {
    let first = types.first().map_or("feat", CommitType::as_str);
    if *flaw == CommitFlaw::BodyTooNear {
        return line.to_owned();
    }
    if *flaw == CommitFlaw::Revert {
        let (_, area, words) = apart(quoted(line));
        return assembled(if has(types, "fix") { "fix" } else { first }, &area, &format!("revert \"{words}\""));
    }
    let (kind, area, words) = apart(line);
    let kind = kind.filter(|kind| has(types, kind)).unwrap_or(first);
    assembled(kind, &area, &words)
}

fn has(types: &[CommitType], kind: &str) -> bool {
    types.iter().any(|known| known.as_str() == kind)
}

fn quoted(line: &str) -> &str {
    line.split_once('"').map_or("", |(_, rest)| rest.trim_end_matches('"'))
}

/// Type, area and words of a line that may have none of them.
fn apart(line: &str) -> (Option<&str>, String, String) {
    let Some((head, words)) = line.split_once(':') else { return (None, String::new(), line.into()) };
    let (kind, rest) = head.split_once('(').unwrap_or((head, ""));
    let kept = |character: &char| matches!(character, 'a'..='z' | '0'..='9' | '.' | '_' | '/' | '-');
    let area: String = rest.to_lowercase().replace(' ', "-").chars().filter(kept).take(LONGEST_AREA).collect();
    (Some(kind.trim_matches(['!', ' '])), area, words.trim_start().into())
}

fn assembled(kind: &str, area: &str, words: &str) -> String {
    let area = area.trim_start_matches(['.', '_', '/', '-']);
    let words: Vec<String> = words.split_whitespace().map(placet_domain::text::spelled_out).collect();
    let words: String = words.join(" ").chars().take(LONGEST_DESCRIPTION).collect();
    let area = if area.is_empty() { "api" } else { area };
    let words = if words.is_empty() { "say what it does now" } else { words.trim_end() };
    format!("{kind}({area}): {words}")
}
