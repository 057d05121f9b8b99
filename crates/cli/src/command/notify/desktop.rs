//! `placet notify desktop`: tells its person what begins to wait, by `notify-send` or, where there is none, by their terminal.
//!
//! It asks the control plane as its person does and tells transitions only: what waits already is one number. Words of others are made
//! harmless; there is no button: the link leads to the decision.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use placet_control::harmless;
use placet_domain::run::RunStatus;
use placet_wire::api::{ActionList, RunList};
use placet_wire::{Client, ClientError};

use crate::command::serve::told_to_stop;
use crate::context::Who;
use crate::error::CliError;
use crate::out::Out;

const PROGRAM: &str = "notify-send";
/// A desktop that does not answer is told nothing more for now.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than this at once is one notification.
const MOST_EACH: usize = 3;
/// As many as the queue gives at once.
const MOST_ROWS: usize = 1_000;
/// The newest runs; older ones that stand still have been told of.
const MOST_RUNS: u32 = 200;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet --as ada notify desktop\n  placet --as ada notify desktop --every 30")]
pub(crate) struct Args {
    /// How many seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
}

/// What waits: by what it is called in addresses, and how it is told.
type Waiting = BTreeMap<String, String>;

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    let mut known: BTreeSet<String> = look(&client).await?.into_keys().collect();
    out.note(&format!("{} wait already; telling what comes from now on", known.len()));
    let following = async {
        loop {
            tokio::time::sleep(Duration::from_secs(args.every)).await;
            match look(&client).await {
                Ok(waiting) => {
                    tell(&client, waiting.iter().filter(|(path, _)| !known.contains(*path)).collect(), out).await;
                    // What is decided is forgotten: if it waits again, that is news again.
                    known = waiting.into_keys().collect();
                }
                Err(ClientError::Unreachable { .. }) => {}
                Err(error) => return Err(CliError::from(error)),
            }
        }
    };
    tokio::select! {
        ended = following => ended,
        () = told_to_stop() => Ok(()),
    }
}

async fn look(client: &Client) -> Result<Waiting, ClientError> {
    let queue: ActionList = client.get(&format!("/api/v1/queue?limit={MOST_ROWS}")).await?;
    let action = |action: &placet_wire::api::ActionView| {
        (
            format!("/actions/{}", action.id),
            format!("{} waits (tier {})", harmless(&action.tool.to_string()), action.verdict.tier),
        )
    };
    let mut waiting: Waiting = queue.actions.iter().map(action).collect();
    let list: RunList = client.get(&format!("/api/v1/runs?limit={MOST_RUNS}")).await?;
    waiting.extend(list.runs.iter().filter_map(|run| {
        let told = still(run.status)?;
        Some((format!("/runs/{}", run.id), format!("{told}: “{}”", harmless(&run.goal))))
    }));
    Ok(waiting)
}

/// How a run is told of that waits for a person itself; one that waits for an action is told of by the action.
const fn still(status: RunStatus) -> Option<&'static str> {
    match status {
        RunStatus::PendingApproval => Some("a plan waits"),
        RunStatus::CheckpointReached => Some("a run stands still"),
        RunStatus::PendingExport => Some("results wait"),
        RunStatus::Draft
        | RunStatus::Approved
        | RunStatus::SpawningSandbox
        | RunStatus::Executing
        | RunStatus::Paused
        | RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::Cancelled
        | RunStatus::RolledBack => None,
    }
}

/// A few are told each by itself, many as a number.
async fn tell(client: &Client, news: Vec<(&String, &String)>, out: &Out) {
    if news.len() > MOST_EACH {
        return show(&format!("{} decisions wait", news.len()), client.server(), out).await;
    }
    for (path, told) in news {
        show(told, &format!("{}{path}", client.server()), out).await;
    }
}

async fn show(told: &str, link: &str, out: &Out) {
    if !shown_by_desktop(told, link).await {
        // What a terminal shows as a notification (OSC 9); nothing in the text can end it.
        if std::io::stdout().is_terminal() {
            let _ = write!(std::io::stdout(), "\x1b]9;Placet: {told}\x07");
        }
        out.line(&format!("{told}\n  {link}"));
    }
}

/// By its arguments, without a shell. Whether there is a desktop that took it.
async fn shown_by_desktop(told: &str, link: &str) -> bool {
    let mut command = tokio::process::Command::new(PROGRAM);
    command.args(["--app-name=Placet", "--", told, link]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    matches!(tokio::time::timeout(PATIENCE, command.status()).await, Ok(Ok(status)) if status.success())
}
