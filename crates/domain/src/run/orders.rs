//! Orders facet of a run: standing approvals of one person for actions of one class, a number of times and until a deadline.
//!
//! An order is given together with the approval of a waiting action, by a reviewer who may approve that action. It is void under another
//! policy and after a rollback; it ends with its time, its count, its run, or by a revocation. The rejection of an action ends all orders of
//! its run for the same tool. A used count is never given back.
//!
//! Which actions an order may be given on, and who is independent enough of the next one, is decided in [`crate::action`].

use serde::{Deserialize, Serialize};

use super::rule::{Giver, Rule};
use super::state::{Run, RunStatus};
use super::text::check_said;
use crate::action::{ActionEvent, ActionState};
use crate::approval::{Extent, Width, class};
use crate::audit_status::AuditStatus;
use crate::digest::Digest;
use crate::event_meta::{EventMeta, Metric};
use crate::id::{ActionId, IdentityId};
use crate::identity::Identity;
use crate::policy::Verdict;
use crate::proposal::{ActionSpec, ToolName};
use crate::reason::StatusReason;
use crate::refusal::{Obstacle, Refusal};
use crate::time::Timestamp;

/// They are part of a run's state, which is read with every action.
pub const MOST_ORDERS: usize = 100;

/// One order, as it was given, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub number: u32,
    /// The action it was given on.
    pub action: ActionId,
    pub tool: ToolName,
    pub width: Width,
    pub class: Digest,
    /// The version of the policy it was given under.
    pub policy: Digest,
    pub giver: IdentityId,
    /// The digest of the token that the giver had. Whoever gets a new one gave the old one away, and perhaps did not give this order.
    pub token: Digest,
    pub given_at: Timestamp,
    pub until: Timestamp,
    /// How many actions it approves at most, beside the one it was given on.
    pub times: u32,
    pub used: u32,
    /// How often its run had been rolled back.
    #[serde(default)]
    pub rollbacks: u32,
    /// Why it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<StatusReason>,
}

/// Whether an order still says yes, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stand {
    Stands,
    Revoked,
    UsedUp,
    Expired,
    /// The run is over, was rolled back, or is judged by another policy now.
    Void,
}

impl Stand {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stands => "STANDS",
            Self::Revoked => "REVOKED",
            Self::UsedUp => "USED_UP",
            Self::Expired => "EXPIRED",
            Self::Void => "VOID",
        }
    }
}

impl Order {
    fn given(event: &OrderEvent, at: Timestamp) -> Option<Self> {
        let OrderEvent::Given {
            number,
            action,
            seen: _,
            tool,
            width,
            class,
            policy,
            giver,
            token,
            until,
            times,
            rollbacks,
        } = event
        else {
            return None;
        };
        Some(Self {
            number: *number,
            action: *action,
            tool: tool.clone(),
            width: *width,
            class: *class,
            policy: *policy,
            giver: *giver,
            token: *token,
            given_at: at,
            until: *until,
            times: *times,
            used: 0,
            rollbacks: *rollbacks,
            revoked: None,
        })
    }

    /// How it stands in its run at this moment, under the policy in force.
    pub fn stand(&self, run: &Run, policy: Digest, now: Timestamp) -> Stand {
        if self.revoked.is_some() {
            Stand::Revoked
        } else if self.used >= self.times {
            Stand::UsedUp
        } else if now >= self.until {
            Stand::Expired
        } else if run.status.is_final() || self.rollbacks != run.rollbacks || self.policy != policy {
            Stand::Void
        } else {
            Stand::Stands
        }
    }

