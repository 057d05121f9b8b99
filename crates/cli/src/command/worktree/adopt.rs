//! `placet adopt`: after a crash, brings what is on disk in line with what is recorded.

use placet_domain::worktree::WorktreeStatus;
use placet_wire::api::{Reason, WorktreeView};
use placet_worktree::own::{self, ManifestFile};
use placet_worktree::ready;
use placet_worktree::start::{Start, Wish, files_of, name_of};

use super::{Pair, Site, failed, look_up, make_ready};
use crate::context::Who;
use crate::desk::Desk;
use crate::error::{CliError, Code};
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  placet adopt --agent backend --ticket PAY-123")]
pub(crate) struct Args {
    #[command(flatten)]
    pair: Pair,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let view = look_up(who, &args.pair).await?;
    let view = adopt(&site, &view, who).await?;
    out.answer(&view, |view| format!("adopted: {}", view.because.clone().unwrap_or_default()));
    Ok(())
}

/// Repairs the worktree on disk, or makes it if it is not there at all, and records what was found.
pub(super) async fn adopt(site: &Site, view: &WorktreeView, who: &Who) -> Result<WorktreeView, CliError> {
    if !matches!(view.status, WorktreeStatus::Opening | WorktreeStatus::Open) {
        return Err(CliError::new(Code::Conflict, format!("it is {}; {}", view.status, view.status.hint())));
    }
    let found = repair(site, view, who)?;
    let desk = Desk::open(who).await?;
    let path = format!("/api/v1/worktrees/{}/adopt", view.id);
    let adopted = desk.client.post(&path, &Reason { reason: found }).await;
    desk.close().await;
    Ok(adopted?)
}

fn repair(site: &Site, view: &WorktreeView, who: &Who) -> Result<String, CliError> {
    let name = name_of(&view.opening).map_err(failed)?;
    let known = site.repository.list().map_err(failed)?.into_iter().find(|listed| listed.name == name);
    let damage = match &known {
        None => "nothing was on disk".to_owned(),
        Some(listed) if listed.damage.is_empty() => "it was whole".to_owned(),
        Some(listed) => listed.damage.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    };
    let repaired = match known {
        None => None,
        Some(listed) if listed.damage.is_empty() => listed.worktree,
        Some(_) => site.repository.repair(&name).map_err(failed)?,
    };
    match repaired {
        // Nobody has worked in it yet, and what it was to be given is not all there.
        Some(worktree) if view.status == WorktreeStatus::Opening && ready::is_needed(&site.team) => {
            worktree.erase().map_err(failed)?;
            make_again(site, view, who)?;
        }
        Some(worktree) => {
            let home = files_of(&worktree);
            if !home.join(own::OWN).exists() {
                let manifest = ManifestFile::of(&view.opening, &jiff::Timestamp::now().to_string(), &who.acting_as);
                own::write(&home, &manifest, &site.team.policy().commit_form)?;
            }
        }
        None => make_again(site, view, who)?,
    }
    Ok(damage)
}

/// From the commit it was recorded to start from, not from where the base branch is by now.
fn make_again(site: &Site, view: &WorktreeView, who: &Who) -> Result<(), CliError> {
    let wish = Wish { layout: view.opening.layout, follows: Some(view) };
    let (agent, ticket) = (view.opening.agent.as_str(), view.opening.ticket.as_str());
    let start = Start::plan(&site.repository, &site.team, agent, ticket, wish).map_err(failed)?;
    let (now, ready) =
        (jiff::Timestamp::now().to_string(), |opening: &_, worktree: &_| make_ready(site, opening, worktree, who));
    start.make(&now, &who.acting_as, ready).map(drop).map_err(failed)
}
