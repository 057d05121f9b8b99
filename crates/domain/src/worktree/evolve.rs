//! What a recorded event means for a worktree. Total: history is taken as it is, never judged again.

use super::command::Work;
use super::event::WorktreeEvent;
use super::state::{Exemption, Worktree, WorktreeStatus};
use crate::id::{IdentityId, WorktreeId};

pub fn evolve(id: WorktreeId, state: Option<Worktree>, event: &WorktreeEvent) -> Option<Worktree> {
    if let WorktreeEvent::Opening { project, opening, by, lineage } = event {
        return Some(Worktree {
            id,
            project: *project,
            sitting: state.map_or(1, |before| before.sitting.saturating_add(1)),
            status: WorktreeStatus::Opening,
            tip: opening.base.clone(),
            opening: (**opening).clone(),
            opened_by: *by,
            opener_lineage: lineage.clone(),
            exemptions: Vec::new(),
            report: None,
            items: Vec::new(),
            forced: None,
            because: None,
            merged: None,
            advice: Vec::new(),
        });
    }
    let mut worktree = state?;
    change(&mut worktree, event);
    Some(worktree)
}

fn change(worktree: &mut Worktree, event: &WorktreeEvent) {
    match event {
        WorktreeEvent::Opening { .. } => {}
        WorktreeEvent::Opened => worktree.status = WorktreeStatus::Open,
        WorktreeEvent::Adopted { found } => {
            worktree.status = WorktreeStatus::Open;
            worktree.because = Some(found.clone());
        }
        WorktreeEvent::Noted { work } => note(worktree, work),
        WorktreeEvent::Advised { advice } => worktree.advice.push(advice.clone()),
        WorktreeEvent::ExemptionAsked { paths, reason, by, lineage } => {
            let (paths, reason, asked_by, lineage) = (paths.clone(), reason.clone(), *by, lineage.clone());
            worktree.exemptions.push(Exemption { paths, reason, asked_by, lineage, granted: None, granted_by: None });
        }
        WorktreeEvent::ExemptionGranted { number, by, .. } => settle(worktree, *number, Some(true), *by),
        WorktreeEvent::ExemptionVoided { number, .. } => settle(worktree, *number, None, None),
        WorktreeEvent::ExemptionRefused { number, .. } => settle(worktree, *number, Some(false), None),
        WorktreeEvent::Closed { tip, report, items, forced } => {
            worktree.status = WorktreeStatus::Closed;
            worktree.tip = tip.clone();
            worktree.report = Some(*report);
            worktree.items.clone_from(items);
            worktree.forced.clone_from(forced);
        }
        WorktreeEvent::Merged { commit, .. } => {
            worktree.status = WorktreeStatus::Merged;
            worktree.merged = Some(commit.clone());
        }
        WorktreeEvent::Aborted { reason } => {
            worktree.status = WorktreeStatus::Aborted;
            worktree.because = Some(reason.clone());
        }
    }
}

fn note(worktree: &mut Worktree, work: &Work) {
    match work {
        Work::Harvested { to, .. } => worktree.tip = to.clone(),
        Work::Began { .. }
        | Work::Executed { .. }
        | Work::Checked { .. }
        | Work::Pushing { .. }
        | Work::Pushed { .. }
        | Work::Advised { .. }
        | Work::Collected { .. } => {}
    }
}

fn settle(worktree: &mut Worktree, number: usize, granted: Option<bool>, by: Option<IdentityId>) {
    if let Some(exemption) = worktree.exemptions.get_mut(number) {
        (exemption.granted, exemption.granted_by) = (granted, by);
    }
}
