//! Projects and the scopes locked in them.
//!
//! A scope is named for people and versioned by its content; locking another content under the same name makes a new
//! version and leaves the runs of the old one as they are.

use serde::{Deserialize, Serialize};

use crate::budget::{Amounts, Budget, Ceiling, Purpose, Resource};
use crate::event_meta::EventMeta;
use crate::id::{ProjectId, RunId};
use crate::identity::{Actor, Role};
use crate::prose::check_reason;
use crate::refusal::{Obstacle, Refusal};
use crate::retention::{self, Preservation};
use crate::run::Allowance;
use crate::scope::Scope;
use crate::worktree::Duties;

const LONGEST_NAME: usize = 80;

/// Whether the person who stands behind an agent may approve what it proposes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Separation {
    /// Never: another person decides.
    #[default]
    FourEyes,
    /// Yes, where one approval suffices, and each such approval is marked. For people who work alone.
    SingleOperator,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Project {
    pub id: ProjectId,
    pub name: String,
    pub separation: Separation,
    /// Who decides what about worktrees.
    #[serde(default, skip_serializing_if = "Duties::are_usual")]
    pub duties: Duties,
    /// What all of its runs together may use up. Without one they are not limited together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// Whose contents stay, however old they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preserved: Vec<Preservation>,
    /// Whether what is said in calls of models is kept, encrypted and without secrets, for those who review its runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_words: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectCommand {
    Create {
        name: String,
        separation: Separation,
    },
    LockScope {
        name: String,
        scope: Scope,
    },
    AssignDuties {
        duties: Box<Duties>,
    },
    SetBudget {
        allowance: Allowance,
    },
    /// Nothing that the run names, or nothing at all, is removed until somebody ends it.
    Preserve {
        run: Option<RunId>,
        reason: String,
    },
    EndPreservation {
        run: Option<RunId>,
        reason: String,
    },
    /// From here on what is said in calls of models is kept, or not.
    SetWords {
        kept: bool,
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum ProjectEvent {
    Created {
        name: String,
        separation: Separation,
    },
    ScopeLocked {
        name: String,
        scope: Scope,
    },
    DutiesAssigned {
        duties: Box<Duties>,
    },
    BudgetSet {
        ceiling: Ceiling,
        warn_at_percent: u8,
    },
    /// A run was given a share.
    Allotted {
        run: RunId,
        amounts: Amounts,
    },
    /// A run is over; the rest of its share is free again.
    Returned {
        run: RunId,
        spent: Amounts,
    },
    /// Most of a limit is used, for those who watch over the project: no run can use more of it than it was given.
    MostlyUsed {
        resource: Resource,
    },
    PreservationBegun(Preservation),
    PreservationEnded {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<RunId>,
        reason: String,
    },
    WordsSet {
        kept: bool,
        reason: String,
    },
}

impl ProjectEvent {
    /// Metadata of the event: the one place where a new event is declared, besides `evolve`.
    pub fn meta(&self) -> EventMeta {
        EventMeta::new(match self {
            Self::Created { .. } => "project.created",
            Self::ScopeLocked { .. } => "scope.locked",
            Self::DutiesAssigned { .. } => "project.duties_assigned",
            Self::BudgetSet { .. } => "project.budget_set",
            Self::Allotted { .. } => "project.allotted",
            Self::Returned { .. } => "project.returned",
            Self::MostlyUsed { .. } => "project.mostly_used",
            Self::PreservationBegun(_) => "project.preservation_begun",
            Self::PreservationEnded { .. } => "project.preservation_ended",
            Self::WordsSet { .. } => "project.words_set",
        })
    }
}

pub fn decide(state: Option<&Project>, command: &ProjectCommand, actor: &Actor) -> Result<Vec<ProjectEvent>, Refusal> {
    match (command, state) {
        (ProjectCommand::Create { name, separation }, None) => {
            actor.needs(&[Role::Admin])?;
            check_name(name)?;
            Ok(vec![ProjectEvent::Created { name: name.clone(), separation: *separation }])
        }
        (ProjectCommand::Create { .. }, Some(_)) => Err(Refusal::Exists { what: "project" }),
        (
            ProjectCommand::LockScope { .. }
            | ProjectCommand::AssignDuties { .. }
            | ProjectCommand::SetBudget { .. }
            | ProjectCommand::Preserve { .. }
            | ProjectCommand::EndPreservation { .. }
            | ProjectCommand::SetWords { .. },
            None,
        ) => Err(Refusal::Unknown { what: "project" }),
        (ProjectCommand::SetBudget { allowance }, Some(project)) => {
            actor.needs(&[Role::Admin])?;
            let Allowance { ceiling, warn_at_percent } = allowance.checked(project.budget.as_ref())?;
            Ok(vec![ProjectEvent::BudgetSet { ceiling, warn_at_percent }])
        }
        (ProjectCommand::Preserve { run, reason }, Some(project)) => {
            // To keep more than was agreed harms nobody; to keep less is for administrators.
            actor.needs(&[Role::Admin, Role::Auditor])?;
            Ok(vec![ProjectEvent::PreservationBegun(retention::preserve(project, *run, reason)?)])
        }
        (ProjectCommand::EndPreservation { run, reason }, Some(project)) => {
            actor.needs(&[Role::Admin])?;
            retention::end_preservation(project, *run, reason)?;
            Ok(vec![ProjectEvent::PreservationEnded { run: *run, reason: reason.clone() }])
        }
        (ProjectCommand::SetWords { kept, reason }, Some(project)) => {
            actor.needs(&[Role::Admin])?;
            check_reason(reason)?;
            if project.keeps_words == *kept {
                let is = if *kept { Obstacle::WordsKept } else { Obstacle::WordsNotKept };
                return Err(Refusal::not_now("set", is));
            }
            Ok(vec![ProjectEvent::WordsSet { kept: *kept, reason: reason.clone() }])
        }
        (ProjectCommand::AssignDuties { duties }, Some(_)) => {
            actor.needs(&[Role::Admin])?;
            duties.check()?;
            Ok(vec![ProjectEvent::DutiesAssigned { duties: duties.clone() }])
        }
        (ProjectCommand::LockScope { name, scope }, Some(_)) => {
            actor.needs(&[Role::Operator, Role::Admin])?;
            check_name(name)?;
            Ok(vec![ProjectEvent::ScopeLocked { name: name.clone(), scope: scope.clone() }])
        }
    }
}

pub fn evolve(id: ProjectId, state: Option<Project>, event: &ProjectEvent) -> Option<Project> {
    match event {
        ProjectEvent::Created { name, separation } => {
            let (duties, preserved) = (Duties::default(), Vec::new());
            let (name, separation) = (name.clone(), *separation);
            Some(Project { id, name, separation, duties, budget: None, preserved, keeps_words: false })
        }
        ProjectEvent::ScopeLocked { .. } => state,
        ProjectEvent::DutiesAssigned { duties } => {
            state.map(|project| Project { duties: (**duties).clone(), ..project })
        }
        ProjectEvent::BudgetSet { ceiling, warn_at_percent } => with_budget(state, |budget| {
            *budget = std::mem::take(budget).within(*ceiling, *warn_at_percent);
        }),
        ProjectEvent::Allotted { run, amounts } => {
            with_budget(state, |budget| budget.hold(Purpose::Run(*run), *amounts))
        }
        ProjectEvent::Returned { run, spent } => {
            with_budget(state, |budget| budget.settle(&Purpose::Run(*run), *spent))
        }
        ProjectEvent::MostlyUsed { resource } => with_budget(state, |budget| budget.ask(*resource)),
        ProjectEvent::PreservationBegun(preservation) => {
            with_preserved(state, |preserved| preserved.push(preservation.clone()))
        }
        ProjectEvent::WordsSet { kept, .. } => state.map(|project| Project { keeps_words: *kept, ..project }),
        ProjectEvent::PreservationEnded { run, .. } => {
            with_preserved(state, |preserved| preserved.retain(|preservation| preservation.run != *run))
        }
    }
}

fn with_preserved(state: Option<Project>, change: impl FnOnce(&mut Vec<Preservation>)) -> Option<Project> {
    state.map(|mut project| {
        change(&mut project.preserved);
        project
    })
}

fn with_budget(state: Option<Project>, change: impl FnOnce(&mut Budget)) -> Option<Project> {
    state.map(|mut project| {
        change(project.budget.get_or_insert_default());
        project
    })
}

fn check_name(name: &str) -> Result<(), Refusal> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(plain) {
        return Ok(());
    }
    Err(Refusal::invalid("a name has 1 to 80 letters, digits, `-`, `_` or `.`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::ScopeDraft;

    fn id() -> ProjectId {
        ProjectId::from_uuid(uuid::Uuid::from_u128(1))
    }

    fn create(name: &str) -> ProjectCommand {
        ProjectCommand::Create { name: name.into(), separation: Separation::FourEyes }
    }

    #[test]
    fn b2_a_scope_is_locked_in_a_project_that_exists() {
        let lock = ProjectCommand::LockScope { name: "web".into(), scope: Scope::lock(ScopeDraft::default()) };
        assert_eq!(decide(None, &lock, &Actor::Runtime), Err(Refusal::Unknown { what: "project" }));
        let created = decide(None, &create("alpha"), &Actor::Runtime).unwrap();
        let project = evolve(id(), None, &created[0]);
        assert_eq!(decide(project.as_ref(), &lock, &Actor::Runtime).unwrap()[0].meta().kind, "scope.locked");
        assert_eq!(
            decide(project.as_ref(), &create("alpha"), &Actor::Runtime),
            Err(Refusal::Exists { what: "project" })
        );
    }

    #[test]
    fn b10_words_are_not_kept_until_an_administrator_says_so_with_a_reason() {
        let created = decide(None, &create("alpha"), &Actor::Runtime).unwrap();
        let project = evolve(id(), None, &created[0]);
        let set = |kept, reason: &str| ProjectCommand::SetWords { kept, reason: reason.into() };
        assert!(!project.as_ref().unwrap().keeps_words);
        assert!(decide(project.as_ref(), &set(true, ""), &Actor::Runtime).is_err(), "without a reason");
        assert!(decide(project.as_ref(), &set(false, "x"), &Actor::Runtime).is_err(), "nothing changes");
        let events = decide(project.as_ref(), &set(true, "an audit"), &Actor::Runtime).unwrap();
        assert_eq!(events[0].meta().kind, "project.words_set");
        let project = evolve(id(), project, &events[0]).unwrap();
        assert!(project.keeps_words && decide(Some(&project), &set(false, "done"), &Actor::Runtime).is_ok());
    }

    #[test]
    fn names_are_plain() {
        for name in ["", "a b", "a/b", "é", "../x", &"x".repeat(81)] {
            assert!(decide(None, &create(name), &Actor::Runtime).is_err(), "{name:?}");
        }
    }
}
