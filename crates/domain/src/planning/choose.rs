//! Step 4: which agent does it. Every agent is measured by every criterion, and the table is kept: who reads the plan sees
//! why this one and why none of the others.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::criterion::{Measure, Row};
use super::encode::Task;
use super::estimate::worst_case;
use super::refusal::{PlanRefusal, recordable};
use super::subtask::Subtask;
use crate::budget::{Amounts, dollars};
use crate::catalogue::{Bounds, Catalogue, Entry, EntryId};
use crate::digest::Digest;

/// The agent that was chosen, and the table that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    pub chosen: EntryId,
    /// The version of its entry: another one was not chosen.
    pub version: Digest,
    /// The version of the catalogue it was chosen from.
    pub catalogue: Digest,
    pub table: Vec<Row>,
    /// What it is held to. Runs that were planned before there were bounds have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// Everybody who fits, the chosen one first.
    pub ranking: Vec<Ranked>,
}

/// An agent that fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranked {
    pub agent: EntryId,
    pub fit: AgentFit,
}

/// Figures by which an agent is ranked. `Display` renders them in English.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentFit {
    /// Number of capabilities beyond those that the task needs.
    pub surplus: u64,
    /// Cost in the worst case.
    pub worst_usd_micros: u64,
    /// Time in the worst case.
    pub worst_wall_ms: u64,
}

impl AgentFit {
    /// Time in the worst case, rounded up to minutes.
    pub const fn worst_minutes(&self) -> u64 {
        self.worst_wall_ms.div_ceil(60_000)
    }
}

impl fmt::Display for AgentFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (cost, minutes) = (dollars(self.worst_usd_micros), self.worst_minutes());
        write!(f, "{} capabilities beyond the need; {cost} and {minutes} minutes in the worst case", self.surplus)
    }
}

/// Party that starts the agent of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Starter {
    /// Placet starts the program that the entry names.
    Entry,
    /// The caller named a program, or an external agent that attaches by itself. The entry then needs no program.
    Caller,
}

/// Chooses an entry that fits the task. Entries with a program rank first, then those with the least power beyond the need, then the
/// cheapest and the fastest in the worst case, then the first by id.
pub fn choose(
    task: &Task,
    subtasks: &[Subtask],
    catalogue: &Catalogue,
    starter: Starter,
) -> Result<Selection, PlanRefusal> {
    let measure = Measure::new(task, subtasks, starter);
    let (mut table, mut fitting): (Vec<Row>, Vec<Candidate<'_>>) = (Vec::new(), Vec::new());
    for entry in catalogue.iter() {
        let worst = worst_case(entry, subtasks);
        let rows = measure.rows(entry, &worst);
        if rows.iter().all(|row| row.fits) {
            fitting.push(Candidate { entry, surplus: measure.surplus(entry), worst });
        }
        table.extend(rows);
    }
    fitting.sort_by(|one, other| one.key().cmp(&other.key()));
    let Some(first) = fitting.first() else {
        let bare = match starter {
            Starter::Entry => choose(task, subtasks, catalogue, Starter::Caller).ok().map(|selection| selection.chosen),
            Starter::Caller => None,
        };
        return Err(PlanRefusal::NobodyFits { table, bare });
    };
    let selection = Selection {
        chosen: first.entry.id.clone(),
        version: first.entry.version(),
        catalogue: catalogue.version(),
        table,
        bounds: Some(first.entry.bounds()),
        ranking: fitting.iter().map(Candidate::ranked).collect(),
    };
    recordable("selection", "name the agent in the intent, or remove agents that nobody uses", selection)
}

struct Candidate<'c> {
    entry: &'c Entry,
    surplus: usize,
    worst: Amounts,
}

impl Candidate<'_> {
    /// Sort key. Entries that a team set up with a program rank before those that ship without one.
    fn key(&self) -> (bool, usize, u64, u64, &EntryId) {
        let (worst, is_bare) = (&self.worst, self.entry.is_startable().is_err());
        (is_bare, self.surplus, worst.usd_micros, worst.wall_ms, &self.entry.id)
    }

    fn ranked(&self) -> Ranked {
        let Amounts { usd_micros: worst_usd_micros, wall_ms: worst_wall_ms, .. } = self.worst;
        let surplus = u64::try_from(self.surplus).unwrap_or(u64::MAX);
        Ranked { agent: self.entry.id.clone(), fit: AgentFit { surplus, worst_usd_micros, worst_wall_ms } }
    }
}
