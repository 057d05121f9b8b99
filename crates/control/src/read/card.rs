//! The card of an action: everything a person is shown before they decide, by a page or by the API.

use placet_domain::action::{self, ActionCommand, ActionState, ActionStatus, Demand, Resolution, Setting, Workers};
use placet_domain::budget::{Amounts, Purpose};
use placet_domain::id::ActionId;
use placet_domain::identity::Role;
use placet_domain::refusal::Refusal;
use placet_domain::run::Run;
use placet_domain::time::Timestamp;
use placet_store::StoredEntry;
use placet_wire::api;

use super::around::{self, History};
use super::entries::{self, Yes};
use super::files::{self, FileShown};
use super::{actions, attention, interruption, names};
use crate::app::App;
use crate::error::No;
use crate::flow::{self, Caller};

/// One action with everything around it that matters for a decision.
#[derive(Debug)]
pub struct Card {
    pub state: ActionState,
    pub run: Run,
    pub detail: api::ActionDetail,
    /// When it was proposed.
    pub since: Timestamp,
    pub agent: String,
    pub blast: Blast,
    pub files: Vec<FileShown>,
    pub history: History,
    pub right: DecisionRight,
    /// Who approved it so far.
    pub approved_by: Vec<Yes>,
    /// Whether the caller has decided so much lately that they are asked to look twice.
    pub fast: bool,
    pub attention: api::AttentionView,
    /// Its entries of the ledger, the oldest first.
    pub entries: Vec<StoredEntry>,
}

/// Whether the caller may decide now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecisionRight {
    Yes,
    /// With a passkey.
    Sign,
    /// With a passkey, and the caller has none yet.
    NoPasskey,
    /// Not this person, or not now, and why.
    No(Refusal),
    /// There is nothing to decide any more.
    Settled,
}

/// What it can touch beyond what is sealed: whether it can be taken back, and what is left of the money.
#[derive(Debug, Clone, Default)]
pub struct Blast {
    /// The newest snapshot that its run can go back to.
    pub snapshot: Option<u32>,
    pub budget: Option<api::BudgetView>,
    /// What is held of it for this one.
    pub held: Option<Amounts>,
    /// Whether it is only rehearsed for now.
    pub rehearsed: bool,
}

/// Reads the card of an action that the caller may know of.
pub async fn card(app: &App, caller: &Caller, id: ActionId) -> Result<Card, No> {
    let state = flow::find_action(app, caller, id).await?;
    let run = flow::find_run(app, caller, state.run).await?;
    let interruption = interruption::of(app, &state).await?;
    let detail = api::ActionDetail { interruption, ..actions::detail(app, &state).await? };
    let files = files::shown(app, caller, &run, &detail.spec).await?;
    let entries = entries::stored_entries(app, id).await?;
    Ok(Card {
        since: entries.first().map_or(state.deadline, |entry| entry.at),
        agent: names::person(app, state.proposer).await?,
        blast: blast(&run, &state),
        history: around::history(app, &state).await?,
        right: decision_right(app, caller, &run, &state).await?,
        approved_by: entries::approvals(app, &state, &entries).await?,
        fast: flow::pace(app, caller.identity.id).await?.is_fast(),
        attention: attention::view(app, caller, &state).await?,
        state,
        run,
        detail,
        files,
        entries,
    })
}

fn blast(run: &Run, state: &ActionState) -> Blast {
    Blast {
        snapshot: run.snapshots.kept.last().map(|snapshot| snapshot.number),
        budget: run.budget.as_ref().map(api::BudgetView::from),
        held: run.budget.as_ref().and_then(|budget| budget.held_for(&Purpose::Action(state.id))),
        rehearsed: state.status == ActionStatus::Rehearsed,
    }
}

/// Whether this person may decide now: asked of the domain itself, so that no form is offered that would be refused.
async fn decision_right(app: &App, caller: &Caller, run: &Run, state: &ActionState) -> Result<DecisionRight, No> {
    let Some(command) = usual_decision(state) else { return Ok(DecisionRight::Settled) };
    if !caller.identity.has(Role::Reviewer) {
        return Ok(DecisionRight::No(Refusal::Role { needed: Role::Reviewer }));
    }
    let passkeys = Demand::by(&app.store().organisation().await?);
    let (actor, terms, policy, now) = (caller.actor(), app.settings().terms, app.policy().version(), app.store().now());
    let setting =
        Setting { run, actor: &actor, terms: &terms, policy, givers: &[], passkeys, workers: Workers::Free, now };
    Ok(match action::decide(state.id, Some(state), &command, &setting) {
        Ok(_) => DecisionRight::Yes,
        Err(Refusal::PasskeyNeeded) if caller.identity.doors.passkeys().is_empty() => DecisionRight::NoPasskey,
        Err(Refusal::PasskeyNeeded) => DecisionRight::Sign,
        Err(_) if state.status == ActionStatus::Rehearsed => DecisionRight::Settled,
        Err(refusal) => DecisionRight::No(refusal),
    })
}

/// What a person would decide about it first, if there is something to decide.
fn usual_decision(state: &ActionState) -> Option<ActionCommand> {
    let seen = state.review();
    Some(match state.status {
        ActionStatus::PendingApproval => ActionCommand::Approve { seen, proof: None },
        ActionStatus::Rehearsed => ActionCommand::Perform { seen, verdict: state.verdict.clone() },
        ActionStatus::Interrupted => {
            ActionCommand::Resolve { resolution: Resolution::Abandon, reason: "tried".to_owned() }
        }
        ActionStatus::Approved
        | ActionStatus::Denied
        | ActionStatus::Rejected
        | ActionStatus::Expired
        | ActionStatus::Superseded
        | ActionStatus::Withdrawn
        | ActionStatus::Leased
        | ActionStatus::Executing
        | ActionStatus::Succeeded
        | ActionStatus::Failed
        | ActionStatus::Abandoned => return None,
    })
}
