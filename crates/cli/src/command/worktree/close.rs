//! `placet close`: the definition of done, run and not reported; REPORT.md; and the end of a worktree.

use placet_domain::digest::Digest;
use placet_domain::worktree::{DoneItem, Operation, WorktreeStatus};
use placet_wire::api::{Closing, WorktreeView};
use placet_wire::endpoint::CloseWorktree;
use placet_worktree::cage::Cage;
use placet_worktree::check::Checked;
use placet_worktree::redact::redacted;
use placet_worktree::report::Report;
use placet_worktree::start::{files_of, object};
use placet_worktree::{done, own};

use super::check::judge;
use super::duties::show_advice;
use super::host::admit;
use super::{Pair, Site, equipped, failed, look_up, turn};
use crate::context::Who;
use crate::desk::Desk;
use crate::error::{CliError, Code};
use crate::out::{BAD, GOOD, Out, styled};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet close --agent backend --ticket PAY-123\n  \
                        placet close --agent backend --ticket PAY-123 --summary 'Refunds work' --note 'slow on old data'\n  \
                        placet close --agent backend --ticket PAY-123 --force 'the check needs a network'")]
pub(crate) struct Args {
    #[command(flatten)]
    pair: Pair,
    /// What was done, in a sentence or two
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// A risk or a note for whoever goes on
    #[arg(long = "note", value_name = "TEXT")]
    notes: Vec<String>,
    /// What is to be done next
    #[arg(long = "next", value_name = "TEXT")]
    next: Vec<String>,
    /// Close although something is not done; the reason is recorded, with who gave it
    #[arg(long, value_name = "REASON")]
    force: Option<String>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let view = look_up(who, &args.pair).await?;
    if view.status != WorktreeStatus::Open {
        return Err(CliError::new(Code::Conflict, format!("it is {}; {}", view.status, view.status.hint())));
    }
    let args = Args { force: args.force.map(|reason| redacted(&reason)), ..args };
    admit(&site, who, out).await?;
    let worktree = site.on_disk(&view)?;
    let _turn = turn(&worktree)?;
    let checked = judge(&site, &view, false)?;
    let mut items = done::of_check(&checked, &worktree.unsaved().map_err(failed)?);
    items.extend(checks(&site, &view, &checked, who, out)?);
    let text = written(&site, &view, &args, &checked, &mut items)?;
    items.iter().for_each(|item| tell(item, out));
    super::check::record(who, &view, &checked).await?;
    let tip = checked.tip.parse().map_err(failed)?;
    let closing = Closing { tip, report: Digest::of(text.as_bytes()), items, force: args.force.clone() };
    let closed = record(who, &view, &closing, out).await?;
    out.answer(&closed, |view| format!("{} {} at {}", styled(GOOD, "closed"), view.opening.agent, view.opening.ticket));
    let pair = format!("--agent {} --ticket {}", view.opening.agent, view.opening.ticket);
    out.next(&format!("placet pr {pair}, or placet handoff {pair} --to NEXT"));
    Ok(())
}

/// The team's own checks that count for what changed.
fn checks(
    site: &Site,
    view: &WorktreeView,
    checked: &Checked,
    who: &Who,
    out: &Out,
) -> Result<Vec<DoneItem>, CliError> {
    let agent = site.team.agent(view.opening.agent.as_str()).map_err(failed)?;
    let (worktree, exempted) = (site.on_disk(view)?, view.exempted());
    let cage = Cage { worktree: &worktree, opening: &view.opening, exempted: &exempted };
    let profile = super::profile_of(site, &view.opening, who)?;
    let equip = |request| equipped(request, site, &view.opening, who).map_err(Into::into);
    let mut items = Vec::new();
    for check in done::applying(site.team.checks_of(agent), checked) {
        out.note(&format!("running {}", check.command.join(" ")));
        items.push(done::run(check, &cage, &profile, &equip).map_err(failed)?);
    }
    Ok(items)
}

/// The report, written into the worktree; that it was is an item too.
fn written(
    site: &Site,
    view: &WorktreeView,
    args: &Args,
    checked: &Checked,
    items: &mut Vec<DoneItem>,
) -> Result<String, CliError> {
    let worktree = site.on_disk(view)?;
    items.push(DoneItem { name: "report written".into(), holds: true, detail: ".agent/REPORT.md".into() });
    let (base, tip) = (object(&view.opening.base).map_err(failed)?, worktree.tip().map_err(failed)?);
    let started = jiff::Timestamp::from_millisecond(i64::try_from(worktree.made_at_ms()).unwrap_or_default());
    let report = Report {
        opening: &view.opening,
        started: &started.map(|at| at.to_string()).unwrap_or_default(),
        closed: &jiff::Timestamp::now().to_string(),
        summary: args.summary.as_deref(),
        commits: &site.repository.commits(&base, &tip).map_err(failed)?,
        checked,
        items,
        notes: &args.notes,
        next: &args.next,
        forced: args.force.as_deref(),
    };
    let text = report.render();
    own::write_report(&files_of(&worktree), &text)?;
    Ok(text)
}

fn tell(item: &DoneItem, out: &Out) {
    let mark = if item.holds { styled(GOOD, "done") } else { styled(BAD, "open") };
    let first = item.detail.lines().next().unwrap_or_default();
    out.note(&format!("{mark} {}: {first}", item.name));
}

async fn record(who: &Who, view: &WorktreeView, closing: &Closing, out: &Out) -> Result<WorktreeView, CliError> {
    let desk = Desk::open(who).await?;
    let shown = show_advice(&desk, view, Operation::Close, out).await;
    let closed = desk.client.post(CloseWorktree { worktree: view.id }, closing).await;
    desk.close().await;
    shown?;
    closed.map_err(|error| {
        let refused = error.problem().is_some_and(|problem| problem.code == "undone");
        let error = CliError::from(error);
        if refused { CliError { code: Code::Refused, ..error } } else { error }
    })
}
