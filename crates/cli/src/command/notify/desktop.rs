//! `placet notify desktop`: tells its person what begins to wait, by `notify-send` or, where there is none, by their terminal.
//!
//! It asks the control plane as its person does and tells transitions only: what waits already is one number. Words of others are made
//! harmless; there is no button: the link leads to the decision.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use placet_control::harmless;
use placet_domain::run::{Awaits, RunStatus};
use placet_wire::api::{QueueQuery, RunQuery};
use placet_wire::endpoint::{ListRuns, ShowQueue};
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
const MOST_ROWS: u32 = 1_000;
/// The newest runs; older ones that stand still have been told of.
const MOST_RUNS: u32 = 200;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet --as ada notify desktop\n  placet --as ada notify desktop --every 30")]
pub(crate) struct Args {
    /// How many seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
}

/// Where it is decided, and as what it waits: a run whose plan was approved waits again with its results.
type Key = (String, &'static str);

/// What waits, and how it is told.
type Waiting = BTreeMap<Key, String>;

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    let seat = who.seat(&client)?;
    let mut known: BTreeSet<Key> = look(&client).await?.into_keys().collect();
    out.note(&format!("{} wait already; telling what comes from now on", known.len()));
    let following = async {
        let mut is_troubled = false;
        loop {
            tokio::time::sleep(Duration::from_secs(args.every)).await;
            match look(&client).await {
                Ok(waiting) => {
                    tell(&seat, news(&known, &waiting), out).await;
                    // What is decided is forgotten: if it waits again, that is news again.
                    known = waiting.into_keys().collect();
                    is_troubled = false;
                }
                Err(error) if is_the_end(&error) => return Err(CliError::from(error)),
                Err(error) => {
                    if !is_troubled {
                        out.note(&format!("{error}; looking again"));
                    }
                    is_troubled = true;
                }
            }
        }
    };
    tokio::select! {
        ended = following => ended,
        () = told_to_stop() => Ok(()),
    }
}

/// What was not there at the last look.
fn news<'w>(known: &BTreeSet<Key>, waiting: &'w Waiting) -> Vec<(&'w str, &'w str)> {
    let new = waiting.iter().filter(|(key, _)| !known.contains(*key));
    new.map(|((path, _), told)| (path.as_str(), told.as_str())).collect()
}

/// Whoever is not let in any more will not be by asking again. Everything else passes: a restart, too many questions, a fault.
fn is_the_end(error: &ClientError) -> bool {
    error.problem().is_some_and(|problem| matches!(problem.status, 401 | 403))
}

async fn look(client: &Client) -> Result<Waiting, ClientError> {
    let query = QueueQuery { limit: Some(MOST_ROWS), ..QueueQuery::default() };
    let queue = client.get(ShowQueue { query }).await?;
    let action = |action: &placet_wire::api::ActionView| {
        (
            (format!("/actions/{}", action.id), action.status.as_str()),
            format!("{} waits (tier {})", harmless(&action.tool.to_string()), action.verdict.tier),
        )
    };
    let mut waiting: Waiting = queue.actions.iter().map(action).collect();
    let query = RunQuery { limit: Some(MOST_RUNS), ..RunQuery::default() };
    let list = client.get(ListRuns { query }).await?;
    waiting.extend(list.runs.iter().filter_map(|run| {
        let told = still(run.status)?;
        Some(((format!("/runs/{}", run.id), run.status.as_str()), format!("{told}: “{}”", harmless(&run.goal))))
    }));
    Ok(waiting)
}

/// How a run is told of that waits for a person itself; one that waits for an action is told of by the action.
const fn still(status: RunStatus) -> Option<&'static str> {
    match status.awaits() {
        Some(Awaits::Plan) => Some("a plan waits"),
        Some(Awaits::Checkpoint) => Some("a run stands still"),
        Some(Awaits::Results) => Some("results wait"),
        None => None,
    }
}

/// A few are told each by itself, many as a number.
async fn tell(seat: &str, news: Vec<(&str, &str)>, out: &Out) {
    if news.len() > MOST_EACH {
        return show(&format!("{} decisions wait", news.len()), seat, out).await;
    }
    for (path, told) in news {
        show(told, &format!("{seat}{path}"), out).await;
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

#[cfg(test)]
mod tests {
    use placet_wire::Problem;

    use super::*;

    #[test]
    fn b4_a_run_that_waits_for_something_else_is_news_again() {
        let key = |status| ("/runs/run_1".to_owned(), status);
        let waits = |status, told: &str| Waiting::from([(key(status), told.to_owned())]);
        let known = BTreeSet::from([key("pending_approval")]);
        assert!(news(&known, &waits("pending_approval", "a plan waits")).is_empty());
        assert_eq!(news(&known, &waits("pending_export", "results wait")), [("/runs/run_1", "results wait")]);
    }

    #[test]
    fn b4_a_desktop_ends_only_when_its_person_is_not_let_in_any_more() {
        let text = String::new;
        let refused = |status| {
            ClientError::Refused(Box::new(Problem {
                kind: text(),
                title: text(),
                status,
                detail: text(),
                code: text(),
            }))
        };
        for (status, ends) in [(401, true), (403, true), (404, false), (429, false), (500, false), (503, false)] {
            assert_eq!(is_the_end(&refused(status)), ends, "{status}");
        }
        assert!(!is_the_end(&ClientError::Garbled { server: text(), why: text() }));
    }
}
