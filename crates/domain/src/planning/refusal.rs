//! Why there is no plan: everything at once, and what to do about it.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::criterion::Row;
use crate::canonical;
use crate::catalogue::{EntryId, TemplateId};
use crate::refusal::Refusal;

/// Each product of planning becomes the body of one entry of the ledger, which has 64 KiB; this leaves room for the rest of
/// the entry.
const MOST_PRODUCT_BYTES: usize = 40 * 1024;

/// The product, if it can be recorded.
pub(super) fn recordable<T: Serialize>(what: &'static str, hint: &'static str, product: T) -> Result<T, PlanRefusal> {
    let bytes = canonical::to_bytes(&product).len();
    if bytes > MOST_PRODUCT_BYTES { Err(PlanRefusal::TooLarge { what, bytes, hint }) } else { Ok(product) }
}

/// One thing that stands against an intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Objection {
    /// Which part of the intent, as in `inputs[2]`.
    pub place: String,
    pub why: String,
}

impl Objection {
    pub(super) fn new(place: impl Into<String>, why: impl Into<String>) -> Self {
        Self { place: place.into(), why: why.into() }
    }
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}

/// Planning ended without a plan. An outcome like any other: nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanRefusal {
    #[error("the intent cannot be planned: {}", joined(.0))]
    Intent(Vec<Objection>),
    #[error("there is no template `{name}`; there are {}", joined(.known))]
    UnknownTemplate { name: TemplateId, known: Vec<TemplateId> },
    #[error("the {what} would have {bytes} bytes, and {MOST_PRODUCT_BYTES} can be recorded; {hint}")]
    TooLarge { what: &'static str, bytes: usize, hint: &'static str },
    #[error("{}{}", lacking(.table), remedy(.bare.as_ref()))]
    NobodyFits {
        table: Vec<Row>,
        /// Entry that would fit if the caller named a program or an agent.
        bare: Option<EntryId>,
    },
}

fn joined(all: &[impl fmt::Display]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// What each agent lacks, one line for each of them.
fn lacking(table: &[Row]) -> String {
    let mut lines: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for row in table.iter().filter(|row| !row.fits) {
        let lack = format!("{} (needs {}; has {})", row.criterion, row.needs, row.has);
        lines.entry(row.agent.as_str()).or_default().push(lack);
    }
    if lines.is_empty() {
        return "no agent fits: the catalogue is empty; add an entry".to_owned();
    }
    let lines = lines.iter().map(|(agent, lacks)| format!("\n  {agent} lacks {}", lacks.join(", ")));
    format!(
        "no agent of the catalogue fits; change the intent, or add an entry that does:{}",
        lines.collect::<String>()
    )
}

/// Renders the remedy for an entry that lacks only a program, like every entry that ships with Placet.
fn remedy(bare: Option<&EntryId>) -> String {
    let Some(agent) = bare else { return String::new() };
    format!(
        "\nfor `{agent}` only a program is missing. Name who works in the run: `placet run plan … --agent NAME` for an agent that \
         comes by itself, `--launch PROGRAM` for one that a worker starts. Or make an entry of your own: `placet catalog copy {agent} \
         ours --program /path/to/program`, then restart the control plane"
    )
}

impl From<PlanRefusal> for Refusal {
    fn from(refusal: PlanRefusal) -> Self {
        Self::invalid(refusal.to_string())
    }
}
