//! How much an agent may ask of people. Whoever is asked too much stops reading, so there are two bounds: how many questions may wait
//! undecided, and how many may be asked within a while. Both count for an agent and its whole family of runs, so that more runs, or
//! taking back and asking again, win nothing.
//!
//! A third bound limits all actions of an agent that wait, for people or for workers: automatic actions occupy workers too.
//!
//! Pure: the counts are loaded with the command, in the transaction that would add the next question. This module never decides a single
//! question.

use serde::{Deserialize, Serialize};

use super::event::RunEvent;
use super::gate::GateKind;
use super::state::Run;
use crate::action::ActionEvent;
use crate::approval::Asking;
use crate::id::ActionId;
use crate::policy::{Ruling, Verdict};
use crate::reason::StatusReason;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// What the family of a run has asked: all runs of its agent, and all that were made by the run at the top of its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Questions {
    /// How many of its questions wait in runs that are not over.
    pub undecided: u64,
    /// Number of its actions that wait for people or for workers.
    pub waiting: u64,
    /// How many were asked lately, whatever became of them.
    pub lately: u64,
    /// Whether another run of the family stands still already because too much was asked.
    pub stands_elsewhere: bool,
}

/// Times at which the agent of a run asked too much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AskingMarks {
    /// Time at which a person last let the agent ask again after it had asked too often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub let_ask_at: Option<Timestamp>,
    /// Time at which it was last recorded that too many of its questions wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overasked_at: Option<Timestamp>,
}

/// What happens instead of a question that is one too many; nothing for one that may be asked. That too many wait is recorded once in a
/// while, not each time: an agent must not fill the ledger by being refused.
pub(crate) fn instead_of_asking(
    run: &Run,
    events: &[(ActionId, ActionEvent)],
    asked: Questions,
    terms: &Asking,
    now: Timestamp,
) -> Result<Option<RunEvent>, Refusal> {
    if proposes(events) && reaches(asked.waiting, terms.most_waiting) {
        return Err(Refusal::TooManyActions { waiting: asked.waiting });
    }
    if !asks(events) {
        return Ok(None);
    }
    if asked.stands_elsewhere {
        return Err(refusal(asked));
    }
    if reaches(asked.undecided, terms.most_undecided) {
        let noted = run.asking.overasked_at.is_some_and(|at| now < at.plus_ms(terms.asked_within_ms));
        return if noted { Err(refusal(asked)) } else { Ok(Some(RunEvent::Overasked { undecided: asked.undecided })) };
    }
    Ok(reaches(asked.lately, terms.most_asked).then(|| too_often(asked.lately, terms)))
}

/// What an agent is told whose question was not taken.
pub const fn refusal(asked: Questions) -> Refusal {
    Refusal::TooManyQuestions { undecided: asked.undecided, lately: asked.lately }
}

/// A bound of 0 is none.
const fn reaches(count: u64, most: u32) -> bool {
    most > 0 && count >= most as u64
}

/// Whether an agent proposes something that a person would be asked about. What a reviewer makes of it is no question of the agent's, and
/// what a standing order said yes to asks nobody.
fn asks(events: &[(ActionId, ActionEvent)]) -> bool {
    let settled = |event: &ActionEvent| matches!(event, ActionEvent::Rehearsed | ActionEvent::Approved { .. });
    let settled = events.iter().any(|(_, event)| settled(event));
    let needs_people = |verdict: &Verdict| matches!(verdict.ruling(), Ruling::Ask { .. });
    let asked = |event: &ActionEvent| matches!(event, ActionEvent::Judged { verdict, .. } if needs_people(verdict));
    let asked = events.iter().any(|(_, event)| asked(event));
    proposes(events) && asked && !settled
}

fn proposes(events: &[(ActionId, ActionEvent)]) -> bool {
    events.iter().any(|(_, event)| matches!(event, ActionEvent::Proposed { amendment: None, .. }))
}

/// One thing to decide on in the place of many: the run stands still until a person has looked at it.
fn too_often(lately: u64, terms: &Asking) -> RunEvent {
    let minutes = terms.asked_within_ms / 60_000;
    let reason = StatusReason::AskedTooOften { times: lately, minutes };
    let (kind, action, resource) = (GateKind::Questions, None, None);
    RunEvent::GateReached { kind, reason, action, resource, finishes: None, passes_at: None }
}
