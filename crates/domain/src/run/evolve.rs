//! What a recorded event means for a run. Total: history is taken as it is, never judged again.

use super::event::RunEvent;
use super::state::{Run, RunStatus};
use crate::id::RunId;

pub fn evolve(id: RunId, state: Option<Run>, event: &RunEvent) -> Option<Run> {
    if let RunEvent::Created { project, separation, goal, scope, agent, agent_lineage, created_by, scope_version: _ } =
        event
    {
        return Some(Run {
            id,
            project: *project,
            goal: goal.clone(),
            plan: Vec::new(),
            scope: (**scope).clone(),
            agent: *agent,
            agent_lineage: agent_lineage.clone(),
            created_by: *created_by,
            submitted_by: None,
            separation: *separation,
            status: RunStatus::Draft,
            paused_from: None,
            standstills: 0,
            said: None,
            because: None,
        });
    }
    let mut run = state?;
    if let RunEvent::Submitted { plan, by } = event {
        run.plan.clone_from(plan);
        run.submitted_by = *by;
    }
    if matches!(event, RunEvent::Submitted { .. } | RunEvent::GateReached { .. } | RunEvent::Finished { .. }) {
        run.standstills = run.standstills.saturating_add(1);
        run.said = because(event);
    }
    let before = run.status;
    run.status = status_after(&run, event);
    run.paused_from = matches!(event, RunEvent::Paused { .. }).then_some(before);
    run.because = because(event);
    Some(run)
}

fn status_after(run: &Run, event: &RunEvent) -> RunStatus {
    match event {
        RunEvent::Created { .. } | RunEvent::PlanRejected { .. } => RunStatus::Draft,
        RunEvent::Submitted { .. } => RunStatus::PendingApproval,
        RunEvent::PlanApproved { .. } => RunStatus::Approved,
        RunEvent::Started => RunStatus::SpawningSandbox,
        RunEvent::Attached | RunEvent::GatePassed { .. } | RunEvent::ResultsRejected { .. } => RunStatus::Executing,
        RunEvent::GateReached { .. } => RunStatus::CheckpointReached,
        RunEvent::Paused { .. } => RunStatus::Paused,
        RunEvent::Resumed => run.paused_from.unwrap_or(RunStatus::Executing),
        RunEvent::RolledBack { .. } => RunStatus::RolledBack,
        RunEvent::Finished { .. } => RunStatus::PendingExport,
        RunEvent::ResultsApproved { .. } => RunStatus::Completed,
        RunEvent::Failed { .. } => RunStatus::Failed,
        RunEvent::Cancelled { .. } => RunStatus::Cancelled,
    }
}

fn because(event: &RunEvent) -> Option<String> {
    match event {
        RunEvent::PlanRejected { reason }
        | RunEvent::Paused { reason }
        | RunEvent::ResultsRejected { reason }
        | RunEvent::Failed { reason }
        | RunEvent::Cancelled { reason } => Some(reason.clone()),
        RunEvent::GateReached { summary } | RunEvent::Finished { summary } => Some(summary.clone()),
        RunEvent::Created { .. }
        | RunEvent::Submitted { .. }
        | RunEvent::PlanApproved { .. }
        | RunEvent::Started
        | RunEvent::Attached
        | RunEvent::GatePassed { .. }
        | RunEvent::Resumed
        | RunEvent::RolledBack { .. }
        | RunEvent::ResultsApproved { .. } => None,
    }
}
