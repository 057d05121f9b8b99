//! What an agent is measured by, one row for each agent and criterion: the table that decided, as a reviewer reads it.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::choose::Starter;
use super::encode::Task;
use super::subtask::Subtask;
use crate::budget::{Amounts, Resource};
use crate::catalogue::{CageCapability, Capability, Entry, EntryId, Level, NetworkUse, Speaks, Switches};
use crate::proposal::ActionKind;

macro_rules! criteria {
    ($($variant:ident = $word:literal: $meaning:literal;)*) => {
        /// What an agent is measured by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Criterion {
            $(#[doc = $meaning] #[serde(rename = $word)] $variant,)*
        }

        impl Criterion {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
}

// Those that eliminate come first.
criteria! {
    Wish = "wish": "It is the agent that was asked for.";
    Launch = "launch": "Placet can start it.";
    Capabilities = "capabilities": "It can do what the sub-tasks take.";
    Level = "level": "It may work in the wanted mode.";
    Tools = "tools": "It may propose the tools that the work needs.";
    Network = "network": "It may reach what the work has to reach.";
    Profile = "profile": "Its cage is good for the acts that are likely.";
    Switches = "switches": "No safety switch closes an act that is likely.";
    Limits = "limits": "The worst case is within its limits.";
    Ceiling = "ceiling": "The worst case is within what was granted.";
}

impl Criterion {
    /// Whether an agent that does not fit here is out at once.
    const fn eliminates(self) -> bool {
        matches!(self, Self::Wish | Self::Launch)
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One agent, one criterion. Where nothing is needed there is no row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub agent: EntryId,
    pub criterion: Criterion,
    pub needs: String,
    pub has: String,
    pub fits: bool,
}

/// Whether pages are visited at all.
pub(super) fn visits_pages(subtasks: &[Subtask]) -> bool {
    subtasks.iter().any(|subtask| subtask.pages > 0)
}

/// What is needed, what is there, and whether that is enough.
struct Answer {
    needs: String,
    has: String,
    fits: bool,
}

/// Everything an agent is measured against.
pub(super) struct Measure<'p> {
    task: &'p Task,
    capabilities: BTreeSet<Capability>,
    kinds: BTreeSet<ActionKind>,
    visits_pages: bool,
    starter: Starter,
}

impl<'p> Measure<'p> {
    pub(super) fn new(task: &'p Task, subtasks: &[Subtask], starter: Starter) -> Self {
        let capabilities =
            task.needs.iter().copied().chain(subtasks.iter().map(|subtask| subtask.capability)).collect();
        let kinds = subtasks.iter().flat_map(|subtask| subtask.kinds.iter().copied()).collect();
        Self { task, capabilities, kinds, visits_pages: visits_pages(subtasks), starter }
    }

    /// Everything about one agent. Who was not asked for or cannot be started is not measured any further: nobody would
    /// read it.
    pub(super) fn rows(&self, entry: &Entry, worst: &Amounts) -> Vec<Row> {
        let row = |criterion: &Criterion| {
            let Answer { needs, has, fits } = self.ask(*criterion, entry, worst)?;
            Some(Row { agent: entry.id.clone(), criterion: *criterion, needs, has, fits })
        };
        let mut rows: Vec<Row> = Criterion::ALL.iter().filter_map(row).collect();
        if let Some(out) = rows.iter().position(|row| !row.fits && row.criterion.eliminates()) {
            rows.truncate(out + 1);
        }
        rows
    }

    /// How many capabilities an agent has that the work does not take.
    pub(super) fn surplus(&self, entry: &Entry) -> usize {
        entry.capabilities.difference(&self.capabilities).count()
    }

    fn ask(&self, criterion: Criterion, entry: &Entry, worst: &Amounts) -> Option<Answer> {
        match criterion {
            Criterion::Wish => self.wish(entry),
            Criterion::Launch => Some(launch(entry, self.starter)),
            Criterion::Capabilities => covers(&self.capabilities, &entry.capabilities),
            Criterion::Level => Some(self.level(entry)),
            Criterion::Tools => covers(&self.task.constraints.tools, &entry.tools),
            Criterion::Network => self.network(entry),
            Criterion::Profile => self.profile(entry),
            Criterion::Switches => self.switches(entry),
            Criterion::Limits => Some(within(worst, |resource| Some(entry.limits.of(resource)))),
            Criterion::Ceiling => self.ceiling(worst),
        }
    }

    fn wish(&self, entry: &Entry) -> Option<Answer> {
        let wish = self.task.agent.as_ref()?;
        Some(Answer { needs: wish.to_string(), has: entry.id.to_string(), fits: *wish == entry.id })
    }

    fn level(&self, entry: &Entry) -> Answer {
        let (mode, needed) = (self.task.mode, Level::needed_for(self.task.mode));
        Answer { needs: format!("{needed} for {mode}"), has: entry.level.to_string(), fits: entry.level >= needed }
    }

    /// Who visits pages without saying whose needs some network; which one, the scope of the run says.
    fn network(&self, entry: &Entry) -> Option<Answer> {
        let (targets, network) = (&self.task.constraints.targets, &entry.cage.network);
        let (needs, fits) = match (targets.is_empty(), self.visits_pages) {
            (false, _) => (list(targets), targets.iter().all(|target| network.reaches(target))),
            (true, true) => ("pages within the scope".to_owned(), *network != NetworkUse::None),
            (true, false) => return None,
        };
        Some(Answer { needs, has: short(network.to_string()), fits })
    }

    fn profile(&self, entry: &Entry) -> Option<Answer> {
        let needed: BTreeSet<_> = self.kinds.iter().filter_map(|kind| CageCapability::needed_for(*kind)).collect();
        let answer = covers(&needed, &entry.cage.capabilities)?;
        Some(Answer { has: format!("{}: {}", entry.cage.profile, answer.has), ..answer })
    }

    /// Only what a switch could close is a question.
    fn switches(&self, entry: &Entry) -> Option<Answer> {
        let all_on = Switches::default();
        let closable: Vec<ActionKind> =
            self.kinds.iter().copied().filter(|kind| all_on.closing(*kind).is_some()).collect();
        let closing: Vec<&str> = closable.iter().filter_map(|kind| entry.switches.closing(*kind)).collect();
        let has = if closing.is_empty() { "open".to_owned() } else { list(&closing) };
        (!closable.is_empty()).then(|| Answer { needs: list(&closable), has, fits: closing.is_empty() })
    }

    fn ceiling(&self, worst: &Amounts) -> Option<Answer> {
        let ceiling = self.task.ceiling;
        let limited = Resource::ALL.iter().any(|resource| ceiling.of(*resource).is_some());
        limited.then(|| within(worst, |resource| ceiling.of(resource)))
    }
}

fn launch(entry: &Entry, starter: Starter) -> Answer {
    let is_brought = starter == Starter::Caller && entry.launch.speaks == Speaks::PlacetApi;
    let (has, fits) = match (entry.is_startable(), &entry.launch.program) {
        (Err(_), _) if is_brought => ("none of its own: yours".to_owned(), true),
        (Err(why), _) => (why.to_owned(), false),
        (Ok(()), program) => (program.as_ref().map(ToString::to_string).unwrap_or_default(), true),
    };
    Answer { needs: "a program that Placet starts".to_owned(), has, fits }
}

/// Whether everything needed is there; no answer where nothing is needed.
fn covers<T: Ord + fmt::Display>(needed: &BTreeSet<T>, there: &BTreeSet<T>) -> Option<Answer> {
    let has = if there.is_empty() { "none".to_owned() } else { list(there) };
    (!needed.is_empty()).then(|| Answer { needs: list(needed), has, fits: needed.is_subset(there) })
}

/// Whether amounts are within limits, resource by resource; both sides name the limited ones.
fn within(worst: &Amounts, limit: impl Fn(Resource) -> Option<u64>) -> Answer {
    let limited: Vec<(Resource, u64)> =
        Resource::ALL.iter().filter_map(|resource| Some((*resource, limit(*resource)?))).collect();
    let fits = limited.iter().all(|(resource, limit)| worst.of(*resource) <= *limit);
    let needs: Vec<String> =
        limited.iter().map(|(resource, _)| format!("{resource} {}", worst.of(*resource))).collect();
    let has: Vec<String> = limited.iter().map(|(resource, limit)| format!("{resource} {limit}")).collect();
    Answer { needs: list(&needs), has: list(&has), fits }
}

fn list<T: fmt::Display>(all: impl IntoIterator<Item = T>) -> String {
    short(all.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", "))
}

/// A cell that is still read; what was decided on is not cut.
fn short(text: String) -> String {
    const LONGEST_CELL: usize = 300;
    if text.chars().count() <= LONGEST_CELL {
        return text;
    }
    format!("{}…", text.chars().take(LONGEST_CELL).collect::<String>())
}
