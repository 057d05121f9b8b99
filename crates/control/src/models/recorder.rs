//! Writes calls into the ledger, after them and in batches: a call that is over becomes an entry within moments, and none is lost
//! while the process lives. What a crash left held counts as spent.

use std::sync::Arc;
use std::time::Duration;

use placet_domain::budget::{Amounts, Purpose};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::RunId;
use placet_domain::identity::Actor;
use placet_domain::refusal::Refusal;
use placet_domain::run::{BudgetCommand, CallCommand, KeptWords, ModelCall, Run, RunCommand};
use placet_llm::words::Words;
use placet_store::{MOST_ROWS, RunFilter};
use tokio::sync::mpsc;

use super::account::is_for_models;
use super::purse::{Charged, RunPurse};
use super::words;
use crate::app::App;
use crate::flow::{No, keep_made};

/// How many calls are written at once at most.
const BATCH: usize = 256;
/// How long the first of them waits for others: a commit costs about the same for one call and for a hundred.
const GATHER: Duration = Duration::from_millis(20);
const TIDY: Duration = Duration::from_secs(1);
const RETRY: Duration = Duration::from_millis(200);

/// Until the control plane stops, and then until every call is recorded and what is left has gone back.
pub(super) async fn record(purse: Arc<RunPurse>, mut calls: mpsc::UnboundedReceiver<Charged>) {
    let (app, mut batch) = (purse.app().clone(), Vec::with_capacity(BATCH));
    let mut tidying = tokio::time::interval(TIDY);
    loop {
        tokio::select! {
            Some(first) = calls.recv() => {
                batch.push(first);
                purse.gathered(GATHER).await;
                take_waiting(&mut calls, &mut batch);
                write(&purse, &mut batch).await;
            }
            _ = tidying.tick() => {
                purse.tidy().await;
                count(&purse, false).await;
            }
            () = app.closed() => break,
        }
    }
    while purse.close().await {
        if tokio::time::timeout(RETRY, calls.recv_many(&mut batch, BATCH)).await.is_ok() {
            write(&purse, &mut batch).await;
        }
    }
    count(&purse, true).await;
}

fn take_waiting(calls: &mut mpsc::UnboundedReceiver<Charged>, batch: &mut Vec<Charged>) {
    while batch.len() < BATCH
        && let Ok(call) = calls.try_recv()
    {
        batch.push(call);
    }
}

/// Writes what was counted: what is due, or all of it.
async fn count(purse: &RunPurse, all: bool) {
    for (run, count) in purse.counts().due(all) {
        let count = RunCommand::Call(CallCommand::Count { counts: vec![count] });
        submit(purse.app(), run, &count).await;
    }
}

/// Takes calls out that have no entry of their own. Nothing is paid for them, so nothing waits for them either.
fn count_free(purse: &RunPurse, batch: &mut Vec<Charged>) {
    for charged in batch.extract_if(.., |charged| purse.counts().takes(charged.run, &charged.call)) {
        charged.words.iter().for_each(|words| purse.took_words(words));
        purse.recorded(charged.run, &charged.purpose, 1, Amounts::NONE);
    }
}

/// Calls without words first: to keep words takes longer, and nobody else's money waits for that.
async fn write(purse: &RunPurse, batch: &mut Vec<Charged>) {
    count_free(purse, batch);
    let (mut wordy, plain): (Vec<Charged>, Vec<Charged>) = batch.drain(..).partition(|charged| charged.words.is_some());
    charge_all(purse, plain).await;
    for charged in &mut wordy {
        if let Some(words) = charged.words.take() {
            purse.took_words(&words);
            charged.call.words = keep(purse.app(), charged.run, &charged.call, words).await;
        }
    }
    charge_all(purse, wordy).await;
}

/// One command for each run and part, in the order of the calls. All at once: the store writes in one commit what comes together.
async fn charge_all(purse: &RunPurse, batch: Vec<Charged>) {
    let mut charges: Vec<(RunId, String, Vec<ModelCall>)> = Vec::new();
    for Charged { run, purpose, call, words: _ } in batch {
        match charges.iter_mut().find(|(of, part, _)| *of == run && *part == purpose) {
            Some((_, _, calls)) => calls.push(call),
            None => charges.push((run, purpose, vec![call])),
        }
    }
    let charged = charges.into_iter().map(|(run, purpose, calls)| charge_part(purse, run, purpose, calls));
    futures_util::future::join_all(charged).await;
}

