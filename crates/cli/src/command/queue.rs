//! `placet queue`: what waits for a person, page by page until as many as were asked for are there. And who should look at it, and when.

use jiff::{Timestamp, Zoned};
use placet_domain::action::ActionStatus;
use placet_domain::text::marked;
use placet_wire::api::{InboxQuery, QueueQuery, QueueView, StandingView};
use placet_wire::endpoint::{ShowInbox, ShowQueue};
use placet_wire::{Client, ClientError};

use super::review::question;
use super::{attention, safe_mode, until};
use crate::card;
use crate::context::{Who, action_id, short};
use crate::error::CliError;
use crate::out::Out;

/// As many as are fetched at once.
const MOST_AT_ONCE: usize = 100;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  placet --as ada queue\n  placet --as ada queue --all --json\n  placet --as ada queue assign ID --to eve --note 'you know this tool'\n  placet --as ada queue defer ID --until 2h"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// At most this many
    #[arg(long, default_value_t = 100)]
    limit: usize,
    /// Everything that waits
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Name who should look at an action; no right changes hands
    Assign {
        /// The action, by its id or the end of it
        action: String,
        /// Who, by name or id
        #[arg(long, value_name = "NAME", required_unless_present = "nobody")]
        to: Option<String>,
        /// What they should know, in one line
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        note: String,
        /// Nobody in particular any more
        #[arg(long, conflicts_with_all = ["to", "note"])]
        nobody: bool,
    },
    /// Set an action aside for yourself; it is back by itself, and runs out no later
    Defer {
        /// The action, by its id or the end of it
        action: String,
        /// Until when: a time of day here (18:00), or for how long (90m, 2h)
        #[arg(long, value_name = "TIME", required_unless_present = "back")]
        until: Option<String>,
        /// Bring it back now
        #[arg(long, conflicts_with = "until")]
        back: bool,
    },
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    match args.command {
        Some(command) => attend(&client, command, out).await,
        None => list(&client, if args.all { usize::MAX } else { args.limit }, out).await,
    }
}

async fn attend(client: &Client, command: Command, out: &Out) -> Result<(), CliError> {
    let told = match command {
        Command::Assign { action, to, note, nobody: _ } => {
            attention::assign(client, action_id(client, &action).await?, to, note).await?
        }
        Command::Defer { action, until, back: _ } => {
            let lasts_ms = until.map(|until| until::lasts_ms(&until, &Zoned::now())).transpose()?;
            attention::defer(client, action_id(client, &action).await?, lasts_ms).await?
        }
    };
    out.answer(&serde_json::json!({ "done": told }), |_| told.clone());
    Ok(())
}

async fn list(client: &Client, most: usize, out: &Out) -> Result<(), CliError> {
    safe_mode::remind(client, out).await;
    let list = fetched(client, most).await?;
    if !out.is_json() {
        tell_of_runs(client, out).await?;
    }
    if list.actions.is_empty() && !out.is_json() {
        out.note("no action waits for you; proposals that need a person appear here");
        return Ok(());
    }
    out.answer(&list, |list| card::waiting(&list.actions, Timestamp::now().as_millisecond()));
    if list.actions.iter().any(|action| action.status == ActionStatus::Interrupted) {
        out.note("what was interrupted waits for a word too: placet review ID, or placet action resolve ID --retry or --abandon");
    }
    if list.next.is_some() {
        out.note(&format!("these are the first {}; more wait: --limit N, or --all", list.actions.len()));
    }
    if !list.actions.is_empty() {
        out.next("placet show ID, then placet approve ID or placet reject ID --reason TEXT");
    }
    Ok(())
}

/// Lists the runs that wait for a person: plans, checkpoints, results and wishes, which are no actions.
async fn tell_of_runs(client: &Client, out: &Out) -> Result<(), CliError> {
    let inbox = client.get(ShowInbox { query: InboxQuery { limit: Some(1), ..InboxQuery::default() } }).await?;
    for StandingView { run, goal, why, .. } in &inbox.runs {
        out.note(&format!("the {} of a run waits, {}: placet run show {}", question(*why), marked(goal), short(run)));
    }
    Ok(())
}

/// So many, from the top. What moves while it is read is told once or not at all: a place is one of the order, not of a moment.
async fn fetched(client: &Client, most: usize) -> Result<QueueView, ClientError> {
    let mut list = QueueView::default();
    let mut query = QueueQuery::default();
    loop {
        let limit = (most - list.actions.len()).min(MOST_AT_ONCE);
        query.limit = Some(u32::try_from(limit).unwrap_or(u32::MAX));
        let page = client.get(ShowQueue { query: query.clone() }).await?;
        list.actions.extend(page.actions);
        list.next = page.next;
        match &list.next {
            Some(next) if list.actions.len() < most => query.after = Some(next.clone()),
            Some(_) | None => return Ok(list),
        }
    }
}
