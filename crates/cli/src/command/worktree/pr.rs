//! `placet pr`: a pull request, ready to paste. Pushes the branch only when asked to, and never a protected one.

use placet_domain::worktree::{Work, WorktreeStatus};
use placet_wire::api::WorktreeView;
use placet_workspace::Push;
use placet_worktree::own;
use placet_worktree::pull_request::PullRequest;
use placet_worktree::start::{files_of, object};

use super::check::note;
use super::{Pair, Site, failed, look_up};
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::out::{BOLD, Out, styled};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet pr --agent backend --ticket PAY-123\n  \
                        placet pr --agent backend --ticket PAY-123 --push origin")]
pub(crate) struct Args {
    #[command(flatten)]
    pair: Pair,
    /// Push the branch to this remote
    #[arg(long, value_name = "REMOTE")]
    push: Option<String>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let view = look_up(who, &args.pair).await?;
    if !matches!(view.status, WorktreeStatus::Closed | WorktreeStatus::Merged) {
        let message = format!("it is {}; only what is closed goes out", view.status);
        let hint = format!("placet close --agent {} --ticket {}", args.pair.agent, args.pair.ticket);
        return Err(CliError::new(Code::Conflict, message).hint(hint));
    }
    let (base, tip) = (object(&view.opening.base).map_err(failed)?, object(&view.tip).map_err(failed)?);
    let commits = site.repository.commits(&base, &tip).map_err(failed)?;
    let report = report(&site, &view);
    if report.is_none() {
        out.note("the report is gone from the worktree, or is not what it was closed with: it is left out");
    }
    let request = PullRequest::of(&view, &commits, report.as_deref());
    if let Some(remote) = &args.push {
        push(&site, &view, remote, who).await?;
        out.note(&format!("pushed {} to {remote}", view.opening.branch));
    }
    out.answer(&request, |request| {
        let (title, branch) = (styled(BOLD, &request.title), &request.branch);
        format!("{title}\n{branch} → {}\n\n{}", request.base, request.body)
    });
    Ok(())
}

/// The report it was closed with, if it is still there.
fn report(site: &Site, view: &WorktreeView) -> Option<String> {
    let worktree = site.on_disk(view).ok()?;
    own::read_report(&files_of(&worktree), view.report?).ok()?
}

/// Exactly what was closed, to a branch that is nobody's but the agent's.
async fn push(site: &Site, view: &WorktreeView, remote: &str, who: &Who) -> Result<(), CliError> {
    let branch = view.opening.branch.as_str();
    if site.team.policy().is_protected_branch(branch) {
        let message = format!("`{branch}` is a protected branch; nothing is pushed to it");
        return Err(CliError::new(Code::Refused, message).hint("open a pull request from the agent's own branch"));
    }
    let (name, expected_tip) = (branch.parse().map_err(failed)?, object(&view.tip).map_err(failed)?);
    let base = site.team.policy().base_branch.as_str().parse().map_err(failed)?;
    let credentials = credentials();
    let push =
        Push { remote, branch: &name, expected_tip: &expected_tip, protected: &[base], credentials: &credentials };
    let outgoing = site.repository.outgoing(&push).map_err(failed)?;
    // First the record, which also tells whether this person may: nothing leaves that is not in it.
    note(who, view, Work::Pushing { remote: remote.to_owned(), tip: view.tip.clone() }).await?;
    outgoing.send().map_err(failed)?;
    note(who, view, Work::Pushed { remote: remote.to_owned(), tip: view.tip.clone() }).await
}

/// Where the person's keys are, and who answers for them.
fn credentials() -> Vec<(String, String)> {
    let known = ["HOME", "SSH_AUTH_SOCK", "GIT_ASKPASS"];
    known.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?))).collect()
}
