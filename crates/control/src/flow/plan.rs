//! PLAN: a run is founded on what somebody wants. Steps come from them, from a template, or from a language model.
//!
//! A model is asked before there is a run. So an entry says first that it will be asked and what that can cost at most, another what the
//! call took, as soon as it is over: whoever is killed between the two has an entry that says what may have been paid. Requests of the
//! same name are taken one at a time, and what was answered to one before is answered again without asking.

use std::sync::Arc;
use std::time::Duration;

use placet_domain::command::{About, Command};
use placet_domain::id::{ProjectId, RunId};
use placet_domain::identity::Actor;
use placet_domain::planning::{Intent, Starter};
use placet_domain::record::{Event, PlannerAnswered, PlannerAsked};
use placet_domain::refusal::{Obstacle, Refusal};
use placet_domain::run::{Allowance, Founding, ModelCall, Run};
use placet_store::{Receipt, StoreError, SubmitError};
use placet_wire::api::NewExecution;

use super::entry_launch::launch_of_entry;
use super::undertake::{Surroundings, found};
use super::{Caller, No};
use crate::app::App;
use crate::models::{self, MOST_FOR_A_PLAN, NoPlan, Steps};
use crate::names::fresh_uuid;

/// A disk that is away for longer has an entry that says what may have been paid.
const MOST_TRIES: u32 = 25;
/// Plans that models make for one person at a time.
const MOST_AT_ONCE: usize = 4;
const RETRY: Duration = Duration::from_millis(200);

/// Plans from an intent, by the agents and templates of this control plane, and founds a run on what comes out of it.
pub(crate) async fn plan_run(app: &App, caller: &Caller, new: NewExecution) -> Result<Run, No> {
    let Some(model) = new.planner.clone() else {
        let intent = Intent { planner: None, ..new.intent.clone() };
        let around = Surroundings::find(app, caller, new.project, &new.scope).await?;
        return found_planned(app, caller, RunId::from_uuid(fresh_uuid()), around, new, (intent, None)).await;
    };
    // In a task of its own: a model that was asked is paid and recorded, also if nobody waits for the plan any more.
    let (app, caller) = (app.clone(), caller.clone());
    let busy = || Refusal::not_now("planned", Obstacle::TooManyPlans);
    let share = app.turns().asking.take(caller.identity.id, MOST_AT_ONCE).ok_or_else(busy)?;
    let under_way = Arc::clone(&app.turns().under_way).read_owned().await;
    let planning = tokio::spawn(async move {
        let (_under_way, _share) = (under_way, share);
        plan_by_model(&app, &caller, new, &model).await
    });
    planning.await.unwrap_or(Err(No::Fault(StoreError::Stopped)))
}

async fn plan_by_model(app: &App, caller: &Caller, new: NewExecution, model: &str) -> Result<Run, No> {
    let _turn = app.turns().of(caller.identity.id, caller.key.as_ref()).await;
    if let Some(answered) = answered_before(app, caller).await? {
        return answered;
    }
    let id = RunId::from_uuid(fresh_uuid());
    let around = Surroundings::find(app, caller, new.project, &new.scope).await?;
    if new.agent.is_some() || new.launch.is_some() {
        // Looked at before anybody is paid, and again when it is used.
        around.worked_by(app, caller, new.agent, new.launch.clone()).await?;
    }
    let (intent, call) = steps_of_model(app, caller, id, &new, model).await?;
    match found_planned(app, caller, id, around, new, (intent, Some(call.clone()))).await {
        Ok(run) => Ok(run),
        Err(No::Fault(fault)) => Err(No::Fault(fault)),
        Err(No::Refused(refusal)) => Err(paid_for_nothing(app, caller, refusal, &call).await?),
        // Whatever else is missing, the model was paid.
        Err(no) => Err(paid_for_nothing(app, caller, Refusal::invalid(no.to_string()), &call).await?),
    }
}

/// What a request of this name came to: a run, or a refusal that was paid for.
async fn answered_before(app: &App, caller: &Caller) -> Result<Option<Result<Run, No>>, No> {
    let Some(key) = caller.key.clone() else { return Ok(None) };
    let receipt = app.store().recall(caller.actor(), key).await.map_err(|error| match error {
        SubmitError::Refused(refusal) => No::Refused(refusal),
        SubmitError::KeyReused => No::KeyReused,
        SubmitError::Fault(fault) => No::Fault(fault),
    })?;
    Ok(receipt.map(said_again))
}

