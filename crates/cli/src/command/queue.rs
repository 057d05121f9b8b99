//! `placet queue`: what waits for a person.

use placet_domain::action::ActionStatus;
use placet_wire::api::ActionList;

use super::safe_mode;
use crate::card;
use crate::context::Who;
use crate::error::CliError;
use crate::out::{Out, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// At most this many
    #[arg(long, default_value_t = 100)]
    limit: usize,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    safe_mode::remind(&client, out).await;
    let list: ActionList = client.get(&format!("/api/v1/queue?limit={}", args.limit)).await?;
    if list.actions.is_empty() && !out.is_json() {
        out.note("nothing waits for you; proposals that need a person appear here");
        return Ok(());
    }
    out.answer(&list, |list| table(&list.actions.iter().map(card::row).collect::<Vec<_>>()));
    if list.actions.iter().any(|action| action.status == ActionStatus::Interrupted) {
        out.note("what was interrupted waits for a word too: placet action resolve ID --retry or --abandon");
    }
    if !list.actions.is_empty() {
        out.next("placet show ID, then placet approve ID or placet reject ID --reason TEXT");
    }
    Ok(())
}
