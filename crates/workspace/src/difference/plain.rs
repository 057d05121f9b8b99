//! What differs in the files of a plain worktree.
//!
//! ```text
//!  list the index ──► status of tracked files ∥ walk ──► which of the others are ignored
//! ```
//!
//! Git opens files that hold rules, and would wait for ever at a pipe in their place. The walk finds it, and git is ended.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use super::index::{Index, Listing};
use super::link::{Leads, Link};
use super::walk::{Walked, entry_of, file_type, walk};
use super::{Difference, DifferenceError, DifferenceKind, Entry, Origin, raw, status};
use crate::dir::Dir;
use crate::error::Doing;
use crate::git::{Call, Git, Paths, Stream};
use crate::path::{RawBytes, TreePath};
use crate::worktree::Worktree;

/// Looking at every file of a large tree takes long on a busy machine.
const STATUS_MS: u64 = 10 * 60 * 1000;

const HERE: &[u8] = b"./";

/// How much git may print about them.
pub(super) const MOST_BYTES: u64 = 1 << 30;

/// Everything in the tree and in the index that differs from the tip of the branch.
pub(super) fn working(worktree: &Worktree) -> Result<Vec<Difference>, DifferenceError> {
    let git = worktree.git()?.timeout_ms(STATUS_MS).output_bytes(MOST_BYTES);
    let path = worktree.path();
    let root = Dir::open(&path).doing("open", path.display())?;
    let listing = Listing::read(worktree, &git)?;
    let index = Index::new(&listing);
    let unveiled = Unveiled::new(worktree, &git, &index)?;
    let unveiled_git = unveiled.git(&git);
    // Dropped, and with it ended, if the walk finds what git would wait at.
    let early = if index.has_submodules() { None } else { Some(status(&unveiled_git, Submodules::Compared)?) };
    let walked = walk(&root, |path| index.tracks(path))?;
    let others = untracked(&git, &root, &index, &walked.others)?;
    let mut found = match early {
        Some(status) => status::parse(&status.read_all(MOST_BYTES)?)?,
        None => with_submodules(&unveiled_git, &walked)?,
    };
    for difference in found.iter_mut().filter(|each| each.origin == Origin::Unstaged && each.new.is_some()) {
        look(&root, difference);
    }
    found.extend(others);
    found.extend(unusual(&root, &walked));
    Ok(found)
}

/// Git for the files of a worktree, with an index in which nothing is hidden.
pub(super) fn unveiled(worktree: &Worktree) -> Result<(Git, Unveiled), DifferenceError> {
    let git = worktree.git()?.timeout_ms(STATUS_MS).output_bytes(MOST_BYTES);
    let listing = Listing::read(worktree, &git)?;
    let unveiled = Unveiled::new(worktree, &git, &Index::new(&listing))?;
    Ok((unveiled.git(&git), unveiled))
}

/// Whether git can look at the files of a worktree without being held up.
pub(crate) fn check_rules(path: &Path) -> Result<(), DifferenceError> {
    let root = Dir::open(path).doing("open", path.display())?;
    walk(&root, |_| true).map(drop)
}

/// A copy of the index in which git is told to look at everything; none, if it is anyway.
#[derive(Debug)]
pub(super) struct Unveiled(Option<PathBuf>);

impl Unveiled {
    fn new(worktree: &Worktree, git: &Git, index: &Index<'_>) -> Result<Self, DifferenceError> {
        if index.assumed.is_empty() && index.skipped.is_empty() {
            return Ok(Self(None));
        }
        let number = RandomState::new().build_hasher().finish();
        let unveiled = Self(Some(worktree.git_dir().join(format!("placet-index-{number:016x}"))));
        let Self(Some(copy)) = &unveiled else { return Ok(unveiled) };
        let from = worktree.git_dir().join("index");
        copy_with_its_time(&from, copy).doing("copy", from.display())?;
        worktree.give(copy)?;
        let git = git.clone().index(copy);
        for (option, paths) in [("--no-assume-unchanged", &index.assumed), ("--no-skip-worktree", &index.skipped)] {
            if !paths.is_empty() {
                git.call(Call::new(["update-index", option, "-z", "--stdin"]).input(paths.join(&0)))?;
            }
        }
        Ok(unveiled)
    }

    fn git(&self, git: &Git) -> Git {
        match &self.0 {
            Some(copy) => git.clone().index(copy),
            None => git.clone(),
        }
    }
}

/// Git reads a file again if it is not older than the index. A copy that looked newer would hide what changed in the same
/// second in which the index was written.
fn copy_with_its_time(from: &Path, to: &Path) -> std::io::Result<()> {
    let written = std::fs::metadata(from)?.modified()?;
    std::fs::copy(from, to)?;
    std::fs::File::options().write(true).open(to)?.set_modified(written)
}

impl Drop for Unveiled {
    fn drop(&mut self) {
        if let Some(copy) = &self.0 {
            // A copy that stays harms nobody.
            let _ = std::fs::remove_file(copy);
        }
    }
}

/// What git does about submodules.
#[derive(Clone, Copy)]
enum Submodules {
    /// By the commit that belongs there.
    Compared,
    /// Not at all.
    PassedOver,
}

