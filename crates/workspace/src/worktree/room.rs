//! How much room a worktree takes on disk, beyond what it shares with others, and a note of it for whoever cannot wait.

use super::given::open;
use super::{Kind, Worktree, WorktreeError};
use crate::difference::expected_bytes;
use crate::error::LayerError;
use crate::layer::Changes;
use crate::room::{Counting, of_paths};

/// File with the last measured disk usage: total bytes, a space, bytes of the worktree's files.
const SIZE: &str = "size";

impl Worktree {
    /// How much room it takes on disk, beyond what it shares with others.
    pub fn disk_bytes(&self) -> Result<u64, WorktreeError> {
        let mut counted = Counting::default();
        for path in [self.path(), self.layers(), self.git_dir()] {
            counted.tree(&path)?;
        }
        Ok(counted.total())
    }

    /// The same, remembered for whoever cannot wait for it.
    pub fn measure(&self) -> Result<u64, WorktreeError> {
        let mut files = Counting::default();
        files.tree(&self.path())?;
        if files.is_plain() {
            return self.measure_beside(files.total());
        }
        // A file with several names: later changes would not show how much room the files take.
        let bytes = self.disk_bytes()?;
        self.remember_size(bytes, None);
        Ok(bytes)
    }

    /// The same for somebody who knows how much room the files take, which are most of a plain worktree.
    pub fn measure_beside(&self, files_bytes: u64) -> Result<u64, WorktreeError> {
        let mut counted = Counting::default();
        for path in [self.layers(), self.git_dir()] {
            counted.tree(&path)?;
        }
        let bytes = counted.total() + files_bytes;
        self.remember_size(bytes, Some(files_bytes));
        Ok(bytes)
    }

    /// The same from an estimate: the next command measures, because changes can only be added to a measured size.
    fn estimate_beside(&self, files_bytes: u64) -> Result<(), WorktreeError> {
        let bytes = self.measure_beside(files_bytes)?;
        self.remember_size(bytes, None);
        Ok(())
    }

    /// How much room it took when it was last measured.
    #[must_use]
    pub fn measured(&self) -> Option<u64> {
        self.noted_sizes()?.first().copied()
    }

    /// Returns the last measured size of the worktree's files. `None` if it was not measured yet, or if a file has several names.
    #[must_use]
    pub fn measured_files(&self) -> Option<u64> {
        self.noted_sizes()?.get(1).copied()
    }

    fn noted_sizes(&self) -> Option<Vec<u64>> {
        let noted = String::from_utf8(self.noted(SIZE)?).ok()?;
        noted.split_whitespace().map(|bytes| bytes.parse().ok()).collect()
    }

    /// How much room the files take on the host that these changes are about, with the directories above them. Nothing,
    /// if one of them has several names.
    pub fn room_of(&self, changes: &Changes) -> Result<Option<u64>, LayerError> {
        let root = open(&self.path())?;
        of_paths(&root, changes.iter().map(|change| change.path()))
    }

    /// A plain worktree that was just made is measured by its index, which knows the length of every file: looking at
    /// each of them again takes longer than most commands.
    pub(super) fn expect_size(&self) {
        let files = match self.kind() {
            Kind::Plain => self.files_by_index(),
            Kind::Layered => Some(0),
        };
        // Without the note it is measured when it has to be.
        let _ = files.map(|files| self.estimate_beside(files));
    }

    fn files_by_index(&self) -> Option<u64> {
        let disk = rustix::fs::statvfs(self.path()).ok()?;
        expected_bytes(self, disk.f_frsize)
    }

    /// Without the note it is measured again, which takes longer and harms nobody.
    fn remember_size(&self, bytes: u64, files_bytes: Option<u64>) {
        let sizes = [Some(bytes), files_bytes];
        let words: Vec<String> = sizes.into_iter().flatten().map(|bytes| bytes.to_string()).collect();
        let _ = self.note(SIZE, words.join(" ").as_bytes());
    }
}
