//! Refusals: the domain's No. An outcome like any other: it has a reason, and a reviewer can read it.
//!
//! Not errors: a broken disk or an unreachable server is a fault of the shell and never looks like this.

mod state;

pub use self::state::{CurrentState, Obstacle};

use crate::budget::{BudgetRefusal, NotHeld};
use crate::digest::Digest;
use crate::identity::Role;
use crate::policy::{Reason, Tier, Verdict};
use crate::run::RunStatus;

/// Why a command was refused. Nothing changed, except that [recorded](Refusal::is_recorded) ones leave a ledger entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("no such {what}")]
    Unknown { what: &'static str },
    /// Unknown name that a person typed: the message shows the input and the existing names.
    #[error("there is no {what} `{given}`; {}", names_or_remedy(.known, .make))]
    UnknownName { what: &'static str, given: String, known: Vec<String>, make: &'static str },
    #[error("this {what} exists already")]
    Exists { what: &'static str },
    #[error("{why}")]
    Invalid { why: String },
    #[error("this needs the role `{needed}`")]
    Role { needed: Role },
    #[error("this concerns all projects, and you reach only some of them; ask an administrator of all")]
    Reach,
    #[error("this is for whoever has the duty `{operation}`: {accountable}")]
    Duty { operation: &'static str, accountable: String },
    #[error("not done yet: {items}; see to them, or answer for it with a reason (`--force`)")]
    Undone { items: String },
    #[error("it cannot be {what} while it is {}; {}", .state.as_str(), .state.hint())]
    NotNow { what: &'static str, state: CurrentState },
    #[error("the run is {status}: {}", .status.hint())]
    RunNotActive { status: RunStatus },
    #[error("this credential is no longer valid; ask an administrator for another")]
    Revoked,
    #[error("this run belongs to another agent")]
    OtherAgent,
    #[error("this run is hosted by another worker")]
    OtherHost,
    #[error(transparent)]
    Budget(#[from] BudgetRefusal),
    #[error("everything was stopped: {reason}; an administrator can let it go on (`placet kill --release`)")]
    Halted { reason: String },
    #[error(
        "everything is in safe mode, and only what looks goes on: {reason}; an administrator can end it (`placet safe-mode off`)"
    )]
    SafeMode { reason: String },
    #[error(
        "people are asked too much: {undecided} questions wait and {lately} were asked lately; wait until some are decided (`action_approved` or `action_rejected` on the stream of the run), or until a person has let the run go on; what needs no person still goes through"
    )]
    TooManyQuestions { undecided: u64, lately: u64 },
    #[error(
        "this agent has {waiting} actions that wait for people or workers, and may not have more; wait until some are done (`job_completed` on the stream of the run), or withdraw some"
    )]
    TooManyActions { waiting: u64 },
    #[error("who proposes or amends, or stands behind whoever did, cannot decide; ask another reviewer")]
    Kin,
    #[error(
        "you, or an identity that shares a parent or is a parent or child of yours, approved this already; the other approval must come from another person"
    )]
    SamePerson,
    #[error("the policy refuses what you made of it: {}; what was proposed still waits as it was", first_of(.reasons))]
    Denied {
        /// Reasons of the verdict that refuse it.
        reasons: Vec<Reason>,
    },
    #[error("what you saw ({seen}) is not what stands now ({current}); look again before you decide")]
    Stale { seen: Digest, current: Digest },
    #[error("it expired; propose it again, an old approval is never reused")]
    Expired,
    #[error("the permit is refused: {0}")]
    Permit(#[from] PermitFlaw),
    #[error(
        "two people are asked about this, and you sign it with a passkey: open its page in a browser and approve it there (a passkey is added under Settings)"
    )]
    PasskeyNeeded,
    #[error(
        "whoever has passkeys keeps them: adding or removing one, a link, a new token or password for them, and a link or a token that they make for another administrator, is signed with a passkey of whoever does it, under Settings in a browser; if all are lost, another administrator signs there, or they are ended on the host (`placet identity end-passkeys`)"
    )]
    DoorUnsigned,
    #[error(
        "a password and a first passkey are set right after signing in by a link or a password; sign out and in again"
    )]
    StaleVisit,
    #[error("the passkey is refused: {0}")]
    Passkey(#[from] PasskeyFlaw),
    #[error(
        "attempt {given} is over (now at {current}); stop and discard, what was done is kept as quarantined evidence"
    )]
    LostLease { given: u32, current: u32 },
}

/// Maximum number of reasons in a message, which goes into a ledger entry.
const MOST_REASONS: usize = 3;

/// Lists the first reasons in full and counts the others.
fn first_of(reasons: &[Reason]) -> String {
    if reasons.is_empty() {
        return "no rule permits it".to_owned();
    }
    let shown: Vec<String> = reasons.iter().take(MOST_REASONS).map(|reason| reason.because.to_string()).collect();
    let more = match reasons.len().saturating_sub(MOST_REASONS) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    shown.join("; ") + &more
}

/// Maximum number of names in a message; a reader skips longer lists.
const MOST_NAMED: usize = 20;

/// Lists the existing names, or explains how to create one if there are none.
fn names_or_remedy(names: &[String], make: &str) -> String {
    if names.is_empty() {
        return format!("there is none yet: {make}");
    }
    let shown: Vec<String> = names.iter().take(MOST_NAMED).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > MOST_NAMED { ", …" } else { "" };
    format!("there are: {}{more}", shown.join(", "))
}

