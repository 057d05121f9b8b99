//! Notes beside the layers of a worktree, where no cage sees them: what would take long to work out again. They are gone
//! with the worktree, and losing one loses nothing. So they are not flushed; what a crash of the machine cut short, or
//! filled with zeroes, is no note: the first line is the digest of the rest.

use std::io::Read as _;

use super::given::open;
use super::{Worktree, WorktreeError, admin};
use crate::digest::Digest;
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
        let whole = [Digest::of(content).to_string().as_bytes(), b"\n", content].concat();
        admin::write(&dir, &fresh, &whole, self.repository.owner())?;
        Ok(rustix::fs::renameat(&dir, &fresh, &dir, name).doing("rename", name)?)
    }

    /// What was noted; nothing, if it never was or is no longer whole.
    #[must_use]
    pub fn noted(&self, name: &str) -> Option<Vec<u8>> {
        let (file, _) = Dir::open(&self.layers()).ok()?.file(name.as_bytes()).ok()?;
        let mut whole = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut whole).ok()?;
        let line = whole.iter().position(|byte| *byte == b'\n')?;
        let content = whole.split_off(line + 1);
        (whole[..line] == *Digest::of(&content).to_string().as_bytes()).then_some(content)
    }
}
