//! RECORD: what happened, as it goes into the ledger. What is not here did not happen.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::ActionEvent;
use crate::budget::Amounts;
use crate::command::About;
use crate::digest::Digest;
use crate::event_meta::EventMeta;
use crate::evidence::SecretsSeen;
use crate::id::{ActionId, IdentityId, ProjectId, RunId};
use crate::identity::IdentityEvent;
use crate::organisation::OrganisationEvent;
use crate::project::ProjectEvent;
use crate::retention::Removed;
use crate::run::{ModelCall, RunEvent};
use crate::worktree::WorktreeNews;

/// One thing that happened, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub about: About,
    pub event: Event,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Organisation(OrganisationEvent),
    Project(ProjectId, ProjectEvent),
    Identity(IdentityId, IdentityEvent),
    Run(RunId, RunEvent),
    Action(ActionId, ActionEvent),
    Worktree(WorktreeNews),
    BlobKept(BlobKept),
    BlobRemoved(Removed),
    Refused(Refused),
    PlannerAsked(PlannerAsked),
    PlannerAnswered(Box<PlannerAnswered>),
    Started(Started),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlobKept {
    pub digest: Digest,
    pub size_bytes: u64,
    /// What looked like secrets in it when it was kept.
    #[serde(default, skip_serializing_if = "SecretsSeen::is_empty")]
    pub secrets: SecretsSeen,
}

/// An attempt at something its author must not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refused {
    pub tried: String,
    pub code: String,
    pub because: String,
}

/// A language model is about to be asked for the plan of a run that there is not yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannerAsked {
    /// The run that will be founded on the answer, if it is.
    pub run: RunId,
    pub model: String,
    /// What the call can take at most. Where no answer is recorded, this is what is known of it.
    pub most: Amounts,
}

/// What that call took. The run that is founded on it names the same call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannerAnswered {
    pub run: RunId,
    pub call: ModelCall,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Started {
    pub version: String,
    pub policy: Digest,
    pub tools: Digest,
}

/// A ledger entry that is not one of ours.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("entries of kind `{0}` are not known here; upgrade")]
    Kind(String),
    #[error("an entry of kind `{kind}` does not name its {what}")]
    Nameless { kind: String, what: &'static str },
    #[error("an entry of kind `{kind}` cannot be read: {source}")]
    Body { kind: String, source: serde_json::Error },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IdentityBody {
    identity: IdentityId,
    event: IdentityEvent,
}

impl Event {
    /// Metadata of the event; families with metadata of their own declare it beside their events.
    pub fn meta(&self) -> EventMeta {
        match self {
            Self::Organisation(event) => event.meta(),
            Self::Project(_, event) => event.meta(),
            Self::Identity(_, event) => event.meta(),
            Self::Run(_, event) => event.meta(),
            Self::Action(_, event) => event.meta(),
            Self::Worktree(news) => news.meta(),
            Self::BlobKept(_) => EventMeta::new("evidence.kept"),
            Self::BlobRemoved(_) => EventMeta::new("evidence.removed"),
            Self::Refused(_) => EventMeta::new("refused"),
            Self::PlannerAsked(_) => EventMeta::new("planner.asked"),
            Self::PlannerAnswered(_) => EventMeta::new("planner.answered"),
            Self::Started(_) => EventMeta::new("runtime.started"),
        }
    }

    /// True if the event changes only amounts of a budget: who may do what stays as it is.
    pub const fn moves_amounts_only(&self) -> bool {
        matches!(self, Self::Run(_, event) if event.moves_amounts_only())
    }
}

impl Record {
    /// `run.created`, `action.approved`, `permit.redeemed`, …
    pub fn kind(&self) -> &'static str {
        self.event.meta().kind
    }

    /// What the entry says besides what it is about.
    ///
    /// # Panics
    /// Never for our own types: all of them are plain JSON.
    pub fn body(&self) -> Value {
        let json = match &self.event {
            Event::Organisation(event) => serde_json::to_value(event),
            Event::Project(_, event) => serde_json::to_value(event),
            Event::Identity(id, event) => serde_json::to_value(IdentityBody { identity: *id, event: event.clone() }),
            Event::Run(_, event) => serde_json::to_value(event),
            Event::Action(_, event) => serde_json::to_value(event),
            Event::Worktree(news) => serde_json::to_value(news),
            Event::BlobKept(kept) => serde_json::to_value(kept),
            Event::BlobRemoved(removed) => serde_json::to_value(removed),
            Event::Refused(refused) => serde_json::to_value(refused),
            Event::PlannerAsked(asked) => serde_json::to_value(asked),
            Event::PlannerAnswered(answered) => serde_json::to_value(answered),
            Event::Started(started) => serde_json::to_value(started),
        };
        json.expect("events are plain JSON")
    }

    /// Reads a record back from a ledger entry.
    pub fn read(about: About, kind: &str, body: Value) -> Result<Self, Unreadable> {
        let given = body.clone();
        let family = kind.split('.').next().unwrap_or_default();
        let nameless = |what| Unreadable::Nameless { kind: kind.to_owned(), what };
        let event = match (family, kind) {
            ("organisation", _) => Event::Organisation(read(kind, body)?),
            ("project" | "scope", _) => {
                Event::Project(about.project.ok_or_else(|| nameless("project"))?, read(kind, body)?)
            }
            ("identity", _) => {
                let IdentityBody { identity, event } = read(kind, body)?;
                Event::Identity(identity, event)
            }
            ("run", _) => Event::Run(about.run.ok_or_else(|| nameless("run"))?, read(kind, body)?),
            ("worktree", _) => Event::Worktree(read(kind, body)?),
            (_, "evidence.kept") => Event::BlobKept(read(kind, body)?),
            (_, "evidence.removed") => Event::BlobRemoved(read(kind, body)?),
            ("action" | "job" | "permit" | "evidence", _) => {
                Event::Action(about.action.ok_or_else(|| nameless("action"))?, read(kind, body)?)
            }
            ("refused", _) => Event::Refused(read(kind, body)?),
            (_, "planner.asked") => Event::PlannerAsked(read(kind, body)?),
            (_, "planner.answered") => Event::PlannerAnswered(Box::new(read(kind, body)?)),
            ("runtime", _) => Event::Started(read(kind, body)?),
            _ => return Err(Unreadable::Kind(kind.to_owned())),
        };
        let record = Self { about, event };
        if record.kind() != kind {
            return Err(Unreadable::Kind(kind.to_owned()));
        }
        // Events without content are read leniently by serde; nothing may ride along in them unread.
        if !says_no_more(&given, &record.body()) {
            let source = serde::de::Error::custom("it has a field that is not known here");
            return Err(Unreadable::Body { kind: kind.to_owned(), source });
        }
        Ok(record)
    }
}

/// Whether every field of one object is in the other too, at every depth.
fn says_no_more(given: &Value, understood: &Value) -> bool {
    match (given, understood) {
        (Value::Object(given), Value::Object(understood)) => {
            given.iter().all(|(key, value)| understood.get(key).is_some_and(|known| says_no_more(value, known)))
        }
        _ => true,
    }
}

fn read<T: for<'de> Deserialize<'de>>(kind: &str, body: Value) -> Result<T, Unreadable> {
    serde_json::from_value(body).map_err(|source| Unreadable::Body { kind: kind.to_owned(), source })
}
