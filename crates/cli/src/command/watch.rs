//! `placet watch`: prints what happens in the runs that the caller may see, one line for each event, or with `--json` its ledger entry.
//!
//! It begins with the newest events and resumes a lost connection where it broke. Decisions are made elsewhere: `placet review` and `placet queue`.

use placet_domain::text::marked;
use placet_wire::api::{StreamQuery, WorkerView};
use placet_wire::endpoint::ListWorkers;
use placet_wire::{Client, ClientError};
use tokio::sync::mpsc::{Receiver, channel};

use super::project;
use crate::context::Who;
use crate::error::CliError;
use crate::events::{EventEntry, TitleCache};
use crate::following::{LONGEST_SILENCE, News, follow};
use crate::out::Out;

/// Events that wait to be printed; the reader of the stream pauses beyond this.
const MAX_QUEUED_EVENTS: usize = 256;
/// A worker renews its lease every few seconds: no news for a person.
const HEARTBEAT: &str = "job_renewed";

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Ends with Ctrl-C. With --json every line is an entry of the ledger.\n\nExamples:\n  placet --as ada watch\n  placet --as ada watch --last 0\n  placet --as ada --json watch --project alpha > events.ndjson"
)]
pub(crate) struct Args {
    /// Only what belongs to this project
    #[arg(long)]
    project: Option<String>,
    /// Begin with so many of the newest events
    #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=200))]
    last: u32,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    let project = match &args.project {
        Some(name) => Some(project::find(&client, Some(name)).await?.id),
        None => None,
    };
    // The first request fails at once where the stream would be retried for ever.
    let list = client.get(ListWorkers {}).await?;
    list.workers.iter().filter(|worker| !worker.revoked).for_each(|worker| out.note(&worker_line(worker)));
    let (sender, news) = channel(MAX_QUEUED_EVENTS);
    let stream = StreamQuery { project, last: Some(args.last) };
    let following = tokio::spawn(follow(client.clone(), stream, LONGEST_SILENCE, sender));
    let ended = print_events(&client, news, out).await;
    following.abort();
    ended
}

async fn print_events(client: &Client, mut news: Receiver<News>, out: &Out) -> Result<(), CliError> {
    let (mut is_lost, mut titles) = (false, TitleCache::default());
    while let Some(news) = news.recv().await {
        match news {
            // The entry of an event that belongs to no run is not shown.
            News::Event(event) if event.data == "{}" => {}
            News::Event(event) if out.is_json() => out.data(&event.data),
            News::Event(event) if event.event == HEARTBEAT => {}
            News::Event(event) => {
                let entry = EventEntry::parse(&event);
                let title = titles.find(client, entry.action.as_deref()).await;
                out.line(&entry.line(title));
            }
            News::Lost(error @ ClientError::Refused(_)) => return Err(error.into()),
            News::Silent | News::Lost(_) if !is_lost => {
                is_lost = true;
                out.note("the connection was lost; trying again");
            }
            News::Live => is_lost = false,
            News::Silent | News::Lost(_) => {}
        }
    }
    Ok(())
}

/// Formats a worker's name, state and use of its capacity, and its version if it differs from the control plane's.
fn worker_line(worker: &WorkerView) -> String {
    let (name, state) = (marked(&worker.name), if worker.is_well { "well" } else { "silent" });
    let (executes, hosts) = (worker.executes, worker.hosts);
    let Some(declared) = &worker.declaration else {
        return format!("worker {name} is {state}, executes {executes}, hosts {hosts}");
    };
    let version = if worker.other_version { format!(", version {}", marked(&declared.version)) } else { String::new() };
    let (actions, runs) = (declared.actions_at_once, declared.runs_at_once);
    format!("worker {name} is {state}, executes {executes}/{actions}, hosts {hosts}/{runs}{version}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn c16_worker_line_shows_state_and_capacity() {
        let worker = json!({ "id": format!("idn_{:032x}", 7), "name": "w\u{1b}1", "executes": 1, "hosts": 0, "is_well": false, "revoked": false });
        let worker = serde_json::from_value(worker).unwrap();
        assert_eq!(worker_line(&worker), "worker w⟦U+001B⟧1 is silent, executes 1, hosts 0");
    }
}
