//! `placet catalog list`: every agent and template in a line.

use std::path::PathBuf;

use placet_domain::catalogue::{Capability, Catalogue, Entry, Level};
use placet_domain::digest::Digest;
use placet_domain::planning::{Template, Templates};
use serde::Serialize;

use super::{listing, origin};
use crate::context::Who;
use crate::error::CliError;
use crate::out::{ASK, BOLD, GOOD, Out, styled, table};

#[derive(Debug, Serialize)]
struct Listed {
    version: Digest,
    agents: Vec<Agent>,
    templates: Vec<Steps>,
}

#[derive(Debug, Serialize)]
struct Agent {
    id: String,
    name: String,
    level: Level,
    capabilities: Vec<Capability>,
    profile: String,
    network: String,
    /// Whether Placet can start it for a run.
    startable: bool,
    /// If not, what stands in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'static str>,
    /// `None` for one that ships.
    file: Option<PathBuf>,
    version: Digest,
}

#[derive(Debug, Serialize)]
struct Steps {
    id: String,
    name: String,
    steps: u64,
    pages: u64,
    /// `None` for one that ships.
    file: Option<PathBuf>,
    version: Digest,
}

pub(super) fn run(who: &Who, out: &Out) -> Result<(), CliError> {
    let all = listing(who)?;
    let listed = Listed {
        version: all.agents.version(),
        agents: all.agents.iter().map(|entry| agent(entry, &all.agents)).collect(),
        templates: all.templates.iter().map(|template| steps(template, &all.templates)).collect(),
    };
    out.answer(&listed, words);
    Ok(())
}

fn agent(entry: &Entry, all: &Catalogue) -> Agent {
    Agent {
        id: entry.id.to_string(),
        name: entry.name.to_string(),
        level: entry.level,
        capabilities: entry.capabilities.iter().copied().collect(),
        profile: entry.cage.profile.to_string(),
        network: entry.cage.network.to_string(),
        startable: entry.is_startable().is_ok(),
        because: entry.is_startable().err(),
        file: all.file_of(&entry.id).map(PathBuf::from),
        version: entry.version(),
    }
}

fn steps(template: &Template, all: &Templates) -> Steps {
    Steps {
        id: template.id.to_string(),
        name: template.name.to_string(),
        steps: template.step.iter().map(|step| step.repeat).sum(),
        pages: template.step.iter().map(|step| step.repeat.saturating_mul(step.pages)).sum(),
        file: all.file_of(&template.id).map(PathBuf::from),
        version: template.version(),
    }
}

fn words(listed: &Listed) -> String {
    let heading = |words: &[&str]| words.iter().map(|word| styled(BOLD, word)).collect::<Vec<_>>();
    let agents = std::iter::once(heading(&["agent", "level", "started by", "cage", "network", "from", "can"]));
    let agents: Vec<Vec<String>> = agents.chain(listed.agents.iter().map(agent_row)).collect();
    let templates = std::iter::once(heading(&["template", "steps", "pages", "from", "name"]));
    let templates: Vec<Vec<String>> = templates.chain(listed.templates.iter().map(template_row)).collect();
    format!("{}\n\n{}", table(&agents), table(&templates))
}

fn agent_row(agent: &Agent) -> Vec<String> {
    let started = match agent.because {
        None => styled(GOOD, "Placet"),
        Some(why) => styled(ASK, why.split(':').next().unwrap_or(why)),
    };
    let can: Vec<&str> = agent.capabilities.iter().map(|capability| capability.as_str()).collect();
    let (level, from) = (agent.level.to_string(), origin(agent.file.as_ref()));
    vec![agent.id.clone(), level, started, agent.profile.clone(), agent.network.clone(), from, can.join(", ")]
}

fn template_row(template: &Steps) -> Vec<String> {
    let (steps, pages) = (template.steps.to_string(), template.pages.to_string());
    vec![template.id.clone(), steps, pages, origin(template.file.as_ref()), template.name.clone()]
}
