//! What people, agents and the clockwork may ask of a run.

use crate::digest::Digest;
use crate::id::{IdentityId, ProjectId};
use crate::identity::Lineage;
use crate::project::Separation;
use crate::scope::Scope;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunCommand {
    Create {
        project: ProjectId,
        separation: Separation,
        goal: String,
        /// A plan that is given at once is submitted at once.
        plan: Vec<String>,
        scope: Box<Scope>,
        agent: IdentityId,
        agent_lineage: Lineage,
    },
    Submit {
        plan: Vec<String>,
    },
    ApprovePlan {
        seen: Digest,
    },
    RejectPlan {
        reason: String,
    },
    Start,
    Attach,
    ReachGate {
        summary: String,
    },
    PassGate {
        seen: Digest,
    },
    Pause {
        reason: String,
    },
    Resume,
    RollBack {
        snapshot: Digest,
    },
    Finish {
        summary: String,
    },
    ApproveResults {
        seen: Digest,
    },
    RejectResults {
        reason: String,
    },
    Fail {
        reason: String,
    },
    Cancel {
        reason: String,
    },
}

macro_rules! kinds {
    ($($variant:ident = $name:literal, $participle:literal;)*) => {
        /// The kind of a command, without what it carries.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum RunCommandKind { $($variant),* }

        impl RunCommandKind {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// "It cannot be … now."
            pub(super) const fn participle(self) -> &'static str {
                match self { $(Self::$variant => $participle,)* }
            }
        }

        impl RunCommand {
            pub const fn kind(&self) -> RunCommandKind {
                match self { $(Self::$variant { .. } => RunCommandKind::$variant,)* }
            }
        }
    };
}

kinds! {
    Create = "create", "created";
    Submit = "submit", "submitted";
    ApprovePlan = "approve-plan", "approved";
    RejectPlan = "reject-plan", "rejected";
    Start = "start", "started";
    Attach = "attach", "attached to";
    ReachGate = "reach-gate", "brought to a checkpoint";
    PassGate = "pass-gate", "let through a checkpoint";
    Pause = "pause", "paused";
    Resume = "resume", "resumed";
    RollBack = "roll-back", "rolled back";
    Finish = "finish", "finished";
    ApproveResults = "approve-results", "completed";
    RejectResults = "reject-results", "sent back to work";
    Fail = "fail", "failed";
    Cancel = "cancel", "cancelled";
}