/// What git says of tracked files. Of renames only those that change nothing else are told: both names count either way,
/// and comparing content takes the square of what was moved.
fn status(git: &Git, submodules: Submodules) -> Result<Stream, DifferenceError> {
    let ignore = match submodules {
        Submodules::Compared => "--ignore-submodules=dirty",
        Submodules::PassedOver => "--ignore-submodules=all",
    };
    let how = ["status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-ahead-behind"];
    Ok(git.stream(Call::new(how.into_iter().chain(["--find-renames=100%", ignore])))?)
}

/// Submodules are compared by what is staged, and never entered: a repository inside has settings of its own.
fn with_submodules(git: &Git, walked: &Walked) -> Result<Vec<Difference>, DifferenceError> {
    if walked.repositories.is_empty() {
        return status::parse(&status(git, Submodules::Compared)?.read_all(MOST_BYTES)?);
    }
    let mut found = status::parse(&status(git, Submodules::PassedOver)?.read_all(MOST_BYTES)?)?;
    found.extend(staged_submodules(git)?);
    Ok(found)
}

fn staged_submodules(git: &Git) -> Result<Vec<Difference>, DifferenceError> {
    let arguments = ["diff-index", "--cached", "-z", "--raw", "--no-abbrev", "--ignore-submodules=none", "HEAD", "--"];
    let staged = raw::parse(&git.run(arguments)?, Origin::Staged)?;
    let is_submodule = |each: &Difference| [each.old, each.new].contains(&Some(Entry::Submodule));
    Ok(staged.into_iter().map(|raw| raw.difference).filter(is_submodule).collect())
}

/// What git does not track, ignored or not.
fn untracked(git: &Git, root: &Dir, index: &Index<'_>, paths: &[Vec<u8>]) -> Result<Vec<Difference>, DifferenceError> {
    let reached: Vec<&Vec<u8>> = paths.iter().filter(|path| !index.is_in_submodule(path)).collect();
    let ignored = ignored(git, &reached)?;
    let difference = |path: &Vec<u8>| {
        let origin = if ignored.contains(path.as_slice()) { Origin::Ignored } else { Origin::Untracked };
        let mut difference = Difference::new(TreePath::new(path.as_slice())?, origin, DifferenceKind::Added);
        look(root, &mut difference);
        Ok(difference)
    };
    let mut found: Vec<Difference> = paths.iter().map(difference).collect::<Result<_, DifferenceError>>()?;
    found.sort_by(|one, other| (one.origin, &one.path).cmp(&(other.origin, &other.path)));
    Ok(found)
}

/// Which of these paths a rule tells git to ignore. None of them is tracked, so the index is not asked: git would compare
/// every path with every entry. None of them may lead through a link or a submodule.
pub(super) fn ignored(git: &Git, paths: &[&Vec<u8>]) -> Result<HashSet<Vec<u8>>, DifferenceError> {
    if paths.is_empty() {
        return Ok(HashSet::new());
    }
    // What begins so has no mark at its beginning.
    let input: Vec<u8> = paths.iter().flat_map(|path| [HERE, path, b"\0"].concat()).collect();
    let call = Call::new(["check-ignore", "--no-index", "-z", "--stdin"]).input(input);
    let printed = git.clone().paths(Paths::Marked).answer(call)?;
    let paths = printed.split(|&byte| byte == 0).filter_map(|path| path.strip_prefix(HERE));
    Ok(paths.map(<[u8]>::to_vec).collect())
}

/// What is on disk: what kind of thing, how many names it has, where it leads.
fn look(root: &Dir, difference: &mut Difference) {
    let Ok(Some(stat)) = root.look(&difference.path) else { return };
    difference.new = Some(entry_of(&stat));
    if file_type(&stat) == rustix::fs::FileType::RegularFile {
        difference.names = stat.st_nlink;
    }
    if difference.new == Some(Entry::Link) {
        difference.link = read_link(root, &difference.path);
    }
}

pub(super) fn read_link(root: &Dir, path: &TreePath) -> Option<Link> {
    let target = root.parent_of(path).and_then(|parent| parent.link_target(path.name())).ok()?;
    Some(Link { target: RawBytes::new(target), leads: Leads::Inside })
}

/// What git keeps silent about.
fn unusual(root: &Dir, walked: &Walked) -> Vec<Difference> {
    let make = |path: &TreePath, new| Difference {
        new: Some(new),
        ..Difference::new(path.clone(), Origin::Untracked, DifferenceKind::Added)
    };
    let specials = walked.specials.iter().map(|(path, what)| make(path, Entry::Special(*what)));
    let repositories = walked.repositories.iter().map(|path| make(path, Entry::Repository));
    let mut found: Vec<Difference> = specials.chain(repositories).collect();
    // The worktree's own `.git` is a file that leads to the repository.
    if !root.stat(b".git").is_ok_and(|stat| file_type(&stat) == rustix::fs::FileType::RegularFile) {
        found.extend(TreePath::new(".git").map(|path| make(&path, Entry::Repository)));
    }
    found
}

impl Worktree {
    /// A file of ours belongs to whoever the repository belongs to.
    fn give(&self, path: &Path) -> Result<(), DifferenceError> {
        let (parent, name) = crate::layer::place(path)?;
        Ok(self.repository().owner().give(&parent, &name).doing("give to its owner", path.display())?)
    }
}
