//! `placet exempt`: leave to change protected paths, asked for and granted by two different people.

use placet_domain::scope::Glob;
use placet_domain::worktree::Operation;
use placet_wire::api::{Decision, ExemptionRequest, Rejection, WorktreeView};
use placet_wire::endpoint::{GrantExemption, RefuseExemption, RequestExemption};
use placet_worktree::redact::redacted;

use super::duties::show_advice;
use super::{Pair, recorded};
use crate::context::Who;
use crate::desk::Desk;
use crate::error::{CliError, Code};
use crate::out::{Out, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Ask for leave
    #[command(
        after_help = "Example:\n  placet exempt ask --agent backend --ticket PAY-123 --path Makefile --reason 'a new target'"
    )]
    Ask {
        #[command(flatten)]
        pair: Pair,
        #[arg(long = "path", required = true, value_name = "GLOB")]
        paths: Vec<String>,
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// What was asked for and what came of it
    List {
        #[command(flatten)]
        pair: Pair,
    },
    /// Grant what the list shows under a number
    #[command(after_help = "Example:\n  placet --as ada exempt grant --agent backend --ticket PAY-123 0")]
    Grant {
        #[command(flatten)]
        pair: Pair,
        number: usize,
    },
    /// Refuse it, with a reason
    #[command(
        after_help = "Example:\n  placet --as ada exempt refuse --agent backend --ticket PAY-123 0 --reason 'not needed'"
    )]
    Refuse {
        #[command(flatten)]
        pair: Pair,
        number: usize,
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    let desk = Desk::open(who).await?;
    let view = answer(&desk, command, out).await;
    desk.close().await;
    out.answer(&view?.exemptions, |exemptions| {
        let rows = exemptions.iter().map(|view| {
            let paths: Vec<&str> = view.exemption.paths.iter().map(Glob::as_str).collect();
            let state = match view.exemption.granted {
                None => "asked",
                Some(true) => "granted",
                Some(false) => "refused",
            };
            vec![view.number.to_string(), state.to_owned(), paths.join(" "), view.exemption.reason.clone()]
        });
        table(&rows.collect::<Vec<_>>())
    });
    Ok(())
}

async fn answer(desk: &Desk, command: Command, out: &Out) -> Result<WorktreeView, CliError> {
    match command {
        Command::Ask { pair, paths, reason } => {
            let view = recorded(&desk.client, &pair).await?;
            let globs: Result<Vec<Glob>, _> = paths.iter().map(|path| path.parse::<Glob>()).collect();
            let paths = globs.map_err(|error| CliError::usage(error.to_string()))?;
            let request = ExemptionRequest { paths, reason: redacted(&reason) };
            Ok(desk.client.post(RequestExemption { worktree: view.id }, &request).await?)
        }
        Command::List { pair } => {
            let view = recorded(&desk.client, &pair).await?;
            show_advice(desk, &view, Operation::Start, out).await?;
            Ok(view)
        }
        Command::Grant { pair, number } => {
            let view = recorded(&desk.client, &pair).await?;
            let wanted = view.exemptions.iter().find(|exemption| exemption.number == number);
            let seen =
                wanted.ok_or_else(|| CliError::new(Code::NotFound, format!("there is no exemption {number}")))?;
            show_advice(desk, &view, Operation::Start, out).await?;
            let exemption = GrantExemption { worktree: view.id, number };
            Ok(desk.client.post_if(exemption, seen.review, &Decision::default()).await?)
        }
        Command::Refuse { pair, number, reason } => {
            let view = recorded(&desk.client, &pair).await?;
            show_advice(desk, &view, Operation::Start, out).await?;
            Ok(desk
                .client
                .post(RefuseExemption { worktree: view.id, number }, &Rejection { reason: redacted(&reason) })
                .await?)
        }
    }
}