/// What is wrong with a permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PermitFlaw {
    #[error("it is not a permit")]
    Malformed,
    #[error("its signature is not ours")]
    Forged,
    #[error("it is for another worker")]
    OtherWorker,
    #[error("it is for another action")]
    OtherAction,
    #[error("it is for other bytes")]
    OtherBytes,
    #[error("it has been used")]
    Replayed,
    #[error("it has expired")]
    Expired,
    #[error("it is for an attempt that is over")]
    OtherAttempt,
}

/// What is wrong with what a passkey signed, or with a passkey.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PasskeyFlaw {
    #[error("what came is not what browsers and authenticators send; reload the page and try again")]
    Malformed,
    #[error("its key is of a kind that is not taken (ES256, EdDSA and RS256 are)")]
    OtherKey,
    #[error("it comes with a statement of its manufacturer, which is not asked for and not taken")]
    Attested,
    #[error("it signed something of another kind")]
    OtherPurpose,
    #[error("it is of another site; open the page at the address where the passkey was made")]
    OtherSite,
    #[error("it signed something else; reload the page and look again")]
    OtherChallenge,
    #[error("its person was not there, or did not prove to it who they are (PIN, finger or face)")]
    NoPerson,
    #[error("it is no passkey of this person")]
    Unknown,
    #[error("its signature is not of that passkey")]
    Forged,
    #[error("it has signed less often than before, as a copy would; remove it and add another")]
    Copied,
    #[error("it took too long; reload the page and try again")]
    Late,
    #[error("it was used before; reload the page and try again")]
    Replayed,
}

impl From<NotHeld> for Refusal {
    fn from(not_held: NotHeld) -> Self {
        Self::Budget(not_held.into())
    }
}

impl Refusal {
    /// Refuses a command that this state does not allow.
    pub fn not_now(what: &'static str, state: impl Into<CurrentState>) -> Self {
        Self::NotNow { what, state: state.into() }
    }

    /// Refuses what a verdict denies.
    pub fn denied(verdict: &Verdict) -> Self {
        let refusing = verdict.reasons().iter().filter(|reason| reason.demands == Tier::D);
        Self::Denied { reasons: refusing.cloned().collect() }
    }

    pub fn invalid(why: impl Into<String>) -> Self {
        Self::Invalid { why: why.into() }
    }

    /// A stable word for machines.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } | Self::UnknownName { .. } => "unknown",
            Self::Exists { .. } => "exists",
            Self::Invalid { .. } => "invalid",
            Self::Role { .. } => "role",
            Self::Reach => "reach",
            Self::Duty { .. } => "duty",
            Self::Undone { .. } => "undone",
            Self::NotNow { .. } => "not_now",
            Self::RunNotActive { .. } => "run_not_active",
            Self::Revoked => "revoked",
            Self::OtherAgent => "other_agent",
            Self::OtherHost => "other_host",
            Self::Budget(_) => "budget",
            Self::Halted { .. } => "halted",
            Self::SafeMode { .. } => "safe_mode",
            Self::TooManyQuestions { .. } => "too_many_questions",
            Self::TooManyActions { .. } => "too_many_actions",
            Self::Kin => "kin",
            Self::SamePerson => "same_person",
            Self::Denied { .. } => "denied",
            Self::Stale { .. } => "stale",
            Self::Expired => "expired",
            Self::Permit(_) => "permit",
            Self::PasskeyNeeded => "passkey_needed",
            Self::DoorUnsigned => "door_unsigned",
            Self::StaleVisit => "stale_visit",
            Self::Passkey(_) => "passkey",
            Self::LostLease { .. } => "lost_lease",
        }
    }

    /// Whether the attempt itself is worth a ledger entry: somebody tried what they must not, not merely at a bad time.
    pub const fn is_recorded(&self) -> bool {
        match self {
            Self::Role { .. }
            | Self::Reach
            | Self::Duty { .. }
            | Self::OtherAgent
            | Self::OtherHost
            | Self::Kin
            | Self::SamePerson
            | Self::Denied { .. }
            | Self::Permit(_)
            | Self::PasskeyNeeded
            | Self::DoorUnsigned
            | Self::Passkey(_) => true,
            Self::Unknown { .. }
            | Self::UnknownName { .. }
            | Self::Exists { .. }
            | Self::Invalid { .. }
            | Self::Undone { .. }
            | Self::NotNow { .. }
            | Self::RunNotActive { .. }
            | Self::Revoked
            | Self::Budget(_)
            | Self::Halted { .. }
            | Self::SafeMode { .. }
            | Self::TooManyQuestions { .. }
            | Self::TooManyActions { .. }
            | Self::Stale { .. }
            | Self::StaleVisit
            | Self::Expired
            | Self::LostLease { .. } => false,
        }
    }

    /// Whether another action may still be leased where this one is refused: the refusal is about the action or its run, not about the
    /// worker or everything.
    pub const fn concerns_one_action(&self) -> bool {
        matches!(
            self,
            Self::Budget { .. }
                | Self::NotNow { .. }
                | Self::RunNotActive { .. }
                | Self::Invalid { .. }
                // What only looks is leased on.
                | Self::SafeMode { .. }
                | Self::Expired
        )
    }
}
