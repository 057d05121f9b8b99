//! Two private directories for objects that are not trusted yet: as they were found, and as they were checked.
//!
//! They lie where git itself keeps incoming objects until they are accepted, so that the repository's owner can read them
//! and `git prune` removes what a crash leaves.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::path::{Path, PathBuf};

use crate::copy::Owner;
use crate::dir::Dir;
use crate::error::{Doing, LayerError};
use crate::remove::remove_tree;

/// Both are removed with this value.
pub(super) struct Quarantine {
    objects: Dir,
    real: PathBuf,
    name: String,
    found: Dir,
    owner: Owner,
}

impl Quarantine {
    pub(super) fn new(common: &Dir, common_path: &Path) -> Result<Self, LayerError> {
        let objects = common.dir(b"objects").doing("open", "the objects of the repository")?;
        let owner = Owner::of(&common.own_stat().doing("look at", "the repository")?);
        // Every such state begins with other random bits. They need not be secret, only new.
        let name = format!("tmp_objdir-placet-{:016x}", RandomState::new().build_hasher().finish());
        let made = objects.make(name.as_bytes()).doing("make", &name)?;
        let found = made.make(b"found").doing("make", "found")?;
        made.make(b"checked").doing("make", "checked")?;
        for inner in [&b"found"[..], b"checked"] {
            owner.give(&made, inner).doing("give to its owner", &name)?;
        }
        owner.give(&objects, name.as_bytes()).doing("give to its owner", &name)?;
        Ok(Self { objects, real: common_path.join("objects"), name, found, owner })
    }

    /// Whose repository it is.
    pub(super) fn owner(&self) -> Owner {
        self.owner
    }

    pub(super) fn found(&self) -> &Dir {
        &self.found
    }

    pub(super) fn real_path(&self) -> &Path {
        &self.real
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.real.join(&self.name).join(name)
    }
}

impl Drop for Quarantine {
    fn drop(&mut self) {
        // What cannot be removed now is removed by `git prune`.
        let _ = remove_tree(&self.objects, self.name.as_bytes(), format!("{}-done", self.name).as_bytes());
    }
}
