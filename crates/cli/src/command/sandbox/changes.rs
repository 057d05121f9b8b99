//! What a command changed in a layered workspace: listed, then thrown away. Names only; nothing of it is read.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use placet_domain::text::spelled_out;
use serde::Serialize;

use crate::error::CliError;

/// The private directories of a layered workspace. Gone when it is dropped.
#[derive(Debug)]
pub(super) struct Private(PathBuf);

/// One path that is not as it was.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Changed {
    pub(super) path: String,
    pub(super) removed: bool,
}

impl Private {
    pub(super) fn make() -> Result<Self, CliError> {
        let dir = std::env::temp_dir().join(format!("placet-sandbox-{}", uuid::Uuid::now_v7().simple()));
        let private = Self(dir);
        for name in ["", "upper", "work"] {
            fs::DirBuilder::new().mode(0o700).create(private.0.join(name))?;
        }
        Ok(private)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Everything that was made, changed or removed, by path.
    pub(super) fn changes(&self) -> Result<Vec<Changed>, CliError> {
        let mut found = Vec::new();
        walk(&self.0.join("upper"), Path::new(""), &mut found)?;
        found.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(found)
    }
}

/// A removed file is a character device with the number 0:0 in an upper.
fn walk(upper: &Path, below: &Path, found: &mut Vec<Changed>) -> std::io::Result<()> {
    for entry in fs::read_dir(upper.join(below))? {
        let entry = entry?;
        let (path, meta) = (below.join(entry.file_name()), entry.metadata()?);
        let removed = meta.file_type().is_char_device() && meta.rdev() == 0;
        if meta.is_dir() {
            let before = found.len();
            walk(upper, &path, found)?;
            // A directory that holds changes is told by them.
            if found.len() > before {
                continue;
            }
        }
        found.push(Changed { path: spelled_out(&path.to_string_lossy()), removed });
    }
    Ok(())
}

impl Drop for Private {
    fn drop(&mut self) {
        // The kernel leaves a directory that nobody may enter; its owner opens it first.
        let _ = fs::set_permissions(self.0.join("work/work"), fs::Permissions::from_mode(0o700));
        let _ = fs::remove_dir_all(&self.0);
    }
}
