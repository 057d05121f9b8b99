//! WORDS of calls: whether a project keeps them, which calls a run made, and what was said in one of them.

use placet_domain::command::{About, Command};
use placet_domain::id::{ProjectId, RunId};
use placet_domain::project::{Project, ProjectCommand};
use placet_domain::record::{Event, Record};
use placet_domain::refusal::Refusal;
use placet_domain::run::{CallEvent, ModelCall, Run, RunEvent};
use placet_ledger::Entry;
use placet_store::{EntryFilter, MOST_ROWS};

use super::{Caller, No, find_run};
use crate::app::App;
use crate::models::words_in;

/// From here on they are kept, or not. Only where what is stored is encrypted.
pub(crate) async fn set_words(
    app: &App,
    caller: &Caller,
    id: ProjectId,
    kept: bool,
    reason: String,
) -> Result<Project, No> {
    caller.sees(id, "project")?;
    if kept && !app.store().blobs().is_encrypted() {
        let why =
            "words are kept encrypted, and this store has no key; name one with `evidence_key_file` in placet.toml";
        return Err(Refusal::invalid(why).into());
    }
    let command = Command::Project { id, command: ProjectCommand::SetWords { kept, reason } };
    let receipt = app.submit(caller.actor(), command, caller.key.clone()).await?;
    receipt.loaded.project.ok_or_else(|| Refusal::Unknown { what: "project" }.into())
}

/// A call of a run, with the number of its entry.
pub(crate) struct Called {
    pub(crate) entry: u64,
    pub(crate) at: String,
    pub(crate) call: ModelCall,
}

/// The calls of a run, oldest first, of those that the next entries tell of; and the last entry that was looked at.
pub(crate) async fn calls(
    app: &App,
    caller: &Caller,
    run: RunId,
    after: Option<u64>,
) -> Result<(Vec<Called>, Option<u64>), No> {
    let run = find_run(app, caller, run).await?;
    let filter = EntryFilter { run: Some(run.id), after, limit: MOST_ROWS, ..EntryFilter::default() };
    let entries = app.store().entries(filter).await.map_err(No::Fault)?;
    let last = entries.last().map(|stored| stored.seq);
    let read = entries.iter().filter_map(|stored| Entry::parse(&stored.bytes).ok());
    Ok((read.filter_map(|entry| called(&run, entry)).collect(), last))
}

fn called(run: &Run, entry: Entry) -> Option<Called> {
    let about = About { project: Some(run.project), run: Some(run.id), action: None };
    let (seq, at) = (entry.seq, entry.at);
    let event = Record::read(about, &entry.kind, entry.body).ok()?.event;
    let Event::Run(_, RunEvent::Call(CallEvent::Made { call, .. })) = event else { return None };
    Some(Called { entry: seq, at, call: *call })
}

/// What was said in the call of this entry, as JSON.
pub(crate) async fn words(app: &App, caller: &Caller, run: RunId, entry: u64) -> Result<Vec<u8>, No> {
    let run = find_run(app, caller, run).await?;
    let unknown = || No::Refused(Refusal::Unknown { what: "call" });
    let stored = app.store().entry(entry).await.map_err(No::Fault)?;
    let read = stored.and_then(|stored| Entry::parse(&stored.bytes).ok());
    let of_run = read.filter(|entry| entry.run.as_deref() == Some(run.id.to_string().as_str()));
    let call = of_run.and_then(|entry| called(&run, entry)).ok_or_else(unknown)?.call;
    let none = || Refusal::invalid("the words of this call were not kept: its project did not keep any then");
    let kept = call.words.ok_or_else(none)?;
    let bytes = app.store().blobs().get(kept.digest).await.map_err(No::Fault)?;
    let gone = || Refusal::invalid("the words of this call were removed after their time");
    let bytes = bytes.ok_or_else(gone)?;
    Ok(words_in(&bytes).ok_or_else(unknown)?.to_vec())
}
