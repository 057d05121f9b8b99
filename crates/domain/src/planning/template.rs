//! Templates: plans that people wrote once and use often. Data files like entries of the catalogue, read as strictly.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::encode::{MOST_PAGES, MOST_STEPS, MOST_TURNS};
use super::intent::{USUAL_TURNS, usual_pages};
use super::shipped::shipped_templates;
use crate::canonical;
use crate::catalogue::{Capability, TemplateId};
use crate::datafile::{self, Problem, Problems, Section, Shelf};
use crate::digest::Digest;
use crate::proposal::ActionKind;
use crate::prose::Prose;

/// A plan to be used again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    pub id: TemplateId,
    pub name: Prose<100>,
    pub about: Prose<500>,
    pub step: Vec<TemplateStep>,
}

/// One step of a template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateStep {
    pub title: Prose<200>,
    pub capability: Capability,
    /// The kinds of act it likely proposes; if nothing is said, those usual for the capability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<BTreeSet<ActionKind>>,
    pub checkpoint: bool,
    pub pages: u64,
    pub turns: u64,
    /// How often the step is done, one after the other.
    pub repeat: u64,
}

impl Template {
    /// Every step with its title, repetitions written out.
    pub(super) fn steps(&self) -> impl Iterator<Item = (Prose<300>, &TemplateStep)> {
        let repeated = |step: &'_ TemplateStep| (1..=step.repeat).map(|turn| title(step, turn)).collect::<Vec<_>>();
        self.step.iter().flat_map(move |step| repeated(step).into_iter().map(move |title| (title, step)))
    }

    /// Names the template by its content.
    pub fn version(&self) -> Digest {
        Digest::of(&canonical::to_bytes(self))
    }
}

fn title(step: &TemplateStep, turn: u64) -> Prose<300> {
    let text = match step.repeat {
        1 => step.title.to_string(),
        all => format!("{} ({turn} of {all})", step.title),
    };
    text.parse().expect("200 bytes and two small numbers fit into 300 bytes")
}

/// All templates, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Templates(Shelf<TemplateId, Template>);

static SHIPPED: LazyLock<Shelf<TemplateId, Template>> = LazyLock::new(|| Shelf::shipped(shipped_templates(), read));

impl Default for Templates {
    /// Those that ship.
    fn default() -> Self {
        Self(SHIPPED.clone())
    }
}

impl Templates {
    /// Those that ship and these: pairs of file name and text. Either all of them count or none.
    pub fn with<'t>(own: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self, Problems> {
        SHIPPED.and(own, read).map(Self)
    }

    pub fn get(&self, id: &TemplateId) -> Option<&Template> {
        self.0.get(id)
    }

    /// Every template, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Template> {
        self.0.iter().map(|(_, template)| template)
    }

    /// The file a template was read from, as it was named; `None` for one that ships.
    pub fn file_of(&self, id: &TemplateId) -> Option<&str> {
        self.0.file_of(id)
    }

    pub fn ids(&self) -> Vec<TemplateId> {
        self.0.iter().map(|(id, _)| id.clone()).collect()
    }
}

fn read(file: &str, text: &str) -> Result<(TemplateId, Template), Vec<Problem>> {
    let template = datafile::read(file, text, template)?;
    Ok((template.id.clone(), template))
}

fn template(top: &mut Section<'_, '_>) -> Option<Template> {
    let id = top.need("id", "a short lowercase name, as in \"research_report\"");
    let name = top.need("name", "text in quotes, at most 100 bytes");
    let about = top.need("about", "a sentence in quotes, at most 500 bytes");
    let steps = top.sections("step", step);
    let template = Template { id: id?, name: name?, about: about?, step: steps? };
    let count: u64 = template.step.iter().map(|step| step.repeat).sum();
    if count == 0 || count > MOST_STEPS as u64 {
        top.refuse("step", "a plan has 1 to 200 steps, repetitions counted", "write fewer, or repeat them less often");
    }
    Some(template)
}

fn step(section: &mut Section<'_, '_>) -> Option<TemplateStep> {
    let title = section.need("title", "what is done, in at most 200 bytes");
    let words: Vec<&str> = Capability::ALL.iter().map(|capability| capability.as_str()).collect();
    let capability = section.need("capability", &format!("one of: {}", words.join(", ")));
    let kinds = section.may("kinds", "a list of kinds of act, as in tools.toml");
    let checkpoint = section.need("checkpoint", "true or false: whether the run stands still after it");
    let pages = section.number_within("pages", capability.map_or(0, usual_pages), 0..=MOST_PAGES);
    let turns = section.number_within("turns", USUAL_TURNS, 1..=MOST_TURNS);
    let repeat = section.number_within("repeat", 1, 1..=MOST_STEPS as u64);
    Some(TemplateStep {
        title: title?,
        capability: capability?,
        kinds: kinds?,
        checkpoint: checkpoint?,
        pages: pages?,
        turns: turns?,
        repeat: repeat?,
    })
}
