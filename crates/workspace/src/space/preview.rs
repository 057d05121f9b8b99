//! What a rollback would do, as a person sees the workspace: the base with the run's changes above it. Nothing is
//! written.
//!
//! A path that the run no longer changes after the rollback shows what the base has there. Directories that come back
//! from the base or go with everything in them are one line. Times are brought back, too, but not listed.

use std::collections::BTreeSet;

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use super::Space;
use super::entry::{Entry, Kind};
use super::error::SpaceError;
use super::restore::{Live, Part, Trees};
use super::scan::Scan;
use super::snapshot::Saved;
use super::tree::{Tree, side_by_side};
use crate::digest::Digest;
use crate::dir::Dir;
use crate::error::Doing;
use crate::layer::Conflict;
use crate::layer::upper::OPAQUE;
use crate::path::{RawBytes, TreePath};

/// More than a person reads. Everything is counted, however much is listed.
pub const MAX_LISTED: usize = 10_000;

/// What a rollback would change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollbackPreview {
    /// In the workspace, as a command of the run sees it.
    pub workspace: PartPreview,
    /// In the agent's own directory.
    pub memory: PartPreview,
    /// What people changed in the base since the run began. No rollback touches it; it shows wherever the run has
    /// changed nothing.
    pub drift: Vec<(TreePath, Conflict)>,
    /// How much of it is left off.
    pub drift_left_off: u64,
}

/// What would change in one tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartPreview {
    /// Each path, in order, up to [`MAX_LISTED`].
    pub listed: Vec<PreviewLine>,
    /// Paths that are not listed.
    pub left_off: u64,
    /// Paths that would be there again.
    pub created: u64,
    /// Paths with other content.
    pub changed: u64,
    /// Paths that would be gone.
    pub removed: u64,
    /// Paths with the same content and another mode.
    pub mode_changed: u64,
    /// There is more than is looked at, or it cannot be read: nothing is listed, and everything would be replaced.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beyond_limits: bool,
}

/// What would happen to one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviewLine {
    /// Where.
    pub path: TreePath,
    /// What.
    pub effect: Effect,
    /// What is there now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Seen>,
    /// What would be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Seen>,
}

/// What a rollback would do to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It would be there again.
    Created,
    /// It would have other content, or be something else.
    Changed,
    /// It would be gone.
    Removed,
    /// It would have the same content and another mode.
    ModeChanged,
}

/// What there is at a path, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Whether it is a file, a directory, a link or something that is not saved.
    pub what: What,
    /// Who may do what with it.
    pub mode: u32,
    /// Of a file.
    pub size_bytes: u64,
    /// Of the content of a file or the target of a link of the run; the base is not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    /// Whether it is the base's own.
    pub of_base: bool,
}

/// What sort of thing is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A plain file.
    File,
    /// A directory with what is in it.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, socket or device.
    Special,
}

pub(super) fn preview(space: &Space, number: u64) -> Result<RollbackPreview, SpaceError> {
    let saved = Saved::load(space, number)?;
    let Live { workspace, memory } = Trees::open(space)?.look(space, &saved);
    let base = space.base_dir()?;
    let (drift, drift_left_off) = bounded(space.drift()?);
    Ok(RollbackPreview {
        workspace: compare(workspace.as_ref(), &saved.workspace, Part::Workspace, &base)?,
        memory: compare(memory.as_ref(), &saved.memory, Part::Memory, &base)?,
        drift,
        drift_left_off,
    })
}

fn bounded<T>(mut all: Vec<T>) -> (Vec<T>, u64) {
    let left_off = all.len().saturating_sub(MAX_LISTED) as u64;
    all.truncate(MAX_LISTED);
    (all, left_off)
}

fn compare(live: Option<&Scan>, saved: &Tree, part: Part, base: &Dir) -> Result<PartPreview, SpaceError> {
    let Some(live) = live else { return Ok(PartPreview { beyond_limits: true, ..PartPreview::default() }) };
    let mut preview = PartPreview::default();
    let (now, then) = (View { part, base, tree: &live.tree }, View { part, base, tree: saved });
    let mut specials: BTreeSet<&TreePath> = live.refused.iter().map(|refused| &refused.path).collect();
    for (here, there) in side_by_side(&live.tree.entries, &saved.entries) {
        let Some(path) = here.or(there).map(|entry| &entry.path) else { continue };
        if here == there {
            continue;
        }
        let before = if specials.remove(path) { Some(Seen::special()) } else { now.seen(path, here)? };
        preview.note(path, before, then.seen(path, there)?, shows_other_base(here, there));
    }
    for path in specials {
        preview.note(path, Some(Seen::special()), None, false);
    }
    Ok(preview)
}

