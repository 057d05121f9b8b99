//! What recorded events mean for metrics: what a decision came to, and which status an action.

use placet_domain::action::{ActionEvent, ActionStatus, Resolution};
use placet_domain::policy::Ruling;
use placet_domain::run::RunEvent;

/// What a decision at a standstill came to.
pub(super) const fn outcome(event: &RunEvent) -> Option<&'static str> {
    match event {
        // Taken back: nobody decided.
        RunEvent::GateSettled { unseen: true, .. } => None,
        RunEvent::PlanApproved { .. }
        | RunEvent::GatePassed { .. }
        | RunEvent::GateSettled { executes: true, .. }
        | RunEvent::ResultsApproved { .. } => Some("approved"),
        RunEvent::PlanRejected { .. }
        | RunEvent::GateRejected { .. }
        | RunEvent::GateSettled { executes: false, .. }
        | RunEvent::ResultsRejected { .. } => Some("rejected"),
        RunEvent::GateLapsed => Some("lapsed"),
        RunEvent::Created { .. }
        | RunEvent::Prepared { .. }
        | RunEvent::BudgetSet { .. }
        | RunEvent::Submitted { .. }
        | RunEvent::Started
        | RunEvent::Hosted { .. }
        | RunEvent::Equipped
        | RunEvent::Attached
        | RunEvent::StepFinished { .. }
        | RunEvent::GateReached { .. }
        | RunEvent::GateMoved { .. }
        | RunEvent::GateUnanswered { .. }
        | RunEvent::Overasked { .. }
        | RunEvent::Paused { .. }
        | RunEvent::Exhausted { .. }
        | RunEvent::PlanApprovalVoided { .. }
        | RunEvent::Resumed
        | RunEvent::WaitingForPeople
        | RunEvent::WaitingOver
        | RunEvent::Halted
        | RunEvent::Released
        | RunEvent::RolledBack { .. }
        | RunEvent::SnapshotAsked { .. }
        | RunEvent::SnapshotKept { .. }
        | RunEvent::SnapshotFailed { .. }
        | RunEvent::SnapshotsForgotten { .. }
        | RunEvent::Restored { .. }
        | RunEvent::Held { .. }
        | RunEvent::Settled { .. }
        | RunEvent::Called { .. }
        | RunEvent::CallsCounted { .. }
        | RunEvent::NetworkWished { .. }
        | RunEvent::NetworkGranted { .. }
        | RunEvent::NetworkRejected { .. }
        | RunEvent::NetworkRevoked { .. }
        | RunEvent::OrderGiven { .. }
        | RunEvent::OrderUsed { .. }
        | RunEvent::OrderRevoked { .. }
        | RunEvent::Finished { .. }
        | RunEvent::Collected { .. }
        | RunEvent::Performing { .. }
        | RunEvent::Performed { .. }
        | RunEvent::Failed { .. }
        | RunEvent::Cancelled { .. }
        | RunEvent::Destroyed => None,
    }
}

/// What happened to a standing order.
pub(super) const fn order_event(event: &RunEvent) -> Option<&'static str> {
    if let RunEvent::OrderGiven { .. } = event {
        return Some("given");
    }
    if let RunEvent::OrderUsed { .. } = event {
        return Some("used");
    }
    if let RunEvent::OrderRevoked { .. } = event { Some("revoked") } else { None }
}

/// The status that an action comes to by an event, where it comes to another one.
pub(super) fn came_to(event: &ActionEvent) -> Option<ActionStatus> {
    Some(match event {
        ActionEvent::Judged { verdict, .. } => match verdict.ruling() {
            Ruling::Allow => ActionStatus::Approved,
            Ruling::Ask { .. } => ActionStatus::PendingApproval,
            Ruling::Deny => ActionStatus::Denied,
        },
        ActionEvent::Approved { complete: true, .. } | ActionEvent::LeaseLapsed { started: false, .. } => {
            ActionStatus::Approved
        }
        ActionEvent::ApprovalsVoided { .. } => ActionStatus::PendingApproval,
        ActionEvent::Rehearsed => ActionStatus::Rehearsed,
        ActionEvent::Rejected { .. } => ActionStatus::Rejected,
        ActionEvent::Superseded { .. } => ActionStatus::Superseded,
        ActionEvent::Withdrawn { .. } => ActionStatus::Withdrawn,
        ActionEvent::DeadlineLapsed => ActionStatus::Expired,
        ActionEvent::Leased { .. } => ActionStatus::Leased,
        ActionEvent::Redeemed { .. } => ActionStatus::Executing,
        ActionEvent::Completed { exit, .. } if exit.is_success() => ActionStatus::Succeeded,
        ActionEvent::Completed { .. } => ActionStatus::Failed,
        ActionEvent::LeaseLapsed { started: true, .. } => ActionStatus::Interrupted,
        ActionEvent::Resolved { resolution: Resolution::Abandon, .. } => ActionStatus::Abandoned,
        ActionEvent::Proposed { .. }
        | ActionEvent::Approved { complete: false, .. }
        | ActionEvent::ToBePerformed { .. }
        | ActionEvent::Renewed { .. }
        | ActionEvent::Postponed { .. }
        | ActionEvent::Quarantined { .. }
        | ActionEvent::Assigned { .. }
        | ActionEvent::Deferred { .. }
        // Back to where its verdict puts it, which is counted when it is judged again or decided.
        | ActionEvent::Resolved { resolution: Resolution::Retry, .. } => return None,
    })
}
