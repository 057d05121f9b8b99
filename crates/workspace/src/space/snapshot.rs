//! Takes a snapshot: keeps what is new, lists everything, and makes each new thing once again to see that it comes back.

use serde::{Deserialize, Serialize};

use super::error::SpaceError;
use super::prove::prove;
use super::restore::Part;
use super::root::Root;
use super::scan::{Content, Refused, Scan, Trust, scan};
use super::tree::Tree;
use super::{Space, State, files};
use crate::digest::Digest;
use crate::dir::{Dir, absent};
use crate::error::Doing;
use crate::remove::remove_tree;

/// A snapshot that is not finished. No number looks like it.
pub(super) const UNFINISHED: &[u8] = b".new";

const WORKSPACE: &[u8] = b"upper.jsonl";
const MEMORY: &[u8] = b"agent.jsonl";
const META: &[u8] = b"meta.json";

/// More than a person reads; the number of all is in the record.
const MAX_REFUSED: usize = 1000;

/// What a snapshot is: enough to recognise it, and to notice if it is no longer what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotRecord {
    /// Names everything the run had changed in its workspace.
    pub workspace: Digest,
    /// Names everything in the agent's own directory.
    pub memory: Digest,
    /// Files in both.
    pub files: u64,
    /// Their content, however much of it was kept before.
    pub bytes: u64,
    /// Pipes, sockets and devices in both, which are not saved.
    pub refused: u64,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused_paths: Vec<Refused>,
}

impl SnapshotRecord {
    /// Both trees, by their digests.
    #[must_use]
    pub fn state(&self) -> State {
        State { workspace: self.workspace, memory: self.memory }
    }
}

pub(super) fn take(space: &Space, number: u64) -> Result<SnapshotRecord, SpaceError> {
    let snapshots = space.dir.dir(super::SNAPSHOTS).doing("open", "the snapshots")?;
    if absent(snapshots.stat(name(number).as_bytes())).doing("look at", "the snapshots")?.is_some() {
        return Err(SpaceError::SnapshotExists(number));
    }
    let fresh = fresh(&snapshots, UNFINISHED)?;
    let objects = space.objects()?;
    let (known, earlier) =
        if space.keeps_as_before()? { (space.known(None), latest_memory(space)?) } else { (None, None) };
    let trust = known.as_ref().map_or(Trust::Nothing(None), Trust::Stamps);
    let workspace = scan(&Root::open(space, Part::Workspace)?, trust, Content::Kept(&objects), space.limits)?;
    let trust = Trust::Nothing(earlier.as_ref());
    let memory = scan(&Root::open(space, Part::Memory)?, trust, Content::Kept(&objects), space.limits)?;
    prove(space, &workspace, number)?;
    prove(space, &memory, number)?;
    let record = write(&fresh, &workspace, &memory)?;
    Saved::read(fresh, number)?.check(&record)?;
    rustix::fs::syncfs(&snapshots).doing("flush", "the snapshot")?;
    snapshots.move_to(UNFINISHED, &snapshots, name(number).as_bytes()).doing("name", "the snapshot")?;
    snapshots.sync().doing("flush", "the snapshots")?;
    space.remember(number, record.workspace, workspace.stamps)?;
    files::replace(&space.dir, super::KEPT_WITH, space.key_name().as_bytes())?;
    Ok(record)
}

pub(super) fn name(number: u64) -> String {
    number.to_string()
}

fn fresh(parent: &Dir, name: &[u8]) -> Result<Dir, SpaceError> {
    remove_tree(parent, name, super::TRASH).doing("remove", "what an interrupted snapshot left")?;
    Ok(parent.make(name).doing("make room for", "a snapshot")?)
}

/// The memory in the last snapshot: what is the same in it was proven then.
fn latest_memory(space: &Space) -> Result<Option<Tree>, SpaceError> {
    match space.snapshots()?.last() {
        // One that is damaged proves nothing; that it is damaged is said to whoever wants to go back to it.
        Some(number) => Ok(List::open(space, *number).and_then(|list| list.memory()).ok()),
        None => Ok(None),
    }
}

