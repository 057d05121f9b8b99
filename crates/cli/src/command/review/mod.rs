//! `placet review`: what waits for a person, in a whole window, with the cards and keys of the pages.
//!
//! [`sitting`] decides what every stroke means and [`draw`] what is seen, both pure; [`shell`] is the terminal and the connection
//! around them; [`office`] asks the control plane. Nothing is decided here that the control plane would not decide again.

mod ahead;
mod attend;
mod card;
mod decision;
mod draw;
mod files;
mod foot;
mod moves;
mod office;
mod row;
mod shell;
mod shown;
mod similar;
mod sitting;
mod sure;
#[cfg(test)]
mod tests;
mod writing;

use placet_domain::id::RunId;
use placet_wire::Client;
use placet_wire::api::{RunView, StandsFor};
use placet_wire::endpoint::ShowRun;

pub(in crate::command) use self::card::question;
use self::row::Subject;
use self::shell::Manner;
use super::project;
use crate::context::{Who, action_id};
use crate::error::CliError;
use crate::out::Out;
use crate::terminal;
use crate::terminal::rich::Letters;
use crate::terminal::screen::Ink;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Keys: j k move, space scrolls, a approves (twice), s approves its like too, r rejects with a reason, e edits, d shows files, ? lists all.\n\nExamples:\n  placet --as ada review\n  placet --as ada review 3f2a"
)]
pub(crate) struct Args {
    /// Only this action or run, by its id or the end of an action's
    id: Option<String>,
    /// Only what belongs to this project
    #[arg(long)]
    project: Option<String>,
    /// Letters that every terminal has
    #[arg(long)]
    ascii: bool,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    if out.is_json() || !terminal::is_ours() {
        return Err(CliError::usage("there is no terminal to review at")
            .hint("`placet queue` lists what waits, `placet show ID` shows it, `placet approve ID` and `placet reject ID` decide"));
    }
    let client = who.client()?;
    let project = match &args.project {
        Some(name) => Some(project::find(&client, Some(name)).await?.id),
        None => None,
    };
    let first = match &args.id {
        Some(typed) => Some(subject(&client, typed).await?),
        None => None,
    };
    let letters = if args.ascii { Letters::Ascii } else { Letters::All };
    let seat = who.seat(&client)?;
    shell::sit(client, Manner { ink: ink(), letters, project, first, seat }, out).await
}

/// Colours unless somebody said that they want none.
fn ink() -> Ink {
    let says_no = std::env::var_os("NO_COLOR").is_some_and(|no| !no.is_empty());
    if says_no || std::env::var_os("TERM").is_some_and(|term| term == "dumb") { Ink::Plain } else { Ink::Coloured }
}

/// What somebody wants to look at: an action, or that for which a run stands still.
async fn subject(client: &Client, typed: &str) -> Result<Subject, CliError> {
    let Ok(run) = typed.parse::<RunId>() else { return Ok(Subject::Action(action_id(client, typed).await?)) };
    let view: RunView = client.get(ShowRun { run }).await?;
    let why = match view.status.as_str() {
        "PENDING_EXPORT" => StandsFor::Results,
        "CHECKPOINT_REACHED" => StandsFor::Checkpoint,
        "EXECUTING" => StandsFor::Wish,
        _ => StandsFor::Plan,
    };
    Ok(Subject::Run(run, why))
}
