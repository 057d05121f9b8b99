//! `placet reject`: refuses an action as it stands, with a reason the agent reads.

use placet_wire::api::{ActionDetail, ActionView, Rejection};

use crate::card;
use crate::context::{Who, action_id};
use crate::error::CliError;
use crate::out::Out;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The action, by its id or the end of it
    action: String,
    /// Why; the agent reads it
    #[arg(long)]
    reason: String,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    let id = action_id(&client, &args.action).await?;
    let detail: ActionDetail = client.get(&format!("/api/v1/actions/{id}")).await?;
    let (path, seen) = (format!("/api/v1/actions/{id}/reject"), detail.action.review.to_string());
    let view: ActionView = client.post_if(&path, &seen, &Rejection { reason: args.reason }).await?;
    out.answer(&view, |view| card::rows([view]));
    Ok(())
}
