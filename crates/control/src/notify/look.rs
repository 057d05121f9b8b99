//! Looks, when something is to be told, whether it still is so and whose it is: what was decided meanwhile is not told of.
//!
//! Whether somebody is told is asked of the domain itself, with what they would do: who may not decide it is not asked to, and what lies
//! beyond somebody's reach they are not told.

use std::collections::HashMap;

use placet_domain::action::{self, ActionCommand, ActionState, ActionStatus, Demand, Setting, Workers};
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::identity::{Actor, Identity, Role};
use placet_domain::refusal::Refusal;
use placet_domain::run::{self, Run, RunCommand, RunStatus};
use placet_domain::time::Timestamp;
use placet_domain::worktree::Person;
use placet_store::StoreError;

use super::{Asked, Item, Notice, NoticeKind, Subject};
use crate::app::App;

/// News that nobody took for so long are none any more.
const STALE_MS: u64 = 24 * 60 * 60 * 1_000;

/// Something that is worth telling now.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) item: Item,
    project: Option<ProjectId>,
    standing: Standing,
}

/// What it is about, as it stands now.
#[derive(Debug)]
enum Standing {
    Action { state: Box<ActionState>, run: Box<Run> },
    Run(Box<Run>),
    Worktree { informed: Vec<Person> },
}

impl Looked {
    /// How many people it still needs.
    pub(crate) fn asked(&self) -> Asked {
        match &self.standing {
            Standing::Action { state, .. } if self.item.what == NoticeKind::Action && state.approvals_missing() > 1 => {
                Asked::Several
            }
            Standing::Action { .. } | Standing::Run(_) | Standing::Worktree { .. } => Asked::One,
        }
    }
}

/// Looks at many things at once and at nothing twice.
pub(crate) struct Looker<'a> {
    app: &'a App,
    now: Timestamp,
    runs: HashMap<RunId, Option<Run>>,
    people: HashMap<IdentityId, String>,
    projects: HashMap<ProjectId, String>,
}

impl<'a> Looker<'a> {
    pub(crate) fn new(app: &'a App) -> Self {
        Self { app, now: app.store().now(), runs: HashMap::new(), people: HashMap::new(), projects: HashMap::new() }
    }

    /// The moment of this look.
    pub(crate) const fn now(&self) -> Timestamp {
        self.now
    }

    /// What there is to tell of a notice; nothing, if it is not so any more.
    pub(crate) async fn look(&mut self, notice: &Notice) -> Result<Option<Looked>, StoreError> {
        if !notice.what.waits() && self.now > notice.at.plus_ms(STALE_MS) {
            return Ok(None);
        }
        match &notice.subject {
            Subject::Action(id) => self.action(notice, *id).await,
            Subject::Run(id) => self.run(notice, *id, None).await,
            Subject::Wish { run, number } => self.run(notice, *run, Some(*number)).await,
            Subject::Worktree { id, informed, kind } => {
                let Some(worktree) = self.app.store().worktree(*id).await? else { return Ok(None) };
                let thing = format!("{} {kind}", worktree.opening.ticket);
                let agent = worktree.opening.agent.to_string();
                let project = self.project(notice.project).await?;
                let facts = Facts { thing, agent, project, goal: None, path: "/".to_owned() };
                let standing = Standing::Worktree { informed: informed.clone() };
                Ok(Some(looked(notice, facts, notice.project, standing)))
            }
        }
    }

