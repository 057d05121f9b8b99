//! The agent catalogue: which agents there are, what they can do, and what each of them is held to.
//!
//! An entry is one TOML file: those that ship (`crates/domain/catalogue/`) and a team's own. Pure: names and texts in,
//! entries out, or everything that is wrong. An entry grants nothing: a run still has its scope, its budget and its
//! approvals, and what an entry says can only narrow them. Whether a program is installed, and whether a profile or a tool
//! of that name exists, is the shell's to look at.

mod capability;
mod entry;
mod launch;
mod level;
mod name;
mod network;
mod rate;
mod read;
mod shipped;
mod switches;

use std::collections::BTreeMap;

pub use capability::{CageCapability, Capability};
pub use entry::{Cage, CheckpointEvery, Entry, Laws};
pub use launch::{Launch, Speaks};
pub use level::Level;
pub use name::{BadName, EntryId, ProfileName, ProgramPath, TemplateId, VariableName};
pub use network::NetworkUse;
pub use rate::{Averages, Rate};
pub use shipped::shipped;
pub use switches::Switches;

use crate::canonical;
use crate::datafile::{Problem, Problems};
use crate::digest::Digest;

/// More than anybody compares. A table of all of them still fits on a screen or two.
const MOST_ENTRIES: usize = 200;

/// All entries that can be chosen from, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue(BTreeMap<EntryId, Listed>);

/// An entry and the file it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Listed {
    entry: Entry,
    file: String,
}

impl Catalogue {
    /// Those that ship and these: pairs of file name and text. Either all of them count or none.
    pub fn with<'t>(own: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self, Problems> {
        Self::of(shipped().iter().copied().chain(own))
    }

    /// These and no others.
    pub fn of<'t>(files: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self, Problems> {
        let (mut known, mut problems): (BTreeMap<EntryId, Listed>, Vec<Problem>) = (BTreeMap::new(), Vec::new());
        for (file, text) in files {
            match read::entry(file, text) {
                Ok(entry) if known.contains_key(&entry.id) => {
                    problems.push(read::taken(file, text, &entry.id, &known[&entry.id].file));
                }
                Ok(_) if known.len() == MOST_ENTRIES => problems.push(read::too_many(file, text, MOST_ENTRIES)),
                Ok(entry) => {
                    known.insert(entry.id.clone(), Listed { entry, file: file.to_owned() });
                }
                Err(found) => problems.extend(found),
            }
        }
        Problems::none_or_err(problems)?;
        Ok(Self(known))
    }

    pub fn get(&self, id: &EntryId) -> Option<&Entry> {
        self.0.get(id).map(|listed| &listed.entry)
    }

    /// Every entry, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.values().map(|listed| &listed.entry)
    }

    /// The file an entry was read from, as it was named.
    pub fn file_of(&self, id: &EntryId) -> Option<&str> {
        self.0.get(id).map(|listed| listed.file.as_str())
    }

    /// Names the catalogue by its content: another entry, or one that says something else, is another catalogue.
    pub fn version(&self) -> Digest {
        let versions: BTreeMap<&str, Digest> = self.iter().map(|entry| (entry.id.as_str(), entry.version())).collect();
        Digest::of(&canonical::to_bytes(&versions))
    }
}
