//! What people, agents, hosts and the clockwork may ask of a run.

use std::collections::BTreeSet;

use super::call::{CallCount, ModelCall};
use super::hosting::{Hosting, Output};
use super::mode::Posture;
use crate::budget::{Amounts, Budget, Ceiling, Purpose, Resource};
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId, ProjectId, RunId};
use crate::identity::Lineage;
use crate::planning::Preparation;
use crate::project::Separation;
use crate::proposal::Opening;
use crate::refusal::Refusal;
use crate::scope::Scope;

/// What a run is given to use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    pub ceiling: Ceiling,
    /// How much of a limit may be used before a person is asked.
    pub warn_at_percent: u8,
}

impl Allowance {
    /// Itself, if it makes sense beside what is spent and held already.
    pub(crate) fn checked(self, now: Option<&Budget>) -> Result<Self, Refusal> {
        if !(1..=100).contains(&self.warn_at_percent) {
            return Err(Refusal::invalid("a person is asked at 1 to 100 percent of a limit"));
        }
        let committed = now.map(Budget::committed).unwrap_or_default();
        let enough = self.ceiling.permits(Amounts::NONE, committed);
        enough.map_err(|short| Refusal::Budget { why: format!("more than this is spent or held already: {short}") })?;
        Ok(self)
    }
}

