//! What differs in the files of a layered worktree: its upper, and nothing else, is what changed.
//!
//! The files are those of the base with the upper above. They are compared with the tip of the branch:
//!
//! - what is in the upper and in the tip is compared by git itself, in an index that knows only those files;
//! - what the tip has and the upper hides is deleted; what only the upper has is untracked;
//! - what commits changed and the upper does not show is still as the base has it, and so differs too.
//!
//! Whether an untracked file is ignored is told by the rules of the base: a rule that an agent writes hides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::PathBuf;

use rustix::fs::FileType;

use super::committed::between;
use super::plain::{MOST_BYTES, ignored, read_link};
use super::raw;
use super::tip::Tip;
use super::walk::{entry_of, file_type};
use super::{Difference, DifferenceError, DifferenceKind, Entry, Origin};
use crate::dir::Dir;
use crate::error::Doing;
use crate::git::{Call, Git, ObjectId};
use crate::layer::Special;
use crate::layer::upper::{Shape, shapes};
use crate::path::TreePath;
use crate::worktree::Worktree;

/// Everything that differs from the tip of the branch.
pub(super) fn working(worktree: &Worktree, tip: &ObjectId) -> Result<Vec<Difference>, DifferenceError> {
    let cage = worktree.cage();
    let upper = Dir::open(&cage.upper).doing("open", cage.upper.display())?;
    let shapes = shapes(&upper)?;
    let git = worktree.repository().git().output_bytes(MOST_BYTES);
    let behind = if tip == worktree.base() { Vec::new() } else { between(&git, worktree.base(), tip)? };
    if shapes.keys().all(|path| path.as_bytes() == b".git") && behind.is_empty() {
        return Ok(own_git_file(&shapes));
    }
    let comparing = Comparing { worktree, git, upper, tip: read_tip(worktree, tip)?, shapes };
    let mut found = comparing.shown()?;
    found.extend(comparing.deleted()?);
    found.extend(comparing.behind(behind.into_iter().map(|raw| raw.difference))?);
    found.extend(own_git_file(&comparing.shapes));
    Ok(found)
}

/// Git with an index in which these changed files differ from the tip, to ask it how.
pub(super) fn narrow(
    worktree: &Worktree,
    tip: &ObjectId,
    paths: &[&TreePath],
) -> Result<(Git, Scratch), DifferenceError> {
    let cage = worktree.cage();
    let upper = Dir::open(&cage.upper).doing("open", cage.upper.display())?;
    let (git, tip) = (worktree.repository().git(), read_tip(worktree, tip)?);
    Comparing { worktree, git, upper, tip, shapes: BTreeMap::new() }.narrow(paths)
}

fn read_tip(worktree: &Worktree, tip: &ObjectId) -> Result<Tip, DifferenceError> {
    Tip::read(&worktree.repository().git().output_bytes(MOST_BYTES), tip)
}

/// The worktree's own `.git` is a plain file in the upper. Anything else there is the agent's.
fn own_git_file(shapes: &BTreeMap<TreePath, Shape>) -> Vec<Difference> {
    let Ok(path) = TreePath::new(".git") else { return Vec::new() };
    if matches!(shapes.get(&path), Some(Shape::File(FileType::RegularFile))) {
        return Vec::new();
    }
    vec![Difference { new: Some(Entry::Repository), ..Difference::new(path, Origin::Untracked, DifferenceKind::Added) }]
}

struct Comparing<'a> {
    worktree: &'a Worktree,
    git: Git,
    upper: Dir,
    tip: Tip,
    shapes: BTreeMap<TreePath, Shape>,
}

