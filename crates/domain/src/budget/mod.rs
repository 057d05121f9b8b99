//! BUDGET: what may be used up, reserved before and settled after.
//!
//! A budget is one knot of a tree: organisation, project, run, child run. What a child may use is held in its parent's budget from
//! the moment the child gets it, and settled when the child is over; so the children together never have more than their parent, and
//! every check looks at one budget alone. Nothing is ever taken back from what was spent.

mod amounts;
mod money;
mod refusal;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

pub use amounts::{Amounts, Ceiling, Resource, Shortage};
pub use money::dollars;
pub use refusal::{BudgetPart, BudgetRefusal, PayerKind};
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
    /// Of what a person was asked already because most of it is used.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    asked: BTreeSet<Resource>,
}

impl Default for Budget {
    fn default() -> Self {
        Self::new(Ceiling::default(), USUAL_WARNING_PERCENT)
    }
}

impl Budget {
    pub const fn new(ceiling: Ceiling, warn_at_percent: u8) -> Self {
        Self { ceiling, warn_at_percent, spent: Amounts::NONE, held: BTreeMap::new(), asked: BTreeSet::new() }
    }

    /// The same with other limits. Where most of it is no longer used, a person is asked again when it is.
    #[must_use]
    pub fn within(self, ceiling: Ceiling, warn_at_percent: u8) -> Self {
        let mut budget = Self { ceiling, warn_at_percent, ..self };
        let mut asked = std::mem::take(&mut budget.asked);
        asked.retain(|resource| budget.asks_in(*resource) == Some(0));
        Self { asked, ..budget }
    }

    /// What is held for things that are under way, all together.
    pub fn held(&self) -> Amounts {
        self.held.values().copied().sum()
    }

    pub fn held_for(&self, purpose: &Purpose) -> Option<Amounts> {
        self.held.get(purpose).copied()
    }

    /// Each amount that is held, with what it is for.
    pub fn holds(&self) -> impl Iterator<Item = (&Purpose, Amounts)> {
        self.held.iter().map(|(purpose, amounts)| (purpose, *amounts))
    }

    /// Spent, and spoken for.
    pub fn committed(&self) -> Amounts {
        self.spent.plus(self.held())
    }

    /// What is held for calls and for other runs, if anything is. How much of it is used is known when they are over, also if this
    /// is over before.
    pub fn pending(&self) -> Option<Amounts> {
        let is_pending = |purpose: &Purpose| match purpose {
            Purpose::Call(_) | Purpose::Run(_) => true,
            Purpose::Action(_) | Purpose::Project(_) => false,
        };
        let pending = self.held.iter().filter(|(purpose, _)| is_pending(purpose));
        pending.map(|(_, amounts)| *amounts).reduce(Amounts::plus)
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

    /// Records what was used of an amount that stays held for more of the same. Who used more than was held has used it all the same.
    pub fn charge(&mut self, purpose: &Purpose, spent: Amounts) {
        if let Some(held) = self.held.get_mut(purpose) {
            *held = held.less(spent);
        }
        self.spent = self.spent.plus(spent);
    }

    /// How much more of a limited resource may be spent before a person is asked.
    fn asks_in(&self, resource: Resource) -> Option<u64> {
        let limit = self.ceiling.of(resource).filter(|limit| *limit > 0)?;
        let asks_at = (u128::from(limit) * u128::from(self.warn_at_percent)).div_ceil(100);
        Some(u64::try_from(asks_at).unwrap_or(u64::MAX).saturating_sub(self.spent.of(resource)))
    }

    /// The same, unless a person was asked already.
    pub fn asks_first_in(&self, resource: Resource) -> Option<u64> {
        self.asks_in(resource).filter(|_| !self.asked.contains(&resource))
    }

    /// The first limit of which most is used and nobody was asked.
    pub fn unasked(&self) -> Option<Resource> {
        Resource::ALL.iter().copied().find(|resource| self.asks_first_in(*resource) == Some(0))
    }

    /// Records that a person was asked.
    pub fn ask(&mut self, resource: Resource) {
        self.asked.insert(resource);
    }

    /// The first limit that nothing can go on under: time passes by itself, what was given to others included, and room on the disk is
    /// only measured. Whatever is reserved stops who wants more of it than there is, and can be used to the last.
    pub fn overdrawn(&self) -> Option<Resource> {
        let is_over = |resource: &Resource| {
            let limit = self.ceiling.of(*resource).filter(|limit| *limit > 0);
            limit.is_some_and(|limit| match resource {
                Resource::WallMs => self.committed().wall_ms >= limit,
                Resource::Tokens | Resource::UsdMicros | Resource::Actions | Resource::Pages | Resource::DiskBytes => {
                    self.spent.of(*resource) > limit
                }
            })
        };
        Resource::ALL.iter().copied().find(is_over)
    }
}
