//! ATTENTION: who should look at a question, and who does not want to see it before a time. No right is given or taken by it.
//!
//! Whoever is named decides by their own rights, and so does everybody else. Neither is a part of what an approval is bound to, neither
//! moves a deadline, and agents neither see nor ask for it. Both end with the question.

use serde::{Deserialize, Serialize};

use super::command::ActionCommandKind as Kind;
use super::decide::{Setting, independence, needs_role, needs_waiting};
use super::event::ActionEvent;
use super::state::ActionState;
use crate::id::IdentityId;
use crate::identity::{Identity, Role};
use crate::refusal::{Obstacle, Refusal};
use crate::time::Timestamp;

/// A note is read on a row: what takes longer is said elsewhere.
pub const LONGEST_NOTE: usize = 280;
/// Nobody has a team of so many, and every state stays small.
pub const MOST_ASIDE: usize = 100;

/// What people said about looking at a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attention {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assigned: Option<Assignment>,
    /// One for each person, in the order in which they first said so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<Aside>,
}

/// Who should look at it, who said so, and what they should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    pub to: IdentityId,
    pub by: IdentityId,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// Who set it aside for themselves, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aside {
    pub who: IdentityId,
    pub until: Timestamp,
}

impl Attention {
    pub const fn is_none(&self) -> bool {
        self.assigned.is_none() && self.aside.is_empty()
    }

    /// Until when somebody set it aside, if that time is still to come.
    pub fn aside_at(&self, who: IdentityId, now: Timestamp) -> Option<Timestamp> {
        self.aside.iter().find(|aside| aside.who == who).map(|aside| aside.until).filter(|until| *until > now)
    }

    pub(super) fn assign(&mut self, by: IdentityId, to: Option<IdentityId>, note: &str) {
        self.assigned = to.map(|to| Assignment { to, by, note: note.to_owned() });
    }

    pub(super) fn defer(&mut self, who: IdentityId, until: Option<Timestamp>) {
        match (self.aside.iter_mut().find(|aside| aside.who == who), until) {
            (Some(aside), Some(until)) => aside.until = until,
            (None, Some(until)) => self.aside.push(Aside { who, until }),
            (_, None) => self.aside.retain(|aside| aside.who != who),
        }
    }

    /// Whoever decided has looked at it.
    pub(super) fn looked_at_by(&mut self, who: IdentityId) {
        self.assigned = self.assigned.take().filter(|assigned| assigned.to != who);
        self.aside.retain(|aside| aside.who != who);
    }
}

/// Names who should look at it; nobody takes it back. Only somebody who could say yes to it now: naming anybody else would hide it from
/// those who can.
pub(super) fn assign(
    state: &ActionState,
    to: Option<&Identity>,
    note: &str,
    setting: &Setting<'_>,
) -> Result<Vec<ActionEvent>, Refusal> {
    let by = needs_role(setting, Role::Reviewer).or_else(|_| needs_role(setting, Role::Operator));
    let by = by.map_err(|_| Refusal::Role { needed: Role::Reviewer })?.id;
    needs_waiting(state, Kind::Assign, setting)?;
    if note.chars().count() > LONGEST_NOTE || note.chars().any(char::is_control) {
        return Err(Refusal::invalid("a note is one line of 280 letters at most"));
    }
    let assigned = state.attention.assigned.as_ref();
    match to {
        None if assigned.is_none() => {
            return Err(Refusal::not_now("taken back", Obstacle::Unassigned));
        }
        Some(to) if assigned.is_some_and(|assigned| assigned.to == to.id && assigned.note == note) => {
            return Err(Refusal::not_now("assigned", Obstacle::AssignedAlready));
        }
        Some(to) => can_look(state, to, setting)?,
        None => {}
    }
    Ok(vec![ActionEvent::Assigned { by, to: to.map(|to| to.id), note: note.to_owned() }])
}

fn can_look(state: &ActionState, to: &Identity, setting: &Setting<'_>) -> Result<(), Refusal> {
    // Whoever does not reach the project does not exist there.
    if to.revoked || !to.reach.includes(state.project) {
        return Err(Refusal::Unknown { what: "identity" });
    }
    if !to.has(Role::Reviewer) {
        return Err(Refusal::invalid("name a reviewer: whoever looks at it decides by their own rights"));
    }
    independence(state, to, setting.run.separation)?;
    if state.approvals.iter().any(|approval| approval.reviewer == to.id) {
        return Err(Refusal::invalid("they have said yes already; name another reviewer"));
    }
    Ok(())
}

/// Sets it aside for whoever asks; no time brings it back.
pub(super) fn defer(
    state: &ActionState,
    until: Option<Timestamp>,
    setting: &Setting<'_>,
) -> Result<Vec<ActionEvent>, Refusal> {
    let by = needs_role(setting, Role::Reviewer)?.id;
    needs_waiting(state, Kind::Defer, setting)?;
    let known = state.attention.aside.iter().any(|aside| aside.who == by);
    match until {
        None if state.attention.aside_at(by, setting.now).is_none() => {
            return Err(Refusal::not_now("taken back", Obstacle::NotSnoozed));
        }
        Some(until) if !(setting.now < until && until < state.deadline) => {
            return Err(Refusal::invalid("say a time that is still to come, and before the question runs out"));
        }
        Some(_) if !known && state.attention.aside.len() >= MOST_ASIDE => {
            return Err(Refusal::invalid("too many people have set it aside; decide it, or leave it where it is"));
        }
        Some(_) | None => {}
    }
    Ok(vec![ActionEvent::Deferred { by, until }])
}
