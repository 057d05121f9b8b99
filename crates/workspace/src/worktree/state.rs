//! How a worktree stands: where its branch is, what it holds that is in no commit, how much room it takes.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::FileType;

use super::given::open;
use super::{Kind, Worktree, WorktreeError, admin, is_work};
use crate::difference::{DifferenceError, Origin};
use crate::dir::{Dir, absent};
use crate::error::{Doing, LayerError};
use crate::git::{Branch, ObjectId};
use crate::repository::RepositoryError;

/// The kernel counts the room of a file in blocks of this size.
const BLOCK_BYTES: u64 = 512;

/// How a worktree stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Where its branch is.
    pub tip: ObjectId,
    /// Commits that it has and the branch it is compared with has not.
    pub ahead: u64,
    /// Commits that the branch it is compared with has and it has not.
    pub behind: u64,
    /// Differences in the index.
    pub staged: usize,
    /// Differences in files that git tracks.
    pub unstaged: usize,
    /// Files that git does not track.
    pub untracked: usize,
    /// Files that git is told to ignore.
    pub ignored: usize,
    /// When anything last changed, in seconds since 1970: a commit or a file that is in none.
    pub changed_at_s: i64,
}

impl State {
    /// Whether something is in no commit, ignored files aside.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.staged + self.unstaged + self.untracked > 0
    }
}

impl Worktree {
    /// How it stands beside another branch, usually the one it began from.
    pub fn state(&self, beside: &Branch) -> Result<State, DifferenceError> {
        let tip = self.tip()?;
        let other = self.repository.tip(beside)?.ok_or_else(|| RepositoryError::NoBranch(beside.clone()))?;
        let (ahead, behind) = self.repository.ahead_behind(&tip, &other)?;
        // From the tip on: what is in no commit.
        let differences = self.without_given(self.differences(&tip)?)?;
        let count = |origin| differences.iter().filter(|each| each.origin == origin && is_work(&each.path)).count();
        Ok(State {
            ahead,
            behind,
            staged: count(Origin::Staged),
            unstaged: count(Origin::Unstaged),
            untracked: count(Origin::Untracked),
            ignored: count(Origin::Ignored),
            changed_at_s: self.changed_at_s(&tip, differences.iter().map(|each| &each.path))?,
            tip,
        })
    }

    fn changed_at_s<'a>(
        &self,
        tip: &ObjectId,
        paths: impl Iterator<Item = &'a crate::path::TreePath>,
    ) -> Result<i64, DifferenceError> {
        let printed = self.repository.git().run(["rev-list", "--max-count=1", "--timestamp", tip.as_str(), "--"])?;
        let printed = crate::repository::text(&printed);
        let committed = printed.split(' ').next().and_then(|seconds| seconds.parse().ok()).unwrap_or_default();
        let root = match self.kind() {
            Kind::Plain => self.path(),
            Kind::Layered => self.cage().upper,
        };
        let root = Dir::open(&root).doing("open", root.display())?;
        let changed = paths.filter_map(|path| root.look(path).ok().flatten()).map(|stat| stat.st_mtime);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        // A time of the agent's choice is no later than now.
        let latest = changed.max().unwrap_or_default().min(i64::try_from(now).unwrap_or(i64::MAX));
        Ok(latest.max(committed))
    }

    /// How much room it takes on disk, beyond what it shares with others.
    pub fn disk_bytes(&self) -> Result<u64, WorktreeError> {
        let mut counted = Counting { bytes: 0, shared: HashMap::new() };
        for path in [self.path(), self.layers(), self.git_dir()] {
            counted.tree(&path)?;
        }
        Ok(counted.total())
    }

    /// The same, remembered for whoever cannot wait for it.
    pub fn measure(&self) -> Result<u64, WorktreeError> {
        let bytes = self.disk_bytes()?;
        // Without the note it is measured again, which takes longer and harms nobody.
        let _ = self.note_size(bytes);
        Ok(bytes)
    }

    /// How much room it took when it was last measured.
    #[must_use]
    pub fn measured(&self) -> Option<u64> {
        let (file, _) = Dir::open(&self.layers()).ok()?.file(SIZE.as_bytes()).ok()?;
        let mut text = String::new();
        file.take(MOST_SIZE_BYTES).read_to_string(&mut text).ok()?;
        text.trim().parse().ok()
    }

    fn note_size(&self, bytes: u64) -> Result<(), WorktreeError> {
        let dir = open(&self.layers())?;
        let fresh = format!("{SIZE}-{}", std::process::id());
        let _ = dir.unlink(fresh.as_bytes());
        admin::write(&dir, &fresh, bytes.to_string().as_bytes(), self.repository.owner())?;
        Ok(rustix::fs::renameat(&dir, &fresh, &dir, SIZE).doing("rename", SIZE)?)
    }
}

/// Beside the layers of a worktree: how much room it took when it was last measured, in bytes.
const SIZE: &str = "size";
const MOST_SIZE_BYTES: u64 = 32;

/// A file with several names counts once, and not at all if one of them is elsewhere: the room is somebody else's.
struct Counting {
    bytes: u64,
    /// By number: names on disk, names that were seen, room.
    shared: HashMap<(u64, u64), (u64, u64, u64)>,
}

impl Counting {
    fn tree(&mut self, path: &Path) -> Result<(), LayerError> {
        let Some(root) = absent(Dir::open(path)).doing("open", path.display())? else { return Ok(()) };
        let mut waiting = vec![root];
        while let Some(dir) = waiting.pop() {
            for name in dir.names().doing("list", path.display())? {
                let stat = dir.stat(&name).doing("look at", path.display())?;
                let bytes = u64::try_from(stat.st_blocks).unwrap_or_default() * BLOCK_BYTES;
                if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                    self.bytes += bytes;
                    // The kernel's own room, and what an agent closed, take no room that counts.
                    waiting.extend(dir.dir(&name).ok());
                } else if stat.st_nlink < 2 {
                    self.bytes += bytes;
                } else {
                    let names = self.shared.entry((stat.st_dev, stat.st_ino)).or_insert((stat.st_nlink, 0, bytes));
                    names.1 += 1;
                }
            }
        }
        Ok(())
    }

    fn total(&self) -> u64 {
        let own = self.shared.values().filter(|(names, seen, _)| seen >= names).map(|(_, _, bytes)| bytes);
        self.bytes + own.sum::<u64>()
    }
}
