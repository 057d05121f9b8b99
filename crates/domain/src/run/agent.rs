//! The agent of a hosted run: made with the run, in the same commit, so that neither is ever without the other.
//!
//! Who it is follows from the run and from whoever makes that; nothing about it can be chosen.

use super::command::RunCommand;
use crate::id::RunId;
use crate::identity::{self, Actor, Identity, IdentityCommand, Lineage, Reach, Role};
use crate::record::Event;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// As many letters of a run's id as lists show of it.
const TELLING: usize = 8;

/// By the end of its run's id, as lists show it: whoever sees the one finds the other.
fn name(run: RunId) -> String {
    let id = run.to_string();
    format!("agent-{}", &id[id.len().saturating_sub(TELLING)..])
}

/// What makes the agent of a new run, if it is to have one of its own.
pub(crate) fn own_agent(
    run: RunId,
    known: Option<&Identity>,
    command: &RunCommand,
    actor: &Actor,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let RunCommand::Create(founding) = command else { return Ok(Vec::new()) };
    let Some(token) = founding.agent_token else { return Ok(Vec::new()) };
    let lineage = actor.identity().map(Lineage::below).unwrap_or_default();
    if founding.hosting.is_external() || founding.agent_lineage != lineage {
        return Err(Refusal::invalid(
            "only a hosted run has an agent of its own, which comes from whoever makes the run",
        ));
    }
    let register = IdentityCommand::Register {
        name: name(run),
        roles: [Role::Agent].into(),
        reach: Reach::Only([founding.project].into()),
        parent: actor.identity().cloned().map(Box::new),
        token,
    };
    // Whoever may make a run may make its agent, and nobody else.
    let events = identity::decide(known, &register, &Actor::Runtime, now)?;
    Ok(events.into_iter().map(|event| Event::Identity(founding.agent, event)).collect())
}
