//! The agent catalogue: which agents there are, what they can do, and what each of them is held to.
//!
//! An entry is one TOML file: those that ship (`crates/domain/catalogue/`) and a team's own. Pure: names and texts in,
//! entries out, or everything that is wrong. An entry grants nothing: a run still has its scope, its budget and its
//! approvals, and what an entry says can only narrow them. Whether a program is installed, and whether a profile or a tool
//! of that name exists, is the shell's to look at.

mod bounds;
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
use std::sync::LazyLock;

pub use bounds::Bounds;
pub use capability::{CageCapability, Capability};
pub use entry::{Cage, CheckpointEvery, Entry, Laws};
pub use launch::{Launch, Speaks};
pub use level::Level;
pub use name::{AgentPath, EntryId, ProfileName, ProgramPath, TemplateId, VariableName};
pub use network::NetworkUse;
pub use rate::{Averages, Rate};
pub use shipped::shipped;
pub use switches::Switches;

use crate::canonical;
use crate::datafile::{Problems, Shelf};
use crate::digest::Digest;

/// All entries that can be chosen from, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue(Shelf<EntryId, Entry>);

static SHIPPED: LazyLock<Shelf<EntryId, Entry>> = LazyLock::new(|| Shelf::shipped(shipped(), read::entry));

impl Default for Catalogue {
    /// Those that ship.
    fn default() -> Self {
        Self(SHIPPED.clone())
    }
}

impl Catalogue {
    /// Those that ship and these: pairs of file name and text. Either all of them count or none.
    pub fn with<'t>(own: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self, Problems> {
        SHIPPED.and(own, read::entry).map(Self)
    }

    pub fn get(&self, id: &EntryId) -> Option<&Entry> {
        self.0.get(id)
    }

    /// Every entry, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.0.iter().map(|(_, entry)| entry)
    }

    /// The file an entry was read from, as it was named; `None` for one that ships.
    pub fn file_of(&self, id: &EntryId) -> Option<&str> {
        self.0.file_of(id)
    }

    /// Names the catalogue by its content: another entry, or one that says something else, is another catalogue.
    pub fn version(&self) -> Digest {
        let versions: BTreeMap<&str, Digest> = self.iter().map(|entry| (entry.id.as_str(), entry.version())).collect();
        Digest::of(&canonical::to_bytes(&versions))
    }
}
