//! Why a policy is refused: every problem at once, each with its place in the file and what to do about it.

use std::fmt;

/// One thing that is wrong with a policy file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PolicyProblem {
    pub file: String,
    /// Counted from 1, as editors do.
    pub line: usize,
    /// Counted in characters from 1, as editors do.
    pub column: usize,
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl fmt::Display for PolicyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, message, hint } = self;
        write!(f, "{file}:{line}:{column}: {message}\n  hint: {hint}")
    }
}

/// All that is wrong with a policy, in the order of files and lines. Never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PolicyProblems(Vec<PolicyProblem>);

impl PolicyProblems {
    pub(super) fn none_or_err(mut problems: Vec<PolicyProblem>) -> Result<(), Self> {
        problems.sort();
        problems.dedup();
        if problems.is_empty() { Ok(()) } else { Err(Self(problems)) }
    }

    pub fn iter(&self) -> impl Iterator<Item = &PolicyProblem> {
        self.0.iter()
    }
}

impl fmt::Display for PolicyProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        write!(f, "the policy is refused: {count} problem{}", if count == 1 { "" } else { "s" })?;
        self.0.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}
