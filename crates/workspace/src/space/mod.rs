//! The directory of one hosted run: what it changed, what its agent remembers, and the snapshots to go back to.
//!
//! ```text
//!  <root>/
//!    space.json          what this is, and where the base is
//!    base/               only without a folder of the host: empty, never written
//!    upper/  work/       the layers of the workspace, for cages
//!    agent/              the agent's own directory: its memory
//!    snapshots/<n>/      upper.jsonl, agent.jsonl: every entry of both trees; meta.json: their digests
//!    objects/            the content of all snapshots, each once; encrypted, if there is a key
//!    index               what upper was when it was last read; may be lost
//! ```
//!
//! - The base is a folder of people. Nothing here writes to it: whatever happens in a space, their files stay.
//! - A snapshot is taken between two actions, at rest: the lock that every cage holds is needed for it, and for going
//!   back. The agent's directory has no such lock: whoever takes a snapshot lets the agent sleep, and whoever goes back
//!   ends it first and starts it again.
//! - A snapshot never changes. It is proven when it is taken: everything new in it is made once again by the code that a
//!   rollback uses, and read back.
//! - [`Space::restore`] touches what differs and nothing else, in one step for workspace and memory.
//! - A crash at any point leaves what was or what was to be: [`Space::open`] removes an unfinished snapshot and finishes
//!   or undoes a rollback.
//!
//! ```no_run
//! use std::path::Path;
//! use placet_workspace::space::Space;
//!
//! # fn main() -> Result<(), placet_workspace::space::SpaceError> {
//! let space = Space::create(Path::new("/srv/runs/7"), Some(Path::new("/srv/project")))?;
//! // … a cage works in layers: `space.base()`, `space.upper()`, `space.work()` …
//! let gate = space.snapshot(1)?;
//! // … the next action goes wrong …
//! println!("{} paths would change", space.preview(1)?.workspace.listed.len());
//! space.restore(1, &gate)?;
//! space.destroy()?;
//! # Ok(())
//! # }
//! ```
//!
//! What is deliberately not kept: owners (everything belongs to the owner of its tree's root), access times, access
//! control lists, and pipes, sockets and devices, which a snapshot names and a rollback removes.

mod attributes;
mod beginning;
mod closed;
mod content;
mod destroy;
mod entry;
mod error;
mod files;
mod index;
mod make;
mod objects;
mod outputs;
mod place;
mod preview;
mod prove;
mod recovering;
mod restore;
mod root;
mod scan;
mod snapshot;
mod tree;
mod undo;
mod usage;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use placet_seal::Key;
use serde::{Deserialize, Serialize};

pub use destroy::Destruction;
pub use error::SpaceError;
pub use outputs::Output;
pub use preview::{Effect, MAX_LISTED, PartPreview, PreviewLine, RollbackPreview, Seen, What};
pub use restore::{Recovery, Restored};
pub use scan::Refused;
pub use snapshot::SnapshotRecord;
pub use usage::Usage;

use crate::digest::Digest;
use crate::dir::{Dir, absent};
use crate::error::Doing;
use crate::layer::{Baseline, Changes, Conflict, Layered, hold};
use crate::limits::Limits;
use crate::path::TreePath;
use crate::remove::remove_tree;
use index::{Index, Known, Stamp};
use objects::Objects;
use restore::{Part, Trees};
use snapshot::Saved;

const RECORD: &[u8] = b"space.json";
const BASE: &str = "base";
const UPPER: &str = "upper";
const WORK: &str = "work";
const AGENT: &str = "agent";
const SNAPSHOTS: &[u8] = b"snapshots";
const OBJECTS: &[u8] = b"objects";
const INDEX: &[u8] = b"index";
const BASELINE: &[u8] = b"baseline.json";
/// With which key the content of the last snapshot is encrypted; nothing, if it is not.
const KEPT_WITH: &[u8] = b"kept-with";
/// Which run of the machine used it last.
const BOOT: &[u8] = b"boot";
/// What rollbacks replaced, until there is time to remove it.
const REPLACED: &[u8] = b"replaced";
/// What is on its way out.
const TRASH: &[u8] = b".placet-trash";

