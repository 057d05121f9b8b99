//! Whose call it is. An agent has one credential here, its token; at the gateway it is a key that no provider knows, for the one run
//! in which the agent is at work.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use placet_domain::id::{IdentityId, RunId};
use placet_domain::identity::Role;
use placet_domain::run::{Run, RunStatus};
use placet_llm::key::{CallScope, KeyRefusal, Keys, VirtualKey};
use placet_llm::models::{Models, Pattern};
use placet_store::{MOST_ROWS, RunFilter};

use crate::app::App;
use crate::names::token_digest;

/// Beyond this everything is looked up again.
const MOST_KNOWN: usize = 10_000;

#[derive(Debug)]
pub(super) struct TokenKeys {
    app: App,
    seen: Mutex<HashMap<IdentityId, Seen>>,
}

/// What an agent was let do when it called last.
#[derive(Debug, Clone)]
struct Seen {
    /// When the ledger had last moved then. Its own calls do not move it, so not every call asks the store again.
    moved: u64,
    scope: CallScope,
}

impl TokenKeys {
    pub(super) fn of(app: App) -> Self {
        Self { app, seen: Mutex::default() }
    }

    async fn scope_of(&self, agent: IdentityId) -> Result<CallScope, KeyRefusal> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(&agent).cloned();
        // Asked first: what is read after it is at least as new.
        let moved = self.app.store().moved();
        match &seen {
            Some(seen) if seen.moved == moved => return Ok(seen.scope.clone()),
            Some(_) | None => {}
        }
        let run = self.run_of(agent, seen.map(|seen| seen.scope.run)).await?;
        let keeps_words = self.keeps_words(&run).await?;
        let scope = CallScope { keeps_words, ..CallScope::new(run.id, models(&run)?) };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MOST_KNOWN {
            seen.clear();
        }
        seen.insert(agent, Seen { moved, scope: scope.clone() });
        Ok(scope)
    }

    /// Most likely where it was at work last; whether it still is, the run says.
    async fn run_of(&self, agent: IdentityId, known: Option<RunId>) -> Result<Run, KeyRefusal> {
        if let Some(run) = known {
            let run = self.app.store().run(run).await.map_err(fault)?;
            if let Some(run) = run.filter(|run| is_at_work(run) && run.agent == agent) {
                return Ok(run);
            }
        }
        self.search(agent).await
    }

    /// Whether its project wants words kept. Never in the clear: without a key of the store there are none.
    async fn keeps_words(&self, run: &Run) -> Result<bool, KeyRefusal> {
        if !self.app.store().blobs().is_encrypted() {
            return Ok(false);
        }
        let project = self.app.store().project(run.project).await.map_err(fault)?;
        Ok(project.is_some_and(|project| project.keeps_words))
    }

    /// The one run in which it is at work; calls for several could not be told apart.
    async fn search(&self, agent: IdentityId) -> Result<Run, KeyRefusal> {
        let mut found: Option<Run> = None;
        let mut before = None;
        loop {
            let status = Some(RunStatus::Executing);
            let filter = RunFilter { status, before, limit: MOST_ROWS, ..RunFilter::default() };
            let page = self.app.store().runs(filter).await.map_err(fault)?;
            let Some(last) = page.last().map(|listed| listed.created) else { break };
            before = Some(last);
            for run in page.into_iter().map(|listed| listed.state).filter(|run| run.agent == agent && is_at_work(run)) {
                if found.replace(run).is_some() {
                    let several =
                        "this agent is at work in several runs, and a call says of none; give each an agent of its own";
                    return Err(KeyRefusal::Closed(several.to_owned()));
                }
            }
        }
        found.ok_or_else(|| KeyRefusal::Closed("no run of this agent is at work".to_owned()))
    }
}

/// True if the run may call models. A halt stops every run; a run that only waits for people continues, because its agent may plan its next
/// step.
const fn is_at_work(run: &Run) -> bool {
    matches!(run.status, RunStatus::Executing) && !run.clock.halted
}

fn fault(error: impl std::fmt::Display) -> KeyRefusal {
    KeyRefusal::Fault(error.to_string())
}

impl Keys for TokenKeys {
    async fn scope(&self, key: &VirtualKey) -> Result<CallScope, KeyRefusal> {
        let identity = self.app.identify(token_digest(key.expose())).await.map_err(fault)?;
        let agent = identity.filter(|identity| identity.has(Role::Agent)).ok_or(KeyRefusal::Unknown)?;
        self.scope_of(agent.id).await
    }
}

fn models(run: &Run) -> Result<Models, KeyRefusal> {
    let named = &run.posture.models;
    if named.is_empty() {
        return Ok(Models::all());
    }
    let patterns: Result<Vec<Pattern>, _> = named.iter().map(|model| model.parse()).collect();
    patterns.map(Models::new).map_err(fault)
}
