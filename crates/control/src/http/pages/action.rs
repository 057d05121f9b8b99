//! One action: what there is to see of it, and the decisions about it.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_domain::action::{self, ActionCommand, ActionState, ActionStatus, Demand, Resolution, Setting, Workers};
use placet_domain::budget::Purpose;
use placet_domain::digest::Digest;
use placet_domain::evidence::Manifest;
use placet_domain::id::{ActionId, IdentityId};
use placet_domain::identity::Role;
use placet_domain::policy::Tier;
use placet_domain::refusal::Refusal;
use placet_domain::run::Run;
use placet_ledger::Entry;
use placet_pages::{ActionPage, Ask, Blast, Decided, Twins, Yes};
use placet_store::{EntryFilter, HEARTBEAT, Kinds, Order, StoredEntry, Whose};
use placet_wire::api;
use serde_json::Value;

use super::super::actions::detail;
use super::super::extract::Path;
use super::super::interruption;
use super::super::problem::Failure;
use super::super::queued::mine;
use super::address::Address;
use super::form::Sent;
use super::guard::{Visiting, made, with_written};
use super::onward::{go_on, go_on_with};
use super::{amend, around, attention, brake, file, log, names, order, output, passkey, twins, viewer};
use crate::app::App;
use crate::flow::{self, Caller};

/// More entries than an action has, heartbeats left out; of one that has more, the newest.
const MOST_ENTRIES: u32 = 100;
/// How many are approved by one form at most.
pub(super) const MOST_AT_ONCE: usize = 50;

pub(super) async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
    visiting: Visiting,
    caller: Caller,
    address: Address,
) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let mut page = page(&app, &caller, &address, id.parse().map_err(Failure::bad_id)?).await?;
    page.log = log::of_program(&app, &caller, &page.detail.action).await?;
    made(move || placet_pages::action(&viewer, &page)).await
}

/// Everything there is to see of it.
pub(in crate::http) async fn page(
    app: &App,
    caller: &Caller,
    address: &Address,
    id: ActionId,
) -> Result<ActionPage, Failure> {
    let state = flow::find_action(app, caller, id).await?;
    let run = flow::find_run(app, caller, state.run).await?;
    let interruption = interruption::of(app, &state).await?;
    let detail = api::ActionDetail { interruption, ..detail(app, &state).await? };
    let files = file::shown(app, caller, &run, &detail.spec).await?;
    let entries = stored_entries(app, id).await?;
    let (approved_by, decided) = (approvals(app, &state, &entries).await?, decided(app, &entries).await?);
    let ask = ask(app, caller, address, &run, &state).await?;
    let fast = flow::pace(app, caller.identity.id).await?.is_fast();
    let is_asked = ask == Ask::Yes && state.status == ActionStatus::PendingApproval;
    let waits = is_asked && !fast;
    let evidence = manifest(app, &state).await?;
    Ok(ActionPage {
        order: if waits { order::offer(app, caller, id).await? } else { None },
        since: entries.first().map_or(state.deadline, |entry| entry.at),
        agent: names::person(app, state.proposer).await?,
        goal: run.goal.clone(),
        blast: blast(&run, &state),
        files,
        history: around::history(app, &state).await?,
        lookalike: around::lookalike(app, &state, &detail.spec).await?,
        who: around::who(app, &run, &state).await?,
        step: step(&run),
        amending: amend::offered(app, &detail),
        attended: attention::attended(app, caller, &state).await?,
        ask,
        approved_by,
        fast,
        decided,
        twins: identical(app, caller, &state, is_asked).await?,
        outputs: output::shown(app, caller, state.project, evidence.as_ref()).await?,
        evidence,
        log: None,
        entries: entries.into_iter().map(|entry| (entry.seq, entry.kind)).collect(),
        detail,
    })
}

/// Others that the viewer may decide together with it.
async fn identical(app: &App, caller: &Caller, state: &ActionState, waits: bool) -> Result<Twins, Failure> {
    match mine(app, &caller.identity).filter(|_| waits) {
        Some(seat) => twins::of(app, state, Whose::Of(seat)).await,
        None => Ok(Twins::default()),
    }
}

