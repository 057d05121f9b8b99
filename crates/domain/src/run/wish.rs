//! Wishes: what the cage of an action was refused and a person could allow for this run. A scope never changes; what is
//! granted here is a decision of its own beside it, about one host, with an end, and it can be taken back.
//!
//! An agent cannot flood whoever decides: what is wanted of one host is one wish at a time, what was rejected or taken back is
//! not asked again, and a run has so many wishes and no more.

use serde::{Deserialize, Serialize};

use super::event::RunEvent;
use super::state::Run;
use crate::canonical;
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId, RunId};
use crate::proposal::Opening;
use crate::refusal::Refusal;
use crate::scope::{Place, Target, TargetRule};
use crate::time::Timestamp;

/// A person is asked about so many things of one run; whoever wants more is not asking.
pub const MOST_WISHES: usize = 50;
/// Longer than this is no exception any more: make a run with another scope.
pub const LONGEST_GRANT_MS: u64 = 7 * 24 * 3_600_000;

/// What a person said to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// Nothing yet.
    Waiting,
    /// Open until then.
    Granted {
        until: Timestamp,
        /// Reviewer who granted it. `None` in older entries, which did not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<IdentityId>,
    },
    Rejected {
        reason: String,
    },
    /// Granted before, and taken back.
    Revoked {
        reason: String,
    },
}

impl Answer {
    pub const fn is_waiting(&self) -> bool {
        matches!(self, Self::Waiting)
    }

    pub const fn is_granted(&self) -> bool {
        matches!(self, Self::Granted { .. })
    }
}

/// One host that an action of the run wanted to reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    pub number: u32,
    pub opening: Opening,
    /// The action whose cage asked.
    pub action: ActionId,
    pub asked_at: Timestamp,
    pub answer: Answer,
}

impl Wish {
    /// What a person decides on: which wish of which run, and what would be open.
    pub fn review(&self, run: RunId) -> Digest {
        let seen =
            serde_json::json!({ "run": run, "wish": self.number, "opening": self.opening, "answer": self.answer });
        Digest::of(&canonical::to_bytes(&seen))
    }

    /// Until when it is or was open, if somebody granted it.
    pub const fn until(&self) -> Option<Timestamp> {
        match &self.answer {
            Answer::Granted { until, .. } => Some(*until),
            Answer::Waiting | Answer::Rejected { .. } | Answer::Revoked { .. } => None,
        }
    }

    /// Whether it is open at this moment.
    pub fn is_open(&self, now: Timestamp) -> bool {
        matches!(&self.answer, Answer::Granted { until, .. } if *until > now)
    }

    /// Whether nobody is asked about this opening because of it. A further method of a host that is open is another question,
    /// and so is one that was open for a while.
    fn settles(&self, opening: &Opening, now: Timestamp) -> bool {
        match &self.answer {
            Answer::Waiting | Answer::Rejected { .. } | Answer::Revoked { .. } => {
                place_of(&self.opening) == place_of(opening)
            }
            Answer::Granted { until, .. } => *until > now && self.opening == *opening,
        }
    }
}

/// A wish is about one address of the web, never about a network or about all names below a domain.
fn place_of(opening: &Opening) -> Option<&Place> {
    match opening.to() {
        TargetRule::Within(Target::Url(url)) => Some(url.authority().place()),
        TargetRule::Within(Target::Host(_) | Target::Network(_)) | TargetRule::Below(_) => None,
    }
}

impl Run {
    /// What is open for its actions at this moment beside what was sealed with them.
    pub fn granted(&self, now: Timestamp) -> impl Iterator<Item = &Wish> {
        self.wishes.iter().filter(move |wish| wish.is_open(now))
    }

    pub fn wish(&self, number: u32) -> Option<&Wish> {
        self.wishes.iter().find(|wish| wish.number == number)
    }
}

/// Asked by a worker, as often as it likes: what is known already leads to nothing new.
pub(super) fn wish(run: &Run, action: ActionId, opening: &Opening, now: Timestamp) -> Result<RunEvent, Refusal> {
    if place_of(opening).is_none() {
        return Err(Refusal::invalid("a wish is about one address of the web, such as `https://example.org/`"));
    }
    if run.wishes.iter().any(|wish| wish.settles(opening, now)) {
        return Err(Refusal::Exists { what: "wish" });
    }
    if run.wishes.len() >= MOST_WISHES {
        return Err(Refusal::invalid(format!(
            "people were asked about {MOST_WISHES} hosts in this run, and are not asked about more"
        )));
    }
    let number = u32::try_from(run.wishes.len()).unwrap_or(u32::MAX).saturating_add(1);
    Ok(RunEvent::NetworkWished { number, opening: opening.clone(), action })
}

fn find(run: &Run, number: u32) -> Result<&Wish, Refusal> {
    run.wish(number).ok_or(Refusal::Unknown { what: "wish" })
}

fn waiting(run: &Run, number: u32) -> Result<&Wish, Refusal> {
    let wish = find(run, number)?;
    match wish.answer {
        Answer::Waiting => Ok(wish),
        Answer::Granted { .. } | Answer::Rejected { .. } | Answer::Revoked { .. } => Err(Refusal::not_now(
            "decided",
            "decided already",
            "its host is asked about again where it is still wanted",
        )),
    }
}

pub(super) fn grant(
    run: &Run,
    number: u32,
    seen: Digest,
    lasts_ms: u64,
    (by, now): (Option<IdentityId>, Timestamp),
) -> Result<RunEvent, Refusal> {
    let current = waiting(run, number)?.review(run.id);
    if seen != current {
        return Err(Refusal::Stale { seen, current });
    }
    if !(1..=LONGEST_GRANT_MS).contains(&lasts_ms) {
        return Err(Refusal::invalid("a host is opened for at least a millisecond and at most a week"));
    }
    Ok(RunEvent::NetworkGranted { number, seen, until: now.plus_ms(lasts_ms), by })
}

pub(super) fn reject(run: &Run, number: u32, reason: &str) -> Result<RunEvent, Refusal> {
    waiting(run, number)?;
    Ok(RunEvent::NetworkRejected { number, reason: reason.to_owned() })
}

pub(super) fn revoke(run: &Run, number: u32, reason: &str) -> Result<RunEvent, Refusal> {
    match find(run, number)?.answer {
        Answer::Granted { .. } => Ok(RunEvent::NetworkRevoked { number, reason: reason.to_owned() }),
        Answer::Waiting | Answer::Rejected { .. } | Answer::Revoked { .. } => {
            Err(Refusal::not_now("taken back", "not granted", "there is nothing to take back"))
        }
    }
}

pub(super) fn asked(run: &mut Run, number: u32, opening: &Opening, action: ActionId, asked_at: Timestamp) {
    let (opening, answer) = (opening.clone(), Answer::Waiting);
    run.wishes.push(Wish { number, opening, action, asked_at, answer });
}

pub(super) fn granted(run: &mut Run, number: u32, until: Timestamp, by: Option<IdentityId>) {
    answered(run, number, Answer::Granted { until, by });
}

pub(super) fn rejected(run: &mut Run, number: u32, reason: &str) {
    answered(run, number, Answer::Rejected { reason: reason.to_owned() });
}

pub(super) fn revoked(run: &mut Run, number: u32, reason: &str) {
    answered(run, number, Answer::Revoked { reason: reason.to_owned() });
}

/// What a person said to one of them.
fn answered(run: &mut Run, number: u32, answer: Answer) {
    if let Some(wish) = run.wishes.iter_mut().find(|wish| wish.number == number) {
        wish.answer = answer;
    }
}
