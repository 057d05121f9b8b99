//! What a sitting wants done outside, and the decisions among it: each bound to what was on the screen.

use placet_wire::api::{OrderRequest, TwinView};

use super::row::Subject;
use crate::terminal::stroke::Stroke;

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Fetch what waits.
    List,
    /// Fetch more of it: somebody came to the end of what was fetched.
    More,
    /// Fetch a card.
    Look(Subject),
    /// Ask the host of a run what going back to a snapshot would change.
    Foresee(Subject, u32),
    /// Ask what an order on an action could be.
    Offer(Subject),
    Decide(Decision),
    /// Let somebody edit it and approve what they made of it; the terminal is theirs meanwhile.
    Edit {
        subject: Subject,
        seen: String,
        reason: String,
        /// What is typed before it is approved, because whoever does it has decided a lot lately.
        slowly: Option<String>,
    },
    /// Say who should look at an action, or when.
    Attend(Subject, Attend),
    Copy(String),
    Open(String),
    Stop,
    Quit,
}

/// A decision, bound to what was on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Decision {
    pub(crate) subject: Subject,
    /// Which of several: a checkpoint, a wish, a snapshot to go back to, an attempt.
    pub(crate) number: Option<u32>,
    pub(crate) verb: Verb,
    pub(crate) seen: String,
    /// A reason or a note.
    pub(crate) words: String,
    /// Identical ones that were listed with it.
    pub(crate) twins: Vec<TwinView>,
    /// The order that is given with an approval, as it stood on the screen.
    pub(crate) order: Option<OrderRequest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verb {
    Approve,
    Reject,
    /// Let it go on from its checkpoint with a note.
    Modify,
    Pause,
    Cancel,
    /// Back to what was saved at its checkpoint.
    RollBack,
    /// What was interrupted is run again.
    Retry,
    /// What was interrupted is given up.
    GiveUp,
}

impl Verb {
    pub(crate) const fn done(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Reject => "rejected",
            Self::Modify => "sent on with your note",
            Self::Pause => "paused",
            Self::Cancel => "cancelled",
            Self::RollBack => "rolled back",
            Self::Retry => "to be run again:",
            Self::GiveUp => "given up",
        }
    }
}

/// What somebody writes a line for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// The name of the tool, where two people are asked.
    Name,
    Reason(Verb),
    /// Why it is changed, before it is.
    EditReason,
    /// Until when an order holds, and for how many more.
    Until,
    Times,
    /// Who should look at it, and what they should know.
    Assignee,
    /// Until when it is set aside.
    Aside,
    Filter,
}

/// What is said about looking at an action. Nothing is decided by it, and it is bound to no digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Attend {
    Assign { to: Option<String>, note: String },
    Defer { lasts_ms: Option<u64> },
}

/// A decision that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) why: String,
    /// Whether something else stands there now.
    pub(crate) is_stale: bool,
}

/// Which key a decision is made with, twice.
pub(super) const fn key_of(verb: Verb) -> Stroke {
    match verb {
        Verb::Approve | Verb::Retry => Stroke::Letter('a'),
        Verb::Reject | Verb::GiveUp => Stroke::Letter('r'),
        Verb::Modify => Stroke::Letter('m'),
        Verb::Pause => Stroke::Letter('p'),
        Verb::Cancel => Stroke::Letter('c'),
        Verb::RollBack => Stroke::Letter('u'),
    }
}
