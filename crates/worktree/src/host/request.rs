//! A repository's request: everything of the host that it needs, and the commands it runs when a worktree starts. The person trusts the
//! digest of the request.

use std::collections::BTreeMap;

use placet_domain::canonical;
use placet_domain::digest::Digest;
use placet_domain::text::spelled_out;
use placet_domain::worktree::AgentName;
use serde::Serialize;

use crate::team::{Cache, CacheMode, CageName, Generate, Team};

/// Request of a repository. Checks are not part of it: they run in a cage that shows nothing beyond this request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostRequest {
    caches: Vec<Cache>,
    generate: Vec<Generate>,
    pass: Vec<String>,
    set: BTreeMap<String, String>,
    /// Agents with a cage other than the default: a profile of the home may show more of the host.
    cages: BTreeMap<AgentName, CageName>,
}

impl HostRequest {
    pub fn of(team: &Team) -> Self {
        let setup = team.policy().setup.clone();
        let unusual = team.agents().filter(|agent| !agent.has_usual_cage());
        Self {
            caches: setup.caches,
            generate: setup.generate,
            pass: setup.environment.pass,
            set: setup.environment.set,
            cages: unusual.map(|agent| (agent.name().clone(), agent.cage().clone())).collect(),
        }
    }

    /// True if the request asks for nothing: no state of the host becomes visible and nothing runs. Variables with fixed values from the
    /// repository are not counted.
    pub fn is_empty(&self) -> bool {
        self.caches.is_empty() && self.generate.is_empty() && self.pass.is_empty() && self.cages.is_empty()
    }

    pub fn digest(&self) -> Digest {
        Digest::of(&canonical::to_bytes(self))
    }

    /// Formats the request, one line per item, for the person who decides.
    pub fn lines(&self) -> Vec<String> {
        let caches = self.caches.iter().map(|cache| {
            let how = match cache.how {
                CacheMode::Hardlink => "copies or links",
                CacheMode::ReadOnly => "shows",
            };
            format!("{how} the directory {} of this machine as {}", cache.from, cache.to)
        });
        let pass = self.pass.iter().map(|name| format!("passes the variable {name} of your environment"));
        let set = self.set.iter().map(|(name, value)| format!("sets {name}={value}"));
        let generate = self.generate.iter().map(|generate| {
            format!("runs `{}` in the cage of each new worktree ({})", generate.command.join(" "), generate.name)
        });
        let cages = self.cages.iter().map(|(agent, cage)| format!("lets {agent} work in the cage `{cage}`"));
        caches.chain(pass).chain(generate).chain(cages).chain(set).map(|line| spelled_out(&line)).collect()
    }
}