/// A directory through which other things of the base show.
fn shows_other_base(here: Option<&Entry>, there: Option<&Entry>) -> bool {
    let opaque = |entry: Option<&Entry>| entry.is_some_and(|entry| entry.is_directory() && hides(entry));
    opaque(here) != opaque(there)
}

impl PartPreview {
    /// Whether nothing would change that a person sees.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.left_off == 0 && !self.beyond_limits
    }

    fn note(&mut self, path: &TreePath, before: Option<Seen>, after: Option<Seen>, shows_other_base: bool) {
        let Some(effect) = Effect::of(before.as_ref(), after.as_ref(), shows_other_base) else { return };
        *match effect {
            Effect::Created => &mut self.created,
            Effect::Changed => &mut self.changed,
            Effect::Removed => &mut self.removed,
            Effect::ModeChanged => &mut self.mode_changed,
        } += 1;
        if self.listed.len() < MAX_LISTED {
            self.listed.push(PreviewLine { path: path.clone(), effect, before, after });
        } else {
            self.left_off += 1;
        }
    }
}

impl Effect {
    fn of(before: Option<&Seen>, after: Option<&Seen>, shows_other_base: bool) -> Option<Self> {
        match (before, after) {
            (None, None) => None,
            (None, Some(_)) => Some(Self::Created),
            (Some(_), None) => Some(Self::Removed),
            (Some(before), Some(after)) if before.differs(after) || shows_other_base => Some(Self::Changed),
            (Some(before), Some(after)) => (before.mode != after.mode).then_some(Self::ModeChanged),
        }
    }
}

impl Seen {
    fn special() -> Self {
        Self { what: What::Special, mode: 0, size_bytes: 0, digest: None, of_base: false }
    }

    fn of_base(stat: &Stat) -> Self {
        let what = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => What::File,
            FileType::Directory => What::Directory,
            FileType::Symlink => What::Symlink,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => What::Special,
        };
        let size_bytes = if what == What::File { u64::try_from(stat.st_size).unwrap_or_default() } else { 0 };
        Self { what, mode: stat.st_mode & 0o7777, size_bytes, digest: None, of_base: true }
    }

    /// A file that was the run's and becomes the base's counts as another one: the base is not read to find out.
    fn differs(&self, other: &Self) -> bool {
        let another_file = self.what != What::Directory && self.of_base != other.of_base;
        self.what != other.what || another_file || self.digest != other.digest
    }
}

/// One of the two trees as a command sees it.
struct View<'a> {
    part: Part,
    base: &'a Dir,
    tree: &'a Tree,
}

impl View<'_> {
    fn seen(&self, path: &TreePath, entry: Option<&Entry>) -> Result<Option<Seen>, SpaceError> {
        let Some(entry) = entry else { return self.through(path) };
        let file = |what, mode, size_bytes, digest| Seen { what, mode, size_bytes, digest, of_base: false };
        Ok(match &entry.kind {
            Kind::File { size_bytes, digest } => Some(file(What::File, entry.meta.mode, *size_bytes, Some(*digest))),
            Kind::Twin(first) => {
                self.tree.get(first).map(|entry| file(What::File, entry.meta.mode, entry.size_bytes(), entry.digest()))
            }
            Kind::Directory => Some(file(What::Directory, entry.meta.mode, 0, None)),
            Kind::Symlink(target) => Some(file(What::Symlink, 0, 0, Some(Digest::of(target.as_bytes())))),
            Kind::Whiteout => None,
        })
    }

    /// What shows where the run has nothing.
    fn through(&self, path: &TreePath) -> Result<Option<Seen>, SpaceError> {
        let mut above = std::iter::successors(path.parent(), TreePath::parent);
        let is_hidden = self.part == Part::Memory || above.any(|path| self.tree.get(&path).is_some_and(hides));
        if is_hidden {
            return Ok(None);
        }
        Ok(self.base.look(path).doing("look at", path)?.as_ref().map(Seen::of_base))
    }
}

/// Whether nothing of the base shows below it.
pub(super) fn hides(entry: &Entry) -> bool {
    let opaque =
        |(name, value): &(RawBytes, RawBytes)| name.as_bytes() == OPAQUE.as_bytes() && value.as_bytes() == b"y";
    !entry.is_directory() || entry.meta.attributes.iter().any(opaque)
}
