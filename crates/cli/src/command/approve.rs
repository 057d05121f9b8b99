//! `placet approve`: shows what will be done, asks, and approves exactly that.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use placet_wire::Client;
use placet_wire::api::{ActionDetail, ActionView, Decision};

use crate::card::{self, card};
use crate::context::{Who, action_id};
use crate::error::{CliError, Code};
use crate::out::{Out, table};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without --yes you are shown the action and asked. With --yes and --seen, only what you saw is approved."
)]
pub(crate) struct Args {
    /// The actions, by their ids or the ends of them
    #[arg(required = true)]
    actions: Vec<String>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    /// The review digest you saw; anything else is refused
    #[arg(long, value_name = "DIGEST")]
    seen: Option<String>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    if args.seen.is_some() && args.actions.len() > 1 {
        return Err(CliError::usage("--seen goes with one action"));
    }
    let mut decided = Vec::new();
    for typed in &args.actions {
        let id = action_id(&client, typed).await?;
        let detail: ActionDetail = client.get(&format!("/api/v1/actions/{id}")).await?;
        if !args.yes {
            ask(&detail).await?;
        }
        let seen = args.seen.clone().unwrap_or_else(|| detail.action.review.to_string());
        decided.push(approve(&client, &detail, &seen).await?);
    }
    out.answer(&decided, |decided| table(&decided.iter().map(card::row).collect::<Vec<_>>()));
    Ok(())
}

pub(super) async fn approve(client: &Client, detail: &ActionDetail, seen: &str) -> Result<ActionView, CliError> {
    let path = format!("/api/v1/actions/{}/approve", detail.action.id);
    Ok(client.post_if(&path, seen, &Decision::default()).await?)
}

/// Shows the card and takes only an explicit yes.
pub(super) async fn ask(detail: &ActionDetail) -> Result<(), CliError> {
    if !std::io::stdin().is_terminal() {
        return Err(CliError::usage("nobody is there to ask")
            .hint("look with `placet show ID`, then give --yes --seen with the review digest it shows"));
    }
    let _ = write!(anstream::stderr(), "{}\napprove exactly this? [y/N] ", card(detail));
    // On a thread of its own: whoever waits for the answer can still be interrupted.
    let read = tokio::task::spawn_blocking(|| std::io::stdin().lock().lines().next());
    let answer = read.await.ok().flatten().transpose()?.unwrap_or_default();
    match answer.trim() {
        "y" | "yes" => Ok(()),
        _ => Err(CliError::new(Code::Waiting, "not approved; it still waits")
            .hint("reject it with `placet reject ID --reason TEXT`")),
    }
}
