//! The organisation: everything that one control plane governs. It has a budget, a switch that stops everything at once, one that lets
//! everything only look, and one that demands passkeys of everybody.

use serde::{Deserialize, Serialize};

use crate::budget::{Amounts, Budget, Ceiling, Purpose};
use crate::event_meta::EventMeta;
use crate::id::{IdentityId, ProjectId};
use crate::identity::{Actor, Reach, Role};
use crate::prose::check_reason;
use crate::refusal::{Obstacle, Refusal};
use crate::run::Allowance;

/// There is exactly one, and it was always there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Organisation {
    /// What all projects together may use up. Without one they are not limited together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Why nothing goes on, while nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halt: Option<Halt>,
    /// Why nothing is changed anywhere, while nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safe_mode: Option<SafeMode>,
    /// Why everybody signs with a passkey where two people are asked; else only those do who have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passkeys: Option<PasskeysDemanded>,
}

/// The switch is thrown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Halt {
    pub by: Option<IdentityId>,
    /// User id of the local user who stopped everything through the stop socket, without a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_user: Option<u32>,
    pub reason: String,
}

/// Read only, everywhere: whoever looks may go on, and whoever may change something waits or is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SafeMode {
    pub by: Option<IdentityId>,
    pub reason: String,
}

/// Where two people are asked, nobody approves without a passkey.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PasskeysDemanded {
    pub by: Option<IdentityId>,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrganisationCommand {
    SetBudget {
        allowance: Allowance,
    },
    /// Who sees a fire need not write why: the reason may be empty.
    Halt {
        reason: String,
    },
    /// Halt by a local user of the control plane's machine, who needs no token. A release always needs a token.
    HaltLocally {
        user: u32,
        reason: String,
    },
    Release {
        reason: String,
    },
    /// As for `Halt`, the reason may be empty.
    EnterSafeMode {
        reason: String,
    },
    LeaveSafeMode {
        reason: String,
    },
    DemandPasskeys {
        reason: String,
    },
    ReleasePasskeys {
        reason: String,
    },
}

