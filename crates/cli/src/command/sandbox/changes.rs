//! What a command changed in a layered workspace: listed, then thrown away. Names only; nothing of it is read.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use placet_domain::text::spelled_out;
use placet_sandbox::Layers;
use serde::Serialize;

use crate::error::{CliError, chain};

/// The private directories of a layered workspace. Gone when it is dropped.
#[derive(Debug)]
pub(in crate::command) struct Private(PathBuf);

/// One path that is not as it was.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Changed {
    pub(super) path: String,
    pub(super) removed: bool,
}

impl Private {
    pub(in crate::command) fn make() -> Result<Self, CliError> {
        let dir = std::env::temp_dir().join(format!("placet-sandbox-{}", uuid::Uuid::now_v7().simple()));
        let private = Self(dir);
        for name in ["", "upper", "work"] {
            fs::DirBuilder::new().mode(0o700).create(private.0.join(name))?;
        }
        Ok(private)
    }

    /// The layers above a directory.
    pub(in crate::command) fn layers_above(&self, lower: impl Into<PathBuf>) -> Layers {
        Layers::new(lower, self.0.join("upper"), self.0.join("work"))
    }

    /// Everything that was made, changed or removed, by path.
    pub(super) fn changes(&self) -> Vec<Changed> {
        let mut found = Vec::new();
        walk(&self.0.join("upper"), Path::new(""), &mut found);
        found.sort_by(|one, other| one.path.cmp(&other.path));
        found
    }
}

/// A removed file is a character device with the number 0:0 in an upper. What the command closed is told as a whole.
fn walk(upper: &Path, below: &Path, found: &mut Vec<Changed>) {
    for entry in fs::read_dir(upper.join(below)).into_iter().flatten().flatten() {
        let (path, before) = (below.join(entry.file_name()), found.len());
        let meta = entry.metadata();
        if meta.as_ref().is_ok_and(fs::Metadata::is_dir) {
            walk(upper, &path, found);
        }
        // A directory that holds changes is told by them.
        if found.len() == before {
            let removed = meta.is_ok_and(|meta| meta.file_type().is_char_device() && meta.rdev() == 0);
            found.push(Changed { path: spelled_out(&path.to_string_lossy()), removed });
        }
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        if let Err(error) = placet_workspace::remove_run(&self.0) {
            tracing::warn!(error = %chain(&error), "a layer was not removed");
        }
    }
}
