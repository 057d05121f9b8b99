//! Hooks for people who use git in a plain worktree on the host. They lie in the worktree's private directory, which no
//! cage writes: what is checked out was written by an agent, and nothing of it is run as a hook.

use super::{Kind, Worktree, WorktreeError, admin};
use crate::copy::Owner;
use crate::dir::Dir;
use crate::error::Doing;

const HOOKS: &str = "hooks";
/// Git's name for the settings of one worktree.
const SETTINGS: &str = "config.worktree";
/// With it git reads the settings of single worktrees.
const EXTENSION: &str = "extensions.worktreeConfig";

impl Worktree {
    /// Puts hooks, each with its name and script, where git finds them in this worktree and nowhere else. Nothing happens
    /// in a layered worktree, which has no files on the host, and where hooks were put before.
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
        // Last: with it they count.
        admin::write(&dir, SETTINGS, self.hook_settings().as_bytes(), owner)
    }

    /// Lets git read the settings of single worktrees. It is one setting of the repository, and changes nothing else.
    fn read_own_settings(&self, owner: Owner) -> Result<(), WorktreeError> {
        if self.repository.reads_worktree_settings() {
            return Ok(());
        }
        self.repository.git().run_patiently(&["config", EXTENSION, "true"])?;
        let common = self.repository.common_dir();
        let dir = Dir::open(common).doing("open", common.display())?;
        // Git writes a new file, which is root's where root works in somebody's repository.
        Ok(owner.give(&dir, b"config").doing("give to its owner", "config")?)
    }

    /// The whole text of the worktree's own settings.
    fn hook_settings(&self) -> String {
        let path = self.git_dir().join(HOOKS).display().to_string();
        let quoted = path.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("[core]\n\thooksPath = \"{quoted}\"\n")
    }

    /// Whether the worktree's own settings are exactly the ones from here. Every call of ours names its hooks itself, so
    /// that these need not be read.
    pub(super) fn has_only_hook_settings(&self) -> bool {
        std::fs::read_to_string(self.git_dir().join(SETTINGS)).is_ok_and(|text| text == self.hook_settings())
    }
}

fn open(worktree: &Worktree) -> Result<Dir, WorktreeError> {
    let at = worktree.git_dir();
    Ok(Dir::open(&at).doing("open", at.display())?)
}
