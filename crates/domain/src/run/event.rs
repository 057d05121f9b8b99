//! Events of a run. Each one is one ledger entry and at most one lawful transition. Facets declare their own events.

use serde::{Deserialize, Serialize};

use super::budget::BudgetEvent;
use super::calls::CallEvent;
use super::clock::ClockEvent;
use super::gate::GateKind;
use super::hosting::{Hosting, HostingEvent};
use super::mode::Posture;
use super::network::NetworkEvent;
use super::orders::OrderEvent;
use super::rehearsal::RehearsalEvent;
use super::snapshots::SnapshotEvent;
use crate::audit_status::AuditStatus;
use crate::budget::Resource;
use crate::digest::Digest;
use crate::event_meta::{DecisionOutcome, EventMeta, Metric, Phase};
use crate::id::{ActionId, IdentityId, ProjectId, RunId};
use crate::identity::Lineage;
use crate::notice::NoticeKind;
use crate::planning::Product;
use crate::project::Separation;
use crate::reason::StatusReason;
use crate::scope::Scope;
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum RunEvent {
    Created {
        project: ProjectId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<RunId>,
        separation: Separation,
        goal: String,
        scope: Box<Scope>,
        scope_version: Digest,
        #[serde(default, skip_serializing_if = "Posture::is_usual")]
        posture: Posture,
        #[serde(default, skip_serializing_if = "Hosting::is_external")]
        hosting: Hosting,
        agent: IdentityId,
        agent_lineage: Lineage,
        created_by: Option<IdentityId>,
        /// Ancestors of the creator.
        #[serde(default, skip_serializing_if = "Lineage::is_empty")]
        creator_lineage: Lineage,
    },
    /// What a step of planning led to.
    Prepared {
        product: Product,
    },
    Submitted {
        plan: Vec<String>,
        by: Option<IdentityId>,
        /// Ancestors of the plan's author.
        #[serde(default, skip_serializing_if = "Lineage::is_empty")]
        lineage: Lineage,
    },
    PlanApproved {
        seen: Digest,
        single_operator: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<IdentityId>,
    },
    /// The reviewer who approved the plan was revoked before the run was started. The plan waits for approval again.
    PlanApprovalVoided {
        reason: StatusReason,
    },
    PlanRejected {
        reason: String,
    },
    Started,
    Attached,
    StepFinished {
        step: u32,
        summary: String,
    },
    GateReached {
        #[serde(default = "asked_for")]
        kind: GateKind,
        reason: StatusReason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<ActionId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resource: Option<Resource>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finishes: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        passes_at: Option<Timestamp>,
    },
    GatePassed {
        seen: Digest,
        single_operator: bool,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<Vec<String>>,
    },
    /// Nobody looked for as long as was agreed.
    GateLapsed,
    /// The action that it waited for needs no decision any more, one way or the other.
    GateSettled {
        action: ActionId,
        executes: bool,
        /// No reviewer had a say in it: it was taken back, or the policy changed.
        #[serde(default, skip_serializing_if = "is_false")]
        unseen: bool,
    },
    /// Nobody decided in time on the action that it waited for. It waits for a person still.
    GateUnanswered {
        action: ActionId,
        reason: StatusReason,
    },
    /// Another action stands in the place of the one that it waits for.
    GateMoved {
        action: ActionId,
    },
    GateRejected {
        reason: String,
    },
    /// A question of the agent was refused because too many wait. Recorded once in a while.
    Overasked {
        undecided: u64,
    },
    Paused {
        reason: StatusReason,
    },
    /// There is not enough left of something to go on.
    Exhausted {
        resource: Resource,
    },
    Resumed,
    RolledBack {
        to: u32,
        reason: String,
    },
    Finished {
        summary: String,
    },
    ResultsApproved {
        seen: Digest,
        single_operator: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exported: Option<Vec<u32>>,
    },
    ResultsRejected {
        reason: String,
    },
    Failed {
        reason: StatusReason,
    },
    Cancelled {
        reason: StatusReason,
    },
    Budget(BudgetEvent),
    Network(NetworkEvent),
    Order(OrderEvent),
    Hosting(HostingEvent),
    Snapshot(SnapshotEvent),
    Call(CallEvent),
    Rehearsal(RehearsalEvent),
    Clock(ClockEvent),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// What a checkpoint was before there were kinds of them.
const fn asked_for() -> GateKind {
    GateKind::Step
}

macro_rules! facets {
    ($($event:ident = $variant:ident;)*) => {$(
        impl From<$event> for RunEvent {
            fn from(event: $event) -> Self {
                Self::$variant(event)
            }
        }
    )*};
}

facets! {
    BudgetEvent = Budget;
    NetworkEvent = Network;
    OrderEvent = Order;
    HostingEvent = Hosting;
    SnapshotEvent = Snapshot;
    CallEvent = Call;
    RehearsalEvent = Rehearsal;
    ClockEvent = Clock;
}

/// Phases of a run that its cancellation ends.
const ENDED_BY_CANCEL: &[Phase] =
    &[Phase::Plan, Phase::Spawn, Phase::Checkpoint, Phase::Pause, Phase::Rollback, Phase::Collection, Phase::Results];

fn checkpoint_reached(kind: GateKind) -> EventMeta {
    let meta = EventMeta::new("run.checkpoint_reached")
        .opens(&[Phase::Checkpoint])
        .metric(Metric::Checkpoint { kind, outcome: "reached" });
    match kind {
        GateKind::Questions => meta.metric(Metric::QuestionRefused("lately")),
        GateKind::Time | GateKind::Step | GateKind::Action | GateKind::Cost => meta,
    }
}

impl RunEvent {
    /// Metadata of the event: the one place where a new event of the lifecycle is declared, besides `evolve`.
    pub fn meta(&self) -> EventMeta {
        use DecisionOutcome::{Approved, Lapsed, Rejected};
        match self {
            Self::Created { .. } => EventMeta::new("run.created"),
            Self::Prepared { product } => EventMeta::new(product.kind()),
            Self::Submitted { .. } => EventMeta::new("run.submitted").opens(&[Phase::Plan]).notice(NoticeKind::Plan),
            Self::PlanApproved { .. } => EventMeta::new("run.plan_approved")
                .closes(&[Phase::Plan])
                .decided(AuditStatus::PlanApproved)
                .outcome(Approved),
            Self::PlanApprovalVoided { .. } => EventMeta::new("run.plan_approval_voided")
                .decided(AuditStatus::PlanApprovalVoid)
                .notice(NoticeKind::Plan),
            Self::PlanRejected { .. } => EventMeta::new("run.plan_rejected")
                .closes(&[Phase::Plan])
                .decided(AuditStatus::PlanRejected)
                .outcome(Rejected),
            Self::Started => EventMeta::new("run.started").opens(&[Phase::Spawn]),
            Self::Attached => EventMeta::new("run.attached").closes(&[Phase::Spawn]),
            Self::StepFinished { .. } => EventMeta::new("run.step_finished").moment("step"),
            // The notice of the action covers a checkpoint that waits for an action.
            Self::GateReached { action: Some(_), kind, .. } => checkpoint_reached(*kind),
            Self::GateReached { action: None, kind, passes_at, .. } => {
                checkpoint_reached(*kind).notice(NoticeKind::Checkpoint).until(*passes_at)
            }
            Self::GatePassed { .. } => EventMeta::new("run.checkpoint_passed")
                .closes(&[Phase::Checkpoint])
                .decided(AuditStatus::CheckpointApproved)
                .outcome(Approved),
            Self::GateLapsed => EventMeta::new("run.checkpoint_lapsed")
                .closes(&[Phase::Checkpoint])
                .decided(AuditStatus::CheckpointLapsed)
                .outcome(Lapsed),
            // The action was withdrawn, so nobody decided.
            Self::GateSettled { unseen: true, .. } => {
                EventMeta::new("run.checkpoint_settled").closes(&[Phase::Checkpoint])
            }
            Self::GateSettled { executes, .. } => EventMeta::new("run.checkpoint_settled")
                .closes(&[Phase::Checkpoint])
                .outcome(if *executes { Approved } else { Rejected }),
            // The run waits on, at a checkpoint of kind STEP.
            Self::GateUnanswered { .. } => EventMeta::new("run.checkpoint_unanswered")
                .notice(NoticeKind::Checkpoint)
                .metric(Metric::Checkpoint { kind: GateKind::Action, outcome: "unanswered" })
                .metric(Metric::Checkpoint { kind: GateKind::Step, outcome: "reached" }),
            Self::GateMoved { .. } => EventMeta::new("run.checkpoint_moved"),
            Self::GateRejected { .. } => EventMeta::new("run.checkpoint_rejected")
                .closes(&[Phase::Checkpoint])
                .decided(AuditStatus::CheckpointRejected)
                .outcome(Rejected),
            Self::Overasked { .. } => EventMeta::new("run.overasked").metric(Metric::QuestionRefused("undecided")),
            Self::Paused { .. } => EventMeta::new("run.paused").opens(&[Phase::Pause]),
            Self::Exhausted { .. } => {
                EventMeta::new("run.exhausted").opens(&[Phase::Pause]).notice(NoticeKind::Exhausted)
            }
            // A run that was paused at a checkpoint waits there again. Otherwise the notice is not sent, because nothing waits.
            Self::Resumed => EventMeta::new("run.resumed").closes(&[Phase::Pause]).notice(NoticeKind::Checkpoint),
            Self::RolledBack { .. } => EventMeta::new("run.rolled_back")
                .closes(&[Phase::Checkpoint, Phase::Pause, Phase::Results])
                .opens(&[Phase::Rollback])
                .metric(Metric::Rollback),
            Self::Finished { .. } => {
                EventMeta::new("run.finished").opens(&[Phase::Collection, Phase::Results]).notice(NoticeKind::Results)
            }
            Self::ResultsApproved { .. } => {
                let meta = EventMeta::new("run.completed").decided(AuditStatus::ResultsApproved);
                let meta = meta.closes(&[Phase::Collection, Phase::Results]).opens(&[Phase::Destruction]).ends();
                meta.outcome(Approved).metric(Metric::RunEnd)
            }
            Self::ResultsRejected { .. } => EventMeta::new("run.results_rejected")
                .closes(&[Phase::Results])
                .decided(AuditStatus::ResultsRejected)
                .outcome(Rejected),
            Self::Failed { .. } => EventMeta::new("run.failed")
                .closes(&[Phase::Spawn, Phase::Checkpoint, Phase::Pause, Phase::Collection])
                .ends()
                .notice(NoticeKind::Failed)
                .metric(Metric::RunEnd),
            Self::Cancelled { .. } => EventMeta::new("run.cancelled")
                .closes(ENDED_BY_CANCEL)
                .opens(&[Phase::Destruction])
                .ends()
                .metric(Metric::RunEnd),
            Self::Budget(event) => event.meta(),
            Self::Network(event) => event.meta(),
            Self::Order(event) => event.meta(),
            Self::Hosting(event) => event.meta(),
            Self::Snapshot(event) => event.meta(),
            Self::Call(event) => event.meta(),
            Self::Rehearsal(event) => event.meta(),
            Self::Clock(event) => event.meta(),
        }
    }

    /// True if the event changes only amounts of a budget: who may do what stays as it is.
    pub const fn moves_amounts_only(&self) -> bool {
        matches!(self, Self::Budget(BudgetEvent::Held { .. } | BudgetEvent::Settled { .. }) | Self::Call(_))
    }
}