/// What a run is made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Founding {
    pub project: ProjectId,
    /// The run that has it made.
    pub parent: Option<RunId>,
    pub separation: Separation,
    pub goal: String,
    /// What was worked out before: goal, plan, posture and allowance agree with it.
    pub prepared: Option<Box<Preparation>>,
    /// A plan that is given at once is submitted at once.
    pub plan: Vec<String>,
    pub scope: Scope,
    pub posture: Posture,
    pub hosting: Hosting,
    pub allowance: Option<Allowance>,
    /// The call of a model that its plan came from: the first thing that it spends.
    pub planning: Option<Box<ModelCall>>,
    pub agent: IdentityId,
    pub agent_lineage: Lineage,
    /// Where its agent is made with it: the digest of a token that nobody knows. Whoever hosts the run asks for another.
    pub agent_token: Option<Digest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunCommand {
    Create(Box<Founding>),
    SetBudget {
        allowance: Allowance,
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
    /// A worker takes it in.
    Host,
    /// Its host is about to start the agent, and needs a fresh credential for it.
    Equip,
    Attach,
    /// The agent has done the next step of the plan.
    FinishStep {
        step: u32,
        summary: String,
    },
    /// Somebody wants a person to look before it goes on.
    ReachGate {
        summary: String,
    },
    PassGate {
        seen: Digest,
        /// What the agent should know or do otherwise.
        note: String,
        /// What is to be done instead of the steps that are left.
        plan: Option<Vec<String>>,
    },
    /// What was done since the last checkpoint will not do.
    RejectGate {
        seen: Digest,
        reason: String,
    },
    Pause {
        reason: String,
    },
    Resume,
    RollBack {
        to: u32,
        reason: String,
    },
    /// Somebody wants it saved as it is now, to be able to return here.
    AskSnapshot {
        reason: String,
    },
    /// Its host could not take the snapshot that somebody asked for.
    FailSnapshot {
        reason: String,
    },
    /// Its host took a snapshot and has tried to restore it.
    KeepSnapshot {
        number: u32,
        workspace: Digest,
        memory: Digest,
        files: u64,
        size_bytes: u64,
    },
    /// Its host brought a snapshot back.
    Restore {
        number: u32,
        workspace: Digest,
        memory: Digest,
    },
    Hold {
        purpose: Purpose,
        amounts: Amounts,
    },
    Settle {
        purpose: Purpose,
        spent: Amounts,
    },
    /// The cage of an action was refused something.
    Wish {
        action: ActionId,
        opening: Opening,
    },
    Grant {
        number: u32,
        seen: Digest,
        lasts_ms: u64,
    },
    RejectWish {
        number: u32,
        reason: String,
    },
    Revoke {
        number: u32,
        reason: String,
    },
    /// What somebody said yes to beforehand waits for a person again.
    RevokeOrder {
        number: u32,
        reason: String,
    },
    /// Calls of models that were made from what is held.
    Charge {
        purpose: Purpose,
        calls: Vec<ModelCall>,
    },
    /// Calls of models that are not recorded one by one.
    CountCalls {
        counts: Vec<CallCount>,
    },
    /// There is too little left of something for what its agent wants.
    RunDry {
        resource: Resource,
    },
    Finish {
        summary: String,
    },
    /// Its host collected what it made.
    Collect {
        outputs: Vec<Output>,
        /// What of its inputs is no longer there.
        removed: Vec<String>,
    },
    ApproveResults {
        seen: Digest,
        /// Which outputs are let out; all of them if nothing is said.
        chosen: Option<BTreeSet<u32>>,
    },
    RejectResults {
        seen: Digest,
        reason: String,
    },
    Fail {
        reason: String,
    },
    Cancel {
        reason: String,
    },
    /// Its host removed everything and looked that nothing is left.
    Destroy,
    /// The clockwork noticed that something is due.
    Lapse,
}

impl RunCommand {
    /// Whether it may change what is held for the run by whoever pays for it.
    pub const fn concerns_payer(&self) -> bool {
        self.concerns_children() || matches!(self, Self::Submit { .. } | Self::Start)
    }

    /// Whether it may do so if the run is over: what was under way then is settled later.
    pub const fn concerns_payers_when_over(&self) -> bool {
        matches!(self, Self::Settle { .. } | Self::Charge { .. })
    }

    /// Whether it may change what becomes of the runs that the run has made.
    pub const fn concerns_children(&self) -> bool {
        matches!(self, Self::SetBudget { .. } | Self::ApproveResults { .. } | Self::Cancel { .. })
    }

    /// Whether work begins or goes on by it.
    pub const fn goes_on(&self) -> bool {
        match self {
            Self::Start
            | Self::Host
            | Self::Equip
            | Self::Attach
            | Self::FinishStep { .. }
            | Self::PassGate { .. }
            | Self::Resume
            | Self::Hold { .. }
            | Self::Grant { .. }
            // It may let a checkpoint pass.
            | Self::Lapse => true,
            Self::Create(_)
            | Self::SetBudget { .. }
            | Self::Submit { .. }
            | Self::ApprovePlan { .. }
            | Self::RejectPlan { .. }
            | Self::ReachGate { .. }
            | Self::RejectGate { .. }
            | Self::Pause { .. }
            | Self::RollBack { .. }
            | Self::AskSnapshot { .. }
            | Self::FailSnapshot { .. }
            | Self::KeepSnapshot { .. }
            | Self::Restore { .. }
            | Self::Settle { .. }
            | Self::Charge { .. }
            | Self::CountCalls { .. }
            | Self::Wish { .. }
            | Self::RejectWish { .. }
            | Self::Revoke { .. }
            | Self::RevokeOrder { .. }
            | Self::RunDry { .. }
            | Self::Finish { .. }
            | Self::Collect { .. }
            | Self::ApproveResults { .. }
            | Self::RejectResults { .. }
            | Self::Fail { .. }
            | Self::Cancel { .. }
            | Self::Destroy => false,
        }
    }
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
    SetBudget = "set-budget", "given another budget";
    Submit = "submit", "submitted";
    ApprovePlan = "approve-plan", "approved";
    RejectPlan = "reject-plan", "rejected";
    Start = "start", "started";
    Host = "host", "hosted";
    Equip = "equip", "given a credential for its agent";
    Attach = "attach", "attached to";
    FinishStep = "finish-step", "brought a step further";
    ReachGate = "reach-gate", "brought to a checkpoint";
    PassGate = "pass-gate", "let through a checkpoint";
    RejectGate = "reject-gate", "sent back from a checkpoint";
    Pause = "pause", "paused";
    Resume = "resume", "resumed";
    RollBack = "roll-back", "rolled back";
    AskSnapshot = "ask-snapshot", "saved";
    FailSnapshot = "fail-snapshot", "left unsaved";
    KeepSnapshot = "keep-snapshot", "given this snapshot";
    Restore = "restore", "restored";
    Hold = "hold", "charged";
    Settle = "settle", "settled";
    Charge = "charge", "charged for calls";
    CountCalls = "count-calls", "told of calls";
    Wish = "wish", "asked for more of the network";
    Grant = "grant", "given more of the network";
    RejectWish = "reject-wish", "denied a wish";
    Revoke = "revoke", "taken back a grant";
    RevokeOrder = "revoke-order", "relieved of an order";
    RunDry = "run-dry", "stopped for want of budget";
    Finish = "finish", "finished";
    Collect = "collect", "given outputs";
    ApproveResults = "approve-results", "completed";
    RejectResults = "reject-results", "sent back to work";
    Fail = "fail", "failed";
    Cancel = "cancel", "cancelled";
    Destroy = "destroy", "destroyed";
    Lapse = "lapse", "let lapse";
}