impl Comparing<'_> {
    /// What the upper shows.
    fn shown(&self) -> Result<Vec<Difference>, DifferenceError> {
        let (mut tracked, mut others, mut found) = (Vec::new(), Vec::new(), Vec::new());
        for (path, shape) in self.shapes.iter().filter(|(path, _)| path.first_name() != b".git") {
            match shape {
                Shape::File(FileType::RegularFile | FileType::Symlink) if self.tracks(path) => tracked.push(path),
                Shape::File(FileType::RegularFile | FileType::Symlink) => others.push(path.as_bytes().to_vec()),
                Shape::File(kind) => found.push(special(path, *kind)?),
                Shape::Directory { .. } if self.is_repository(path) => found.push(repository(path)),
                Shape::Directory { .. } | Shape::Whiteout => {}
            }
        }
        found.extend(self.changed(&tracked)?);
        let rules = self.git.clone().work_tree(self.worktree.cage().lower);
        let lower = Dir::open(&self.worktree.cage().lower).doing("open", "the base")?;
        let reached: Vec<&Vec<u8>> = others.iter().filter(|path| self.is_reached(&lower, path)).collect();
        let ignored = ignored(&rules, &reached)?;
        for path in &others {
            let origin = if ignored.contains(path) { Origin::Ignored } else { Origin::Untracked };
            found.push(self.look(Difference::new(TreePath::new(path.as_slice())?, origin, DifferenceKind::Added))?);
        }
        Ok(found)
    }

    /// Whether rules of the base reach a path: nothing above it is a link or a submodule there.
    fn is_reached(&self, lower: &Dir, path: &[u8]) -> bool {
        let Ok(path) = TreePath::new(path) else { return false };
        let mut above = std::iter::successors(path.parent(), TreePath::parent);
        above.all(|path| {
            let is_link =
                lower.look(&path).is_ok_and(|stat| stat.is_some_and(|stat| file_type(&stat) == FileType::Symlink));
            !is_link && self.tip.get(path.as_bytes()).is_none_or(|blob| !blob.is_submodule())
        })
    }

    /// A file; a submodule in the tip is none, whatever lies in its place.
    fn tracks(&self, path: &TreePath) -> bool {
        self.tip.get(path.as_bytes()).is_some_and(|blob| !blob.is_submodule())
    }

    /// A `.git` inside is there, or a directory looks like a bare repository.
    fn is_repository(&self, path: &TreePath) -> bool {
        let has = |name: &str| {
            let inner = TreePath::below(Some(path), name.as_bytes());
            inner.is_ok_and(|inner| self.shapes.get(&inner).is_some_and(|shape| *shape != Shape::Whiteout))
        };
        has(".git") || (has("HEAD") && has("objects") && has("refs"))
    }

    /// Compared by git, which knows how content is kept.
    fn changed(&self, paths: &[&TreePath]) -> Result<Vec<Difference>, DifferenceError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let (git, _index) = self.narrow(paths)?;
        let printed = git.run(["diff-files", "-z", "--raw", "--no-abbrev", "--ignore-submodules=all"])?;
        let asked: BTreeSet<&TreePath> = paths.iter().copied().collect();
        let differing = raw::parse(&printed, Origin::Unstaged)?.into_iter().map(|raw| raw.difference);
        differing.filter(|each| asked.contains(&each.path)).map(|each| self.look(each)).collect()
    }

    /// Git with an index of these files alone, and of those that tell how content is kept.
    fn narrow(&self, paths: &[&TreePath]) -> Result<(Git, Scratch), DifferenceError> {
        let index = Scratch::new(self.worktree);
        let git = self.git.clone().work_tree(self.worktree.cage().upper).index(&index.0);
        let rules = self.tip.iter().map(|blob| blob.path).filter(|path| path.ends_with(b".gitattributes"));
        let all: BTreeSet<&[u8]> = paths.iter().map(|path| path.as_bytes()).chain(rules).collect();
        let line = |path: &&[u8]| {
            let blob = self.tip.get(path)?;
            Some([blob.mode, b" ", blob.object, b"\t", path, b"\0"].concat())
        };
        let lines: Vec<u8> = all.iter().filter_map(line).flatten().collect();
        git.call(Call::new(["update-index", "-z", "--index-info"]).input(lines))?;
        git.answer(Call::new(["update-index", "-q", "--really-refresh"]))?;
        Ok((git, index))
    }

    /// What is on disk.
    fn look(&self, mut difference: Difference) -> Result<Difference, DifferenceError> {
        let stat = self.upper.look(&difference.path).doing("look at", &difference.path)?;
        let Some(stat) = stat else { return Ok(difference) };
        difference.new = Some(entry_of(&stat));
        if file_type(&stat) == FileType::RegularFile {
            difference.names = stat.st_nlink;
        }
        difference.link = read_link(&self.upper, &difference.path).filter(|_| difference.new == Some(Entry::Link));
        Ok(difference)
    }

    /// What the tip has and the upper hides.
    fn deleted(&self) -> Result<Vec<Difference>, DifferenceError> {
        let gone = hidden(&self.tip, &self.shapes);
        gone.into_iter()
            .map(|(path, mode)| {
                let old = Entry::from_mode(mode);
                let path = TreePath::new(path)?;
                Ok(Difference { old, ..Difference::new(path, Origin::Unstaged, DifferenceKind::Deleted) })
            })
            .collect()
    }

    /// What commits changed since the base, where the upper shows nothing: the files are those of the base.
    fn behind(&self, between: impl Iterator<Item = Difference>) -> Result<Vec<Difference>, DifferenceError> {
        let mut found = Vec::new();
        for change in between {
            for (path, is_new_name) in [(Some(change.path.clone()), true), (change.old_path.clone(), false)] {
                let Some(path) = path.filter(|path| !self.touches(path)) else { continue };
                let in_tip = self.tip.get(path.as_bytes()).is_some();
                let in_base =
                    !matches!(change.kind, DifferenceKind::Added | DifferenceKind::Renamed | DifferenceKind::Copied)
                        || !is_new_name;
                let (origin, kind) = match (in_base, in_tip) {
                    (true, true) if is_new_name => (Origin::Unstaged, DifferenceKind::Modified),
                    (true, false) => (Origin::Untracked, DifferenceKind::Added),
                    (false, true) => (Origin::Unstaged, DifferenceKind::Deleted),
                    (true | false, _) => continue,
                };
                found.push(Difference { old: change.new, new: change.old, ..Difference::new(path, origin, kind) });
            }
        }
        Ok(found)
    }

    /// Whether the upper says anything about this path.
    fn touches(&self, path: &TreePath) -> bool {
        self.shapes.contains_key(path) || hides(&self.shapes, path)
    }
}

