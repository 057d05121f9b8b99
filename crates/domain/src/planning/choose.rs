//! Step 4: which agent does it. Every agent is measured by every criterion, and the table is kept: who reads the plan sees
//! why this one and why none of the others.

use serde::{Deserialize, Serialize};

use super::criterion::{Measure, Row};
use super::encode::Task;
use super::estimate::{Estimate, estimate};
use super::refusal::PlanRefusal;
use super::subtask::Subtask;
use crate::catalogue::{Catalogue, Entry, EntryId};
use crate::digest::Digest;

/// The agent that was chosen, and the table that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    pub chosen: EntryId,
    /// The version of its entry: another one was not chosen.
    pub version: Digest,
    pub table: Vec<Row>,
    /// Everybody who fits, the chosen one first.
    pub ranking: Vec<Ranked>,
}

/// An agent that fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranked {
    pub agent: EntryId,
    pub because: String,
}

/// Chooses among those that fit the one with the least power beyond the need, then the cheapest and the fastest in the worst
/// case, then the first by id.
pub fn choose(task: &Task, subtasks: &[Subtask], catalogue: &Catalogue) -> Result<Selection, PlanRefusal> {
    let measure = Measure::new(task, subtasks);
    let (mut table, mut fitting): (Vec<Row>, Vec<Candidate<'_>>) = (Vec::new(), Vec::new());
    for entry in catalogue.iter() {
        let estimate = estimate(entry, subtasks);
        let rows = measure.rows(entry, &estimate);
        if rows.iter().all(|row| row.fits) {
            fitting.push(Candidate { entry, surplus: measure.surplus(entry), estimate });
        }
        table.extend(rows);
    }
    fitting.sort_by(|one, other| one.key().cmp(&other.key()));
    match fitting.first() {
        None => Err(PlanRefusal::NobodyFits { table }),
        Some(first) => Ok(Selection {
            chosen: first.entry.id.clone(),
            version: first.entry.version(),
            table,
            ranking: fitting.iter().map(Candidate::ranked).collect(),
        }),
    }
}

struct Candidate<'c> {
    entry: &'c Entry,
    surplus: usize,
    estimate: Estimate,
}

impl Candidate<'_> {
    fn key(&self) -> (usize, u64, u64, &EntryId) {
        let worst = &self.estimate.worst;
        (self.surplus, worst.usd_micros, worst.wall_ms, &self.entry.id)
    }

    fn ranked(&self) -> Ranked {
        let worst = &self.estimate.worst;
        let because = format!(
            "{} capabilities beyond the need; {} usd_micros and {} wall_ms in the worst case",
            self.surplus, worst.usd_micros, worst.wall_ms
        );
        Ranked { agent: self.entry.id.clone(), because }
    }
}
