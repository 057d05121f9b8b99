//! One action: what there is to see of it, and the decisions about it.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::App;
use placet_control::flow::{self, Caller};
use placet_control::http::{Address, Failure, Path};
use placet_control::read::entries::{decided, manifest};
use placet_control::read::queue::mine;
use placet_control::read::waiting::{MOST_AT_ONCE, Twins};
use placet_control::read::{self, Card, DecisionRight, around, waiting};
use placet_domain::action::{ActionState, ActionStatus, Resolution};
use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_domain::policy::Tier;
use placet_domain::run::Run;
use placet_store::Whose;
use serde_json::Value;

use super::form::Sent;
use super::guard::{Visiting, made, with_written};
use super::onward::{go_on, go_on_with};
use super::state::Web;
use super::{amend, attention, brake, log, order, output, passkey, viewer};
use crate::markup::{ActionPage, Ask};

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
    made(move || crate::markup::action(&viewer, &page)).await
}

/// Everything there is to see of it.
pub(super) async fn page(app: &App, caller: &Caller, address: &Address, id: ActionId) -> Result<ActionPage, Failure> {
    let card = read::card(app, caller, id).await?;
    let Card { state, run, detail, since, agent, blast, files, history, right, approved_by, fast, attention, entries } =
        card;
    let ask = ask(right, address, id);
    let is_asked = ask == Ask::Yes && state.status == ActionStatus::PendingApproval;
    let waits = is_asked && !fast;
    let evidence = manifest(app, &state).await?;
    Ok(ActionPage {
        order: if waits { order::offer(app, caller, id).await? } else { None },
        since,
        agent,
        goal: run.goal.clone(),
        blast,
        files,
        history,
        lookalike: around::lookalike(app, &state, &detail.spec).await?,
        who: around::who(app, &run, &state).await?,
        step: step(&run),
        amending: amend::offered(app, &detail),
        attended: attention::attended(app, caller, &state, attention),
        ask,
        approved_by,
        fast,
        decided: decided(app, &entries).await?,
        twins: identical(app, caller, &state, is_asked).await?,
        outputs: output::shown(app, caller, state.project, evidence.as_ref()).await?,
        evidence,
        log: None,
        entries: entries.into_iter().map(|entry| (entry.seq, entry.kind)).collect(),
        detail,
    })
}

/// Adds where passkeys can be used to what the caller may decide.
fn ask(right: DecisionRight, address: &Address, id: ActionId) -> Ask {
    match right {
        DecisionRight::Yes => Ask::Yes,
        DecisionRight::Sign => Ask::Sign(passkey::place_of(address, id)),
        DecisionRight::NoPasskey => Ask::NoPasskey,
        DecisionRight::No(refusal) => Ask::No(refusal),
        DecisionRight::Settled => Ask::Settled,
    }
}

/// Others that the viewer may decide together with it.
async fn identical(app: &App, caller: &Caller, state: &ActionState, waits: bool) -> Result<Twins, Failure> {
    match mine(app, &caller.identity).filter(|_| waits) {
        Some(seat) => Ok(waiting::of(app, state, Whose::Of(seat)).await?),
        None => Ok(Twins::default()),
    }
}

/// The step that its run works on, of how many; nothing where all are done.
fn step(run: &Run) -> Option<(u32, u32)> {
    let of = u32::try_from(run.plan.len()).ok()?;
    (run.steps_done < of).then_some((run.steps_done + 1, of))
}

pub(super) fn parse(id: &str) -> Result<ActionId, Failure> {
    id.parse().map_err(Failure::bad_id)
}

pub(super) async fn approve(State(app): State<Web>, Path(id): Path<String>, sent: Sent) -> Result<Response, Failure> {
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
        return Err(Failure::tried_again());
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