/// The directory of one hosted run.
#[derive(Debug)]
pub struct Space {
    path: PathBuf,
    dir: Dir,
    base: Option<PathBuf>,
    limits: Limits,
    recovered: Recovery,
    /// With which the content of snapshots is encrypted.
    key: Option<Arc<Key>>,
}

/// Both trees of a space, by their digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Everything the run changed in its workspace.
    pub workspace: Digest,
    /// Everything in the agent's own directory.
    pub memory: Digest,
}

impl Space {
    /// Limits instead of the usual ones.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// With a key: from here on what is saved of workspace and memory is encrypted on disk. The live files are not, and neither are
    /// names, sizes and digests in the lists.
    #[must_use]
    pub fn sealed_with(mut self, key: Option<Arc<Key>>) -> Self {
        self.key = key;
        self
    }

    /// What was done when it was opened.
    #[must_use]
    pub fn recovered(&self) -> Recovery {
        self.recovered
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder below the run's changes, never written.
    #[must_use]
    pub fn base(&self) -> PathBuf {
        self.base.clone().unwrap_or_else(|| self.path.join(BASE))
    }

    /// Where every change of the run goes.
    #[must_use]
    pub fn upper(&self) -> PathBuf {
        self.path.join(UPPER)
    }

    /// Room for the kernel, beside the upper.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.path.join(WORK)
    }

    /// The agent's own directory.
    #[must_use]
    pub fn agent(&self) -> PathBuf {
        self.path.join(AGENT)
    }

    /// Lays a file into the workspace, between two actions.
    pub fn place(&self, path: &TreePath, bytes: &[u8]) -> Result<(), SpaceError> {
        let _held = self.ready()?;
        place::place(self, Part::Workspace, path, bytes)
    }

    /// Lays a file into the agent's own directory, while the agent does not run.
    pub fn place_in_memory(&self, path: &TreePath, bytes: &[u8]) -> Result<(), SpaceError> {
        place::place(self, Part::Memory, path, bytes)
    }

    /// Saves workspace and memory under a number that is free.
    pub fn snapshot(&self, number: u64) -> Result<SnapshotRecord, SpaceError> {
        let _held = self.ready()?;
        match snapshot::take(self, number) {
            Ok(record) => {
                self.tidy()?;
                Ok(record)
            }
            Err(error) => {
                // What it kept is nobody's. If that cannot be removed now, it is when the space is opened again; why no
                // snapshot was taken matters more.
                let _: Result<bool, SpaceError> = self.discard_unfinished();
                Err(error)
            }
        }
    }

