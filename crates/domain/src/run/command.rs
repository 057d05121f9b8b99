//! Commands of a run, by people, agents, hosts and the runtime. Facets declare their own commands.

use std::collections::BTreeSet;

use super::budget::{Allowance, BudgetCommand};
use super::call::ModelCall;
use super::calls::CallCommand;
use super::hosting::{Hosting, HostingCommand};
use super::mode::Posture;
use super::network::NetworkCommand;
use super::orders::OrderCommand;
use super::snapshots::SnapshotCommand;
use crate::budget::Resource;
use crate::digest::Digest;
use crate::id::{IdentityId, ProjectId, RunId};
use crate::identity::Lineage;
use crate::planning::Preparation;
use crate::project::Separation;
use crate::reason::RunFailure;
use crate::scope::Scope;

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
    /// There is too little left of something for what its agent wants.
    RunDry {
        resource: Resource,
    },
    Finish {
        summary: String,
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
        reason: RunFailure,
    },
    Cancel {
        reason: String,
    },
    /// The clockwork noticed that something is due.
    Lapse,
    Budget(BudgetCommand),
    Network(NetworkCommand),
    Order(OrderCommand),
    Hosting(HostingCommand),
    Snapshot(SnapshotCommand),
    Call(CallCommand),
}

macro_rules! facets {
    ($($command:ident = $variant:ident;)*) => {$(
        impl From<$command> for RunCommand {
            fn from(command: $command) -> Self {
                Self::$variant(command)
            }
        }
    )*};
}

facets! {
    BudgetCommand = Budget;
    NetworkCommand = Network;
    OrderCommand = Order;
    HostingCommand = Hosting;
    SnapshotCommand = Snapshot;
    CallCommand = Call;
}

impl RunCommand {
    /// Whether it may change what is held for the run by whoever pays for it.
    pub const fn concerns_payer(&self) -> bool {
        self.concerns_children() || matches!(self, Self::Submit { .. } | Self::Start)
    }

    /// Whether it may do so if the run is over: what was under way then is settled later.
    pub const fn concerns_payers_when_over(&self) -> bool {
        matches!(self, Self::Budget(BudgetCommand::Settle { .. }) | Self::Call(CallCommand::Charge { .. }))
    }

    /// Whether it may change what becomes of the runs that the run has made.
    pub const fn concerns_children(&self) -> bool {
        matches!(self, Self::Budget(BudgetCommand::Set { .. }) | Self::ApproveResults { .. } | Self::Cancel { .. })
    }

    /// True if work begins or continues with it.
    pub const fn goes_on(&self) -> bool {
        match self {
            Self::Start
            | Self::Attach
            | Self::FinishStep { .. }
            | Self::PassGate { .. }
            | Self::Resume
            // It may let a checkpoint pass.
            | Self::Lapse => true,
            Self::Create(_)
            | Self::Submit { .. }
            | Self::ApprovePlan { .. }
            | Self::RejectPlan { .. }
            | Self::ReachGate { .. }
            | Self::RejectGate { .. }
            | Self::Pause { .. }
            | Self::RollBack { .. }
            | Self::RunDry { .. }
            | Self::Finish { .. }
            | Self::ApproveResults { .. }
            | Self::RejectResults { .. }
            | Self::Fail { .. }
            | Self::Cancel { .. }
            | Self::Order(_)
            | Self::Snapshot(_)
            | Self::Call(_) => false,
            Self::Budget(command) => command.goes_on(),
            Self::Network(command) => command.goes_on(),
            Self::Hosting(command) => command.goes_on(),
        }
    }
}

macro_rules! kinds {
    ($($command:pat => $kind:ident, $name:literal, $participle:literal;)*) => {
        /// Kind of a command, without its content.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum RunCommandKind { $($kind),* }

        impl RunCommandKind {
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// Participle for "it cannot be … now".
            pub(super) const fn participle(self) -> &'static str {
                match self { $(Self::$kind => $participle,)* }
            }
        }

        impl RunCommand {
            pub const fn kind(&self) -> RunCommandKind {
                match self { $($command => RunCommandKind::$kind,)* }
            }
        }
    };
}

kinds! {
    Self::Create { .. } => Create, "create", "created";
    Self::Budget(BudgetCommand::Set { .. }) => SetBudget, "set-budget", "given another budget";
    Self::Submit { .. } => Submit, "submit", "submitted";
    Self::ApprovePlan { .. } => ApprovePlan, "approve-plan", "approved";
    Self::RejectPlan { .. } => RejectPlan, "reject-plan", "rejected";
    Self::Start { .. } => Start, "start", "started";
    Self::Hosting(HostingCommand::Host) => Host, "host", "hosted";
    Self::Hosting(HostingCommand::Equip) => Equip, "equip", "given a credential for its agent";
    Self::Attach { .. } => Attach, "attach", "attached to";
    Self::FinishStep { .. } => FinishStep, "finish-step", "brought a step further";
    Self::ReachGate { .. } => ReachGate, "reach-gate", "brought to a checkpoint";
    Self::PassGate { .. } => PassGate, "pass-gate", "let through a checkpoint";
    Self::RejectGate { .. } => RejectGate, "reject-gate", "sent back from a checkpoint";
    Self::Pause { .. } => Pause, "pause", "paused";
    Self::Resume { .. } => Resume, "resume", "resumed";
    Self::RollBack { .. } => RollBack, "roll-back", "rolled back";
    Self::Snapshot(SnapshotCommand::Ask { .. }) => AskSnapshot, "ask-snapshot", "saved";
    Self::Snapshot(SnapshotCommand::Fail { .. }) => FailSnapshot, "fail-snapshot", "left unsaved";
    Self::Snapshot(SnapshotCommand::Keep { .. }) => KeepSnapshot, "keep-snapshot", "given this snapshot";
    Self::Snapshot(SnapshotCommand::Restore { .. }) => Restore, "restore", "restored";
    Self::Budget(BudgetCommand::Hold { .. }) => Hold, "hold", "charged";
    Self::Budget(BudgetCommand::Settle { .. }) => Settle, "settle", "settled";
    Self::Call(CallCommand::Charge { .. }) => Charge, "charge", "charged for calls";
    Self::Call(CallCommand::Count { .. }) => CountCalls, "count-calls", "told of calls";
    Self::Network(NetworkCommand::Wish { .. }) => Wish, "wish", "asked for more of the network";
    Self::Network(NetworkCommand::Grant { .. }) => Grant, "grant", "given more of the network";
    Self::Network(NetworkCommand::Reject { .. }) => RejectWish, "reject-wish", "denied a wish";
    Self::Network(NetworkCommand::Revoke { .. }) => Revoke, "revoke", "taken back a grant";
    Self::Order(OrderCommand::Revoke { .. }) => RevokeOrder, "revoke-order", "relieved of an order";
    Self::RunDry { .. } => RunDry, "run-dry", "stopped for want of budget";
    Self::Finish { .. } => Finish, "finish", "finished";
    Self::Hosting(HostingCommand::Collect { .. }) => Collect, "collect", "given outputs";
    Self::ApproveResults { .. } => ApproveResults, "approve-results", "completed";
    Self::RejectResults { .. } => RejectResults, "reject-results", "sent back to work";
    Self::Fail { .. } => Fail, "fail", "failed";
    Self::Cancel { .. } => Cancel, "cancel", "cancelled";
    Self::Hosting(HostingCommand::Destroy) => Destroy, "destroy", "destroyed";
    Self::Lapse { .. } => Lapse, "lapse", "let lapse";
}
