//! `placet prompt`: what an agent is told when it begins to work at a ticket; for pasting, or for handing on directly.

use std::io::Read as _;
use std::path::PathBuf;

use placet_domain::worktree::BranchName;
use placet_wire::api::WorktreeView;
use placet_worktree::prompt::{Facts, TicketText, render};

use super::{Pair, Site, look_up, origin_of};
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::home;
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet prompt --agent backend --ticket PAY-123\n  \
                        placet prompt --agent backend --ticket PAY-123 --title 'Refunds' --body ticket.md")]
pub(crate) struct Args {
    #[command(flatten)]
    pair: Pair,
    /// The ticket's title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// A file with the ticket's text; `-` reads it from standard input
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let unusable = |error: &dyn std::fmt::Display| CliError::usage(error.to_string());
    let agent = site.team.agent(&args.pair.agent).map_err(|error| unusable(&error))?;
    let id = site.team.policy().ticket(&args.pair.ticket).map_err(|error| unusable(&error))?;
    let place = site.repository.root().join(format!(".worktrees/{id}/{}", agent.name()));
    let facts = Facts::of(&site.team, agent, &id, &place);
    let facts = match opened(&args.pair, who).await? {
        Some((view, origin)) => facts.recorded(view.manifest().clone(), view.exempted(), origin),
        None => facts,
    };
    let ticket = TicketText { id, title: args.title, body: body(args.body)? };
    let text = render(&site.team, agent, &ticket, &facts).map_err(|error| unusable(&error))?;
    out.answer(&serde_json::json!({ "prompt": text }), |_| text.clone());
    Ok(())
}

/// Loads the recorded worktree, if it was opened, with the branch that it starts from.
async fn opened(pair: &Pair, who: &Who) -> Result<Option<(WorktreeView, BranchName)>, CliError> {
    if who.server.is_none() && who.home_if_any()?.is_none() {
        return Ok(None);
    }
    match look_up(who, pair).await {
        Ok(view) if view.status.is_held() => {
            let origin = origin_of(who, &view).await?;
            Ok(Some((view, origin)))
        }
        Ok(_) => Ok(None),
        Err(error) if error.code == Code::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn body(file: Option<PathBuf>) -> Result<Option<String>, CliError> {
    match file {
        None => Ok(None),
        Some(file) if file.as_os_str() == "-" => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            Ok(Some(text))
        }
        Some(file) => home::read(&file).map(Some),
    }
}