/// Lists the approvals that count, each with the time of its latest entry. Voided approvals have entries too.
async fn approvals(app: &App, state: &ActionState, entries: &[StoredEntry]) -> Result<Vec<Yes>, Failure> {
    let mut said = Vec::new();
    for approval in &state.approvals {
        let is_it = |entry: &&StoredEntry| entry.kind == APPROVED && decider(entry) == Some(approval.reviewer);
        let at = entries.iter().rev().find(is_it).map(|entry| entry.at);
        let name = names::person(app, approval.reviewer).await?;
        said.push(Yes { name, at, alone: approval.single_operator, signed: approval.signing.is_some() });
    }
    Ok(said)
}

pub(super) async fn stored_entries(app: &App, id: ActionId) -> Result<Vec<StoredEntry>, Failure> {
    let (kinds, order, limit) = (Kinds::But(HEARTBEAT), Order::NewestFirst, MOST_ENTRIES);
    let filter = EntryFilter { action: Some(id), kinds, order, limit, ..EntryFilter::default() };
    let mut newest = app.store().entries(filter).await?;
    newest.reverse();
    Ok(newest)
}

/// The kind of an entry that is a yes.
pub(super) const APPROVED: &str = "action.approved";
/// Entries after which nobody is asked any more.
const DECISIONS: &[&str] =
    &[APPROVED, "action.rejected", "action.superseded", "action.withdrawn", "action.expired", "action.resolved"];

/// Whose decision an entry is: of a yes by order its giver's, and not of the agent whose proposal it came with.
pub(in crate::http) fn decider(stored: &StoredEntry) -> Option<IdentityId> {
    let entry = Entry::parse(&stored.bytes).ok()?;
    let reviewer = entry.body["approval"]["reviewer"].as_str().and_then(|id| id.parse().ok());
    reviewer.or_else(|| entry.actor.parse().ok())
}

/// The last decision, with the name of whoever made it.
pub(super) async fn decided(app: &App, entries: &[StoredEntry]) -> Result<Option<Decided>, Failure> {
    let Some(last) = entries.iter().rev().find(|entry| DECISIONS.contains(&entry.kind.as_str())) else {
        return Ok(None);
    };
    let by_id = decider(last);
    let by = match by_id {
        Some(id) => Some(names::person(app, id).await?),
        None => None,
    };
    Ok(Some(Decided { kind: last.kind.clone(), by, by_id, at: last.at }))
}

