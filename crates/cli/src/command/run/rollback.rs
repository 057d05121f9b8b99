//! `placet run rollback` and `placet run snapshot`: back to what was saved, and saving it.
//!
//! What a rollback would change is known by the host of the run alone; it is asked, and waited for.

use std::fmt::Write as _;
use std::time::Duration;

use placet_domain::id::RunId;
use placet_domain::text::spelled_out;
use placet_wire::api::{PreviewLine, PreviewPart, PreviewQuery, Reason, RollbackPreview, RollbackRequest, RunView};
use placet_wire::endpoint::{PreviewRollback, RequestSnapshot, RollBackRun, ShowRun};
use placet_wire::{Client, ClientError};
use tokio::time::Instant;

use super::answer;
use super::asking::{is_attended, is_yes};
use crate::context::run_id;
use crate::error::{CliError, Code};
use crate::out::{BOLD, Out, styled};

/// How long a host is waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// In one request.
const WAIT_MS: u64 = 20_000;
const PAUSE: Duration = Duration::from_millis(200);
/// Of each tree, for people; `--json` has all that was listed.
const SHOWN_LINES: usize = 40;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    run: String,
    /// The number of the snapshot; `placet run show` lists them
    #[arg(long)]
    to: u32,
    /// Why; whoever reads the record reads it
    #[arg(long, required_unless_present = "preview")]
    reason: Option<String>,
    /// Only show what would change
    #[arg(long)]
    preview: bool,
    /// Do not show it first and do not ask; needed where there is no terminal
    #[arg(long, conflicts_with = "preview")]
    yes: bool,
}

pub(super) async fn run(args: Args, client: &Client, out: &Out) -> Result<(), CliError> {
    let run = run_id(client, &args.run).await?;
    if args.preview {
        let (preview, plan) = (foreseen(client, run, args.to).await?, plan(client, run, args.to).await?);
        out.answer(&preview, |preview| shown(preview, args.to) + &plan);
        return Ok(());
    }
    if !args.yes {
        confirm(client, run, args.to, out).await?;
    }
    let request = RollbackRequest { to: args.to, reason: args.reason.unwrap_or_default() };
    answer(out, &client.post(RollBackRun { run }, &request).await?);
    Ok(())
}

/// Shows what would be lost, and takes only an explicit yes. Where nobody sits, nothing is lost by accident.
async fn confirm(client: &Client, run: RunId, to: u32, out: &Out) -> Result<(), CliError> {
    if !is_attended(out) {
        let look = "look with --preview, then say --yes";
        return Err(CliError::usage("nobody is there to ask, and what a rollback removes is gone").hint(look));
    }
    out.note(&text(client, run, to).await?);
    if is_yes("go back?").await? {
        return Ok(());
    }
    Err(CliError::new(Code::Waiting, "not rolled back; everything is as it was"))
}

/// What going back would change, in words: the host of the run is asked, and waited for.
pub(in crate::command) async fn text(client: &Client, run: RunId, to: u32) -> Result<String, CliError> {
    Ok(shown(&foreseen(client, run, to).await?, to) + &plan(client, run, to).await?)
}

/// The host's answer, which may take a while: it may be busy, or just starting.
async fn foreseen(client: &Client, run: RunId, to: u32) -> Result<RollbackPreview, CliError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match client.get(PreviewRollback { run, number: to, query: PreviewQuery { wait_ms: WAIT_MS } }).await {
            Err(ClientError::Refused(problem)) if problem.code == "no_answer" && Instant::now() < until => {}
            other => return Ok(other?),
        }
    }
}

/// What becomes of the run itself.
async fn plan(client: &Client, run: RunId, to: u32) -> Result<String, CliError> {
    let seen = client.get(ShowRun { run }).await?;
    let saved = seen.snapshots.iter().find(|snapshot| snapshot.number == to);
    let then = saved.map_or(seen.steps_done, |snapshot| snapshot.steps_done);
    Ok(format!(
        "plan: {then} steps done, {} now\nwhat was proposed since is void; what was spent stays spent\n",
        seen.steps_done
    ))
}

fn shown(preview: &RollbackPreview, to: u32) -> String {
    let mut text = format!("{}\n", styled(BOLD, format!("going back to snapshot {to} would change")));
    text += &tree("files", &preview.workspace);
    text += &tree("memory of the agent", &preview.memory);
    if !preview.drift.is_empty() {
        text += "people changed since the run began, and it stays so\n";
        for line in preview.drift.iter().take(SHOWN_LINES) {
            let _ = writeln!(text, "  {} ({})", spelled_out(&line.path), line.what);
        }
        text += &more(preview.drift.len(), preview.drift_left_off);
    }
    text
}

fn tree(name: &str, part: &PreviewPart) -> String {
    let PreviewPart { created, changed, removed, mode_changed, .. } = part;
    let mut text =
        format!("{name}: {created} created, {changed} changed, {removed} removed, {mode_changed} with another mode\n");
    if part.beyond_limits {
        text += "  there is more than is looked at: all of it would be replaced\n";
    }
    text.extend(part.lines.iter().take(SHOWN_LINES).map(line));
    text + &more(part.lines.len(), part.left_off)
}

fn line(line: &PreviewLine) -> String {
    let sign = match line.effect.as_str() {
        "created" => '+',
        "removed" => '-',
        _ => '~',
    };
    let size = match (line.bytes_before, line.bytes_after) {
        (Some(before), Some(after)) if before != after => format!("  {before} to {after} bytes"),
        _ => String::new(),
    };
    format!("  {sign} {}{size}\n", spelled_out(&line.path))
}

fn more(listed: usize, left_off: u64) -> String {
    let unseen = left_off.saturating_add(u64::try_from(listed.saturating_sub(SHOWN_LINES)).unwrap_or(u64::MAX));
    if unseen == 0 { String::new() } else { format!("  and {unseen} more\n") }
}

/// Has a run saved, and waits until it is.
pub(super) async fn snapshot(client: &Client, run: &str, reason: String, out: &Out) -> Result<(), CliError> {
    let run = run_id(client, run).await?;
    let asked = client.post(RequestSnapshot { run }, &Reason { reason }).await?;
    let (newest, until) = (number_of(&asked), Instant::now() + PATIENCE);
    while Instant::now() < until {
        let seen = client.get(ShowRun { run }).await?;
        if number_of(&seen) > newest {
            out.answer(&seen, |seen| format!("snapshot {} was taken", number_of(seen).unwrap_or_default()));
            return Ok(());
        }
        if let Some(why) = &seen.unsaved {
            let why = CliError::new(Code::Failed, spelled_out(why));
            return Err(why.hint("the run goes on as it was; nothing was saved"));
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(CliError::new(Code::Waiting, "its host has not saved it yet").hint("`placet run show RUN` lists it once it is"))
}

fn number_of(run: &RunView) -> Option<u32> {
    run.snapshots.last().map(|snapshot| snapshot.number)
}
