//! Hooks for people who use git in a plain worktree on the host. They are in the worktree's private directory, which no cage can write;
//! hooks in the checked-out tree are not run, because an agent may have written them.

use super::{Kind, Worktree, WorktreeError, admin};
use crate::copy::Owner;
use crate::dir::Dir;
use crate::error::Doing;

const HOOKS: &str = "hooks";
/// Git's file name for the settings of one worktree.
const SETTINGS: &str = "config.worktree";
/// Makes git read the settings of individual worktrees.
const EXTENSION: &str = "extensions.worktreeConfig";

impl Worktree {
    /// Installs hooks, each with its name and script, for this worktree only. Does nothing in a layered worktree, which has no files on the
    /// host, and where hooks are already installed.
    pub fn set_hooks(&self, hooks: &[(&str, String)]) -> Result<(), WorktreeError> {
        if self.kind() == Kind::Layered || self.git_dir().join(SETTINGS).symlink_metadata().is_ok() {
            return Ok(());
        }
        let (dir, owner) = (open(self)?, self.repository.owner());
        let (hooks_dir, _) = admin::make_in(&dir, HOOKS, owner)?;
        for (name, script) in hooks {
            let _ = hooks_dir.unlink(name.as_bytes());
            admin::write(&hooks_dir, name, script.as_bytes(), owner)?;
            hooks_dir.set_mode_of(name.as_bytes(), 0o755).doing("set the mode of", *name)?;
        }
        self.read_own_settings(owner)?;
        // Written last, because it activates the hooks.
        admin::write(&dir, SETTINGS, self.hook_settings().as_bytes(), owner)
    }

    /// Makes git read the settings of individual worktrees: one setting of the repository, with no other effect.
    fn read_own_settings(&self, owner: Owner) -> Result<(), WorktreeError> {
        if self.repository.reads_worktree_settings() {
            return Ok(());
        }
        self.repository.git().run_patiently(&["config", EXTENSION, "true"])?;
        let common = self.repository.common_dir();
        let dir = Dir::open(common).doing("open", common.display())?;
        // Git writes a new file, which root owns if root works in another user's repository.
        Ok(owner.give(&dir, b"config").doing("give to its owner", "config")?)
    }

    /// Full text of the worktree's settings file.
    fn hook_settings(&self) -> String {
        let path = self.git_dir().join(HOOKS).display().to_string();
        let quoted = path.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("[core]\n\thooksPath = \"{quoted}\"\n")
    }

    /// True if the worktree's settings are exactly the ones written here. Our own git calls name their hooks explicitly, so these settings
    /// need not be read.
    pub(super) fn has_only_hook_settings(&self) -> bool {
        std::fs::read_to_string(self.git_dir().join(SETTINGS)).is_ok_and(|text| text == self.hook_settings())
    }
}

fn open(worktree: &Worktree) -> Result<Dir, WorktreeError> {
    let at = worktree.git_dir();
    Ok(Dir::open(&at).doing("open", at.display())?)
}
