//! Runs: what there is to see of one, and everything a person decides about it.

use std::collections::BTreeSet;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::App;
use placet_control::flow::{self, Caller};
use placet_control::http::{Failure, Path, Query};
use placet_control::read::{files, names, orders, view, wishes};
use placet_domain::action::ActionStatus;
use placet_domain::budget::{Ceiling, USUAL_WARNING_PERCENT};
use placet_domain::id::RunId;
use placet_domain::project::Separation;
use placet_domain::run::{
    self, Allowance, Answer, Awaits, BudgetCommand, NetworkCommand, Run, RunCommand, RunStatus, SnapshotCommand,
};
use placet_domain::time::Timestamp;
use placet_store::{EntryFilter, RunFilter};
use serde::Deserialize;

use super::form::Sent;
use super::guard::{Visiting, html, made};
use super::{brake, course, done, log, order, timeline, viewer};
use crate::markup::{Ask, Moves, RollbackPage, RunPage, RunRow};

const MOST_ROWS: u32 = 50;
/// As many of them as are listed.
const MOST_LISTED: usize = 100;
/// A page waits this long for the host of a run to say what going back would change.
const PREVIEW_WAIT: Duration = Duration::from_secs(8);
const MINUTE_MS: u64 = 60_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    after: Option<u64>,
}

pub(super) async fn list(
    State(app): State<App>,
    visiting: Visiting,
    Query(query): Query<ListQuery>,
) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let reach = visiting.identity.reach.clone();
    let filter = RunFilter { reach, before: query.after, limit: MOST_ROWS, ..RunFilter::default() };
    let found = app.store().runs(filter).await?;
    let older = view::next(&found, MOST_ROWS);
    let mut rows = Vec::new();
    for listed in found {
        let since = listed.created_at;
        let agent = names::person(&app, listed.agent).await?;
        rows.push(RunRow { run: view::listed_run(listed), agent, since });
    }
    Ok(html(crate::markup::runs(&viewer, &rows, older)))
}

pub(super) fn parse(id: &str) -> Result<RunId, Failure> {
    id.parse().map_err(Failure::bad_id)
}

pub(super) async fn show(
    State(app): State<App>,
    Path(id): Path<String>,
    visiting: Visiting,
    caller: Caller,
) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let look = flow::look(&app, &caller, parse(&id)?).await?;
    let (run, look_now) = (look.run.clone(), look.now);
    let (trail, heartbeats) = course::trail(&app, &caller, run.id).await?;
    let actions = course::actions(&app, &run, Vec::new()).await?;
    let (asked, asks_more) = course::asked(&app, &run).await?;
    let audit = trail[trail.len().saturating_sub(MOST_LISTED)..].to_vec();
    let plan_waits = run.status.awaits() == Some(Awaits::Plan);
    let page = RunPage {
        given: if plan_waits { files::of_plan(&app, &caller, &run).await? } else { Vec::new() },
        agent: names::person(&app, run.agent).await?,
        project: names::project(&app, run.project).await?,
        since: first_at(&app, run.id).await?.unwrap_or(look.now),
        worked_ms: run.clock.worked_ms(look.now),
        pipeline: run::pipeline(&run).into(),
        wishes: wishes::listed(&run, &app).wishes,
        orders: order::rows(&app, &caller, orders::listed(&app, &run).await?).await?,
        bars: timeline::bars(&trail, &actions, look.now),
        calls: course::calls(&app, run.id).await?,
        heartbeats,
        actions,
        action_count: app.store().action_count(run.id).await?,
        asked,
        asks_more,
        interrupted: course::actions(&app, &run, vec![ActionStatus::Interrupted]).await?,
        rehearsed: course::rehearsed(&app, &run).await?,
        used: course::used(&app, run.id).await?,
        scope: run.scope.rules().clone(),
        alone: run.separation == Separation::SingleOperator,
        ask: ask(&caller, &run, look.now),
        fast: flow::pace(&app, caller.identity.id).await?.is_fast(),
        bound: bound(&run),
        lacks: if run.status == RunStatus::Paused { run.lacks() } else { None },
        done: done::of_checkpoint(&app, &caller, &run, &look).await?,
        checkpoint: view::checkpoint(look),
        names: course::names(&app, &audit).await?,
        audit,
        moves: moves(&caller, &run, look_now),
        log: log::of_agent(&app, &caller, &run).await?,
        run: view::run(run),
    };
    made(move || crate::markup::run(&viewer, &page)).await
}