impl OrganisationCommand {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SetBudget { .. } => "set-organisation-budget",
            Self::Halt { .. } => "halt",
            Self::HaltLocally { .. } => "halt-locally",
            Self::Release { .. } => "release",
            Self::EnterSafeMode { .. } => "enter-safe-mode",
            Self::LeaveSafeMode { .. } => "leave-safe-mode",
            Self::DemandPasskeys { .. } => "demand-passkeys",
            Self::ReleasePasskeys { .. } => "release-passkeys",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum OrganisationEvent {
    BudgetSet {
        ceiling: Ceiling,
        warn_at_percent: u8,
    },
    Allotted {
        project: ProjectId,
        amounts: Amounts,
    },
    Halted {
        by: Option<IdentityId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        local_user: Option<u32>,
        reason: String,
    },
    Released {
        reason: String,
    },
    SafeModeEntered {
        by: Option<IdentityId>,
        reason: String,
    },
    SafeModeLeft {
        reason: String,
    },
    PasskeysDemanded {
        by: Option<IdentityId>,
        reason: String,
    },
    PasskeysReleased {
        reason: String,
    },
}

impl OrganisationEvent {
    /// Metadata of the event: the one place where a new event is declared, besides `evolve`.
    pub fn meta(&self) -> EventMeta {
        EventMeta::new(match self {
            Self::BudgetSet { .. } => "organisation.budget_set",
            Self::Allotted { .. } => "organisation.allotted",
            Self::Halted { .. } => "organisation.halted",
            Self::Released { .. } => "organisation.released",
            Self::SafeModeEntered { .. } => "organisation.safe_mode_entered",
            Self::SafeModeLeft { .. } => "organisation.safe_mode_left",
            Self::PasskeysDemanded { .. } => "organisation.passkeys_demanded",
            Self::PasskeysReleased { .. } => "organisation.passkeys_released",
        })
    }
}

pub fn decide(
    state: &Organisation,
    command: &OrganisationCommand,
    actor: &Actor,
) -> Result<Vec<OrganisationEvent>, Refusal> {
    let event = match command {
        OrganisationCommand::SetBudget { allowance } => {
            actor.needs(&[Role::Admin])?;
            needs_reach(actor)?;
            let Allowance { ceiling, warn_at_percent } = allowance.checked(state.budget.as_ref())?;
            OrganisationEvent::BudgetSet { ceiling, warn_at_percent }
        }
        OrganisationCommand::Halt { reason } => {
            // Whoever has a say in runs may stop all of them: one time too often is better than one time too late.
            actor.needs(&[Role::Admin, Role::Operator, Role::Reviewer])?;
            needs_running(state)?;
            let by = actor.identity().map(|identity| identity.id);
            OrganisationEvent::Halted { by, local_user: None, reason: given(reason)? }
        }
        OrganisationCommand::HaltLocally { user, reason } => {
            // Only the control plane can determine the user at the other end of a socket.
            if *actor != Actor::Runtime {
                return Err(Refusal::Role { needed: Role::Admin });
            }
            needs_running(state)?;
            OrganisationEvent::Halted { by: None, local_user: Some(*user), reason: given(reason)? }
        }
        OrganisationCommand::Release { reason } => {
            actor.needs(&[Role::Admin])?;
            needs_reach(actor)?;
            check_reason(reason)?;
            if state.halt.is_none() {
                return Err(Refusal::not_now("released", Obstacle::NotStopped));
            }
            OrganisationEvent::Released { reason: reason.clone() }
        }
        OrganisationCommand::EnterSafeMode { reason } => {
            actor.needs(&[Role::Admin, Role::Operator, Role::Reviewer])?;
            if state.safe_mode.is_some() {
                return Err(Refusal::not_now("made safe", Obstacle::InSafeMode));
            }
            let by = actor.identity().map(|identity| identity.id);
            OrganisationEvent::SafeModeEntered { by, reason: given(reason)? }
        }
        OrganisationCommand::LeaveSafeMode { reason } => {
            actor.needs(&[Role::Admin])?;
            needs_reach(actor)?;
            check_reason(reason)?;
            if state.safe_mode.is_none() {
                return Err(Refusal::not_now("released", Obstacle::NotInSafeMode));
            }
            OrganisationEvent::SafeModeLeft { reason: reason.clone() }
        }
        OrganisationCommand::DemandPasskeys { reason } => {
            needs_all(actor, reason)?;
            if state.passkeys.is_some() {
                return Err(Refusal::not_now("demanded", Obstacle::PasskeysDemanded));
            }
            let by = actor.identity().map(|identity| identity.id);
            OrganisationEvent::PasskeysDemanded { by, reason: reason.clone() }
        }
        OrganisationCommand::ReleasePasskeys { reason } => {
            needs_all(actor, reason)?;
            if state.passkeys.is_none() {
                return Err(Refusal::not_now("released", Obstacle::PasskeysNotDemanded));
            }
            OrganisationEvent::PasskeysReleased { reason: reason.clone() }
        }
    };
    Ok(vec![event])
}

/// Refuses a second halt; the first reason stays.
fn needs_running(state: &Organisation) -> Result<(), Refusal> {
    if state.halt.is_some() {
        return Err(Refusal::not_now("stopped", Obstacle::StoppedAlready));
    }
    Ok(())
}

/// What concerns how everybody decides is for administrators of everything, with a reason.
fn needs_all(actor: &Actor, reason: &str) -> Result<(), Refusal> {
    actor.needs(&[Role::Admin])?;
    needs_reach(actor)?;
    check_reason(reason)
}

/// Whoever throws a switch may be in a hurry.
fn given(reason: &str) -> Result<String, Refusal> {
    if reason.trim().is_empty() {
        return Ok("nobody said why".to_owned());
    }
    check_reason(reason).map(|()| reason.to_owned())
}

pub fn evolve(mut state: Organisation, event: &OrganisationEvent) -> Organisation {
    match event {
        OrganisationEvent::BudgetSet { ceiling, warn_at_percent } => {
            let budget = state.budget.take().unwrap_or_default();
            state.budget = Some(budget.within(*ceiling, *warn_at_percent));
        }
        OrganisationEvent::Allotted { project, amounts } => {
            state.budget.get_or_insert_default().hold(Purpose::Project(*project), *amounts);
        }
        OrganisationEvent::Halted { by, local_user, reason } => {
            state.halt = Some(Halt { by: *by, local_user: *local_user, reason: reason.clone() });
        }
        OrganisationEvent::Released { .. } => state.halt = None,
        OrganisationEvent::SafeModeEntered { by, reason } => {
            state.safe_mode = Some(SafeMode { by: *by, reason: reason.clone() });
        }
        OrganisationEvent::SafeModeLeft { .. } => state.safe_mode = None,
        OrganisationEvent::PasskeysDemanded { by, reason } => {
            state.passkeys = Some(PasskeysDemanded { by: *by, reason: reason.clone() });
        }
        OrganisationEvent::PasskeysReleased { .. } => state.passkeys = None,
    }
    state
}

/// What concerns all projects is not for whoever answers for some of them.
fn needs_reach(actor: &Actor) -> Result<(), Refusal> {
    match actor {
        Actor::Identity(identity) if identity.reach != Reach::Everywhere => Err(Refusal::Reach),
        Actor::Identity(_) | Actor::Runtime => Ok(()),
    }
}
