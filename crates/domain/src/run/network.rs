//! Network facet of a run: hosts that cages were refused (wishes), and the answers of people. A scope never changes; a grant is a
//! separate decision about one host, it expires, and it can be revoked.
//!
//! An agent cannot flood reviewers: there is one wish at a time for a host, a rejected or revoked one is not asked again, and the number of
//! wishes of a run is bounded. This module neither opens connections nor knows what was sealed with an action.

use serde::{Deserialize, Serialize};

use super::rule::{Giver, Rule};
use super::state::{Run, RunStatus};
use super::text::check_said;
use crate::audit_status::AuditStatus;
use crate::canonical;
use crate::digest::Digest;
use crate::event_meta::EventMeta;
use crate::id::{ActionId, IdentityId, RunId};
use crate::identity::Role;
use crate::notice::NoticeKind;
use crate::proposal::Opening;
use crate::reason::StatusReason;
use crate::refusal::{Obstacle, Refusal};
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
        reason: StatusReason,
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

/// State of the facet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Network {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wishes: Vec<Wish>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NetworkCommand {
    /// The cage of an action was refused a host.
    Wish {
        action: ActionId,
        opening: Opening,
    },
    Grant {
        number: u32,
        seen: Digest,
        lasts_ms: u64,
    },
    Reject {
        number: u32,
        reason: String,
    },
    Revoke {
        number: u32,
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum NetworkEvent {
    /// The cage of an action was refused a host that a reviewer can open.
    Wished {
        number: u32,
        opening: Opening,
        action: ActionId,
    },
    /// A reviewer opened the host for this run until then.
    Granted {
        number: u32,
        seen: Digest,
        until: Timestamp,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<IdentityId>,
    },
    Rejected {
        number: u32,
        reason: String,
    },
    Revoked {
        number: u32,
        reason: StatusReason,
    },
}

impl NetworkEvent {
    pub(super) fn meta(&self) -> EventMeta {
        match self {
            Self::Wished { number, .. } => EventMeta::new("run.network_wished").notice(NoticeKind::Wish).wish(*number),
            Self::Granted { .. } => EventMeta::new("run.network_granted").decided(AuditStatus::HostOpened),
            Self::Rejected { .. } => EventMeta::new("run.network_rejected").decided(AuditStatus::HostNotOpened),
            Self::Revoked { .. } => EventMeta::new("run.network_revoked").decided(AuditStatus::HostClosed),
        }
    }
}

impl NetworkCommand {
    pub(super) fn rule(&self, run: &Run) -> Rule {
        // An action may be under way in every state between the start and the end of a run.
        let runs = run.status.is_open() || run.status == RunStatus::PendingExport;
        let is_over = run.status.is_final();
        match self {
            // The control plane checks which worker has the action.
            Self::Wish { .. } => Rule::new(runs, Giver::Role(Role::Worker)),
            Self::Grant { .. } => Rule::new(runs, Giver::IndependentReviewer),
            Self::Reject { .. } => Rule::new(!is_over, Giver::Role(Role::Reviewer)),
            // Closing a host needs no independence.
            Self::Revoke { .. } => Rule::new(!is_over, Giver::OperatorOrReviewer),
        }
    }

    pub(super) const fn goes_on(&self) -> bool {
        matches!(self, Self::Grant { .. })
    }

    pub(super) fn check_text(&self) -> Result<(), Refusal> {
        match self {
            Self::Reject { reason, .. } | Self::Revoke { reason, .. } => check_said(reason),
            Self::Wish { .. } | Self::Grant { .. } => Ok(()),
        }
    }
}

impl Run {
    /// What is open for its actions at this moment beside what was sealed with them.
    pub fn granted(&self, now: Timestamp) -> impl Iterator<Item = &Wish> {
        self.network.wishes.iter().filter(move |wish| wish.is_open(now))
    }

    pub fn wish(&self, number: u32) -> Option<&Wish> {
        self.network.wishes.iter().find(|wish| wish.number == number)
    }
}

pub(super) fn decide(
    run: &Run,
    command: &NetworkCommand,
    by: Option<IdentityId>,
    now: Timestamp,
) -> Result<NetworkEvent, Refusal> {
    match command {
        NetworkCommand::Wish { action, opening } => wish(run, *action, opening, now),
        NetworkCommand::Grant { number, seen, lasts_ms } => {
            let current = waiting(run, *number)?.review(run.id);
            check_grant(*seen, current, *lasts_ms)?;
            Ok(NetworkEvent::Granted { number: *number, seen: *seen, until: now.plus_ms(*lasts_ms), by })
        }
        NetworkCommand::Reject { number, reason } => {
            waiting(run, *number)?;
            Ok(NetworkEvent::Rejected { number: *number, reason: reason.clone() })
        }
        NetworkCommand::Revoke { number, reason } => revoke(run, *number, reason),
    }
}

/// A worker may ask repeatedly: a known wish is not recorded again.
fn wish(run: &Run, action: ActionId, opening: &Opening, now: Timestamp) -> Result<NetworkEvent, Refusal> {
    if place_of(opening).is_none() {
        return Err(Refusal::invalid("a wish is about one address of the web, such as `https://example.org/`"));
    }
    let wishes = &run.network.wishes;
    if wishes.iter().any(|wish| wish.settles(opening, now)) {
        return Err(Refusal::Exists { what: "wish" });
    }
    if wishes.len() >= MOST_WISHES {
        return Err(Refusal::invalid(format!(
            "people were asked about {MOST_WISHES} hosts in this run, and are not asked about more"
        )));
    }
    let number = u32::try_from(wishes.len()).unwrap_or(u32::MAX).saturating_add(1);
    Ok(NetworkEvent::Wished { number, opening: opening.clone(), action })
}

fn find(run: &Run, number: u32) -> Result<&Wish, Refusal> {
    run.wish(number).ok_or(Refusal::Unknown { what: "wish" })
}

fn waiting(run: &Run, number: u32) -> Result<&Wish, Refusal> {
    let wish = find(run, number)?;
    match wish.answer {
        Answer::Waiting => Ok(wish),
        Answer::Granted { .. } | Answer::Rejected { .. } | Answer::Revoked { .. } => {
            Err(Refusal::not_now("decided", Obstacle::WishDecided))
        }
    }
}

fn check_grant(seen: Digest, current: Digest, lasts_ms: u64) -> Result<(), Refusal> {
    if seen != current {
        return Err(Refusal::Stale { seen, current });
    }
    if !(1..=LONGEST_GRANT_MS).contains(&lasts_ms) {
        return Err(Refusal::invalid("a host is opened for at least a millisecond and at most a week"));
    }
    Ok(())
}

fn revoke(run: &Run, number: u32, reason: &str) -> Result<NetworkEvent, Refusal> {
    match find(run, number)?.answer {
        Answer::Granted { .. } => Ok(NetworkEvent::Revoked { number, reason: StatusReason::said(reason) }),
        Answer::Waiting | Answer::Rejected { .. } | Answer::Revoked { .. } => {
            Err(Refusal::not_now("taken back", Obstacle::WishNotGranted))
        }
    }
}

impl Network {
    pub(super) fn evolve(&mut self, event: &NetworkEvent, at: Timestamp) {
        let (number, answer) = match event {
            NetworkEvent::Wished { number, opening, action } => {
                let (number, opening, action) = (*number, opening.clone(), *action);
                self.wishes.push(Wish { number, opening, action, asked_at: at, answer: Answer::Waiting });
                return;
            }
            NetworkEvent::Granted { number, until, by, .. } => (number, Answer::Granted { until: *until, by: *by }),
            NetworkEvent::Rejected { number, reason } => (number, Answer::Rejected { reason: reason.clone() }),
            NetworkEvent::Revoked { number, reason } => (number, Answer::Revoked { reason: reason.clone() }),
        };
        if let Some(wish) = self.wishes.iter_mut().find(|wish| wish.number == *number) {
            wish.answer = answer;
        }
    }
}
