//! Agents: the registry says who they are, a profile each says what for.

use std::collections::BTreeMap;

use placet_domain::canonical;
use placet_domain::digest::Digest;
use placet_domain::scope::Glob;
use placet_domain::worktree::AgentName;
use serde::{Deserialize, Serialize};

use super::files::Root;
use super::json::Content;
use super::name::{CageName, CheckName};
use super::problem::Problem;
use super::sheet::{Sheet, read};

pub(crate) const REGISTRY: &str = "agents/agents_registry.json";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    agents: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    name: AgentName,
    display_name: String,
    profile: String,
    #[serde(default = "yes")]
    enabled: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Profile {
    name: AgentName,
    #[serde(skip_serializing)]
    display_name: Option<String>,
    role: String,
    mission: String,
    #[serde(default)]
    skills: Vec<String>,
    #[serde(default)]
    rules: Vec<String>,
    scope: AgentScope,
    #[serde(default = "code_development")]
    sandbox_profile: CageName,
    checks: Option<Vec<CheckName>>,
}

const USUAL_CAGE: &str = "code_development";

fn code_development() -> CageName {
    USUAL_CAGE.parse().expect("it keeps the rule of its type")
}

/// The paths an agent may change: `allow`, less `deny`, less what is protected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentScope {
    pub allow: Vec<Glob>,
    #[serde(default)]
    pub deny: Vec<Glob>,
}

/// An agent of the team: its entry in the registry with its profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    display_name: String,
    is_enabled: bool,
    profile: Profile,
}

impl Agent {
    pub fn name(&self) -> &AgentName {
        &self.profile.name
    }

    pub fn display_name(&self) -> &str {
        &self.display_name
    }

    /// Whether it may be started.
    pub fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    pub fn role(&self) -> &str {
        &self.profile.role
    }

    pub fn mission(&self) -> &str {
        &self.profile.mission
    }

    pub fn skills(&self) -> &[String] {
        &self.profile.skills
    }

    pub fn rules(&self) -> &[String] {
        &self.profile.rules
    }

    pub fn scope(&self) -> &AgentScope {
        &self.profile.scope
    }

    /// The kind of cage it works in. Whether there is such a kind is for whoever builds cages to say.
    pub fn cage(&self) -> &CageName {
        &self.profile.sandbox_profile
    }

    /// True if the agent works in the default cage.
    pub fn has_usual_cage(&self) -> bool {
        self.cage().as_str() == USUAL_CAGE
    }

    /// The checks of the policy that count for it; all, if it names none.
    pub fn checks(&self) -> Option<&[CheckName]> {
        self.profile.checks.as_deref()
    }

    /// The digest of everything that is written about it.
    pub fn version(&self) -> Digest {
        Digest::of(&canonical::to_bytes(self))
    }
}

/// A registered agent together with the sheet of its profile, for checks against other files.
pub(crate) struct Registered {
    pub(crate) agent: Agent,
    pub(crate) sheet: Sheet,
}

/// Reads the registry and every profile it names. What is wrong is added to the problems.
pub(crate) fn load(root: &Root, problems: &mut Vec<Problem>) -> BTreeMap<AgentName, Registered> {
    let before = problems.len();
    let Some(bytes) = read(root, REGISTRY, problems) else {
        if problems.len() == before {
            problems.push(Problem::with_file(REGISTRY, "it is missing; run `placet init` to write a first one"));
        }
        return BTreeMap::new();
    };
    let Some(sheet) = Sheet::parse(REGISTRY, &bytes, problems) else { return BTreeMap::new() };
    if !sheet.keeps("agents_registry.schema.json", problems) {
        look_at_profiles(root, &sheet, problems);
        return BTreeMap::new();
    }
    let Some(registry) = sheet.typed::<Registry>(problems) else { return BTreeMap::new() };
    let mut agents = BTreeMap::new();
    for (index, entry) in registry.agents.into_iter().enumerate() {
        let at = format!("/agents/{index}");
        if agents.contains_key(&entry.name) {
            problems
                .push(sheet.problem(&format!("{at}/name"), format!("`{}` is registered twice; keep one", entry.name)));
            continue;
        }
        let expected = profile_of(&entry.name);
        if entry.profile != expected {
            let message = format!("the profile of `{}` is `{expected}`; write that", entry.name);
            problems.push(sheet.problem(&format!("{at}/profile"), message));
        }
        let missing = |message: String| sheet.problem(&format!("{at}/profile"), message);
        if let Some(registered) = load_profile(root, &entry, missing, problems) {
            agents.insert(entry.name, registered);
        }
    }
    agents
}

/// A registry that is wrong still names profiles, and who mends it wants to hear about them now and not next time.
fn look_at_profiles(root: &Root, registry: &Sheet, problems: &mut Vec<Problem>) {
    let Some(Content::List(entries)) = registry.document().get("agents").map(|agents| &agents.value) else { return };
    for entry in entries {
        let Some(Content::Text(name)) = entry.get("name").map(|name| &name.value) else { continue };
        let Ok(name) = name.parse::<AgentName>() else { continue };
        let file = format!("agents/{}", profile_of(&name));
        if let Some(bytes) = read(root, &file, problems) {
            Sheet::check(&file, &bytes, "agent_profile.schema.json", problems);
        }
    }
}

fn profile_of(name: &AgentName) -> String {
    format!("profiles/{name}_agent.json")
}

fn load_profile(
    root: &Root,
    entry: &Entry,
    missing: impl Fn(String) -> Problem,
    problems: &mut Vec<Problem>,
) -> Option<Registered> {
    let file = format!("agents/{}", profile_of(&entry.name));
    let before = problems.len();
    let Some(bytes) = read(root, &file, problems) else {
        if problems.len() == before {
            problems.push(missing(format!("`{file}` is missing; write it, or take `{}` out", entry.name)));
        }
        return None;
    };
    let sheet = Sheet::check(&file, &bytes, "agent_profile.schema.json", problems)?;
    let profile: Profile = sheet.typed(problems)?;
    if profile.name != entry.name {
        let message = format!("the registry calls this agent `{}`; write that", entry.name);
        problems.push(sheet.problem("/name", message));
    }
    if profile.display_name.as_ref().is_some_and(|name| *name != entry.display_name) {
        let message = format!("the registry says `{}`; write that, or leave it out here", entry.display_name);
        problems.push(sheet.problem("/displayName", message));
    }
    let agent = Agent { display_name: entry.display_name.clone(), is_enabled: entry.enabled, profile };
    Some(Registered { agent, sheet })
}
