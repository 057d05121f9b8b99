//! `placet reject`: refuses an action as it stands, with a reason the agent reads.

use placet_wire::api::{ActionDetail, Rejection};
use placet_wire::endpoint::{RejectAction, ShowAction};

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
    let detail: ActionDetail = client.get(ShowAction { action: id }).await?;
    let rejection = Rejection { reason: args.reason };
    let view = client.post_if(RejectAction { action: id }, detail.action.review, &rejection).await?;
    out.answer(&view, |view| card::rows([view]));
    Ok(())
}
