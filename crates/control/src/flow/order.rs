//! ORDER: one yes for actions that are the same question, and what becomes of them when it is taken back.

use placet_domain::action::{self, ActionCommand, ActionState, ActionStatus, Demand, Setting, Workers};
use placet_domain::approval::{Extent, Width, class};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, RunId};
use placet_domain::identity::Actor;
use placet_domain::proposal::Action;
use placet_domain::refusal::Refusal;
use placet_domain::run::{OrderCommand, Run, RunCommand, Stand};
use placet_store::{ActionFilter, Listed, Order, RunFilter};
use placet_wire::api::OrderRequest;

use super::{Caller, No, change_run, find_action, find_run};
use crate::app::App;

/// What a person usually means by "for now", and by "a few".
const USUAL_ORDER_MS: u64 = 3_600_000;
const USUAL_TIMES: u32 = 20;
/// How many of the newest actions of a run are looked through for what an order would have covered, and how many are told.
const MOST_LOOKED_THROUGH: u32 = 50;
const MOST_TOLD: usize = 10;
/// More orders than anybody looks through at once.
const MOST_RUNS: u32 = 500;

/// Gives an order on an action, together with the yes to it. Gives the run, which has the order.
pub async fn give_order(
    app: &App,
    caller: &Caller,
    id: ActionId,
    seen: Digest,
    request: OrderRequest,
) -> Result<Run, No> {
    let state = find_action(app, caller, id).await?;
    let action = Box::new(opened(app, &state).await?);
    let lasts_ms = request.lasts_ms.unwrap_or_else(|| USUAL_ORDER_MS.min(app.settings().terms.longest_order_ms));
    let times = request.times.unwrap_or(USUAL_TIMES);
    let extent = Extent { width: request.width, lasts_ms, times };
    let command = ActionCommand::GiveOrder { seen, action, extent };
    let command = Command::Action { id, run: state.run, command };
    let receipt = app.submit(caller.actor(), command, caller.key.clone()).await?;
    receipt.loaded.run.ok_or_else(|| Refusal::Unknown { what: "run" }.into())
}

async fn opened(app: &App, state: &ActionState) -> Result<Action, No> {
    let sealed = app.store().sealed(state.id, state.digest).await.map_err(No::Fault)?;
    Ok(Action::open(&sealed.ok_or(Refusal::Unknown { what: "action" })?)?)
}

/// Takes an order back. What it approved and nobody has begun is withdrawn.
pub async fn revoke_order(app: &App, caller: &Caller, run: RunId, number: u32, reason: String) -> Result<Run, No> {
    let run = change_run(app, caller, run, RunCommand::Order(OrderCommand::Revoke { number, reason })).await?;
    withdraw_disowned(app, run.id).await?;
    Ok(run)
}

/// Ends what was approved by an order that was taken back. None of it can begin any more; here it stops to wait for a worker. Should
/// this not come to its end, time ends the rest.
pub(super) async fn withdraw_disowned(app: &App, run: RunId) -> Result<(), No> {
    let statuses = vec![ActionStatus::Approved];
    let mut filter = ActionFilter { run: Some(run), statuses, limit: 1_000, ..ActionFilter::default() };
    loop {
        let found = app.store().actions(filter.clone()).await.map_err(No::Fault)?;
        let Some(last) = found.last() else { return Ok(()) };
        filter.after = Some(last.created);
        for listed in found.iter().filter(|listed| by_order(listed)) {
            let command = Command::Action { id: listed.id, run, command: ActionCommand::Lapse };
            match app.submit(Actor::Runtime, command, None).await {
                // Of another order, which stands; or a worker was faster and was told that it must not begin.
                Ok(_) | Err(No::Refused(_)) => {}
                Err(fault) => return Err(fault),
            }
        }
    }
}

fn by_order(action: &ActionState) -> bool {
    action.approvals.iter().any(|approval| approval.order.is_some())
}

/// Runs within reach in which an order stands, the newest first.
pub(crate) async fn runs_with_orders(app: &App, caller: &Caller) -> Result<Vec<Listed<Run>>, No> {
    let reach = caller.identity.reach.clone();
    let filter = RunFilter { reach, with_orders: true, limit: MOST_RUNS, ..RunFilter::default() };
    let (policy, now) = (app.policy().version(), app.store().now());
    let mut found = app.store().runs(filter).await.map_err(No::Fault)?;
    found.retain(|run| run.orders.iter().any(|order| order.stand(run, policy, now) == Stand::Stands));
    Ok(found)
}

/// What an order on an action could be.
#[derive(Debug)]
pub struct Offer {
    /// Why this person cannot give one.
    pub refused: Option<Refusal>,
    /// What each width would have covered so far in the run, the newest first.
    pub widths: Vec<(Width, Vec<Listed<ActionState>>)>,
}

/// Asked of the domain itself, so that nothing is offered that would be refused.
pub async fn offer(app: &App, caller: &Caller, id: ActionId) -> Result<Offer, No> {
    let state = find_action(app, caller, id).await?;
    let run = find_run(app, caller, state.run).await?;
    let action = opened(app, &state).await?;
    let (mut refused, mut widths) = (None, Vec::new());
    for width in Width::ALL {
        match tried(app, caller, &run, &state, &action, *width) {
            Ok(()) => widths.push((*width, Vec::new())),
            Err(refusal) => refused = refused.or(Some(refusal)),
        }
    }
    if !widths.is_empty() {
        refused = None;
        look_back(app, &state, &action, &mut widths).await?;
    }
    Ok(Offer { refused, widths })
}

fn tried(
    app: &App,
    caller: &Caller,
    run: &Run,
    state: &ActionState,
    action: &Action,
    width: Width,
) -> Result<(), Refusal> {
    let (actor, terms, policy, now) = (caller.actor(), app.settings().terms, app.policy().version(), app.store().now());
    // An order is given where one person is asked, and passkeys are asked for where two are.
    let passkeys = Demand::OfOwners;
    let setting =
        Setting { run, actor: &actor, terms: &terms, policy, givers: &[], passkeys, workers: Workers::Free, now };
    let extent = Extent { width, lasts_ms: 1, times: 1 };
    let command = ActionCommand::GiveOrder { seen: state.review(), action: Box::new(action.clone()), extent };
    action::decide(state.id, Some(state), &command, &setting).map(drop)
}

/// Which of the newest actions of the run are of the class, at each width.
async fn look_back(
    app: &App,
    state: &ActionState,
    action: &Action,
    widths: &mut [(Width, Vec<Listed<ActionState>>)],
) -> Result<(), No> {
    let filter = ActionFilter {
        run: Some(state.run),
        order: Order::NewestFirst,
        limit: MOST_LOOKED_THROUGH,
        ..ActionFilter::default()
    };
    let found = app.store().actions(filter).await.map_err(No::Fault)?;
    for listed in found.into_iter().filter(|other| other.tool == state.tool && other.id != state.id) {
        let Ok(other) = opened(app, &listed).await else { continue };
        for (width, covered) in widths.iter_mut().filter(|(_, covered)| covered.len() < MOST_TOLD) {
            let of = |spec, verdict| class(*width, state.project, spec, verdict);
            if of(action.spec(), &state.verdict) == of(other.spec(), &listed.verdict) {
                covered.push(listed.clone());
            }
        }
    }
    Ok(())
}