pub(super) async fn manifest(app: &App, state: &ActionState) -> Result<Option<Manifest>, Failure> {
    let Some(evidence) = state.evidence else { return Ok(None) };
    let bytes = app.store().sealed(state.id, evidence).await?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

fn blast(run: &Run, state: &ActionState) -> Blast {
    Blast {
        snapshot: run.snapshots.kept.last().map(|snapshot| snapshot.number),
        budget: run.budget.as_ref().map(api::BudgetView::from),
        held: run.budget.as_ref().and_then(|budget| budget.held_for(&Purpose::Action(state.id))),
        rehearsed: state.status == ActionStatus::Rehearsed,
    }
}

/// The step that its run works on, of how many; nothing where all are done.
fn step(run: &Run) -> Option<(u32, u32)> {
    let of = u32::try_from(run.plan.len()).ok()?;
    (run.steps_done < of).then_some((run.steps_done + 1, of))
}

/// Whether this person may decide now: asked of the domain itself, so that no form is offered that would be refused.
async fn ask(app: &App, caller: &Caller, address: &Address, run: &Run, state: &ActionState) -> Result<Ask, Failure> {
    let Some(command) = usual_decision(state) else { return Ok(Ask::Settled) };
    if !caller.identity.has(Role::Reviewer) {
        return Ok(Ask::No(Refusal::Role { needed: Role::Reviewer }));
    }
    let passkeys = Demand::by(&app.store().organisation().await?);
    let (actor, terms, policy, now) = (caller.actor(), app.settings().terms, app.policy().version(), app.store().now());
    let setting =
        Setting { run, actor: &actor, terms: &terms, policy, givers: &[], passkeys, workers: Workers::Free, now };
    Ok(match action::decide(state.id, Some(state), &command, &setting) {
        Ok(_) => Ask::Yes,
        Err(Refusal::PasskeyNeeded) if caller.identity.doors.passkeys().is_empty() => Ask::NoPasskey,
        Err(Refusal::PasskeyNeeded) => Ask::Sign(passkey::place_of(address, state.id)),
        Err(_) if state.status == ActionStatus::Rehearsed => Ask::Settled,
        Err(refusal) => Ask::No(refusal),
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

pub(super) fn parse(id: &str) -> Result<ActionId, Failure> {
    id.parse().map_err(Failure::bad_id)
}

pub(super) async fn approve(State(app): State<App>, Path(id): Path<String>, sent: Sent) -> Result<Response, Failure> {
    let (id, seen) = (parse(&id)?, sent.fields.seen()?);
    let state = flow::find_action(&app, &sent.caller, id).await?;
    brake::on_action(&app, &sent.caller, &state, &sent.fields).await?;
    passkey::approve(&app, &sent, &state, seen).await?;
    Ok(go_on(&sent.fields, id))
}

pub(super) async fn reject(
    State(app): State<App>,
    Path(id): Path<String>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    let (id, seen) = (parse(&id)?, fields.seen()?);
    match flow::reject(&app, &caller, id, seen, fields.text("reason")?).await {
        Ok(_) => Ok(go_on(&fields, id)),
        // Somebody was faster, or something changed: what was written is there to be copied.
        Err(no) => Ok(with_written(Failure::from(no).into_response(), fields.written())),
    }
}

pub(super) async fn resolve(
    State(app): State<App>,
    Path(id): Path<String>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    let id = parse(&id)?;
    // What was interrupted again meanwhile is another question.
    let state = flow::find_action(&app, &caller, id).await?;
    if fields.number("attempt")? != Some(u64::from(state.attempt)) {
        return Err(interruption::again());
    }
    let given = Value::from(fields.text("resolution")?);
    let unknown = |_| Failure::new(StatusCode::BAD_REQUEST, "bad_form", "choose `retry` or `abandon`");
    let resolution = serde_json::from_value(given).map_err(unknown)?;
    match resolution {
        Resolution::Retry => brake::on_action(&app, &caller, &state, &fields).await?,
        Resolution::Abandon => {}
    }
    flow::resolve(&app, &caller, id, resolution, fields.text("reason")?).await?;
    Ok(go_on(&fields, id))
}

pub(super) async fn perform(
    State(app): State<App>,
    Path(id): Path<String>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    let state = flow::find_action(&app, &caller, parse(&id)?).await?;
    brake::on_action(&app, &caller, &state, &fields).await?;
    let action = flow::perform(&app, &caller, state.id, fields.seen()?).await?;
    Ok(Redirect::to(&format!("/runs/{}", action.run)).into_response())
}

/// One of many. About what somebody spoke of meanwhile is decided by itself, by whoever has read that.
async fn approve_one(app: &App, caller: &Caller, state: &ActionState, seen: Digest) -> Result<(), String> {
    if state.status == ActionStatus::PendingApproval && state.shared_question().is_none() {
        return Err("it is decided by itself now: somebody said something about it, or made something of it".to_owned());
    }
    flow::approve(app, caller, state.id, seen).await.map(drop).map_err(|no| no.to_string())
}

/// Identical actions, each decided and recorded by itself; what could not be is told, and the others stand.
pub(super) async fn approve_all(
    State(app): State<App>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    let bad = || Failure::new(StatusCode::BAD_REQUEST, "bad_form", "reload the page and choose again");
    if !(1..=MOST_AT_ONCE).contains(&fields.all("item").count()) {
        return Err(bad());
    }
    brake::on_many(&app, &caller).await?;
    let (mut items, mut questions) = (Vec::new(), BTreeSet::new());
    for item in fields.all("item") {
        let (id, seen) = item.split_once(' ').ok_or_else(bad)?;
        let state = flow::find_action(&app, &caller, parse(id)?).await?;
        questions.insert(state.question().ok_or_else(bad)?);
        // What a page never offers is not taken either: of other kinds, or where two people are asked.
        if questions.len() > 1 || state.verdict.tier() != Tier::B {
            return Err(bad());
        }
        items.push((state, seen.parse().map_err(|_| bad())?));
    }
    let (mut done, mut refused, first) =
        (0_usize, Vec::new(), items.first().map(|(state, _)| state.id).ok_or_else(bad)?);
    for (state, seen) in items {
        match approve_one(&app, &caller, &state, seen).await {
            Ok(()) => done += 1,
            Err(why) => refused.push(format!("{}: {why}", state.id)),
        }
    }
    if refused.is_empty() {
        return Ok(go_on_with(&fields, first, done - 1));
    }
    let why = format!("{done} were approved, {} were not: {}", refused.len(), refused.join("; "));
    Err(Failure::new(StatusCode::CONFLICT, "in_part", why))
}
