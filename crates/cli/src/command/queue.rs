//! `placet queue`: what waits for a person, page by page until as many as were asked for are there.

use placet_domain::action::ActionStatus;
use placet_wire::api::QueueView;
use placet_wire::{Client, ClientError};

use super::safe_mode;
use crate::card;
use crate::context::Who;
use crate::error::CliError;
use crate::out::{Out, table};

/// As many as are fetched at once.
const MOST_AT_ONCE: usize = 100;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet --as ada queue\n  placet --as ada queue --all --json")]
pub(crate) struct Args {
    /// At most this many
    #[arg(long, default_value_t = 100)]
    limit: usize,
    /// Everything that waits
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    safe_mode::remind(&client, out).await;
    let list = fetched(&client, if args.all { usize::MAX } else { args.limit }).await?;
    if list.actions.is_empty() && !out.is_json() {
        out.note("nothing waits for you; proposals that need a person appear here");
        return Ok(());
    }
    out.answer(&list, |list| table(&list.actions.iter().map(card::row).collect::<Vec<_>>()));
    if list.actions.iter().any(|action| action.status == ActionStatus::Interrupted) {
        out.note("what was interrupted waits for a word too: placet action resolve ID --retry or --abandon");
    }
    if list.next.is_some() {
        out.note(&format!("these are the first {}; more wait: --limit N, or --all", list.actions.len()));
    }
    if !list.actions.is_empty() {
        out.next("placet show ID, then placet approve ID or placet reject ID --reason TEXT");
    }
    Ok(())
}

/// So many, from the top. What moves while it is read is told once or not at all: a place is one of the order, not of a moment.
async fn fetched(client: &Client, most: usize) -> Result<QueueView, ClientError> {
    let mut list = QueueView::default();
    let mut after = String::new();
    loop {
        let limit = (most - list.actions.len()).min(MOST_AT_ONCE);
        let page: QueueView = client.get(&format!("/api/v1/queue?limit={limit}{after}")).await?;
        list.actions.extend(page.actions);
        list.next = page.next;
        match &list.next {
            Some(next) if list.actions.len() < most => after = format!("&after={next}"),
            Some(_) | None => return Ok(list),
        }
    }
}
