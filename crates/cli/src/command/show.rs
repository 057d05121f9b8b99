//! `placet show`: the approval card of one action, with what a reviewer changed if it was amended.

use placet_domain::action::ActionStatus;

use super::approve::Looked;
use crate::card::card;
use crate::context::Who;
use crate::error::CliError;
use crate::out::Out;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The action, by its id or the end of it
    action: String,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let looked = Looked::at(&who.client()?, &args.action).await?;
    out.answer(&looked.detail, |detail| card(detail, looked.before.as_ref()));
    let (id, status) = (looked.detail.action.id, looked.detail.action.status);
    if status == ActionStatus::Interrupted {
        out.next(&format!("placet action resolve {id} --retry or --abandon, with --reason TEXT"));
    }
    if status == ActionStatus::PendingApproval {
        out.next(&format!("placet approve {id} or placet reject {id} --reason TEXT"));
    }
    Ok(())
}
