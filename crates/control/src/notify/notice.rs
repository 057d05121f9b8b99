//! From an entry of the ledger to a notice: something waits for somebody, or ended badly, or somebody is to be informed. Pure.
//!
//! Only transitions make notices, never states: what is told of once is not told of again because it still is so. Whether it still waits
//! is not known here; that is looked at when it is told.

use placet_domain::action::ActionEvent;
use placet_domain::command::About;
use placet_domain::id::{ActionId, ProjectId, RunId, WorktreeId};
use placet_domain::policy::Tier;
use placet_domain::record::{Event, Record};
use placet_domain::run::RunEvent;
use placet_domain::time::Timestamp;
use placet_domain::worktree::{Person, WorktreeNews};
use placet_ledger::Entry;
use placet_store::StoredEntry;

use super::What;

/// One thing that people may have to be told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// The entry by which it came to be.
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) what: What,
    pub(crate) project: Option<ProjectId>,
    pub(crate) subject: Subject,
    /// How many people an action asks for.
    pub(crate) tier: Option<Tier>,
    /// Until when it can be decided.
    pub(crate) deadline: Option<Timestamp>,
}

/// What it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    Action(ActionId),
    Run(RunId),
    Wish { run: RunId, number: u32 },
    Worktree { id: WorktreeId, informed: Vec<Person>, kind: String },
}

/// What is worth telling of in an event.
struct Told {
    what: What,
    subject: Subject,
    tier: Option<Tier>,
    deadline: Option<Timestamp>,
}

impl Told {
    const fn of(what: What, subject: Subject) -> Self {
        Self { what, subject, tier: None, deadline: None }
    }
}

impl Notice {
    /// The notice of an entry, if it is one that anybody could be told of.
    pub(crate) fn of(stored: &StoredEntry) -> Option<Self> {
        let entry = Entry::parse(&stored.bytes).ok()?;
        let (project, run) = (parsed(entry.project.as_deref()), parsed(entry.run.as_deref()));
        let about = About { project, run, action: parsed(entry.action.as_deref()) };
        let record = Record::read(about, &entry.kind, entry.body).ok()?;
        let Told { what, subject, tier, deadline } = told(record.event, &entry.kind)?;
        Some(Self { seq: stored.seq, at: stored.at, what, project, subject, tier, deadline })
    }
}

fn parsed<T: std::str::FromStr>(text: Option<&str>) -> Option<T> {
    text?.parse().ok()
}

fn told(event: Event, kind: &str) -> Option<Told> {
    match event {
        Event::Action(id, event) => of_action(id, &event),
        Event::Run(id, event) => of_run(id, &event),
        Event::Worktree(WorktreeNews { worktree: id, informed, consulted, .. })
            if !informed.is_empty() || consulted.iter().any(|asked| asked.said.is_none()) =>
        {
            let asked = consulted.into_iter().filter(|asked| asked.said.is_none()).map(|asked| asked.person);
            let informed = informed.into_iter().chain(asked).collect();
            Some(Told::of(What::Informed, Subject::Worktree { id, informed, kind: kind.to_owned() }))
        }
        Event::Worktree(_)
        | Event::Organisation(_)
        | Event::Project(..)
        | Event::Identity(..)
        | Event::BlobKept(_)
        | Event::BlobRemoved(_)
        | Event::Refused(_)
        | Event::PlannerAsked(_)
        | Event::PlannerAnswered(_)
        | Event::Started(_) => None,
    }
}