fn write(fresh: &Dir, workspace: &Scan, memory: &Scan) -> Result<SnapshotRecord, SpaceError> {
    let (upper, agent) = (workspace.tree.to_lines()?, memory.tree.to_lines()?);
    let ((files, bytes), (more_files, more_bytes)) = (workspace.tree.totals(), memory.tree.totals());
    let refused = workspace.refused.iter().chain(&memory.refused);
    let record = SnapshotRecord {
        workspace: Digest::of(&upper),
        memory: Digest::of(&agent),
        files: files + more_files,
        bytes: bytes + more_bytes,
        refused: refused.clone().count() as u64,
        refused_paths: refused.take(MAX_REFUSED).cloned().collect(),
    };
    files::replace(fresh, WORKSPACE, &upper)?;
    files::replace(fresh, MEMORY, &agent)?;
    let meta = serde_json::to_vec_pretty(&record).map_err(SpaceError::unwritable)?;
    files::replace(fresh, META, &meta)?;
    Ok(record)
}

/// A snapshot on disk.
struct List {
    dir: Dir,
    number: u64,
    record: SnapshotRecord,
}

impl List {
    fn open(space: &Space, number: u64) -> Result<Self, SpaceError> {
        let snapshots = space.dir.dir(super::SNAPSHOTS).doing("open", "the snapshots")?;
        match absent(snapshots.dir(name(number).as_bytes())).doing("open", "the snapshot")? {
            Some(dir) => Self::read(dir, number),
            None => Err(SpaceError::NoSnapshot(number)),
        }
    }

    fn read(dir: Dir, number: u64) -> Result<Self, SpaceError> {
        let meta = file(&dir, number, META)?;
        let record = serde_json::from_slice(&meta).map_err(|_| damaged(number, "its record cannot be understood"))?;
        Ok(Self { dir, number, record })
    }

    fn workspace(&self) -> Result<Tree, SpaceError> {
        self.tree(WORKSPACE, self.record.workspace)
    }

    fn memory(&self) -> Result<Tree, SpaceError> {
        self.tree(MEMORY, self.record.memory)
    }

    fn tree(&self, name: &[u8], digest: Digest) -> Result<Tree, SpaceError> {
        let lines = file(&self.dir, self.number, name)?;
        if Digest::of(&lines) != digest {
            return Err(damaged(self.number, "its list is not the one that was recorded"));
        }
        Tree::from_lines(&lines)
            .map_err(|error| damaged(self.number, format!("its list cannot be understood: {error}")))
    }
}

fn file(dir: &Dir, number: u64, name: &[u8]) -> Result<Vec<u8>, SpaceError> {
    files::read(dir, name)?.ok_or_else(|| damaged(number, "a part of it is missing"))
}

fn damaged(number: u64, what: impl Into<String>) -> SpaceError {
    SpaceError::Damaged { number, what: what.into() }
}

/// The workspace in a snapshot, if its list has this digest.
pub(super) fn workspace(space: &Space, number: u64, digest: Digest) -> Option<Tree> {
    let list = List::open(space, number).ok().filter(|list| list.record.workspace == digest)?;
    list.workspace().ok()
}

/// What a number was recorded as.
pub(super) fn record(space: &Space, number: u64) -> Result<SnapshotRecord, SpaceError> {
    List::open(space, number).map(|list| list.record)
}

/// A snapshot, read back and found to be what its own record says.
pub(super) struct Saved {
    pub(super) number: u64,
    pub(super) record: SnapshotRecord,
    pub(super) workspace: Tree,
    pub(super) memory: Tree,
}

impl Saved {
    pub(super) fn load(space: &Space, number: u64) -> Result<Self, SpaceError> {
        List::open(space, number).and_then(Self::of)
    }

    fn read(dir: Dir, number: u64) -> Result<Self, SpaceError> {
        List::read(dir, number).and_then(Self::of)
    }

    fn of(list: List) -> Result<Self, SpaceError> {
        let List { number, .. } = list;
        Ok(Self { number, workspace: list.workspace()?, memory: list.memory()?, record: list.record })
    }

    /// Whether it is the one that is meant, and not one that somebody put in its place.
    pub(super) fn check(&self, expected: &SnapshotRecord) -> Result<(), SpaceError> {
        if self.record.state() == expected.state() {
            return Ok(());
        }
        Err(damaged(self.number, "it is not the one that was recorded when it was taken"))
    }
}