/// Whether something stands in the way of what is below at this path: at itself, or above.
fn hides(shapes: &BTreeMap<TreePath, Shape>, path: &TreePath) -> bool {
    match shapes.get(path) {
        Some(Shape::Whiteout | Shape::Directory { .. }) => return true,
        Some(Shape::File(_)) => return false,
        None => {}
    }
    let mut above = std::iter::successors(path.parent(), TreePath::parent);
    above.any(|path| shapes.get(&path).is_some_and(|shape| covers(*shape)))
}

/// Whether nothing below a path shows.
fn covers(shape: Shape) -> bool {
    match shape {
        Shape::Whiteout | Shape::File(_) => true,
        Shape::Directory { opaque } => opaque,
    }
}

/// The files of a tip that something stands in the way of, with their modes. What an upper has is little beside what the
/// tip has, so it is the upper that is gone through.
fn hidden<'a>(tip: &'a Tip, shapes: &BTreeMap<TreePath, Shape>) -> BTreeMap<&'a [u8], &'a [u8]> {
    let mut found = BTreeMap::new();
    for (path, shape) in shapes {
        let itself = tip.get(path.as_bytes()).filter(|_| !matches!(shape, Shape::File(_)));
        let below = covers(*shape).then(|| tip.below(path.as_bytes())).into_iter().flatten();
        found.extend(
            itself.into_iter().chain(below).filter(|blob| !blob.is_submodule()).map(|blob| (blob.path, blob.mode)),
        );
    }
    // What is shown again below something that covers.
    for (path, shape) in shapes {
        if matches!(shape, Shape::File(_)) {
            found.remove(path.as_bytes());
        }
    }
    found
}

fn special(path: &TreePath, kind: FileType) -> Result<Difference, DifferenceError> {
    let what = match kind {
        FileType::Fifo => Special::Pipe,
        FileType::Socket => Special::Socket,
        FileType::RegularFile | FileType::Directory | FileType::Symlink => Special::Device,
        FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Special::Device,
    };
    if matches!(path.name(), b".gitattributes" | b".gitignore" | b".gitmodules") {
        return Err(DifferenceError::Blocked { path: path.clone(), what });
    }
    let new = Some(Entry::Special(what));
    Ok(Difference { new, ..Difference::new(path.clone(), Origin::Untracked, DifferenceKind::Added) })
}

fn repository(path: &TreePath) -> Difference {
    let new = Some(Entry::Repository);
    Difference { new, ..Difference::new(path.clone(), Origin::Untracked, DifferenceKind::Added) }
}

/// An index for one question.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    fn new(worktree: &Worktree) -> Self {
        let number = RandomState::new().build_hasher().finish();
        Self(worktree.git_dir().join(format!("placet-index-{number:016x}")))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It may never have been made.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path() -> impl Strategy<Value = String> {
        "[ab][.0]?(/[ab][.0]?){0,3}"
    }

    fn shape() -> impl Strategy<Value = Shape> {
        prop_oneof![
            Just(Shape::Whiteout),
            Just(Shape::File(FileType::RegularFile)),
            Just(Shape::Directory { opaque: true }),
            Just(Shape::Directory { opaque: false }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn what_is_hidden_is_the_same_whether_the_upper_or_the_tip_is_gone_through(
            files in proptest::collection::btree_map(path(), prop_oneof![Just("100644"), Just("160000")], 0..30),
            upper in proptest::collection::btree_map(path(), shape(), 0..8),
        ) {
            let printed: String = files.iter().map(|(path, mode)| format!("{mode} kind object\t{path}\0")).collect();
            let tip = Tip::parse(printed.into_bytes()).unwrap();
            let shapes: BTreeMap<TreePath, Shape> =
                upper.iter().map(|(path, shape)| (TreePath::new(path.as_str()).unwrap(), *shape)).collect();
            let one_by_one: BTreeMap<&[u8], &[u8]> = tip
                .iter()
                .filter(|blob| !blob.is_submodule() && hides(&shapes, &TreePath::new(blob.path).unwrap()))
                .map(|blob| (blob.path, blob.mode))
                .collect();
            prop_assert_eq!(hidden(&tip, &shapes), one_by_one);
        }
    }
}