fn of_action(id: ActionId, event: &ActionEvent) -> Option<Told> {
    let subject = Subject::Action(id);
    match event {
        ActionEvent::Judged { verdict, deadline, .. } if matches!(verdict.tier(), Tier::B | Tier::C) => {
            let (tier, deadline) = (Some(verdict.tier()), Some(*deadline));
            Some(Told { tier, deadline, ..Told::of(What::Action, subject) })
        }
        // Both events ask people about the action again.
        ActionEvent::ToBePerformed { deadline, .. } | ActionEvent::ApprovalsVoided { deadline, .. } => {
            Some(Told { deadline: Some(*deadline), ..Told::of(What::Action, subject) })
        }
        // Only whoever is named is told: whom else it concerns was told when it was asked.
        ActionEvent::Assigned { to: Some(_), .. } => Some(Told::of(What::Assigned, subject)),
        ActionEvent::LeaseLapsed { started: true, .. } => Some(Told::of(What::Interrupted, subject)),
        ActionEvent::LeaseLapsed { started: false, .. } => Some(Told::of(What::Worker, subject)),
        ActionEvent::Judged { .. }
        | ActionEvent::Proposed { .. }
        | ActionEvent::Rehearsed
        | ActionEvent::Approved { .. }
        | ActionEvent::Rejected { .. }
        | ActionEvent::Superseded { .. }
        | ActionEvent::Withdrawn { .. }
        | ActionEvent::Leased { .. }
        | ActionEvent::Redeemed { .. }
        | ActionEvent::Renewed { .. }
        | ActionEvent::Postponed { .. }
        | ActionEvent::Completed { .. }
        | ActionEvent::Quarantined { .. }
        | ActionEvent::DeadlineLapsed
        | ActionEvent::Resolved { .. }
        | ActionEvent::Assigned { to: None, .. }
        | ActionEvent::Deferred { .. } => None,
    }
}

fn of_run(id: RunId, event: &RunEvent) -> Option<Told> {
    let run = |what| Some(Told::of(what, Subject::Run(id)));
    match event {
        RunEvent::Submitted { .. } | RunEvent::PlanApprovalVoided { .. } => run(What::Plan),
        // One that waits for an action is told of by the action.
        RunEvent::GateReached { action: None, passes_at, .. } => {
            Some(Told { deadline: *passes_at, ..Told::of(What::Checkpoint, Subject::Run(id)) })
        }
        // Whoever resumes a run that was paused at a checkpoint finds it standing there again; where it does not, nothing is told.
        RunEvent::GateUnanswered { .. } | RunEvent::Resumed => run(What::Checkpoint),
        RunEvent::Finished { .. } => run(What::Results),
        RunEvent::NetworkWished { number, .. } => {
            Some(Told::of(What::Wish, Subject::Wish { run: id, number: *number }))
        }
        RunEvent::Failed { .. } => run(What::Failed),
        RunEvent::Exhausted { .. } => run(What::Exhausted),
        RunEvent::Created { .. }
        | RunEvent::Prepared { .. }
        | RunEvent::BudgetSet { .. }
        | RunEvent::PlanApproved { .. }
        | RunEvent::PlanRejected { .. }
        | RunEvent::Started
        | RunEvent::Hosted { .. }
        | RunEvent::Equipped
        | RunEvent::Attached
        | RunEvent::StepFinished { .. }
        | RunEvent::GateReached { .. }
        | RunEvent::GatePassed { .. }
        | RunEvent::GateLapsed
        | RunEvent::GateSettled { .. }
        | RunEvent::GateMoved { .. }
        | RunEvent::GateRejected { .. }
        | RunEvent::Paused { .. }
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
        | RunEvent::NetworkGranted { .. }
        | RunEvent::NetworkRejected { .. }
        | RunEvent::NetworkRevoked { .. }
        | RunEvent::Called { .. }
        | RunEvent::CallsCounted { .. }
        | RunEvent::Overasked { .. }
        | RunEvent::OrderGiven { .. }
        | RunEvent::OrderUsed { .. }
        | RunEvent::OrderRevoked { .. }
        | RunEvent::Collected { .. }
        | RunEvent::Performing { .. }
        | RunEvent::Performed { .. }
        | RunEvent::ResultsApproved { .. }
        | RunEvent::ResultsRejected { .. }
        | RunEvent::Cancelled { .. }
        | RunEvent::Destroyed => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b4_a_run_that_is_resumed_may_stand_at_its_checkpoint_again() {
        let id = RunId::from_uuid(uuid::Uuid::nil());
        let told = |event| of_run(id, &event).map(|told| told.what);
        assert_eq!(told(RunEvent::Resumed), Some(What::Checkpoint));
        assert_eq!(told(RunEvent::Paused { reason: String::new() }), None);
    }
}