    async fn action(&mut self, notice: &Notice, id: ActionId) -> Result<Option<Looked>, StoreError> {
        let Some(state) = self.app.store().action(id).await? else { return Ok(None) };
        let waits_as = match notice.what {
            NoticeKind::Action | NoticeKind::Assigned => Some(ActionStatus::PendingApproval),
            NoticeKind::Interrupted => Some(ActionStatus::Interrupted),
            NoticeKind::Plan
            | NoticeKind::Checkpoint
            | NoticeKind::Results
            | NoticeKind::Wish
            | NoticeKind::Failed
            | NoticeKind::Exhausted
            | NoticeKind::Worker
            | NoticeKind::Informed => None,
        };
        let is_taken_back = notice.what == NoticeKind::Assigned && state.attention.assigned.is_none();
        if is_taken_back || waits_as.is_some_and(|status| state.status != status) {
            return Ok(None);
        }
        let Some(run) = self.found_run(state.run).await? else { return Ok(None) };
        let facts = Facts {
            thing: self.thing(notice.what, &state).await?,
            agent: self.person(state.proposer).await?,
            project: self.project(Some(state.project)).await?,
            goal: Some(run.goal.clone()),
            path: format!("/actions/{id}"),
        };
        let mut found = looked(notice, facts, Some(state.project), Standing::Run(Box::new(run.clone())));
        if matches!(notice.what, NoticeKind::Action | NoticeKind::Assigned) {
            (found.item.tier, found.item.deadline) = (Some(state.verdict.tier()), Some(state.deadline));
        }
        found.standing = Standing::Action { state: Box::new(state), run: Box::new(run) };
        Ok(Some(found))
    }

    /// A room hears for whom it is.
    async fn thing(&mut self, what: NoticeKind, state: &ActionState) -> Result<String, StoreError> {
        match state.attention.assigned.as_ref().filter(|_| what == NoticeKind::Assigned) {
            Some(assigned) => Ok(format!("{}: {}", self.person(assigned.to).await?, state.tool)),
            None => Ok(state.tool.to_string()),
        }
    }

    async fn run(&mut self, notice: &Notice, id: RunId, wish: Option<u32>) -> Result<Option<Looked>, StoreError> {
        let Some(run) = self.found_run(id).await? else { return Ok(None) };
        if !is_still_so(notice.what, &run, wish) {
            return Ok(None);
        }
        let facts = Facts {
            thing: String::new(),
            agent: self.person(run.agent).await?,
            project: self.project(Some(run.project)).await?,
            goal: Some(run.goal.clone()),
            path: format!("/runs/{id}"),
        };
        Ok(Some(looked(notice, facts, Some(run.project), Standing::Run(Box::new(run)))))
    }

    async fn found_run(&mut self, id: RunId) -> Result<Option<Run>, StoreError> {
        if let Some(known) = self.runs.get(&id) {
            return Ok(known.clone());
        }
        let found = self.app.store().run(id).await?;
        self.runs.insert(id, found.clone());
        Ok(found)
    }

    async fn person(&mut self, id: IdentityId) -> Result<String, StoreError> {
        if let Some(known) = self.people.get(&id) {
            return Ok(known.clone());
        }
        let name = self.app.store().identity(id).await?.map_or_else(|| id.to_string(), |found| found.name);
        self.people.insert(id, name.clone());
        Ok(name)
    }

    async fn project(&mut self, id: Option<ProjectId>) -> Result<String, StoreError> {
        let Some(id) = id else { return Ok(String::new()) };
        if let Some(known) = self.projects.get(&id) {
            return Ok(known.clone());
        }
        let name = self.app.store().project(id).await?.map_or_else(|| id.to_string(), |found| found.name);
        self.projects.insert(id, name.clone());
        Ok(name)
    }

    /// Whether somebody is to be told of it, by their own rights.
    pub(crate) fn concerns(&self, looked: &Looked, identity: &Identity, everybody: &[Identity]) -> bool {
        let reached = looked.project.is_none_or(|project| identity.reach.includes(project));
        if identity.revoked || identity.is_caged() || !reached {
            return false;
        }
        match &looked.standing {
            Standing::Worktree { informed } => informed.iter().any(|person| person.means(identity, everybody)),
            Standing::Action { state, run } => self.action_concerns(looked.item.what, state, run, identity),
            Standing::Run(run) => self.run_concerns(looked.item.what, run, identity),
        }
    }

