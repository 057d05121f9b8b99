//! `placet scope-check`: judges everything that differs from the base. The exit code tells.

use placet_domain::worktree::Work;
use placet_secrets::Day;
use placet_wire::api::{WorkReport, WorktreeView};
use placet_wire::endpoint::RecordWork;
use placet_worktree::check::{Checked, Rules, check, check_paths};
use placet_worktree::start::object;

use super::{Pair, Site, failed, look_up};
use crate::context::Who;
use crate::desk::Desk;
use crate::error::{CliError, Code};
use crate::out::{BAD, DIM, GOOD, Out, styled, table};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet scope-check --agent backend --ticket PAY-123\n  \
                        placet scope-check --agent backend --ticket PAY-123 --names-only --json")]
pub(crate) struct Args {
    #[command(flatten)]
    pair: Pair,
    /// Look at names alone, not for secrets in what was added
    #[arg(long)]
    names_only: bool,
    /// Record the answer in the ledger
    #[arg(long)]
    record: bool,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let view = look_up(who, &args.pair).await?;
    let checked = judge(&site, &view, args.names_only)?;
    if args.record {
        record(who, &view, &checked).await?;
    }
    out.answer(&checked, shown);
    match checked.findings() {
        0 => Ok(()),
        1 => Err(CliError::new(Code::Refused, "1 finding")),
        several => Err(CliError::new(Code::Refused, format!("{several} findings"))),
    }
}

/// The answer by what is recorded, for a worktree that is on disk.
pub(super) fn judge(site: &Site, view: &WorktreeView, names_only: bool) -> Result<Checked, CliError> {
    let worktree = site.on_disk(view)?;
    let rules = Rules::new(&site.team, view.manifest(), view.exempted(), today()).map_err(failed)?;
    let base = object(&view.opening.base).map_err(failed)?;
    let checked = match names_only {
        true => check_paths(&worktree, &base, &rules),
        false => check(&worktree, &base, &rules),
    };
    checked.map_err(failed)
}

pub(super) async fn record(who: &Who, view: &WorktreeView, checked: &Checked) -> Result<(), CliError> {
    let work = Work::Checked {
        tip: checked.tip.parse().map_err(failed)?,
        differences: checked.files.len() as u64,
        findings: checked.findings(),
        answer: checked.digest(),
    };
    note(who, view, work).await
}

pub(super) async fn note(who: &Who, view: &WorktreeView, work: Work) -> Result<(), CliError> {
    let desk = Desk::open(who).await?;
    let noted = note_at(&desk, view, work).await;
    desk.close().await;
    noted
}

/// Like `note`, but with an open desk: opening a desk takes longer than adding a note.
pub(super) async fn note_at(desk: &Desk, view: &WorktreeView, work: Work) -> Result<(), CliError> {
    let noted = desk.client.post(RecordWork { worktree: view.id }, &WorkReport { work }).await;
    noted.map(drop).map_err(CliError::from)
}

/// Today, by the clock of this machine.
pub(super) fn today() -> Day {
    let date = jiff::Timestamp::now().to_string();
    Day::parse(&date[..10]).expect("a time begins with its day")
}

fn shown(checked: &Checked) -> String {
    let mut lines = Vec::new();
    for file in &checked.files {
        let allowed = file.verdict.is_allowed();
        let mark = if allowed { styled(GOOD, "ok") } else { styled(BAD, word(&file.verdict)) };
        let origin = styled(DIM, word(&file.origin));
        let rule = file.rule.clone().unwrap_or_default();
        let because = if allowed { String::new() } else { file.because.clone() };
        lines.push(vec![mark, file.path.clone(), origin, rule, because]);
    }
    let mut text = table(&lines);
    for bad in &checked.bad_commits {
        text.push_str(&format!("\n{} commit {} {}", styled(BAD, "form"), &bad.commit[..12], bad.because));
    }
    for found in &checked.secrets {
        let mark = if found.is_allowed() { styled(DIM, "allowed") } else { styled(BAD, "secret") };
        let place = format!("{}:{}", found.place, found.line);
        text.push_str(&format!("\n{mark} {place} {} ({}) {}", found.redacted, found.about, found.fingerprint));
    }
    let (files, commits, findings) = (checked.files.len(), checked.commits, checked.findings());
    text.push_str(&format!("\n{files} differences, {commits} commits, {findings} findings"));
    text.trim_start().to_owned()
}

/// A word for people, as JSON would write it.
fn word(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_value(value).ok().and_then(|value| value.as_str().map(|text| text.replace('_', " ")));
    text.unwrap_or_default()
}
