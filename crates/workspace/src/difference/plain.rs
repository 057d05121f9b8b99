//! What differs in the files of a plain worktree.
//!
//! ```text
//!  walk ∥ list the index ──► status of tracked files ∥ which of the others are ignored
//! ```
//!
//! The walk comes first because git opens files that hold rules, and would wait for ever at a pipe in their place.

use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use super::link::{Leads, Link};
use super::raw::unexpected;
use super::walk::{Walked, entry_of, file_type, walk};
use super::{Difference, DifferenceError, DifferenceKind, Entry, Origin, raw, status};
use crate::dir::Dir;
use crate::error::Doing;
use crate::git::{Call, Git, GitError, Paths};
use crate::path::{RawBytes, TreePath};
use crate::repository::RepositoryError;
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
    let (listed, walked) = at_once(|| git.run(["ls-files", "-z", "-v", "--stage"]), || walk(&root))?;
    let (listed, walked) = (listed?, walked?);
    let index = Index::parse(&listed)?;
    let unveiled = Unveiled::new(worktree, &git, &index)?;
    let others: Vec<&Vec<u8>> = walked.files.iter().filter(|path| !index.paths.contains(path.as_slice())).collect();
    let (of_index, of_tree) =
        at_once(|| tracked(unveiled.git(&git), &root, &walked), || untracked(&git, &root, &index, &others))?;
    let mut found = of_index?;
    found.extend(of_tree?);
    found.extend(unusual(&root, &walked));
    Ok(found)
}

/// Git for the files of a worktree, with an index in which nothing is hidden.
pub(super) fn unveiled(worktree: &Worktree) -> Result<(Git, Unveiled), DifferenceError> {
    let git = worktree.git()?.timeout_ms(STATUS_MS).output_bytes(MOST_BYTES);
    let listed = git.run(["ls-files", "-z", "-v", "--stage"])?;
    let unveiled = Unveiled::new(worktree, &git, &Index::parse(&listed)?)?;
    Ok((unveiled.git(&git), unveiled))
}

/// Whether git can look at the files of a worktree without being held up.
pub(crate) fn check_rules(path: &Path) -> Result<(), DifferenceError> {
    let root = Dir::open(path).doing("open", path.display())?;
    walk(&root).map(drop)
}

/// Two things at the same time.
pub(super) fn at_once<A: Send, B>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> Result<(A, B), DifferenceError> {
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join(), other)
    });
    let ended = |_| RepositoryError::Git(GitError::Start(std::io::Error::other("a thread ended early")));
    Ok((one.map_err(ended)?, other))
}

/// What is in an index.
struct Index<'a> {
    paths: HashSet<&'a [u8]>,
    /// Entries that git is told not to look at: bits for `assume-unchanged` and for `skip-worktree`.
    assumed: Vec<&'a [u8]>,
    skipped: Vec<&'a [u8]>,
    submodules: HashSet<&'a [u8]>,
}

impl<'a> Index<'a> {
    /// `tag mode object stage<TAB>path`, each ended by NUL.
    fn parse(printed: &'a [u8]) -> Result<Self, DifferenceError> {
        let (mut paths, mut submodules, mut assumed, mut skipped) =
            (HashSet::new(), HashSet::new(), Vec::new(), Vec::new());
        paths.reserve(printed.len() / 90);
        for entry in printed.split(|&byte| byte == 0).filter(|entry| !entry.is_empty()) {
            let tab = entry.iter().position(|&byte| byte == b'\t').ok_or_else(|| unexpected(entry))?;
            let path = &entry[tab + 1..];
            paths.insert(path);
            if entry[0].is_ascii_lowercase() {
                assumed.push(path);
            }
            if entry[0].eq_ignore_ascii_case(&b'S') {
                skipped.push(path);
            }
            if entry[1..].starts_with(b" 160000 ") {
                submodules.insert(path);
            }
        }
        Ok(Self { paths, assumed, skipped, submodules })
    }
}

impl Index<'_> {
    /// Whether a path lies where a submodule belongs: rules of this repository do not reach there.
    fn is_in_submodule(&self, path: &[u8]) -> bool {
        !self.submodules.is_empty()
            && path.iter().enumerate().any(|(at, &byte)| byte == b'/' && self.submodules.contains(&path[..at]))
    }
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

/// Submodules are compared by what is staged, and never entered: a repository inside has settings of its own.
fn tracked(git: Git, root: &Dir, walked: &Walked) -> Result<Vec<Difference>, DifferenceError> {
    let ignore = if walked.repositories.is_empty() { "dirty" } else { "all" };
    let arguments = [
        "status",
        "--porcelain=v2",
        "-z",
        "--untracked-files=no",
        "--find-renames",
        "--no-ahead-behind",
        &format!("--ignore-submodules={ignore}"),
    ];
    let mut found = status::parse(&git.run(arguments)?)?;
    if ignore == "all" {
        found.extend(staged_submodules(&git)?);
    }
    for difference in found.iter_mut().filter(|each| each.origin == Origin::Unstaged && each.new.is_some()) {
        look(root, difference);
    }
    Ok(found)
}

fn staged_submodules(git: &Git) -> Result<Vec<Difference>, DifferenceError> {
    let arguments = ["diff-index", "--cached", "-z", "--raw", "--no-abbrev", "--ignore-submodules=none", "HEAD", "--"];
    let staged = raw::parse(&git.run(arguments)?, Origin::Staged)?;
    let is_submodule = |each: &Difference| [each.old, each.new].contains(&Some(Entry::Submodule));
    Ok(staged.into_iter().map(|raw| raw.difference).filter(is_submodule).collect())
}

/// What git does not track, ignored or not.
fn untracked(git: &Git, root: &Dir, index: &Index<'_>, paths: &[&Vec<u8>]) -> Result<Vec<Difference>, DifferenceError> {
    let reached: Vec<&Vec<u8>> = paths.iter().copied().filter(|path| !index.is_in_submodule(path)).collect();
    let ignored = ignored(git, &reached)?;
    let difference = |path: &&Vec<u8>| {
        let origin = if ignored.contains(path.as_slice()) { Origin::Ignored } else { Origin::Untracked };
        let mut difference = Difference::new(TreePath::new(path.as_slice())?, origin, DifferenceKind::Added);
        look(root, &mut difference);
        Ok(difference)
    };
    let mut found: Vec<Difference> = paths.iter().map(difference).collect::<Result<_, DifferenceError>>()?;
    found.sort_by(|one, other| (one.origin, &one.path).cmp(&(other.origin, &other.path)));
    Ok(found)
}

/// Which of these paths a rule tells git to ignore. None of them may lead through a link or a submodule.
pub(super) fn ignored(git: &Git, paths: &[&Vec<u8>]) -> Result<HashSet<Vec<u8>>, DifferenceError> {
    if paths.is_empty() {
        return Ok(HashSet::new());
    }
    // What begins so has no mark at its beginning.
    let input: Vec<u8> = paths.iter().flat_map(|path| [HERE, path, b"\0"].concat()).collect();
    let printed = git.clone().paths(Paths::Marked).answer(Call::new(["check-ignore", "-z", "--stdin"]).input(input))?;
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
    difference.link = read_link(root, &difference.path).filter(|_| difference.new == Some(Entry::Link));
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
