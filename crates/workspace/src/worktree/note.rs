//! Notes beside the layers of a worktree, where no cage sees them: what would take long to work out again. They are gone
//! with the worktree, and losing one loses nothing.

use std::io::Read as _;

use super::given::open;
use super::{Worktree, WorktreeError, admin};
use crate::dir::Dir;
use crate::error::Doing;

/// Far more than any of them has.
const MOST_BYTES: u64 = 16 << 20;

impl Worktree {
    /// Keeps a note in the place of an earlier one; readers see one of them whole.
    pub fn note(&self, name: &str, content: &[u8]) -> Result<(), WorktreeError> {
        let dir = open(&self.layers())?;
        let fresh = format!("{name}-{}", std::process::id());
        let _ = dir.unlink(fresh.as_bytes());
        admin::write(&dir, &fresh, content, self.repository.owner())?;
        Ok(rustix::fs::renameat(&dir, &fresh, &dir, name).doing("rename", name)?)
    }

    /// What was noted; nothing, if it never was.
    #[must_use]
    pub fn noted(&self, name: &str) -> Option<Vec<u8>> {
        let (file, _) = Dir::open(&self.layers()).ok()?.file(name.as_bytes()).ok()?;
        let mut content = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut content).ok()?;
        Some(content)
    }
}
