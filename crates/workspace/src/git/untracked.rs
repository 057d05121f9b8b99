//! Files that are in a work tree and in no commit: those a person would miss, because git cannot bring them back.

use super::{Git, GitError};
use crate::path::TreePath;

impl Git {
    /// Everything in the work tree that git does not track, ignored or not. A repository inside is one path.
    ///
    /// Hand these to [`crate::layer::Baseline::protect`], less what is made anew by every build.
    pub fn untracked(&self) -> Result<Vec<TreePath>, GitError> {
        let printed = self.run(["ls-files", "--others", "-z"])?;
        let paths = printed.split(|&byte| byte == 0).map(|path| path.strip_suffix(b"/").unwrap_or(path));
        Ok(paths.filter_map(|path| TreePath::new(path).ok()).collect())
    }
}