    /// Whether an action of this run with this verdict is one of those it was given for.
    pub fn covers(&self, run: &Run, spec: &ActionSpec, verdict: &Verdict) -> bool {
        self.width.fits(spec) && self.class == class(self.width, run.project, spec, verdict)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OrderCommand {
    Revoke { number: u32, reason: String },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum OrderEvent {
    /// A reviewer approved actions of this class in advance.
    Given {
        number: u32,
        /// The action it was given on, and what its reviewer was shown of it.
        action: ActionId,
        seen: Digest,
        tool: ToolName,
        width: Width,
        class: Digest,
        policy: Digest,
        giver: IdentityId,
        /// The digest of the giver's token.
        token: Digest,
        until: Timestamp,
        times: u32,
        /// Number of rollbacks of the run so far. A later rollback voids the order.
        #[serde(default, skip_serializing_if = "is_zero")]
        rollbacks: u32,
    },
    /// The order approved this action.
    Used {
        number: u32,
        action: ActionId,
    },
    Revoked {
        number: u32,
        reason: StatusReason,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl OrderEvent {
    pub(super) fn meta(&self) -> EventMeta {
        match self {
            Self::Given { .. } => {
                EventMeta::new("run.order_given").decided(AuditStatus::OrderGiven).metric(Metric::Order("given"))
            }
            // The approver is in the entry of the action.
            Self::Used { .. } => EventMeta::new("run.order_used").metric(Metric::Order("used")),
            Self::Revoked { .. } => {
                EventMeta::new("run.order_revoked").decided(AuditStatus::OrderRevoked).metric(Metric::Order("revoked"))
            }
        }
    }
}

impl OrderCommand {
    pub(super) fn rule(&self, run: &Run) -> Rule {
        match self {
            // Revoking needs no independence.
            Self::Revoke { .. } => {
                let runs = run.status.is_open() || run.status == RunStatus::PendingExport;
                Rule::new(runs, Giver::OperatorOrReviewer)
            }
        }
    }

    pub(super) fn check_text(&self) -> Result<(), Refusal> {
        match self {
            Self::Revoke { reason, .. } => check_said(reason),
        }
    }
}

impl Run {
    pub fn order(&self, number: u32) -> Option<&Order> {
        self.orders.iter().find(|order| order.number == number)
    }

    /// Whether somebody took back the order by which it was approved.
    pub(crate) fn disowns(&self, action: &ActionState) -> bool {
        let orders = action.approvals.iter().filter_map(|approval| approval.order);
        orders.filter_map(|number| self.order(number)).any(|order| order.revoked.is_some())
    }
}

/// What giving it on this action records. Whether it may be given was looked at before.
pub(crate) fn give(
    run: &Run,
    action: &ActionState,
    spec: &ActionSpec,
    extent: Extent,
    giver: &Identity,
    now: Timestamp,
) -> Result<OrderEvent, Refusal> {
    if run.orders.len() >= MOST_ORDERS {
        let why = format!("{MOST_ORDERS} orders were given in this run, and no more are; decide on each action");
        return Err(Refusal::invalid(why));
    }
    Ok(OrderEvent::Given {
        number: u32::try_from(run.orders.len()).unwrap_or(u32::MAX).saturating_add(1),
        action: action.id,
        seen: action.review(),
        tool: action.tool.clone(),
        width: extent.width,
        class: class(extent.width, run.project, spec, &action.verdict),
        policy: action.verdict.policy(),
        giver: giver.id,
        token: giver.token,
        until: now.plus_ms(extent.lasts_ms),
        times: extent.times,
        rollbacks: run.rollbacks,
    })
}

pub(super) fn decide(run: &Run, command: &OrderCommand) -> Result<OrderEvent, Refusal> {
    match command {
        OrderCommand::Revoke { number, reason } => revoke(run, *number, reason),
    }
}

fn revoke(run: &Run, number: u32, reason: &str) -> Result<OrderEvent, Refusal> {
    let order = run.order(number).ok_or(Refusal::Unknown { what: "order" })?;
    if order.revoked.is_some() {
        return Err(Refusal::not_now("taken back", Obstacle::OrderRevokedAlready));
    }
    Ok(OrderEvent::Revoked { number, reason: StatusReason::said(reason) })
}

/// Consequences of an action's event for the orders of its run: one was used, or some end.
pub(super) fn follow(run: &Run, action: Option<&ActionState>, id: ActionId, event: &ActionEvent) -> Vec<OrderEvent> {
    if let ActionEvent::Approved { approval, .. } = event {
        return approval.order.map(|number| OrderEvent::Used { number, action: id }).into_iter().collect();
    }
    let Some(rejected) = action.filter(|_| matches!(event, ActionEvent::Rejected { .. })) else { return Vec::new() };
    let same = run.orders.iter().filter(|order| order.tool == rejected.tool && order.revoked.is_none());
    let revoke = |order: &Order| OrderEvent::Revoked { number: order.number, reason: StatusReason::SameToolRejected };
    same.map(revoke).collect()
}

pub(super) fn evolve(orders: &mut Vec<Order>, event: &OrderEvent, at: Timestamp) {
    let mut change = |number: u32, change: &dyn Fn(&mut Order)| {
        orders.iter_mut().filter(|order| order.number == number).for_each(change);
    };
    match event {
        OrderEvent::Given { .. } => orders.extend(Order::given(event, at)),
        OrderEvent::Used { number, .. } => change(*number, &|order| order.used = order.used.saturating_add(1)),
        OrderEvent::Revoked { number, reason } => change(*number, &|order| order.revoked = Some(reason.clone())),
    }
}