async fn charge_part(purse: &RunPurse, run: RunId, purpose: String, calls: Vec<ModelCall>) {
    let count = calls.len();
    let spent = match purpose.parse::<Purpose>() {
        Ok(named) => charged(purse.app(), run, &named, calls).await,
        Err(_) => Amounts::NONE,
    };
    // What the ledger does not know of counts as lost when the part is let go of, and so as spent.
    purse.recorded(run, &purpose, count, spent);
}

/// What of it is in the ledger. Where one call keeps all from being recorded, each is tried by itself.
async fn charged(app: &App, run: RunId, purpose: &Purpose, calls: Vec<ModelCall>) -> Amounts {
    let all = calls.iter().map(ModelCall::spent).sum();
    let is_one = calls.len() == 1;
    if charge(app, run, purpose.clone(), calls.clone()).await {
        return all;
    }
    let mut spent = Amounts::NONE;
    for call in calls.into_iter().filter(|_| !is_one) {
        let of_it = call.spent();
        if charge(app, run, purpose.clone(), vec![call]).await {
            spent = spent.plus(of_it);
        }
    }
    spent
}

/// Keeps what was said, before the entry that names it. A call whose words cannot be kept is recorded without them: it has happened.
async fn keep(app: &App, run: RunId, call: &ModelCall, words: Words) -> Option<KeptWords> {
    match try_keep(app, run, call.clone(), words).await {
        Ok(kept) => kept,
        Err(error) => {
            tracing::error!(%run, call = call.id, %error, "the words of a call are not kept");
            None
        }
    }
}

/// Whether the project still wants them is asked last: a call may take minutes, and who said no meanwhile said it for this one too.
async fn try_keep(app: &App, run: RunId, call: ModelCall, words: Words) -> Result<Option<KeptWords>, No> {
    let run = app.store().run(run).await.map_err(No::Fault)?.ok_or(Refusal::Unknown { what: "run" })?;
    let cut = words.request.is_cut() || words.response.is_cut();
    let made = tokio::task::spawn_blocking(move || words::document(&call, &words)).await.map_err(|_| No::Unseen)?;
    let (digest, size_bytes) = (Digest::of(&made), made.len() as u64);
    let project = app.store().project(run.project).await.map_err(No::Fault)?;
    if !project.is_some_and(|project| project.keeps_words) {
        return Ok(None);
    }
    keep_made(app, run.project, digest, made.into()).await?;
    Ok(Some(KeptWords { digest, size_bytes, cut }))
}

/// A store that is away for a moment is waited for: without the entry the call would have cost nothing. Gives whether there is one.
async fn charge(app: &App, run: RunId, purpose: Purpose, calls: Vec<ModelCall>) -> bool {
    submit(app, run, &RunCommand::Call(CallCommand::Charge { purpose, calls })).await
}

async fn submit(app: &App, run: RunId, command: &RunCommand) -> bool {
    loop {
        match app.submit(Actor::Runtime, Command::Run { id: run, command: command.clone() }, None).await {
            Ok(_) => return true,
            Err(No::Refused(refusal)) => {
                tracing::error!(%run, %refusal, "calls of models could not be recorded; what they took counts as spent");
                return false;
            }
            Err(no) => {
                tracing::error!(%run, error = %no, "calls of models are not recorded yet; trying again");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

/// What was held when the control plane was lost may have been spent: nobody knows, so it was.
pub(crate) async fn settle_what_was_lost(app: &App) -> Result<(), No> {
    let mut before = None;
    loop {
        let filter = RunFilter { before, limit: MOST_ROWS, ..RunFilter::default() };
        let page = app.store().runs(filter).await.map_err(No::Fault)?;
        let Some(last) = page.last().map(|listed| listed.created) else { return Ok(()) };
        before = Some(last);
        // Also of runs that are over: whoever paid for them is told with it.
        for run in page.into_iter().map(|listed| listed.state) {
            settle_lost(app, &run).await?;
        }
    }
}

async fn settle_lost(app: &App, run: &Run) -> Result<(), No> {
    let lost = run.budget.iter().flat_map(|budget| budget.holds()).filter(|(purpose, _)| is_for_models(purpose));
    for (purpose, spent) in lost {
        tracing::warn!(run = %run.id, %purpose, "what was held for calls of models when everything ended counts as spent");
        let settle = RunCommand::Budget(BudgetCommand::Settle { purpose: purpose.clone(), spent });
        app.submit(Actor::Runtime, Command::Run { id: run.id, command: settle }, None).await?;
    }
    Ok(())
}