/// Whether this person may decide what the run waits for: asked of the domain itself.
fn ask(caller: &Caller, run: &Run, now: Timestamp) -> Ask {
    let seen = run.review();
    let command = match run.status.awaits() {
        Some(Awaits::Plan) => RunCommand::ApprovePlan { seen },
        Some(Awaits::Results) => RunCommand::ApproveResults { seen, chosen: None },
        Some(Awaits::Checkpoint) => RunCommand::PassGate { seen, note: String::new(), plan: None },
        None => return Ask::Settled,
    };
    match run::decide(Some(run), &command, &caller.actor(), now) {
        Ok(_) => Ask::Yes,
        Err(refusal) => Ask::No(refusal),
    }
}

/// What this person may ask of the run now: asked of the domain itself, so that nothing is offered that would be refused.
fn moves(caller: &Caller, run: &Run, now: Timestamp) -> Moves {
    let actor = caller.actor();
    let reason = || "asked before it is offered".to_owned();
    let may = |command: RunCommand| run::decide(Some(run), &command, &actor, now).is_ok();
    let wish = |wanted: fn(&Answer) -> bool| {
        run.network.wishes.iter().find(|wish| wanted(&wish.answer)).map(|wish| wish.number)
    };
    Moves {
        start: may(RunCommand::Start),
        pause: may(RunCommand::Pause { reason: reason() }),
        resume: may(RunCommand::Resume),
        // Checked with an unlimited allowance: the question is if the person may change the budget at all.
        set_budget: run.budget.is_some() && may(RunCommand::Budget(BudgetCommand::Set { allowance: unlimited() })),
        snapshot: may(RunCommand::Snapshot(SnapshotCommand::Ask { reason: reason() })),
        cancel: may(RunCommand::Cancel { reason: reason() }),
        roll_back: run
            .snapshots
            .kept
            .last()
            .is_some_and(|last| may(RunCommand::RollBack { to: last.number, reason: reason() })),
        answer_wishes: wish(|answer| matches!(answer, Answer::Waiting))
            .is_some_and(|number| may(RunCommand::Network(NetworkCommand::Reject { number, reason: reason() }))),
        revoke: wish(|answer| matches!(answer, Answer::Granted { .. }))
            .is_some_and(|number| may(RunCommand::Network(NetworkCommand::Revoke { number, reason: reason() }))),
    }
}

fn unlimited() -> Allowance {
    Allowance { ceiling: Ceiling::default(), warn_at_percent: USUAL_WARNING_PERCENT }
}

/// Everything that its plan and its posture amount to, as it is kept: what is not told in words above is here.
fn bound(run: &Run) -> String {
    let whole = serde_json::to_value(run).unwrap_or_default();
    let part = |name: &str| (name.to_owned(), whole.get(name).cloned().unwrap_or_default());
    let names = ["goal", "plan", "scope", "posture", "hosting", "agent", "parent", "products", "outputs", "removed"];
    let bound: serde_json::Map<_, _> =
        names.iter().map(|name| part(name)).filter(|(_, value)| !value.is_null()).collect();
    serde_json::to_string_pretty(&bound).unwrap_or_default()
}

async fn first_at(app: &App, run: RunId) -> Result<Option<Timestamp>, Failure> {
    let filter = EntryFilter { run: Some(run), limit: 1, ..EntryFilter::default() };
    Ok(app.store().entries(filter).await?.first().map(|entry| entry.at))
}

/// Asks something of a run and shows it again.
async fn change(app: &App, caller: &Caller, id: &str, command: RunCommand) -> Result<Response, Failure> {
    let run = flow::change_run(app, caller, parse(id)?, command).await?;
    Ok(again(run.id))
}

pub(super) fn again(run: RunId) -> Response {
    Redirect::to(&format!("/runs/{run}")).into_response()
}

macro_rules! forms {
    ($($handler:ident($fields:ident) => $command:expr;)*) => {$(
        pub(super) async fn $handler(
            State(app): State<App>,
            Path(id): Path<String>,
            Sent { caller, fields: $fields, .. }: Sent,
        ) -> Result<Response, Failure> {
            change(&app, &caller, &id, $command).await
        }
    )*};
}

forms! {
    reject(fields) => RunCommand::RejectPlan { reason: fields.text("reason")? };
    start(_fields) => RunCommand::Start;
    pause(fields) => RunCommand::Pause { reason: fields.text("reason")? };
    resume(_fields) => RunCommand::Resume;
    cancel(fields) => RunCommand::Cancel { reason: fields.text("reason")? };
    snapshot(fields) => RunCommand::Snapshot(SnapshotCommand::Ask { reason: fields.text("reason")? });
    reject_results(fields) => RunCommand::RejectResults { seen: fields.seen()?, reason: fields.text("reason")? };
}