    /// The numbers of all snapshots, the least first.
    pub fn snapshots(&self) -> Result<Vec<u64>, SpaceError> {
        let names = self.dir.dir(SNAPSHOTS).and_then(|dir| dir.names()).doing("list", "the snapshots")?;
        let number = |name: Vec<u8>| {
            let text = String::from_utf8(name).ok()?;
            text.parse().ok().filter(|number| snapshot::name(*number) == text)
        };
        let mut numbers: Vec<u64> = names.into_iter().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// What a snapshot was when it was taken, as its own directory says. What counts is what was recorded elsewhere.
    pub fn record(&self, number: u64) -> Result<SnapshotRecord, SpaceError> {
        snapshot::record(self, number)
    }

    /// What workspace and memory are now, as a snapshot would name them.
    pub fn state(&self) -> Result<State, SpaceError> {
        let _held = self.ready()?;
        let live = Trees::open(self)?.scan(self, None)?;
        Ok(State { workspace: live.workspace.tree.digest()?, memory: live.memory.tree.digest()? })
    }

    /// What going back would change. Nothing is written.
    pub fn preview(&self, number: u64) -> Result<RollbackPreview, SpaceError> {
        let _held = self.ready()?;
        preview::preview(self, number)
    }

    /// Makes workspace and memory what they were when the snapshot was taken, in one step. `expected` is what was
    /// recorded then, somewhere safe: a snapshot that is not that, or cannot be brought back whole, changes nothing.
    pub fn restore(&self, number: u64, expected: &SnapshotRecord) -> Result<Restored, SpaceError> {
        let _held = self.hold()?;
        restore::restore(self, number, expected, &mut |_| {})
    }

    /// Forgets a snapshot and what only it needs.
    pub fn forget(&self, number: u64) -> Result<(), SpaceError> {
        let _held = self.ready()?;
        let snapshots = self.dir.dir(SNAPSHOTS).doing("open", "the snapshots")?;
        let name = snapshot::name(number);
        if absent(snapshots.stat(name.as_bytes())).doing("look at", "the snapshots")?.is_none() {
            return Err(SpaceError::NoSnapshot(number));
        }
        remove_tree(&snapshots, name.as_bytes(), TRASH).doing("remove", "the snapshot")?;
        self.sweep()
    }

    /// Forgets every snapshot but these, and what only the others need.
    pub fn keep_only(&self, numbers: &BTreeSet<u64>) -> Result<(), SpaceError> {
        let _held = self.ready()?;
        let forgotten: Vec<u64> = self.snapshots()?.into_iter().filter(|number| !numbers.contains(number)).collect();
        if forgotten.is_empty() {
            return Ok(());
        }
        let snapshots = self.dir.dir(SNAPSHOTS).doing("open", "the snapshots")?;
        for number in forgotten {
            let name = snapshot::name(number);
            remove_tree(&snapshots, name.as_bytes(), TRASH).doing("remove", "the snapshot")?;
        }
        self.sweep()
    }

    /// What the run changed, compared with the base, the way it would be promoted.
    pub fn changes(&self) -> Result<Changes, SpaceError> {
        let layered = self.layered()?;
        Ok(layered.preview(&self.baseline()?)?)
    }

    /// The layers, held, with everything that can be done with them.
    pub fn layered(&self) -> Result<Layered, SpaceError> {
        // Let go of at once: layers hold the same lock.
        drop(self.ready()?);
        Ok(Layered::open(&self.base(), &self.upper(), &self.work())?.limits(self.limits))
    }

    /// What the base was when the space was made.
    pub fn baseline(&self) -> Result<Baseline, SpaceError> {
        let Some(bytes) = files::read(&self.dir, BASELINE)? else { return Ok(Baseline::default()) };
        serde_json::from_slice(&bytes).map_err(|error| SpaceError::NoSpace {
            path: self.path.clone(),
            why: format!("its `baseline.json` cannot be understood: {error}"),
        })
    }

    /// What people changed in the base since the space was made.
    pub fn drift(&self) -> Result<Vec<(TreePath, Conflict)>, SpaceError> {
        Ok(self.baseline()?.drift(&self.base(), self.limits)?)
    }

    /// The files the run made or changed whose paths are wanted, in order.
    pub fn outputs(&self, wanted: impl Fn(&TreePath) -> bool) -> Result<Vec<Output>, SpaceError> {
        let _held = self.ready()?;
        outputs::list(self, &wanted)
    }

    /// Which of these files of the base the run removed, or put something else in the place of.
    pub fn missing(&self, files: &[TreePath]) -> Result<Vec<TreePath>, SpaceError> {
        let _held = self.ready()?;
        outputs::missing(self, files)
    }

    /// Lists every path that the run created, changed or removed, except directories. Reads only names.
    pub fn changed_paths(&self) -> Result<Vec<TreePath>, SpaceError> {
        let _held = self.ready()?;
        undo::changed_paths(self)
    }

    /// Restores these paths to their content in the base, between two actions.
    pub fn undo(&self, paths: &[TreePath]) -> Result<(), SpaceError> {
        let _held = self.ready()?;
        undo::undo(self, paths)
    }

    /// Hands on the content of a listed output. If it fails, what was handed on is not the output.
    pub fn read_output(&self, output: &Output, into: &mut dyn Write) -> Result<(), SpaceError> {
        outputs::read(self, output, into)
    }

    /// What the run has on disk now. Cheap, and possible while a cage works: then it is a moment's guess.
    pub fn usage(&self) -> Result<Usage, SpaceError> {
        usage::measure(self)
    }

    /// Removes everything, and looks that nothing is left.
    pub fn destroy(self) -> Result<Destruction, SpaceError> {
        let held = self.hold()?;
        let path = self.path.clone();
        drop(self);
        let destroyed = destroy::destroy(&path);
        drop(held);
        destroyed
    }

    /// The same for a directory that may be no whole space any more, or one that cannot be opened; nothing to do if it
    /// is gone.
    pub fn destroy_at(root: &Path) -> Result<Destruction, SpaceError> {
        let work = root.join(WORK);
        let held = absent(Dir::open(&work)).doing("open", work.display())?;
        if let Some(held) = &held {
            hold(held, &work)?;
        }
        destroy::destroy(root)
    }

    /// No cage writes, and nobody else works on this space, as long as it is held.
    fn hold(&self) -> Result<Dir, SpaceError> {
        let work = self.dir.dir(WORK.as_bytes()).doing("open", self.work().display())?;
        hold(&work, &self.work())?;
        Ok(work)
    }

    /// Held, and with nothing half done: a rollback that failed in the middle is finished first.
    fn ready(&self) -> Result<Dir, SpaceError> {
        let held = self.hold()?;
        match restore::recover(self)? {
            Recovery::Disturbed => Err(SpaceError::Unfinished),
            Recovery::Nothing | Recovery::Undone | Recovery::Finished | Recovery::MachineRestarted => Ok(held),
        }
    }

    fn base_dir(&self) -> Result<Dir, SpaceError> {
        let base = self.base();
        Ok(Dir::open(&base).doing("open", base.display())?)
    }

    fn objects(&self) -> Result<Objects, SpaceError> {
        Ok(Objects::new(self.dir.dir(OBJECTS).doing("open", "the objects")?, self.key.clone()))
    }

    /// Whether what the last snapshot kept was kept as this one will be. Otherwise nobody could go back to what is in both: it is kept anew.
    fn keeps_as_before(&self) -> Result<bool, SpaceError> {
        let before = files::read(&self.dir, KEPT_WITH)?;
        // What an older version kept with a key does not say with which.
        Ok(before.unwrap_or_default() == self.key_name().as_bytes())
    }

    fn key_name(&self) -> String {
        self.key.as_ref().map(|key| key.name()).unwrap_or_default()
    }

    /// What the upper was when it was last read, as far as that counts. An index that cannot be read is as good as none.
    /// If it is about a snapshot that was read already, its list is not read again.
    fn known<'a>(&self, at_hand: Option<&'a Saved>) -> Option<Known<'a>> {
        let bytes = files::read(&self.dir, INDEX).ok().flatten()?;
        let Index { number, workspace, stamps } = Index::from_bytes(&bytes)?;
        let same = |saved: &&Saved| saved.number == number && saved.record.workspace == workspace;
        let tree = match at_hand.filter(same) {
            Some(saved) => Cow::Borrowed(&saved.workspace),
            None => Cow::Owned(snapshot::workspace(self, number, workspace)?),
        };
        (tree.entries.len() == stamps.len()).then_some(Known { tree, stamps })
    }

    /// Notes that the upper is what a snapshot has, and how its files are known again.
    fn remember(&self, number: u64, workspace: Digest, stamps: Vec<Option<Stamp>>) -> Result<(), SpaceError> {
        let index = Index::settled((number, workspace), stamps, &self.dir)?;
        files::replace(&self.dir, INDEX, &index.to_bytes()?)?;
        files::replace(&self.dir, BOOT, index::boot().as_bytes())
    }
}
