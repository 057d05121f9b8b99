//! QUEUE: what waits for the word of a person, whose word, and where in it somebody is.
//!
//! What is not here: who may decide. Lists are made of what is said here; a decision is the domain's each time.

use std::fmt;
use std::str::FromStr;

use placet_domain::action::ActionState;
use placet_domain::id::IdentityId;
use placet_domain::identity::Reach;
use placet_domain::policy::Tier;
use placet_domain::time::Timestamp;

use crate::query::{Listed, USUAL_ROWS};

/// Which of what waits for people; the riskiest first, then the oldest.
#[derive(Debug, Clone)]
pub struct QueueFilter {
    pub reach: Reach,
    pub waits: Waits,
    /// Only actions of this tier.
    pub tier: Option<Tier>,
    pub rows: Rows,
    /// Where in the queue to go on, and in which direction.
    pub from: Option<Going>,
    pub limit: u32,
}

impl Default for QueueFilter {
    fn default() -> Self {
        let (waits, tier, from) = (Waits::ForApproval(Whose::All), None, None);
        Self { reach: Reach::Everywhere, waits, tier, rows: Rows::Each, from, limit: USUAL_ROWS }
    }
}

/// What has a row of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Every action.
    Each,
    /// Of those that ask the same, and may be decided together, the oldest: wherever in the queue the others stand.
    OfEachQuestion,
}

/// Others that ask the same as an action, among those that wait for such a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twins {
    /// Some of them: the oldest of each run first.
    pub actions: Vec<Listed<ActionState>>,
    /// How many there are in all.
    pub count: u64,
}

/// For which word of a person something waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Waits {
    /// Whether it is done, in a run that is open.
    ForApproval(Whose),
    /// What becomes of it: it was interrupted, in a run that may be over.
    ForResolution,
}

/// Of whom a yes is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    All,
    /// Of whoever this is: they neither stand behind it nor said yes already, nobody in particular was named, and they did not set it aside. Lists
    /// are made of it, and no decisions: those are the domain's.
    Of(Seat),
    /// Of others than whoever this is: only they can, or one of them was named.
    NotOf(Seat),
    /// Of whoever this is, because somebody named them.
    NamedFor(Seat),
    /// Of whoever this is, who set it aside and is not asked before its time.
    AsideBy(Seat),
}

/// Whoever looks at the queue, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    pub who: IdentityId,
    /// Those whom they descend from.
    pub behind: Vec<IdentityId>,
    /// By the store's clock: what was set aside until then is back.
    pub now: Timestamp,
}

/// A place in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// Hundredths.
    pub risk: u8,
    /// The entry by which the action was made.
    pub created: u64,
}

/// Where to go on in the queue; the answer is in its order either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Going {
    After(Spot),
    Before(Spot),
}

impl Spot {
    pub fn of(listed: &Listed<ActionState>) -> Self {
        Self { risk: listed.verdict.risk().hundredths(), created: listed.created }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.risk, self.created)
    }
}

/// A word that names no place in the queue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this is no place in the queue; leave it out to begin at the top")]
pub struct BadSpot;

impl FromStr for Spot {
    type Err = BadSpot;

    fn from_str(word: &str) -> Result<Self, BadSpot> {
        let (risk, created) = word.split_once('-').ok_or(BadSpot)?;
        Ok(Self { risk: risk.parse().map_err(|_| BadSpot)?, created: created.parse().map_err(|_| BadSpot)? })
    }
}
