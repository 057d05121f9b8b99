//! Context of an action: who can decide it, how similar ones were decided before, and whether it only looks like one of
//! them.

use placet_domain::action::{self, ActionCommand, ActionState, ActionStatus, Demand, Setting, Workers};
use placet_domain::approval::{Width, class};
use placet_domain::id::{ActionId, IdentityId};
use placet_domain::identity::{Actor, Identity, Role};
use placet_domain::proposal::ActionSpec;
use placet_domain::refusal::Refusal;
use placet_domain::run::Run;
use placet_domain::time::Timestamp;
use placet_store::{ActionFilter, Listed, Order};

use super::actions::{opened, title};
use crate::app::App;
use crate::error::No;

/// How many of the newest actions of a project are looked through for what was decided before.
const MOST_LOOKED_THROUGH: u32 = 400;
const HISTORY_MS: i64 = 30 * 24 * 60 * 60 * 1_000;
/// As many as somebody looks at again before they decide.
const MOST_RECENT: usize = 5;
/// How many of the newest actions of its run one is compared with.
const MOST_COMPARED: u32 = 20;

/// What became of actions with the same tool in the same project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    pub approved: u64,
    pub rejected: u64,
    pub succeeded: u64,
    pub failed: u64,
    /// The newest of them.
    pub recent: Vec<Past>,
}

/// One that was decided before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Past {
    pub id: ActionId,
    /// Title of the action.
    pub title: String,
    pub status: ActionStatus,
    pub at: Timestamp,
    /// Why it was rejected, if it was.
    pub reason: Option<String>,
}

/// Whom the rules let decide.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Who {
    /// Who can, by name.
    pub can: Vec<String>,
    /// Their ids, in the same order: two people may have one name.
    pub ids: Vec<IdentityId>,
    /// Who decides things here and cannot decide this: they stand behind the agent, or made something of its proposal.
    pub behind: Vec<String>,
}

/// Everybody whom the domain itself would let approve it, and who could not because of whose it is.
pub async fn who(app: &App, run: &Run, state: &ActionState) -> Result<Option<Who>, No> {
    if state.status != ActionStatus::PendingApproval {
        return Ok(None);
    }
    let passkeys = Demand::by(&app.store().organisation().await?);
    let (terms, policy, now) = (app.settings().terms, app.policy().version(), app.store().now());
    let command = ActionCommand::Approve { seen: state.review(), proof: None };
    let mut who = Who::default();
    for identity in app.store().identities().await?.into_iter().filter(|identity| decides_here(identity, run)) {
        let (name, id, actor) = (identity.name.clone(), identity.id, Actor::Identity(identity));
        let setting =
            Setting { run, actor: &actor, terms: &terms, policy, givers: &[], passkeys, workers: Workers::Free, now };
        match action::decide(state.id, Some(state), &command, &setting) {
            Ok(_) | Err(Refusal::PasskeyNeeded) => {
                who.can.push(name);
                who.ids.push(id);
            }
            Err(Refusal::Kin) => who.behind.push(name),
            Err(_) => {}
        }
    }
    Ok(Some(who))
}

fn decides_here(identity: &Identity, run: &Run) -> bool {
    !identity.revoked && identity.has(Role::Reviewer) && identity.reach.includes(run.project)
}

/// What was decided about the same tool in the same project.
pub async fn history(app: &App, state: &ActionState) -> Result<History, No> {
    let since = Timestamp::from_unix_ms(app.store().now().unix_ms() - HISTORY_MS);
    let filter = ActionFilter {
        project: Some(state.project),
        changed_since: Some(since),
        order: Order::NewestFirst,
        limit: MOST_LOOKED_THROUGH,
        ..ActionFilter::default()
    };
    let found = app.store().actions(filter).await?;
    let mut counted = History::default();
    for other in found.iter().filter(|other| other.tool == state.tool && other.id != state.id) {
        counted.approved += u64::from(other.was_looked_at());
        counted.rejected += u64::from(other.status == ActionStatus::Rejected);
        counted.succeeded += u64::from(other.status == ActionStatus::Succeeded);
        counted.failed += u64::from(other.status == ActionStatus::Failed);
        if counted.recent.len() < MOST_RECENT && (other.was_looked_at() || other.status == ActionStatus::Rejected) {
            counted.recent.push(past(app, other).await);
        }
    }
    Ok(counted)
}

async fn past(app: &App, other: &Listed<ActionState>) -> Past {
    let rejected = other.because.as_ref().filter(|_| other.status == ActionStatus::Rejected);
    let reason = rejected.map(ToString::to_string);
    Past { id: other.id, title: title(app, other).await, status: other.status, at: other.changed_at, reason }
}

/// The newest of its run that a person approved and that differs only in what stands in its files: whoever has just read that one would take
/// this one for it. Nothing where an identical one was approved.
pub async fn lookalike(app: &App, state: &ActionState, spec: &ActionSpec) -> Result<Option<ActionId>, No> {
    if state.status != ActionStatus::PendingApproval || spec.files.is_empty() {
        return Ok(None);
    }
    let (run, order, limit) = (Some(state.run), Order::NewestFirst, MOST_COMPARED);
    let found = app.store().actions(ActionFilter { run, order, limit, ..ActionFilter::default() }).await?;
    let mut alike = None;
    let was_approved = |other: &ActionState| other.was_looked_at() && other.approvals_missing() == 0;
    for other in found.iter().filter(|other| other.tool == state.tool && was_approved(other) && other.id != state.id) {
        let Ok(theirs) = opened(app, other.id, other.digest).await else { continue };
        let is_same = |width| {
            class(width, state.project, spec, &state.verdict) == class(width, state.project, &theirs, &other.verdict)
        };
        if is_same(Width::Exact) {
            return Ok(None);
        }
        alike = alike.or_else(|| is_same(Width::Contents).then_some(other.id));
    }
    Ok(alike)
}
