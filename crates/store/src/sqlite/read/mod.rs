//! Reading. Each function works within the snapshot of the connection it is given, the writer's or a reader's.

mod actions;
mod calls;
mod content;
mod decisions;
mod entities;
mod entries;
mod holders;
mod queue;
mod resting;
mod retention;
mod select;

use placet_domain::identity::Reach;

pub(crate) use actions::{action, action_count, actions, counts, lapsing, outdated, void};
pub(crate) use calls::calls;
pub(crate) use content::{advice, kept, removal, sealed, unnamed, verifier};
pub(crate) use decisions::{decided_since, decisions, has_old_marks, questions, seen, waiting};
pub(crate) use entities::{
    children, count_named, identities, identity, identity_by_token, idle_agents, is_token_taken, organisation, project,
    project_by_name, projects, run, runs, runs_due, runs_to_host, scope, scopes, unfinished, worktree, worktrees,
};
pub(crate) use entries::{bytes_before, count_entries, cursor, debts, entries, entry};
pub(crate) use holders::{is_of_agent, withholding};
pub(crate) use queue::{queue, queue_length, twins};
pub(crate) use resting::{beside, runs_naming, unstarted_actions_naming, worktrees_naming};
pub(crate) use retention::{
    all_kept, count_removals, expirable, expirable_uploads, is_kept, is_removed, removals, touched,
};

/// The projects within reach as a JSON list of hexadecimal ids, which is how a list goes into one statement; nothing means
/// all.
pub(crate) fn reach_as_json(reach: &Reach) -> Option<String> {
    match reach {
        Reach::Everywhere => None,
        Reach::Only(projects) => {
            let ids: Vec<String> =
                projects.iter().map(|id| format!("{:032x}", u128::from_be_bytes(*id.as_bytes()))).collect();
            Some(serde_json::to_string(&ids).expect("ids are plain JSON"))
        }
    }
}
