//! A merge that was recorded and then interrupted: finished with the very commit that was recorded, or not at all.
//!
//! Whoever was interrupted may have written some of the files of the main checkout, all of them, or the index too. What is
//! found there is taken for theirs only if it is, byte for byte, what the commit holds; anything else is a person's, and
//! stays.

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use super::{Checkout, Following, Merge, MergeError, Merging, parts, paths};
use crate::git::{Branch, Call, ObjectId};
use crate::path::TreePath;
use crate::repository::{Repository, RepositoryError, text};

impl Repository {
    /// Takes a merge up again whose commit was worked out before. Until [`Merging::finish`] is called, branches and files
    /// are as they were found.
    pub fn merge_again(&self, merge: &Merge<'_>, commit: &ObjectId) -> Result<Merging, MergeError> {
        let Merge { branch, expected_tip, into, .. } = merge;
        let before = self.tip(into)?.ok_or_else(|| RepositoryError::NoBranch((*into).clone()))?;
        if self.is_ancestor(expected_tip, &before)? {
            return Ok(Merging { into: (*into).clone(), commit: before.clone(), before, held: None, checkout: None });
        }
        let [first, second] = self.parents(commit, branch)?;
        if second != **expected_tip {
            return Err(MergeError::Another { commit: commit.clone(), branch: (*branch).clone() });
        }
        if first != before {
            return Err(MergeError::Moved { branch: (*into).clone(), expected: first });
        }
        let mut checkout = self.follower(into)?;
        if let Some(checkout) = &mut checkout {
            checkout.belongs_to(commit, into, &before)?;
            checkout.how = Following::Jump;
        }
        self.locked(into, before, commit.clone(), checkout)
    }

    fn parents(&self, commit: &ObjectId, branch: &Branch) -> Result<[ObjectId; 2], MergeError> {
        let another = || MergeError::Another { commit: commit.clone(), branch: branch.clone() };
        let asked = ["rev-list", "--parents", "--max-count=1", commit.as_str(), "--"];
        let printed = self.git().run(asked).map_err(|_| another())?;
        let ids = text(&printed).split(' ').skip(1).map(str::parse).collect::<Result<Vec<ObjectId>, _>>()?;
        ids.try_into().map_err(|_| another())
    }
}

impl Checkout {
    /// Whether everything that is not as the branch has it is as the commit has it.
    fn belongs_to(&self, commit: &ObjectId, into: &Branch, before: &ObjectId) -> Result<(), MergeError> {
        let git = &self.git;
        git.answer(Call::new(["update-index", "-q", "--refresh", "--ignore-submodules"]))?;
        let changed = git.run(["diff-index", "--name-only", "-z", "--ignore-submodules", before.as_str(), "--"])?;
        let new = ["diff-tree", "-r", "-z", "--no-renames", "--diff-filter=A", "--name-only"];
        let added = git.run(new.into_iter().chain([before.as_str(), commit.as_str()]))?;
        let there = paths(parts(&added)).into_iter().filter(|path| self.has(path));
        let mut foreign = Vec::new();
        for path in paths(parts(&changed)).into_iter().chain(there) {
            if !self.is_as_in(commit, &path)? {
                foreign.push(path);
            }
        }
        if foreign.is_empty() { Ok(()) } else { Err(MergeError::NotClean { into: into.clone(), paths: foreign }) }
    }

    fn is_as_in(&self, commit: &ObjectId, path: &TreePath) -> Result<bool, MergeError> {
        let name = std::ffi::OsStr::from_bytes(path.as_bytes());
        let listed = ["ls-tree", "-z", "--full-tree", commit.as_str(), "--"].map(Into::into);
        let printed = self.git.call(Call::new(listed.into_iter().chain([name.to_owned()])))?;
        // `100644 blob <id>\t<path>`
        let line = parts(&printed)
            .next()
            .map(|line| text(line.split(|byte| *byte == b'\t').next().unwrap_or_default()).to_owned());
        let found = self.entry(name)?;
        let wanted = line.as_deref().and_then(|line| line.split_once(" blob "));
        Ok(match (wanted, found) {
            (Some((mode, id)), Some((found_mode, found_id))) => mode == found_mode && id == found_id,
            (None, None) => line.is_none(),
            (Some(_), None) | (None, Some(_)) => false,
        })
    }

    /// Mode and object of what stands at a path, if anything does. What can be in no blob has no object.
    fn entry(&self, name: &std::ffi::OsStr) -> Result<Option<(&'static str, String)>, MergeError> {
        let at = self.root.join(name);
        let Ok(found) = fs::symlink_metadata(&at) else { return Ok(None) };
        let unreadable = |source| MergeError::from(crate::git::GitError::Start(source));
        let hash = Call::new(["hash-object", "--stdin"]);
        let (mode, call) = if found.is_symlink() {
            ("120000", hash.input(fs::read_link(&at).map_err(unreadable)?.as_os_str().as_bytes()))
        } else if found.is_file() {
            let mode = if found.permissions().mode() & 0o100 == 0 { "100644" } else { "100755" };
            (mode, hash.input_file(File::open(&at).map_err(unreadable)?))
        } else {
            return Ok(Some(("", String::new())));
        };
        Ok(Some((mode, text(&self.git.call(call)?).to_owned())))
    }
}
