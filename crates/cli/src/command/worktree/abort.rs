//! `placet abort`: gives a worktree up. What was committed stays on its branch; what was not is shown before it goes.

use placet_wire::api::{Rejection, WorktreeView};
use placet_wire::endpoint::AbortWorktree;
use placet_worktree::ports;
use placet_worktree::redact::redacted;
use placet_worktree::start::name_of;

use super::unsaved::losing;
use super::{Pair, Site, failed, recorded, turn};
use crate::context::Who;
use crate::desk::Desk;
use crate::error::CliError;
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet abort --agent backend --ticket PAY-123 --reason 'the ticket moved'\n  \
                        placet abort --agent backend --ticket PAY-123 --reason 'a dead end' --discard")]
pub(crate) struct Args {
    #[command(flatten)]
    pair: Pair,
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Remove the worktree although it holds work that was not committed
    #[arg(long)]
    discard: bool,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let desk = Desk::open(who).await?;
    let given_up = give_up(&desk, &site, &args).await;
    desk.close().await;
    let view = given_up?;
    out.answer(&view, |view| format!("given up; the branch {} stays as it is", view.opening.branch));
    Ok(())
}

async fn give_up(desk: &Desk, site: &Site, args: &Args) -> Result<WorktreeView, CliError> {
    let view = recorded(&desk.client, &args.pair).await?;
    let name = name_of(&view.opening).map_err(failed)?;
    let on_disk = site.repository.list().map_err(failed)?.into_iter().find(|listed| listed.name == name);
    let worktree = match on_disk {
        Some(listed) if listed.damage.is_empty() => listed.worktree,
        Some(_) => site.repository.repair(&name).map_err(failed)?,
        None => None,
    };
    let _turn = worktree.as_ref().map(turn).transpose()?;
    let losing = worktree.as_ref().map(|worktree| losing(worktree, args.discard)).transpose()?;
    let reason = Rejection { reason: redacted(&args.reason) };
    let view: WorktreeView = desk.client.post(AbortWorktree { worktree: view.id }, &reason).await?;
    if let (Some(worktree), Some(losing)) = (worktree, losing) {
        worktree.remove(&losing).map_err(failed)?;
        ports::release(site.repository.root(), &name)?;
    }
    Ok(view)
}
