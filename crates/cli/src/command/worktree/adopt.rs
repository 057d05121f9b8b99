//! `placet adopt`: after a crash, brings what is on disk in line with what is recorded.

use placet_domain::worktree::WorktreeStatus;
use placet_wire::api::{Reason, WorktreeView};
use placet_wire::endpoint::AdoptWorktree;
use placet_workspace::Worktree;
use placet_workspace::worktree::{Damage, Kind, Listed};
use placet_worktree::own::{self, ManifestFile};
use placet_worktree::ready;
use placet_worktree::start::{files_of, name_of, restore, set_hooks};

use super::host::admit;
use super::{Pair, Site, failed, look_up, make_ready, turn};
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
    admit(&site, who, out).await?;
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
    let adopted = desk.client.post(AdoptWorktree { worktree: view.id }, &Reason { reason: found }).await;
    desk.close().await;
    Ok(adopted?)
}

fn repair(site: &Site, view: &WorktreeView, who: &Who) -> Result<String, CliError> {
    let name = name_of(&view.opening).map_err(failed)?;
    let known = site.repository.list().map_err(failed)?.into_iter().find(|listed| listed.name == name);
    let found = known.as_ref().map_or_else(|| "nothing was on disk".to_owned(), told);
    let worktree = known.as_ref().and_then(|listed| listed.worktree.as_ref());
    let _turn = worktree.filter(|worktree| worktree.git_dir().is_dir()).map(turn).transpose()?;
    let whole = match known {
        None => None,
        Some(listed) if listed.damage.is_empty() => listed.worktree,
        Some(listed) if has_lost_commits(&listed) => {
            listed.worktree.as_ref().map(Worktree::erase).transpose().map_err(failed)?;
            None
        }
        Some(_) => site.repository.repair(&name).map_err(failed)?,
    };
    // Nobody has worked in it yet, and what it was to be given may not all be there.
    let whole = match whole {
        Some(worktree) if view.status == WorktreeStatus::Opening && ready::is_needed(&site.team) => {
            worktree.erase().map_err(failed)?;
            None
        }
        whole => whole,
    };
    let (worktree, is_new) = match whole {
        Some(worktree) => (worktree, false),
        None => (restore(&site.repository, &view.opening).map_err(failed)?, true),
    };
    let files = files_of(&worktree);
    if files.join(own::OWN).symlink_metadata().is_err() {
        let manifest = ManifestFile::of(&view.opening, &jiff::Timestamp::now().to_string(), &who.acting_as);
        own::write(&files, &manifest, &site.team.policy().commit_form)?;
    }
    set_hooks(&worktree, &site.team.policy().commit_form).map_err(failed)?;
    if is_new {
        make_ready(site, &view.opening, &worktree, who).map_err(failed)?;
    }
    Ok(found)
}

/// Whether the layers are gone that held files which the branch has: the checkout below is that of its base.
fn has_lost_commits(listed: &Listed) -> bool {
    let went_on = |worktree: &Worktree| worktree.tip().is_ok_and(|tip| tip != *worktree.base());
    let lost = listed.damage.contains(&Damage::NoDirectory);
    lost && listed.worktree.as_ref().is_some_and(|worktree| worktree.kind() == Kind::Layered && went_on(worktree))
}

/// How it was found.
fn told(listed: &Listed) -> String {
    match listed.damage.as_slice() {
        [] => "it was whole".to_owned(),
        damage => damage.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
    }
}
