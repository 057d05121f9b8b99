//! Standing orders: one person's yes to actions of one class in one run, so many times and until then.
//!
//! An order is given on an action that waits, together with the yes to it, by whoever may approve that one. It is void under another
//! policy than the one it was given under and after a rollback; it ends with its time, its count, its run, or because somebody says so.
//! Whoever rejects an action ends all orders of its run for the same tool. What was used is never given back.
//!
//! What is not here: which actions an order may be given on, and who is independent enough of the next one ([`crate::action`]).

use serde::{Deserialize, Serialize};

use super::event::RunEvent;
use super::state::Run;
use crate::action::{ActionEvent, ActionState};
use crate::approval::{Extent, Width, class};
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId};
use crate::identity::Identity;
use crate::policy::Verdict;
use crate::proposal::{ActionSpec, ToolName};
use crate::refusal::Refusal;
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
    pub revoked: Option<String>,
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
) -> Result<RunEvent, Refusal> {
    if run.orders.len() >= MOST_ORDERS {
        let why = format!("{MOST_ORDERS} orders were given in this run, and no more are; decide on each action");
        return Err(Refusal::invalid(why));
    }
    Ok(RunEvent::OrderGiven {
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
    })
}

pub(super) fn revoke(run: &Run, number: u32, reason: &str) -> Result<RunEvent, Refusal> {
    let order = run.order(number).ok_or(Refusal::Unknown { what: "order" })?;
    if order.revoked.is_some() {
        return Err(Refusal::not_now("taken back", "taken back already", "there is nothing to take back"));
    }
    Ok(RunEvent::OrderRevoked { number, reason: reason.to_owned() })
}

/// What the event of an action means for the orders of its run: one was used, or some are over.
pub(super) fn follow(run: &Run, action: Option<&ActionState>, id: ActionId, event: &ActionEvent) -> Vec<RunEvent> {
    if let ActionEvent::Approved { approval, .. } = event {
        return approval.order.map(|number| RunEvent::OrderUsed { number, action: id }).into_iter().collect();
    }
    let Some(rejected) = action.filter(|_| matches!(event, ActionEvent::Rejected { .. })) else { return Vec::new() };
    let same = run.orders.iter().filter(|order| order.tool == rejected.tool && order.revoked.is_none());
    let reason = "an action with the same tool was rejected".to_owned();
    same.map(|order| RunEvent::OrderRevoked { number: order.number, reason: reason.clone() }).collect()
}

pub(super) fn given(run: &mut Run, event: &RunEvent, at: Timestamp) {
    let RunEvent::OrderGiven { number, action, seen: _, tool, width, class, policy, giver, token, until, times } =
        event
    else {
        return;
    };
    run.orders.push(Order {
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
        rollbacks: run.rollbacks,
        revoked: None,
    });
}

pub(super) fn used(run: &mut Run, number: u32) {
    change(run, number, |order| order.used = order.used.saturating_add(1));
}

pub(super) fn revoked(run: &mut Run, number: u32, reason: &str) {
    change(run, number, |order| order.revoked = Some(reason.to_owned()));
}

fn change(run: &mut Run, number: u32, change: impl FnOnce(&mut Order)) {
    if let Some(order) = run.orders.iter_mut().find(|order| order.number == number) {
        change(order);
    }
}
