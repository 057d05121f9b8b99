//! What a team writes down in its repository, below `agents/`: who its agents are, what each may change, what is protected,
//! how work is done and who decides.
//!
//! The files are read from the main checkout and never from a worktree of an agent, no link is followed, and nothing is
//! guessed: what the published schemas do not know is a problem. All problems are reported at once, each with file, line
//! and place. Nothing here is enforced; whoever enforces asks a [`Team`].

mod base_branch;
mod files;
mod format;
mod init;
mod json;
mod name;
mod nearest;
mod policy;
mod problem;
mod protected;
mod raci;
mod registry;
mod schema;
mod sheet;

use std::collections::BTreeMap;
use std::path::Path;

use placet_domain::canonical;
use placet_domain::digest::Digest;
use placet_domain::scope::{Scope, ScopeDraft};
use placet_domain::worktree::{AgentName, Duties, Manifest, Protected};
use serde::{Serialize, Serializer};

pub use files::FileError;
pub use init::{InitError, MAKE_INCLUDE, Outcome, Written, init, makefile_lacks_include};
pub use name::{BranchGlob, CageName, CheckName, TicketKind, branch_of};
pub use policy::{BadTicket, Cache, CacheMode, Check, Environment, Generate, Policy, Ports, Quotas, Setup, Tickets};
pub use problem::{Problem, ProblemKind, TeamProblems};
pub use registry::{Agent, AgentScope};
pub use sheet::SCHEMAS;

use files::Root;
use nearest::nearest;
use registry::Registered;

/// Where a team keeps a prompt template of its own, if it does.
pub const PROMPT_TEMPLATE: &str = "agents/templates/prompt.md";
/// Where a team lists finds that are no secrets; another crate reads what is in it.
pub const SECRETS_ALLOWLIST: &str = "agents/secrets_allowlist.json";

/// Everything a team wrote down, valid as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Team {
    agents: BTreeMap<AgentName, Agent>,
    policy: Policy,
    protected: Vec<Protected>,
    duties: Duties,
    prompt_template: Option<String>,
    /// As it lies there; valid or not is for its reader to say. In the version it counts by its digest.
    #[serde(serialize_with = "by_digest")]
    secrets_allowlist: Option<Vec<u8>>,
}

/// An agent that cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchAgent {
    #[error("there is no agent `{given}`; {advice}")]
    Unknown { given: String, advice: String },
    #[error("the agent `{0}` is resting; set `enabled` to true in `agents/agents_registry.json`, or take another")]
    Disabled(AgentName),
}

impl Team {
    /// Reads all files of the team below the root of a repository's main checkout.
    pub fn load(root: &Path) -> Result<Self, TeamProblems> {
        let root =
            Root::open(root).map_err(|error| TeamProblems::of(Problem::with_file("agents", error.to_string())))?;
        let mut problems = Vec::new();
        let agents = registry::load(&root, &mut problems);
        let policy = policy::load(&root, &mut problems);
        let protected = protected::load(&root, &mut problems);
        let duties = raci::load(&root, &mut problems);
        let prompt_template = template(&root, &mut problems);
        let secrets_allowlist = sheet::read(&root, SECRETS_ALLOWLIST, &mut problems);
        if let Some(policy) = &policy {
            problems.extend(across(&agents, policy));
        }
        TeamProblems::check(problems)?;
        let (Some(policy), Some(protected), Some(duties)) = (policy, protected, duties) else {
            let problem = Problem::with_file("agents", "a file was left out without a reason; please report this");
            return Err(TeamProblems::of(problem));
        };
        let agents = agents.into_iter().map(|(name, registered)| (name, registered.agent)).collect();
        Ok(Self { agents, policy: policy.policy, protected, duties, prompt_template, secrets_allowlist })
    }

    /// An agent that may be started.
    pub fn agent(&self, name: &str) -> Result<&Agent, NoSuchAgent> {
        let found = self.agents.iter().find(|(known, _)| known.as_str() == name);
        match found {
            Some((_, agent)) if agent.is_enabled() => Ok(agent),
            Some((name, _)) => Err(NoSuchAgent::Disabled(name.clone())),
            None => Err(self.unknown(name)),
        }
    }

