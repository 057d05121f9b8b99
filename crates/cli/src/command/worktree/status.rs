//! `placet status`: all worktrees of a repository, as they are recorded and as they are on disk.

use std::collections::BTreeMap;

use placet_domain::scope::Glob;
use placet_domain::text::spelled_out;
use placet_wire::api::{ExemptionView, WorktreeView};
use placet_workspace::Worktree;
use placet_workspace::difference::{Difference, Origin};
use placet_workspace::worktree::Listed;
use placet_worktree::own;
use placet_worktree::ports;
use placet_worktree::start::name_of;
use serde::Serialize;

use super::super::safe_mode;
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
    /// Number of times the agent has started this ticket.
    sitting: u32,
    /// The agent whose branch this worktree starts from.
    follows: Option<String>,
    ahead: Option<u64>,
    behind: Option<u64>,
    dirty: Option<u64>,
    disk_bytes: Option<u64>,
    age_days: Option<u64>,
    /// The numbers of its ports, by the names the team gave them.
    ports: BTreeMap<String, u16>,
    /// What somebody asked to be exempted, and nobody decided yet: `number: paths (reason)`.
    exemptions_waiting: Vec<String>,
    /// Beyond what one worktree may take.
    over_quota: bool,
    damage: Vec<String>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let desk = Desk::open(who).await?;
    safe_mode::remind(&desk.client, out).await;
    let recorded = all_recorded(&desk.client).await;
    desk.close().await;
    let listed = site.repository.list().map_err(failed)?;
    let slots = ports::leased(site.repository.root())?;
    let mut rows = Vec::new();
    let recorded = recorded?;
    for view in &recorded {
        let name = name_of(&view.opening).map_err(failed)?;
        let on_disk = listed.iter().find(|listed| listed.name == name);
        if args.all || on_disk.is_some() || view.status.is_held() {
            let slot = on_disk.and_then(|listed| slots.get(listed.name.as_str()));
            let follows = followed(&recorded, view);
            rows.push(Row { follows, ..row(&site, view, on_disk, slot.copied())? });
        }
    }
    if rows.is_empty() && !out.is_json() {
        out.note("no worktrees; `placet start --agent NAME --ticket TICKET` makes one");
        return Ok(());
    }
    out.answer(&rows, |rows| shown(rows));
    Ok(())
}

fn row(site: &Site, view: &WorktreeView, on_disk: Option<&Listed>, slot: Option<u32>) -> Result<Row, CliError> {
    let (opening, policy) = (&view.opening, site.team.policy());
    let mut row = Row {
        agent: opening.agent.to_string(),
        ticket: opening.ticket.to_string(),
        branch: opening.branch.to_string(),
        status: view.status.to_string(),
        sitting: view.sitting,
        follows: None,
        ahead: None,
        behind: None,
        dirty: None,
        disk_bytes: None,
        age_days: None,
        ports: slot.map(|slot| policy.ports.of_slot(slot)).unwrap_or_default(),
        exemptions_waiting: waiting(view),
        over_quota: false,
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
        match worktree.state(&beside) {
            Ok(state) => {
                row.ahead = Some(state.ahead);
                row.behind = Some(state.behind);
                row.dirty = Some((state.staged + state.unstaged + state.untracked) as u64);
            }
            // The base branch may be gone; the rest can still be told.
            Err(_) => row.dirty = Some(dirty(worktree)?),
        }
        let disk_bytes = worktree.measure().map_err(failed)?;
        row.disk_bytes = Some(disk_bytes);
        row.over_quota = disk_bytes > policy.quotas.disk_bytes_per_worktree;
        let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
        row.age_days = Some(now.saturating_sub(worktree.made_at_ms()) / 86_400_000);
    }
    Ok(row)
}

/// Returns the agent whose branch a worktree starts from, if that is another agent.
fn followed(recorded: &[WorktreeView], view: &WorktreeView) -> Option<String> {
    let id = view.opening.follows.filter(|id| *id != view.id)?;
    recorded.iter().find(|other| other.id == id).map(|other| other.opening.agent.to_string())
}

/// What nobody decided yet, while there is something to decide.
fn waiting(view: &WorktreeView) -> Vec<String> {
    let open = view.exemptions.iter().filter(|asked| view.status.is_held() && asked.exemption.granted.is_none());
    let told = |asked: &ExemptionView| {
        let paths: Vec<&str> = asked.exemption.paths.iter().map(Glob::as_str).collect();
        format!("{}: {} ({})", asked.number, paths.join(", "), asked.exemption.reason)
    };
    open.map(told).collect()
}

/// How much is in no commit. Nothing is locked for it: somebody may be at work meanwhile.
fn dirty(worktree: &Worktree) -> Result<u64, CliError> {
    let differences = worktree.differences(&worktree.tip().map_err(failed)?).map_err(failed)?;
    let counts = |each: &&Difference| {
        let uncommitted = matches!(each.origin, Origin::Staged | Origin::Unstaged | Origin::Untracked);
        uncommitted && !own::is_known(each.path.as_bytes())
    };
    Ok(differences.iter().filter(counts).count() as u64)
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
        let disk = if row.over_quota { styled(BAD, format!("{disk}, over its quota")) } else { disk };
        let (ahead, behind, age) = (number(row.ahead), number(row.behind), number(row.age_days));
        let (ticket, agent, status) = (row.ticket.clone(), row.agent.clone(), row.status.clone());
        vec![ticket, agent, status, row.branch.clone(), ahead, behind, dirty, disk, age, more(row)]
    };
    let head = head.iter().map(|cell| styled(DIM, cell)).collect();
    table(&std::iter::once(head).chain(rows.iter().map(line)).collect::<Vec<_>>())
}

/// What most worktrees have nothing of.
fn more(row: &Row) -> String {
    let ports: Vec<String> = row.ports.iter().map(|(name, number)| format!("{name}={number}")).collect();
    let asked = row.exemptions_waiting.iter().map(|asked| styled(ASK, format!("exemption {}", spelled_out(asked))));
    let damage = row.damage.iter().map(|damage| styled(BAD, damage));
    let ports = (!ports.is_empty()).then(|| ports.join(" "));
    let follows = row.follows.as_ref().map(|agent| format!("follows {agent}"));
    let reopened = (row.sitting > 1).then(|| format!("reopened, sitting {}", row.sitting));
    follows.into_iter().chain(reopened).chain(ports).chain(asked).chain(damage).collect::<Vec<_>>().join("; ")
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