pub(super) async fn approve(
    State(app): State<App>,
    Path(id): Path<String>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    brake::on_run(&app, &caller, parse(&id)?, &fields).await?;
    change(&app, &caller, &id, RunCommand::ApprovePlan { seen: fields.seen()? }).await
}

/// Accepts the results that were shown; what is not chosen stays inside.
pub(super) async fn complete(
    State(app): State<App>,
    Path(id): Path<String>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    let bad = |_| Failure::new(StatusCode::BAD_REQUEST, "bad_form", "reload the page and choose again");
    let chosen: Result<BTreeSet<u32>, _> = fields.all("output").map(str::parse).collect();
    let run = flow::find_run(&app, &caller, parse(&id)?).await?;
    brake::on_run(&app, &caller, run.id, &fields).await?;
    let made_nothing = run.host.outputs.as_ref().is_none_or(Vec::is_empty);
    let chosen = chosen.map_err(bad)?;
    let chosen = if made_nothing { None } else { Some(chosen) };
    change(&app, &caller, &id, RunCommand::ApproveResults { seen: fields.seen()?, chosen }).await
}

async fn at_checkpoint(
    app: &App,
    caller: &Caller,
    (id, number): &(String, u32),
    command: RunCommand,
) -> Result<Response, Failure> {
    let run = flow::decide_checkpoint(app, caller, parse(id)?, *number, command).await?;
    Ok(again(run.id))
}

pub(super) async fn pass(
    State(app): State<App>,
    Path(place): Path<(String, u32)>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    brake::on_run(&app, &caller, parse(&place.0)?, &fields).await?;
    let command = RunCommand::PassGate { seen: fields.seen()?, note: String::new(), plan: None };
    at_checkpoint(&app, &caller, &place, command).await
}

pub(super) async fn modify(
    State(app): State<App>,
    Path(place): Path<(String, u32)>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    brake::on_run(&app, &caller, parse(&place.0)?, &fields).await?;
    let steps: Vec<String> = fields.lines("plan")?.into_iter().filter(|step| !step.trim().is_empty()).collect();
    let plan = (!steps.is_empty()).then_some(steps);
    let command = RunCommand::PassGate { seen: fields.seen()?, note: fields.text("note")?, plan };
    at_checkpoint(&app, &caller, &place, command).await
}

pub(super) async fn reject_checkpoint(
    State(app): State<App>,
    Path(place): Path<(String, u32)>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    let command = RunCommand::RejectGate { seen: fields.seen()?, reason: fields.text("reason")? };
    at_checkpoint(&app, &caller, &place, command).await
}

/// What going back would change, as the run's host sees it.
pub(super) async fn preview(
    State(app): State<App>,
    Path((id, to)): Path<(String, u32)>,
    visiting: Visiting,
    caller: Caller,
) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let run = flow::find_run(&app, &caller, parse(&id)?).await?;
    let report = flow::preview(&app, &caller, run.id, to, PREVIEW_WAIT).await?;
    let preview = match report.as_deref() {
        None => Err(String::new()),
        Some(report) => report.preview.clone().ok_or_else(|| report.failed.clone().unwrap_or_default()),
    };
    let back = RunCommand::RollBack { to, reason: "asked before it is offered".to_owned() };
    let may = run::decide(Some(&run), &back, &caller.actor(), app.store().now()).is_ok();
    let page = RollbackPage { run: view::run(run), to, preview, may };
    made(move || crate::markup::rollback(&viewer, &page)).await
}

pub(super) async fn roll_back(
    State(app): State<App>,
    Path((id, to)): Path<(String, u32)>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    change(&app, &caller, &id, RunCommand::RollBack { to, reason: fields.text("reason")? }).await
}

pub(super) async fn grant(
    State(app): State<App>,
    Path((id, number)): Path<(String, u32)>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    brake::on_run(&app, &caller, parse(&id)?, &fields).await?;
    let lasts_ms = fields.number("minutes")?.map(|minutes| minutes.saturating_mul(MINUTE_MS));
    let run = flow::grant(&app, &caller, parse(&id)?, number, fields.seen()?, lasts_ms).await?;
    Ok(again(run.id))
}

pub(super) async fn reject_wish(
    State(app): State<App>,
    Path((id, number)): Path<(String, u32)>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    change(&app, &caller, &id, RunCommand::Network(NetworkCommand::Reject { number, reason: fields.text("reason")? }))
        .await
}

pub(super) async fn revoke(
    State(app): State<App>,
    Path((id, number)): Path<(String, u32)>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    change(&app, &caller, &id, RunCommand::Network(NetworkCommand::Revoke { number, reason: fields.text("reason")? }))
        .await
}