    fn unknown(&self, name: &str) -> NoSuchAgent {
        let known = || self.agents.keys().map(AgentName::as_str);
        let advice = match nearest(name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if self.agents.is_empty() => "the registry is empty: add one to `agents/agents_registry.json`".into(),
            None => format!("registered are {}", known().collect::<Vec<_>>().join(", ")),
        };
        NoSuchAgent::Unknown { given: placet_domain::text::spelled_out(name).chars().take(80).collect(), advice }
    }

    /// All agents by name, resting ones too.
    pub fn agents(&self) -> impl Iterator<Item = &Agent> {
        self.agents.values()
    }

    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Everything that is protected, the runtime's own first; complete, so that nobody has to add to it.
    pub fn protected(&self) -> &[Protected] {
        &self.protected
    }

    /// Who decides, works, is asked and is told.
    pub fn duties(&self) -> &Duties {
        &self.duties
    }

    /// What an agent may change, as it would be recorded for a worktree that starts now.
    pub fn manifest(&self, agent: &Agent) -> Manifest {
        let AgentScope { allow, deny } = agent.scope().clone();
        let scope = Scope::lock(ScopeDraft { allow, deny, ..ScopeDraft::default() });
        Manifest { scope, protected: self.protected.clone() }
    }

    /// The checks that count for an agent, in the order of the policy.
    pub fn checks_of(&self, agent: &Agent) -> impl Iterator<Item = &Check> {
        let named = agent.checks().map(<[CheckName]>::to_vec);
        self.policy.checks.iter().filter(move |check| named.as_ref().is_none_or(|names| names.contains(&check.name)))
    }

    /// The team's own prompt template, if it has one.
    pub fn prompt_template(&self) -> Option<&str> {
        self.prompt_template.as_deref()
    }

    /// The bytes of `agents/secrets_allowlist.json`, if it is there.
    pub fn secrets_allowlist(&self) -> Option<&[u8]> {
        self.secrets_allowlist.as_deref()
    }

    /// The digest of everything the team wrote down, defaults included. Layout and notes for editors do not count.
    pub fn version(&self) -> Digest {
        Digest::of(&canonical::to_bytes(self))
    }
}

fn by_digest<S: Serializer>(bytes: &Option<Vec<u8>>, serializer: S) -> Result<S::Ok, S::Error> {
    bytes.as_deref().map(Digest::of).serialize(serializer)
}

/// A template that cannot be read as one is found here and not when an agent waits for its prompt.
fn template(root: &Root, problems: &mut Vec<Problem>) -> Option<String> {
    let bytes = sheet::read(root, PROMPT_TEMPLATE, problems)?;
    match String::from_utf8(bytes) {
        Ok(text) => {
            problems.extend(
                crate::prompt::flaw(&text)
                    .map(|(line, message)| Problem::at(PROMPT_TEMPLATE, line, "", ProblemKind::Syntax, message)),
            );
            Some(text)
        }
        Err(_) => {
            problems.push(Problem::with_file(PROMPT_TEMPLATE, "it is not UTF-8; save it as UTF-8"));
            None
        }
    }
}

/// What only shows when registry, profiles and policy are laid side by side.
fn across(agents: &BTreeMap<AgentName, Registered>, written: &policy::Written) -> Vec<Problem> {
    let mut found = Vec::new();
    for registered in agents.values() {
        let named = registered.agent.checks().unwrap_or_default().iter().enumerate();
        for (index, name) in named.filter(|(_, name)| !written.policy.checks.iter().any(|check| check.name == **name)) {
            let known = written.policy.checks.iter().map(|check| check.name.as_str());
            let message = unknown_name("check in agents/policy.json", name.as_str(), known);
            found.push(registered.sheet.problem(&format!("/checks/{index}"), message));
        }
    }
    let Some(sheet) = &written.sheet else { return found };
    for (kind, sequence) in &written.policy.sequences {
        for (index, name) in sequence.iter().enumerate().filter(|(_, name)| !agents.contains_key(*name)) {
            let message = unknown_name("registered agent", name.as_str(), agents.keys().map(AgentName::as_str));
            found.push(sheet.problem(&format!("/sequences/{kind}/{index}"), message));
        }
    }
    found
}

fn unknown_name<'k>(what: &str, given: &str, known: impl Iterator<Item = &'k str> + Clone) -> String {
    let advice = match nearest(given, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are: {}", known.collect::<Vec<_>>().join(", ")),
    };
    format!("`{given}` is no {what}; {advice}")
}
