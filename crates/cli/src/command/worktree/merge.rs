//! `placet merge`: whoever is accountable takes the work of a closed worktree over into its base branch. In this
//! repository alone: nothing is pushed. Conflicts are an answer, and nothing changes.

use placet_domain::worktree::{Operation, WorktreeStatus};
use placet_wire::api::{IdentityView, Merging as Record, WorktreeView};
use placet_wire::endpoint::{MergeWorktree, ShowCaller};
use placet_workspace::{Branch, Merge, MergeError, Merging, ObjectId};
use placet_worktree::start::object;
use serde::Serialize;

use super::duties::show_advice;
use super::{Pair, Site, failed, recorded};
use crate::context::Who;
use crate::desk::Desk;
use crate::error::{CliError, Code, chain};
use crate::out::{GOOD, Out, styled};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  placet --as ada merge --agent backend --ticket PAY-123")]
pub(crate) struct Args {
    #[command(flatten)]
    pair: Pair,
}

#[derive(Debug, Serialize)]
struct Answer {
    branch: String,
    into: String,
    commit: String,
    /// The base branch had everything before.
    nothing_new: bool,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    let desk = Desk::open(who).await?;
    let merged = merge(&desk, &site, &args.pair, out).await;
    desk.close().await;
    out.answer(&merged?, |answer| {
        let Answer { branch, into, commit, .. } = answer;
        let how = if answer.nothing_new { "was there before" } else { "was taken over" };
        format!("{} {branch} {how}: {into} is at {}", styled(GOOD, "merged"), &commit[..12])
    });
    Ok(())
}

/// Worked out, recorded, done. Whoever may not decide it is refused before anything moves, and from the first step to
/// the last the base branch is locked.
async fn merge(desk: &Desk, site: &Site, pair: &Pair, out: &Out) -> Result<Answer, CliError> {
    let view = recorded(&desk.client, pair).await?;
    show_advice(desk, &view, Operation::Merge, out).await?;
    let (branch, into) = branches(&view)?;
    let person: IdentityView = desk.client.get(ShowCaller {}).await?;
    let merging = match interrupted(site, &view, (&branch, &into)) {
        Some(commit) => work_out(site, &view, (&branch, &into), &person, Some(&commit))?,
        None if view.status != WorktreeStatus::Closed => return Err(not_closed(&view)),
        None => {
            let merging = work_out(site, &view, (&branch, &into), &person, None)?;
            let commit = merging.commit().as_str().parse().map_err(failed)?;
            let record = Record { into: view.opening.base_branch.clone(), commit };
            desk.client.post(MergeWorktree { worktree: view.id }, &record).await?;
            merging
        }
    };
    let nothing_new = merging.is_nothing_new();
    let commit = merging.finish().map_err(|error| {
        CliError::failed(chain(&error)).hint("it is recorded; put right what is said here and merge again")
    })?;
    Ok(Answer { branch: branch.to_string(), into: into.to_string(), commit: commit.to_string(), nothing_new })
}

/// The commit of a merge that was recorded and is not in the base branch: whoever began it did not get to the end.
fn interrupted(site: &Site, view: &WorktreeView, (branch, into): (&Branch, &Branch)) -> Option<ObjectId> {
    let is_over = || site.repository.is_merged(branch, into).unwrap_or(true);
    let recorded = view.merged.as_ref().filter(|_| view.status == WorktreeStatus::Merged && !is_over())?;
    object(recorded).ok()
}

fn branches(view: &WorktreeView) -> Result<(Branch, Branch), CliError> {
    let branch = view.opening.branch.as_str().parse().map_err(failed)?;
    Ok((branch, view.opening.base_branch.as_str().parse().map_err(failed)?))
}

fn work_out(
    site: &Site,
    view: &WorktreeView,
    (branch, into): (&Branch, &Branch),
    person: &IdentityView,
    interrupted: Option<&ObjectId>,
) -> Result<Merging, CliError> {
    let tip = object(&view.tip).map_err(failed)?;
    let message = format!("Merge {branch} ({})\n", view.opening.ticket);
    let mail = format!("{}@people.invalid", person.name);
    let merge = Merge { branch, expected_tip: &tip, into, message: &message, by: (&person.name, &mail) };
    let merging = match interrupted {
        None => site.repository.merge(&merge),
        Some(commit) => site.repository.merge_again(&merge, commit),
    };
    merging.map_err(|error| refused(&error, view))
}

/// That both sides went on is nobody's failure.
fn refused(error: &MergeError, view: &WorktreeView) -> CliError {
    let (agent, ticket) = (&view.opening.agent, &view.opening.ticket);
    match error {
        MergeError::Conflicts(_) => CliError::new(Code::Conflict, error.to_string()).hint(format!(
            "nothing was changed; `placet start --agent {agent} --ticket {ticket}` goes on from where {} is now, \
             or a person merges by hand",
            view.opening.base_branch
        )),
        MergeError::Moved { .. }
        | MergeError::NotClean { .. }
        | MergeError::InTheWay { .. }
        | MergeError::Sparse(_)
        | MergeError::Another { .. }
        | MergeError::Elsewhere { .. } => CliError::new(Code::Conflict, error.to_string()),
        MergeError::Unrelated(..) | MergeError::Repository(_) | _ => CliError::failed(chain(error)),
    }
}

fn not_closed(view: &WorktreeView) -> CliError {
    let said = CliError::new(Code::Conflict, format!("it is {}; only what is closed is taken over", view.status));
    match view.status {
        WorktreeStatus::Opening | WorktreeStatus::Open => {
            let (agent, ticket) = (&view.opening.agent, &view.opening.ticket);
            said.hint(format!("placet close --agent {agent} --ticket {ticket}"))
        }
        WorktreeStatus::Merged | WorktreeStatus::Closed | WorktreeStatus::Aborted => said.hint(view.status.hint()),
    }
}
