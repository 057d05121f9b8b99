//! READ: who is handed bytes of a project by their digest.
//!
//! Agents get what is their own and nothing else of their project. What a run made and nobody has let out, only those get who must look at
//! it to decide, and the worker that has it anyway. Everything else of a project is open to whoever is in it.

use placet_domain::digest::Digest;
use placet_domain::id::ProjectId;
use placet_domain::identity::Role;
use placet_domain::refusal::Refusal;

use super::{Caller, No};
use crate::app::App;
use crate::models::words_in;

/// What was said in calls is for those who review and audit, and for nobody else who knows its digest.
pub fn may_read_words(caller: &Caller, bytes: &[u8]) -> Result<(), No> {
    let (who, are_words) = (&caller.identity, words_in(bytes).is_some());
    let may = !are_words || who.has(Role::Reviewer) || who.has(Role::Auditor);
    if may { Ok(()) } else { Err(Refusal::Role { needed: Role::Reviewer }.into()) }
}

pub async fn may_read(app: &App, caller: &Caller, project: ProjectId, digest: Digest) -> Result<(), No> {
    let (who, store) = (&caller.identity, app.store());
    if who.has(Role::Agent) {
        let is_own = store.is_of_agent(who.id, digest).await.map_err(No::Fault)?;
        return if is_own { Ok(()) } else { Err(Refusal::Unknown { what: "evidence" }.into()) };
    }
    if who.has(Role::Reviewer) {
        return Ok(());
    }
    let withholding = store.withholding(project, digest).await.map_err(No::Fault)?;
    let is_host = withholding.iter().any(|run| run.host.worker == Some(who.id));
    if withholding.is_empty() || is_host { Ok(()) } else { Err(Refusal::Role { needed: Role::Reviewer }.into()) }
}
