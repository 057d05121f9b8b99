//! `placet status`: all worktrees of a repository, as they are recorded and as they are on disk.

use placet_wire::api::WorktreeView;
use placet_workspace::worktree::Listed;
use placet_worktree::start::name_of;
use serde::Serialize;

use super::{Site, all_recorded, failed};
use crate::context::Who;
use crate::desk::Desk;
use crate::error::CliError;
use crate::out::{ASK, BAD, DIM, Out, styled, table};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet status\n  placet status --all")]
pub(crate) struct Args {
    /// Also what is over and gone from disk
    #[arg(long)]
    all: bool,
}

/// One line.
#[derive(Debug, Serialize)]
struct Row {
    agent: String,
    ticket: String,
    branch: String,
    status: String,
    ahead: Option<u64>,
    behind: Option<u64>,
    dirty: Option<u64>,
    disk_bytes: Option<u64>,
    age_days: Option<u64>,
    damage: Vec<String>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let desk = Desk::open(who).await?;
    let recorded = all_recorded(&desk.client).await;
    desk.close().await;
    let listed = site.repository.list().map_err(failed)?;
    let mut rows = Vec::new();
    for view in recorded? {
        let name = name_of(&view.opening).map_err(failed)?;
        let on_disk = listed.iter().find(|listed| listed.name == name);
        if args.all || on_disk.is_some() || view.status.is_held() {
            rows.push(row(&view, on_disk)?);
        }
    }
    if rows.is_empty() && !out.is_json() {
        out.note("no worktrees; `placet start --agent NAME --ticket TICKET` makes one");
        return Ok(());
    }
    out.answer(&rows, |rows| shown(rows));
    Ok(())
}

fn row(view: &WorktreeView, on_disk: Option<&Listed>) -> Result<Row, CliError> {
    let opening = &view.opening;
    let mut row = Row {
        agent: opening.agent.to_string(),
        ticket: opening.ticket.to_string(),
        branch: opening.branch.to_string(),
        status: view.status.to_string(),
        ahead: None,
        behind: None,
        dirty: None,
        disk_bytes: None,
        age_days: None,
        damage: Vec::new(),
    };
    let Some(listed) = on_disk else {
        if view.status.is_held() {
            row.damage.push("nothing of it is on disk; `placet adopt` makes it again".to_owned());
        }
        return Ok(row);
    };
    row.damage = listed.damage.iter().map(ToString::to_string).collect();
    if let Some(worktree) = listed.worktree.as_ref().filter(|_| listed.damage.is_empty()) {
        let beside = opening.base_branch.as_str().parse().map_err(failed)?;
        let state = worktree.state(&beside).map_err(failed)?;
        row.ahead = Some(state.ahead);
        row.behind = Some(state.behind);
        row.dirty = Some((state.staged + state.unstaged + state.untracked) as u64);
        row.disk_bytes = Some(worktree.disk_bytes().map_err(failed)?);
        let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
        row.age_days = Some(now.saturating_sub(worktree.made_at_ms()) / 86_400_000);
    }
    Ok(row)
}

fn shown(rows: &[Row]) -> String {
    let head = ["TICKET", "AGENT", "STATUS", "BRANCH", "AHEAD", "BEHIND", "DIRTY", "DISK", "DAYS", ""];
    let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
    let line = |row: &Row| {
        let dirty = match row.dirty {
            Some(1..) => styled(ASK, number(row.dirty)),
            Some(0) | None => number(row.dirty),
        };
        let disk = row.disk_bytes.map_or_else(|| "-".to_owned(), size);
        let damage = if row.damage.is_empty() { String::new() } else { styled(BAD, row.damage.join("; ")) };
        let (ahead, behind, age) = (number(row.ahead), number(row.behind), number(row.age_days));
        let (ticket, agent, status) = (row.ticket.clone(), row.agent.clone(), row.status.clone());
        vec![ticket, agent, status, row.branch.clone(), ahead, behind, dirty, disk, age, damage]
    };
    let head = head.iter().map(|cell| styled(DIM, cell)).collect();
    table(&std::iter::once(head).chain(rows.iter().map(line)).collect::<Vec<_>>())
}

/// A size that is read at a glance.
pub(super) fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1024 && unit + 1 < units.len() {
        value /= 1024;
        unit += 1;
    }
    format!("{value} {}", units[unit])
}
