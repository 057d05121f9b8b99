//! BUDGET: what may be used up, reserved before and settled after.
//!
//! A budget is one knot of a tree: organisation, project, run, child run. What a child may use is held in its parent's budget from
//! the moment the child gets it, and settled when the child is over; so the children together never have more than their parent, and
//! every check looks at one budget alone. Nothing is ever taken back from what was spent.

mod amounts;
mod money;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

pub use amounts::{Amounts, Ceiling, Resource, Shortage};
pub use money::dollars;
use serde::{Deserialize, Serialize};

use crate::id::{ActionId, ProjectId, RunId};

/// How much of a limit may be used before a person is asked, if nobody said otherwise.
pub const USUAL_WARNING_PERCENT: u8 = 80;
/// Each hold is part of a run's state, which is read with every action.
const MOST_HOLDS: usize = 2_000;
const LONGEST_CALL: usize = 64;

/// For what an amount is held.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Purpose {
    Action(ActionId),
    Run(RunId),
    Project(ProjectId),
    /// Anything else, by a name that its caller chose: one call of a language model.
    Call(String),
}

/// A purpose that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names nothing that an amount can be held for; take 1 to 64 letters, digits, `-`, `_` or `.`")]
pub struct BadPurpose(String);

impl FromStr for Purpose {
    type Err = BadPurpose;

    fn from_str(text: &str) -> Result<Self, BadPurpose> {
        let bad = || BadPurpose(text.chars().take(80).flat_map(char::escape_default).collect());
        let id = match text.split('_').next() {
            Some("act") => text.parse().map(Self::Action).ok(),
            Some("run") => text.parse().map(Self::Run).ok(),
            Some("prj") => text.parse().map(Self::Project).ok(),
            _ => None,
        };
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
        let named = (1..=LONGEST_CALL).contains(&text.len()) && text.bytes().all(plain);
        id.or_else(|| named.then(|| Self::Call(text.to_owned()))).ok_or_else(bad)
    }
}

impl TryFrom<String> for Purpose {
    type Error = BadPurpose;

    fn try_from(text: String) -> Result<Self, BadPurpose> {
        text.parse()
    }
}

impl From<Purpose> for String {
    fn from(purpose: Purpose) -> Self {
        purpose.to_string()
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Action(id) => id.fmt(f),
            Self::Run(id) => id.fmt(f),
            Self::Project(id) => id.fmt(f),
            Self::Call(name) => f.write_str(name),
        }
    }
}

/// Why an amount is not held.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotHeld {
    #[error(transparent)]
    Short(#[from] Shortage),
    #[error("an amount is held for `{0}` already; settle it first")]
    Twice(Purpose),
    #[error("too much is held at once; settle some of it first")]
    TooMany,
}

/// Limits, and how much of them is gone or spoken for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    pub ceiling: Ceiling,
    /// How much of a limit may be used before a person is asked.
    pub warn_at_percent: u8,
    #[serde(default, skip_serializing_if = "Amounts::is_none")]
    pub spent: Amounts,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    held: BTreeMap<Purpose, Amounts>,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(Ceiling::default(), USUAL_WARNING_PERCENT)
    }
}

impl Budget {
    pub const fn new(ceiling: Ceiling, warn_at_percent: u8) -> Self {
        Self { ceiling, warn_at_percent, spent: Amounts::NONE, held: BTreeMap::new() }
    }

    /// The same with other limits.
    #[must_use]
    pub fn within(self, ceiling: Ceiling, warn_at_percent: u8) -> Self {
        Self { ceiling, warn_at_percent, ..self }
    }

    /// What is held for things that are under way, all together.
    pub fn held(&self) -> Amounts {
        self.held.values().copied().sum()
    }

    pub fn held_for(&self, purpose: &Purpose) -> Option<Amounts> {
        self.held.get(purpose).copied()
    }

    /// Spent, and spoken for.
    pub fn committed(&self) -> Amounts {
        self.spent.plus(self.held())
    }

    /// What there is left of a limited resource.
    pub fn left(&self, resource: Resource) -> Option<u64> {
        self.ceiling.of(resource).map(|limit| limit.saturating_sub(self.committed().of(resource)))
    }

    /// Whether so much could be held now.
    pub fn permits(&self, purpose: &Purpose, asked: Amounts) -> Result<(), NotHeld> {
        if self.held.contains_key(purpose) {
            return Err(NotHeld::Twice(purpose.clone()));
        }
        if self.held.len() >= MOST_HOLDS {
            return Err(NotHeld::TooMany);
        }
        Ok(self.ceiling.permits(self.committed(), asked)?)
    }

    /// Records that it is held. History is taken as it is: whether it may be was decided before.
    pub fn hold(&mut self, purpose: Purpose, amounts: Amounts) {
        self.held.insert(purpose, amounts);
    }

    /// Records what was really used, and lets go of what was held for it.
    pub fn settle(&mut self, purpose: &Purpose, spent: Amounts) {
        self.held.remove(purpose);
        self.spent = self.spent.plus(spent);
    }

    /// The first limit of which spending so much more would reach the part at which a person is asked, if it is not past it.
    pub fn crossed_by(&self, more: Amounts) -> Option<Resource> {
        let after = self.spent.plus(more);
        let crossed = |resource: &Resource| {
            let limit = self.ceiling.of(*resource)?;
            let past = |spent: u64| u128::from(spent) * 100 >= u128::from(limit) * u128::from(self.warn_at_percent);
            (more.of(*resource) > 0 && !past(self.spent.of(*resource)) && past(after.of(*resource)))
                .then_some(*resource)
        };
        Resource::ALL.iter().find_map(crossed)
    }

    /// The first limit that is used up.
    pub fn exhausted(&self) -> Option<Resource> {
        let gone = |resource: &&Resource| {
            self.ceiling.of(**resource).is_some_and(|limit| limit > 0 && self.spent.of(**resource) >= limit)
        };
        Resource::ALL.iter().find(gone).copied()
    }
}
