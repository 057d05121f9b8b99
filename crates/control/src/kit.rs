//! Kits: the files that agents of the catalogue are started with. They come from the home, like the entries that name them, and never
//! change while the control plane runs.

use std::collections::BTreeMap;

use bytes::Bytes;
use placet_domain::catalogue::EntryId;

/// A file of an agent: the path in its own directory, and what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KitFile {
    pub path: String,
    pub bytes: Bytes,
}

/// The kit of every agent that has one.
pub type Kits = BTreeMap<EntryId, Vec<KitFile>>;
