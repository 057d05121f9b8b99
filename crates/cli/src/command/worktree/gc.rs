//! `placet gc`: what takes room and is no longer needed. It shows first, removes only when told to, and never removes work
//! that is in no commit.

use placet_domain::worktree::{Work, WorktreeStatus};
use placet_wire::api::WorktreeView;
use placet_workspace::worktree::Listed;
use placet_worktree::ports;
use placet_worktree::start::name_of;
use serde::Serialize;

use super::check::note;
use super::status::size;
use super::unsaved::{Kept, losing};
use super::{Site, all_recorded, failed, turn};
use crate::context::Who;
use crate::desk::Desk;
use crate::error::CliError;
use crate::out::{ASK, DIM, GOOD, Out, styled, table};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet gc\n  placet gc --remove")]
pub(crate) struct Args {
    /// Remove what is shown as removable
    #[arg(long)]
    remove: bool,
}

/// One worktree on disk.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    disk_bytes: u64,
    /// Beyond what one worktree may take.
    over_quota: bool,
    removable: bool,
    because: String,
}

struct Found {
    row: Row,
    listed: Listed,
    view: Option<WorktreeView>,
}

#[derive(Debug, Serialize)]
struct Answer {
    worktrees: Vec<Row>,
    unused_bases: Vec<String>,
    disk_bytes: u64,
    most_disk_bytes: u64,
    removed: bool,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let desk = Desk::open(who).await?;
    let recorded = all_recorded(&desk.client).await;
    desk.close().await;
    let recorded = recorded?;
    let listed = site.repository.list().map_err(failed)?;
    let found: Result<Vec<Found>, CliError> = listed.into_iter().map(|one| look(&site, one, &recorded)).collect();
    let found = found?;
    let disk_bytes = found.iter().map(|found| found.row.disk_bytes).sum();
    if args.remove {
        for gone in found.iter().filter(|found| found.row.removable) {
            remove(&site, gone, who).await?;
        }
    }
    let bases = site.repository.unused_bases().map_err(failed)?;
    if args.remove {
        bases.iter().try_for_each(|base| site.repository.remove_base(base)).map_err(failed)?;
    }
    let answer = Answer {
        worktrees: found.into_iter().map(|found| found.row).collect(),
        unused_bases: bases.iter().map(ToString::to_string).collect(),
        disk_bytes,
        most_disk_bytes: site.team.policy().quotas.disk_bytes_total,
        removed: args.remove,
    };
    out.answer(&answer, shown);
    if !args.remove && (answer.worktrees.iter().any(|row| row.removable) || !answer.unused_bases.is_empty()) {
        out.next("placet gc --remove");
    }
    Ok(())
}

fn look(site: &Site, listed: Listed, recorded: &[WorktreeView]) -> Result<Found, CliError> {
    let is_it = |view: &&WorktreeView| name_of(&view.opening).is_ok_and(|name| name == listed.name);
    let view = recorded.iter().find(is_it).cloned();
    let (mut disk_bytes, mut verdict) = (0, (false, "its record cannot be read".to_owned()));
    if let Some(worktree) = &listed.worktree {
        disk_bytes = worktree.measure().unwrap_or(0);
        verdict = judge(site, &listed, view.as_ref())?;
    }
    let (removable, because) = verdict;
    let over_quota = disk_bytes > site.team.policy().quotas.disk_bytes_per_worktree;
    let row = Row { name: listed.name.to_string(), disk_bytes, over_quota, removable, because };
    Ok(Found { row, listed, view })
}

/// Whether it can go, and why or why not.
fn judge(site: &Site, listed: &Listed, view: Option<&WorktreeView>) -> Result<(bool, String), CliError> {
    let Some(worktree) = listed.worktree.as_ref() else { return Ok((false, String::new())) };
    let Some(view) = view else { return Ok((false, "nothing is recorded of it".to_owned())) };
    if view.status.is_held() {
        let days = site.team.policy().quotas.max_age_days;
        let age = jiff::Timestamp::now().as_millisecond() - i64::try_from(worktree.made_at_ms()).unwrap_or_default();
        let old = age > i64::from(days) * 86_400_000;
        let because =
            if old { format!("open for more than {days} days; close or abort it") } else { "open".to_owned() };
        return Ok((false, because));
    }
    if listed.damage.is_empty() {
        let work = Kept::in_worktree(worktree)?.work;
        if !work.is_empty() {
            return Ok((false, format!("in no commit: {work}")));
        }
    }
    Ok((true, over(site, view)))
}

fn over(site: &Site, view: &WorktreeView) -> String {
    let branches = (view.opening.branch.as_str().parse(), view.opening.base_branch.as_str().parse());
    if let (Ok(branch), Ok(base)) = branches
        && site.repository.is_merged(&branch, &base).unwrap_or(false)
    {
        return format!("merged into {}", view.opening.base_branch);
    }
    match view.status {
        WorktreeStatus::Aborted => "given up".to_owned(),
        WorktreeStatus::Merged => "merged".to_owned(),
        WorktreeStatus::Closed | WorktreeStatus::Opening | WorktreeStatus::Open => {
            "closed; its branch stays".to_owned()
        }
    }
}

async fn remove(site: &Site, found: &Found, who: &Who) -> Result<(), CliError> {
    let (Some(worktree), Some(view)) = (&found.listed.worktree, &found.view) else { return Ok(()) };
    let _turn = worktree.git_dir().is_dir().then(|| turn(worktree)).transpose()?;
    let work = Work::Collected { freed_bytes: found.row.disk_bytes, because: found.row.because.clone() };
    note(who, view, work).await?;
    // A removal that was interrupted left a part; made whole again, it can be told whether anything would be lost.
    let whole = match found.listed.damage.is_empty() {
        true => Some(worktree.clone()),
        false => site.repository.repair(&found.listed.name).map_err(failed)?,
    };
    if let Some(worktree) = whole {
        let losing = losing(&worktree, false)?;
        worktree.remove(&losing).map_err(failed)?;
    }
    ports::release(site.repository.root(), &found.listed.name)?;
    Ok(())
}

fn shown(answer: &Answer) -> String {
    let row = |row: &Row| {
        let mark = match (row.removable, answer.removed) {
            (true, true) => styled(GOOD, "removed"),
            (true, false) => styled(ASK, "removable"),
            (false, _) => styled(DIM, "kept"),
        };
        let over = if row.over_quota { styled(ASK, "over its quota") } else { String::new() };
        vec![mark, row.name.clone(), size(row.disk_bytes), over, row.because.clone()]
    };
    let mut text = table(&answer.worktrees.iter().map(row).collect::<Vec<_>>());
    let bases = answer.unused_bases.len();
    let gone = if answer.removed { "removed" } else { "nobody uses" };
    text.push_str(&format!(
        "\n{bases} checkouts {gone}; {} of {} in use",
        size(answer.disk_bytes),
        size(answer.most_disk_bytes)
    ));
    if answer.disk_bytes >= answer.most_disk_bytes {
        text.push_str(&format!("; {}", styled(ASK, "nothing new is started until there is room")));
    }
    text.trim_start().to_owned()
}
