//! What is wrong with a team's files: where, and what to do about it. Printed like a compiler's errors, so that editors and
//! people find the place: `agents/policy.json:12: /checks/0/name: …`.

use std::fmt;

/// How many problems are listed; who has more starts with these.
const MOST_SHOWN: usize = 50;

/// Which sort of rule was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The file is missing, or is nothing that is read: a link, a directory, too large.
    File,
    /// It is not strict JSON (or not a template).
    Syntax,
    /// It breaks the published schema. Any validator of JSON Schema finds it too.
    Shape,
    /// It breaks a rule that a schema cannot express, for instance across files.
    Meaning,
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    file: String,
    line: Option<usize>,
    pointer: String,
    kind: ProblemKind,
    message: String,
}

impl Problem {
    /// A problem of a file as a whole.
    pub(crate) fn with_file(file: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { file: file.into(), line: None, pointer: String::new(), kind: ProblemKind::File, message }
    }

    /// A problem at a line; `pointer` is a JSON Pointer (RFC 6901) or empty.
    pub(crate) fn at(
        file: &str,
        line: usize,
        pointer: impl Into<String>,
        kind: ProblemKind,
        message: impl Into<String>,
    ) -> Self {
        Self { file: file.into(), line: Some(line), pointer: pointer.into(), kind, message: message.into() }
    }

    /// The file, from the root of the repository.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// Counted from 1.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// Where in the document, as a JSON Pointer; empty for the document itself.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    pub fn kind(&self) -> ProblemKind {
        self.kind
    }

    /// What is wrong and what to do, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.pointer.is_empty() {
            write!(f, ": {}", placet_domain::text::spelled_out(&self.pointer))?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Everything that is wrong with a team's files; never empty.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct TeamProblems(Vec<Problem>);

impl TeamProblems {
    /// The problems in the order of files and lines, if there are any.
    pub(crate) fn check(mut found: Vec<Problem>) -> Result<(), Self> {
        if found.is_empty() {
            return Ok(());
        }
        found.sort();
        found.dedup();
        Err(Self(found))
    }

    pub(crate) fn of(problem: Problem) -> Self {
        Self(vec![problem])
    }

    pub fn all(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for TeamProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().take(MOST_SHOWN).map(Problem::to_string).collect();
        f.write_str(&lines.join("\n"))?;
        match self.0.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n… and {more} more"),
        }
    }
}
