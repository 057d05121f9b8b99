//! `placet show`: the approval card of one action.

use placet_wire::api::ActionDetail;

use crate::card::card;
use crate::context::{Who, action_id};
use crate::error::CliError;
use crate::out::Out;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The action, by its id or the end of it
    action: String,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    let id = action_id(&client, &args.action).await?;
    let detail: ActionDetail = client.get(&format!("/api/v1/actions/{id}")).await?;
    out.answer(&detail, card);
    Ok(())
}