fn said_again(receipt: Receipt) -> Result<Run, No> {
    if let Some(Event::Refused(refused)) = receipt.records.first().map(|record| &record.event) {
        return Err(Refusal::invalid(refused.because.clone()).into());
    }
    receipt.loaded.run.ok_or_else(|| Refusal::Unknown { what: "run" }.into())
}

async fn found_planned(
    app: &App,
    caller: &Caller,
    id: RunId,
    around: Surroundings,
    new: NewExecution,
    (intent, call): (Intent, Option<ModelCall>),
) -> Result<Run, No> {
    let is_brought = new.agent.is_some() || new.launch.is_some();
    let starter = if is_brought { Starter::Caller } else { Starter::Entry };
    let prepared = app.rules().prepare(intent, starter).map_err(Refusal::from)?;
    let allowance = prepared.allowance(new.budget.map(Allowance::from));
    let posture = prepared.posture(new.checkpoints);
    let launch = match (new.agent, new.launch) {
        (None, None) => Some(launch_of_entry(app, caller, around.project.id, &prepared).await?),
        (_, launch) => launch,
    };
    let workforce = around.worked_by(app, caller, new.agent, launch).await?;
    let founding = around.founding(prepared.goal().to_owned(), prepared.steps(), posture, workforce);
    let (parent, prepared, planning) = (new.parent, Some(Box::new(prepared)), call.map(Box::new));
    found(app, caller, id, Founding { parent, allowance: Some(allowance), prepared, planning, ..founding }).await
}

/// What is wanted, with the steps that a language model makes of it.
async fn steps_of_model(
    app: &App,
    caller: &Caller,
    run: RunId,
    new: &NewExecution,
    model: &str,
) -> Result<(Intent, ModelCall), No> {
    let intent = new.intent.clone();
    if !intent.steps.is_empty() || intent.template.is_some() {
        return Err(Refusal::invalid("steps come from a model, from a template or from you; say one of them").into());
    }
    let none = "this control plane calls no models; its home has no `gateway.toml`";
    let settings = app.settings().models.as_ref().ok_or_else(|| Refusal::invalid(none))?;
    models::speaks(settings, model).map_err(|none| Refusal::invalid(none.why))?;
    let planner = model.parse().map_err(|bad| Refusal::invalid(format!("{bad}")))?;
    let asked = PlannerAsked { run, model: model.to_owned(), most: MOST_FOR_A_PLAN };
    app.submit(caller.actor(), Command::AskPlanner { project: new.project, asked }, None).await?;
    match models::ask(settings, model, run, &intent, app.closed()).await {
        Ok(Steps { steps, call }) => {
            note_answer(app, new.project, run, call.clone()).await?;
            Ok((Intent { steps, planner: Some(planner), ..intent }, call))
        }
        Err(NoPlan { why, call: None }) => Err(Refusal::invalid(why).into()),
        Err(NoPlan { why, call: Some(call) }) => {
            note_answer(app, new.project, run, (*call).clone()).await?;
            Err(paid_for_nothing(app, caller, Refusal::invalid(why), &call).await?)
        }
    }
}

/// What the call took goes into the ledger before anything is made of it. A store that is away for a moment is waited for.
async fn note_answer(app: &App, project: ProjectId, run: RunId, call: ModelCall) -> Result<(), No> {
    let mut tries = 0;
    loop {
        let answered = Box::new(PlannerAnswered { run, call: call.clone() });
        tries += 1;
        match app.submit(Actor::Runtime, Command::NotePlanner { project, answered }, None).await {
            Ok(_) => return Ok(()),
            Err(no) if tries == MOST_TRIES => return Err(no),
            Err(no) => {
                tracing::error!(%run, error = %no, "what a plan took is not recorded yet; trying again");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

/// The refusal is kept under the name of the request: who asks again is told the same, and nobody is paid again.
async fn paid_for_nothing(app: &App, caller: &Caller, refusal: Refusal, call: &ModelCall) -> Result<No, No> {
    let cost = format!("{refusal} (call {}: {} millionths of a dollar)", call.id, call.usd_micros);
    let refusal = Refusal::invalid(cost);
    let note = Command::NoteRefusal { about: About::default(), tried: "plan", refusal: refusal.clone() };
    app.submit(caller.actor(), note, caller.key.clone()).await?;
    Ok(refusal.into())
}
