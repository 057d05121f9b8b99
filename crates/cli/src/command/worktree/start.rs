//! `placet start`: gives an agent a ticket, a branch and a worktree. Whole, or not at all.

use placet_domain::worktree::{Layout, WorktreeStatus};
use placet_wire::api::{Decision, NewWorktree, Rejection, WorktreeView};
use placet_wire::endpoint::{AbortWorktree, OpenWorktree, SettleWorktree};
use placet_workspace::worktree::Losing;
use placet_worktree::ports;
use placet_worktree::start::{Start, Wish, name_of};

use super::adopt::adopt;
use super::host::admit;
use super::{Pair, Site, failed, make_ready, origin_of, project_of, recorded};
use crate::context::Who;
use crate::desk::Desk;
use crate::error::{CliError, Code};
use crate::out::{BOLD, Out, styled};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet start --agent backend --ticket PAY-123\n  \
                        placet start --agent backend --ticket PAY-123 --overlay\n  \
                        placet start --agent backend --ticket PAY-123 --resume")]
pub(crate) struct Args {
    #[command(flatten)]
    pair: Pair,
    /// Share one checkout of the base with other worktrees; only what changes takes room
    #[arg(long)]
    overlay: bool,
    /// Go on with the worktree that is there
    #[arg(long)]
    resume: bool,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    admit(&site, who, out).await?;
    let layout = if args.overlay { Layout::Layered } else { Layout::Plain };
    let view = match args.resume {
        true => resume(&site, &args.pair, who).await?,
        false => begin(&site, &args.pair, Wish { layout, follows: None }, who).await?,
    };
    let done = match args.resume {
        true => "resumed",
        false if view.opening.follows == Some(view.id) => "reopened",
        false => "started",
    };
    tell(&site, &view, done, who, out).await
}

/// Prints the result and the branch that the work starts from.
pub(super) async fn tell(site: &Site, view: &WorktreeView, done: &str, who: &Who, out: &Out) -> Result<(), CliError> {
    let opening = &view.opening;
    let (origin, base) = (origin_of(who, view).await?, &opening.base.as_str()[..12]);
    let from = match opening.follows {
        Some(_) => format!("goes on from {origin} ({base})"),
        None => format!("from {origin} ({base})"),
    };
    out.answer(view, |_| {
        format!(
            "{} {} at {}\n  branch    {} {from}\n  worktree  {}",
            styled(BOLD, done),
            opening.agent,
            opening.ticket,
            opening.branch,
            site.repository.root().join(&opening.path).display()
        )
    });
    let pair = format!("--agent {} --ticket {}", opening.agent, opening.ticket);
    out.next(&format!("placet prompt {pair}, then placet exec {pair} -- COMMAND"));
    Ok(())
}

/// Records, makes, settles. What fails on the way is taken back, and the record says so.
pub(super) async fn begin(site: &Site, pair: &Pair, wish: Wish<'_>, who: &Who) -> Result<WorktreeView, CliError> {
    let desk = Desk::open(who).await?;
    let earlier = earlier(&desk, site, pair).await;
    let wish = Wish { follows: wish.follows.or(earlier.as_ref()), ..wish };
    let planned = Start::plan(&site.repository, &site.team, &pair.agent, &pair.ticket, wish);
    let start = match planned {
        Ok(start) => start,
        Err(error) => {
            desk.close().await;
            return Err(CliError::usage(error.to_string()));
        }
    };
    let opened = open(&desk, &start).await;
    // A checkout of a large tree takes long; nobody waits for the store meanwhile.
    let desk = match wish.layout {
        Layout::Plain => {
            desk.close().await;
            None
        }
        Layout::Layered => Some(desk),
    };
    let view = opened?;
    make(site, start, view, desk, who).await
}

/// What the same agent did at the same ticket before, if it is over and its branch is where it was left: more work goes on
/// from there. What is left of it on disk makes room, unless work would be lost.
async fn earlier(desk: &Desk, site: &Site, pair: &Pair) -> Option<WorktreeView> {
    let view = recorded(&desk.client, pair).await.ok().filter(|view| !view.status.is_held())?;
    let branch = view.opening.branch.as_str().parse().ok()?;
    let tip = site.repository.tip(&branch).ok()??;
    if let Ok(worktree) = site.on_disk(&view) {
        worktree.remove(&Losing::Nothing).ok()?;
    }
    (tip.as_str() == view.tip.as_str()).then_some(view)
}

async fn open(desk: &Desk, start: &Start<'_>) -> Result<WorktreeView, CliError> {
    let project = project_of(&desk.client).await?;
    let new = NewWorktree { opening: start.opening().clone() };
    Ok(desk.client.post(OpenWorktree { project: project.id }, &new).await?)
}

async fn make(
    site: &Site,
    start: Start<'_>,
    view: WorktreeView,
    desk: Option<Desk>,
    who: &Who,
) -> Result<WorktreeView, CliError> {
    let (created_at, created_by) = (jiff::Timestamp::now().to_string(), who.acting_as.clone());
    let made = start.make(&created_at, &created_by, |opening, worktree| make_ready(site, opening, worktree, who));
    let desk = match desk {
        Some(desk) => desk,
        None => Desk::open(who).await?,
    };
    let settled = match &made {
        Ok(_) => desk.client.post(SettleWorktree { worktree: view.id }, &Decision::default()).await,
        Err(error) => {
            let reason = format!("it could not be made: {error}").chars().take(500).collect();
            let abort = Rejection { reason };
            desk.client.post(AbortWorktree { worktree: view.id }, &abort).await
        }
    };
    desk.close().await;
    match made {
        Err(error) => {
            // A start that was not made gives back what it was lent.
            ports::release(site.repository.root(), &name_of(&view.opening).map_err(failed)?)?;
            Err(failed(error))
        }
        Ok(worktree) => {
            // Numbers that are known from the first day stay the same to the last.
            ports::lease(site.repository.root(), worktree.name())?;
            Ok(settled?)
        }
    }
}

/// What is there and whole goes on; what was interrupted half-way is made anew.
async fn resume(site: &Site, pair: &Pair, who: &Who) -> Result<WorktreeView, CliError> {
    let desk = Desk::open(who).await?;
    let view = recorded(&desk.client, pair).await;
    desk.close().await;
    let view = view?;
    match view.status {
        WorktreeStatus::Open => site.on_disk(&view).map(|_| view),
        WorktreeStatus::Opening => adopt(site, &view, who).await,
        WorktreeStatus::Closed | WorktreeStatus::Merged | WorktreeStatus::Aborted => {
            let message = format!("it is {}; {}", view.status, view.status.hint());
            Err(CliError::new(Code::Conflict, message))
        }
    }
}