    fn action_concerns(&self, what: NoticeKind, state: &ActionState, run: &Run, identity: &Identity) -> bool {
        if what == NoticeKind::Worker {
            return identity.has(Role::Operator);
        }
        // As it stands now: whoever is not named any more is not told.
        if what == NoticeKind::Assigned && state.attention.assigned.as_ref().is_none_or(|named| named.to != identity.id)
        {
            return false;
        }
        if !matches!(what, NoticeKind::Action | NoticeKind::Assigned) {
            return identity.has(Role::Reviewer);
        }
        let (actor, terms, policy) =
            (Actor::Identity(identity.clone()), self.app.settings().terms, self.app.policy().version());
        let (givers, passkeys, now) = (&[], Demand::OfOwners, self.now);
        let setting =
            Setting { run, actor: &actor, terms: &terms, policy, givers, passkeys, workers: Workers::Free, now };
        let approve = ActionCommand::Approve { seen: state.review(), proof: None };
        // Whoever only has to sign it is asked like everybody else.
        let asked = match action::decide(state.id, Some(state), &approve, &setting) {
            Ok(_) | Err(Refusal::PasskeyNeeded) => true,
            Err(_) => false,
        };
        asked && identity.has(Role::Reviewer)
    }

    fn run_concerns(&self, what: NoticeKind, run: &Run, identity: &Identity) -> bool {
        let seen = run.review();
        let command = match what {
            NoticeKind::Plan => RunCommand::ApprovePlan { seen },
            NoticeKind::Results => RunCommand::ApproveResults { seen, chosen: None },
            NoticeKind::Checkpoint => RunCommand::PassGate { seen, note: String::new(), plan: None },
            NoticeKind::Wish | NoticeKind::Action | NoticeKind::Assigned | NoticeKind::Interrupted => {
                return identity.has(Role::Reviewer);
            }
            NoticeKind::Failed | NoticeKind::Exhausted | NoticeKind::Worker | NoticeKind::Informed => {
                return identity.has(Role::Reviewer) || identity.has(Role::Operator);
            }
        };
        let actor = Actor::Identity(identity.clone());
        // Its host may still be saving or collecting: nothing else would tell of it when that is done. Who may decide is asked before.
        let asked = match run::decide(Some(run), &command, &actor, self.now) {
            Ok(_) | Err(Refusal::NotNow { .. }) => true,
            Err(_) => false,
        };
        asked && identity.has(Role::Reviewer)
    }
}

/// What is told of something, as it was written.
struct Facts {
    thing: String,
    agent: String,
    project: String,
    goal: Option<String>,
    path: String,
}

fn looked(notice: &Notice, facts: Facts, project: Option<ProjectId>, standing: Standing) -> Looked {
    let Facts { thing, agent, project: project_name, goal, path } = facts;
    let (seq, what, tier, deadline) = (notice.seq, notice.what, notice.tier, notice.deadline);
    let item = Item { seq, what, thing, agent, project: project_name, goal, tier, deadline, path };
    Looked { item, project, standing }
}

fn is_still_so(what: NoticeKind, run: &Run, wish: Option<u32>) -> bool {
    match what {
        NoticeKind::Plan => run.status == RunStatus::PendingApproval,
        // One that waits for an action is told of by the action.
        NoticeKind::Checkpoint => {
            let by_itself = run.gate.as_ref().is_none_or(|gate| gate.action.is_none());
            run.status == RunStatus::CheckpointReached && by_itself
        }
        NoticeKind::Results => run.status == RunStatus::PendingExport,
        NoticeKind::Wish => {
            let open = run.status.is_open() || run.status == RunStatus::PendingExport;
            open && run.network.wishes.iter().any(|known| Some(known.number) == wish && known.answer.is_waiting())
        }
        NoticeKind::Failed => run.status == RunStatus::Failed,
        NoticeKind::Exhausted => run.dry.is_some(),
        NoticeKind::Action
        | NoticeKind::Assigned
        | NoticeKind::Interrupted
        | NoticeKind::Worker
        | NoticeKind::Informed => true,
    }
}
