//! States that do not allow a command: the status of what it is about, or a named obstacle. `Display` of the refusal renders both in
//! English.

use crate::action::ActionStatus;
use crate::run::RunStatus;
use crate::worktree::WorktreeStatus;

/// State that does not allow a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CurrentState {
    Action(ActionStatus),
    Run(RunStatus),
    Worktree(WorktreeStatus),
    Obstacle(Obstacle),
}

impl CurrentState {
    /// Completes "while it is".
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Action(status) => status.as_str(),
            Self::Run(status) => status.as_str(),
            Self::Worktree(status) => status.as_str(),
            Self::Obstacle(obstacle) => obstacle.as_str(),
        }
    }

    /// Next step for the caller.
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Action(status) => status.hint(),
            Self::Run(status) => status.hint(),
            Self::Worktree(status) => status.hint(),
            Self::Obstacle(obstacle) => obstacle.hint(),
        }
    }
}

macro_rules! states {
    ($($status:ident = $variant:ident;)*) => {$(
        impl From<$status> for CurrentState {
            fn from(status: $status) -> Self {
                Self::$variant(status)
            }
        }
    )*};
}

states! {
    ActionStatus = Action;
    RunStatus = Run;
    WorktreeStatus = Worktree;
    Obstacle = Obstacle;
}

macro_rules! obstacles {
    ($($variant:ident = $is:literal, $hint:literal;)*) => {
        /// Obstacle to a command, besides the status of what the command is about.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Obstacle {
            $(#[doc = $is] $variant,)*
        }

        impl Obstacle {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// Completes "while it is".
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $is,)* }
            }

            /// Next step for the caller.
            pub const fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }
        }
    };
}

obstacles! {
    // Identities and settings.
    IdentityRevoked = "revoked", "register a new identity";
    WithoutPasskeys = "without passkeys", "a link lets them in (`placet link --to NAME`)";
    NotAway = "not away", "there is nothing to end";
    AbsenceKnown = "known or over", "there is nothing to note";
    DeclaredOften = "declared often in this hour", "the latest declaration counts; it is asked for again after an hour";
    WordsKept = "kept", "it is set to that already";
    WordsNotKept = "not kept", "it is set to that already";
    NotStopped = "not stopped", "everything may go on as it is";
    StoppedAlready = "stopped already", "nothing is going on";
    InSafeMode = "in safe mode already", "nothing is being changed";
    NotInSafeMode = "not in safe mode", "everything may go on as it is";
    PasskeysDemanded = "demanded already", "everybody signs with a passkey";
    PasskeysNotDemanded = "not demanded", "whoever has a passkey signs with it anyway";
    // Evidence.
    PreservedOtherwise = "preserved otherwise", "the preserved contents changed meanwhile; look again";
    PreservedAlready = "preserved already", "nothing of it is removed";
    NotPreserved = "not preserved", "its contents follow the settings as it is";
    // Actions.
    OrderRevoked = "approved by an order that was revoked", "propose it again";
    BeforeRollback = "from before the run was rolled back", "it must be proposed again";
    JudgedByCurrentPolicy = "judged by the policy in force", "nothing changed";
    JudgedByOldPolicy = "judged by an older policy", "it will be judged again; look again then";
    InterruptedUnderOldPolicy = "judged by an older policy", "abandon it and propose it again";
    PermitVoid = "without a valid permit", "the identity that approved or proposed it was revoked";
    RunWithoutResults = "in a run without results", "rehearsed actions are decided when the run has its results";
    Unassigned = "assigned to nobody", "there is nothing to take back";
    AssignedAlready = "theirs already", "change the note, or name another reviewer";
    NotSnoozed = "not snoozed by you", "there is nothing to take back";
    // Runs.
    NotHosted = "not hosted yet", "its host must take it in first";
    SavingAlready = "about to be saved", "its host is taking a snapshot; look again";
    NotSaved = "not saved yet", "its host is taking the snapshot; look again";
    NotRestored = "not restored yet", "its host is bringing the snapshot back";
    NotCollected = "not collected yet", "its host is collecting the outputs; look again";
    NothingDue = "not due", "nothing is due";
    Performing = "still performing what it had rehearsed", "wait until that is done, or decide on it";
    PastCheckpoint = "past this checkpoint", "look at its current status";
    OrderRevokedAlready = "revoked already", "there is nothing to take back";
    WishDecided = "decided already", "its host is asked about again where it is still wanted";
    WishNotGranted = "not granted", "there is nothing to take back";
    ParentOver = "part of a run that is over", "make it without a parent";
    ParentUnapproved = "part of a run that is not approved", "a reviewer must approve its parent's plan first";
    TooManyPlans = "one of too many plans that you are making now", "wait for one of them";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn obstacles_are_told_apart() {
        let told: std::collections::BTreeSet<_> = Obstacle::ALL.iter().map(|one| (one.as_str(), one.hint())).collect();
        // Settings that are as wished, and two things that are not stopped.
        assert!(told.len() >= Obstacle::ALL.len() - 2, "{told:?}");
    }
}
