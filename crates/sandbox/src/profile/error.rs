//! What is wrong with a profile somebody wrote: where, what, and what to do.

use std::fmt;
use std::ops::Range;

use thiserror::Error;

/// A profile that is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct ProfileError {
    /// Which profile.
    pub profile: String,
    /// Which line of it, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.message)
    }
}

/// A fault at a place in the text, before it is known which text.
#[derive(Debug)]
pub(super) struct Fault {
    span: Range<usize>,
    message: String,
    hint: Option<String>,
}

impl Fault {
    pub(super) fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), hint: None }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(super) fn of(self, profile: &str, text: &str) -> ProfileError {
        let before = text.get(..self.span.start).unwrap_or(text);
        let line = 1 + before.matches('\n').count();
        ProfileError { profile: profile.to_owned(), line, message: self.message, hint: self.hint }
    }
}

/// What the parser has to say: unknown keys, missing ones, values of another kind.
impl From<toml::de::Error> for Fault {
    fn from(error: toml::de::Error) -> Self {
        let message = error.message().lines().collect::<Vec<_>>().join(" ");
        let fault = Self::at(error.span().unwrap_or(0..0), message);
        if fault.message.contains("missing field `reason`") {
            return fault.hint("add `reason = \"…\"`: whoever reads the cage's plan is told why");
        }
        fault
    }
}
