//! Everything that can be asked of Placet, in one list. There is no other way to change anything.

use crate::action::ActionCommand;
use crate::approval::Terms;
use crate::digest::Digest;
use crate::evidence::SecretsSeen;
use crate::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use crate::identity::{Actor, DoorCommand, IdentityCommand};
use crate::organisation::OrganisationCommand;
use crate::project::ProjectCommand;
use crate::record::{PlannerAnswered, PlannerAsked};
use crate::refusal::Refusal;
use crate::retention::Expiry;
use crate::run::RunCommand;
use crate::worktree::WorktreeCommand;

#[derive(Debug, Clone)]
pub enum Command {
    Project {
        id: ProjectId,
        command: ProjectCommand,
    },
    Organisation(OrganisationCommand),
    Identity {
        id: IdentityId,
        command: IdentityCommand,
    },
    Run {
        id: RunId,
        command: RunCommand,
    },
    Action {
        id: ActionId,
        run: RunId,
        command: ActionCommand,
    },
    Worktree {
        id: WorktreeId,
        /// The project whose duties say who may do it.
        project: ProjectId,
        command: WorktreeCommand,
    },
    /// Records that bytes were stored under their digest.
    KeepBlob {
        project: ProjectId,
        digest: Digest,
        size_bytes: u64,
        secrets: SecretsSeen,
    },
    /// Removes contents whose time has come. The records come first; the bytes go after.
    RemoveBlobs {
        project: ProjectId,
        expiry: Box<Expiry>,
    },
    /// Records that something was refused before it could become a command: a forged permit, a wrong role.
    NoteRefusal {
        about: About,
        tried: &'static str,
        refusal: Refusal,
    },
    /// Records that a language model will be asked for a plan, before it is: what it may cost at most is then known whatever happens.
    AskPlanner {
        project: ProjectId,
        asked: PlannerAsked,
    },
    /// Records what that call took.
    NotePlanner {
        project: ProjectId,
        answered: Box<PlannerAnswered>,
    },
    /// Records under which policy and tools the control plane works from now on.
    NoteStart {
        version: String,
        policy: Digest,
        tools: Digest,
    },
}

/// What a record is about: as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct About {
    pub project: Option<ProjectId>,
    pub run: Option<RunId>,
    pub action: Option<ActionId>,
}

/// A command with whoever gives it and the terms in force.
#[derive(Debug, Clone)]
pub struct Submission {
    pub actor: Actor,
    pub command: Command,
    pub terms: Terms,
    /// The version of the policy in force.
    pub policy: Digest,
    /// Given by the caller, so that a repeated request has one effect.
    pub idempotency: Option<IdempotencyKey>,
}

/// A caller's own name for a request, and the digest of what was asked under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub key: String,
    pub request: Digest,
}

impl Command {
    /// Checks content that is stored beside the ledger: the ledger names it by digest, so it must be there and have that digest. Sealed
    /// actions and evidence carry their own bytes.
    pub fn check_attached(&self, advice: Option<&str>, verifier: Option<&str>) -> Result<(), Refusal> {
        let digest = |text: Option<&str>| text.map(|text| Digest::of(text.as_bytes()));
        if self.named_advice() != digest(advice) {
            return Err(Refusal::invalid("the justification is not the one that the proposal names"));
        }
        if self.named_verifier() != digest(verifier) {
            return Err(Refusal::invalid("the password is not the one that was named"));
        }
        Ok(())
    }

    const fn named_advice(&self) -> Option<Digest> {
        let Self::Action { command: ActionCommand::Propose { advice, .. }, .. } = self else { return None };
        *advice
    }

    const fn named_verifier(&self) -> Option<Digest> {
        let Self::Identity { command: IdentityCommand::Door(DoorCommand::SetPassword { verifier, .. }), .. } = self
        else {
            return None;
        };
        Some(*verifier)
    }
}
