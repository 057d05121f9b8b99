//! How a space comes to be, and how it is taken up again.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::error::SpaceError;
use super::restore::Recovery;
use super::{AGENT, BASE, BASELINE, BOOT, OBJECTS, RECORD, SNAPSHOTS, Space, UPPER, WORK, files, index};
use crate::dir::{Dir, absent};
use crate::error::Doing;
use crate::layer::{Baseline, place};
use crate::limits::Limits;
use crate::path::RawBytes;
use crate::remove::remove_tree;

const VERSION: u32 = 1;

/// What `space.json` says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    version: u32,
    /// Escaped like every path that may have any bytes; nothing for an empty folder of the space's own.
    base: Option<RawBytes>,
}

impl Space {
    /// Makes a space where nothing is yet. `base` is a folder of the host that the run sees and never changes; without
    /// one, it sees an empty folder. What the base holds now is remembered, so that later changes by people are told.
    ///
    /// A crash leaves nothing that counts.
    pub fn create(root: &Path, base: Option<&Path>) -> Result<Self, SpaceError> {
        if let Some(base) = base {
            refuse_overlap(base, root)?;
        }
        let (parent, name) = place(root)?;
        let unfinished = [b".placet-space-", name.as_slice()].concat();
        let discard = || {
            let trash = [unfinished.as_slice(), b".trash"].concat();
            remove_tree(&parent, &unfinished, &trash).doing("remove", "an unfinished space")
        };
        discard()?;
        let dir = parent.make(&unfinished).doing("make", root.display())?;
        lay_out(&dir, base)?;
        match parent.move_to(&unfinished, &parent, &name) {
            Err(Errno::EXIST) => {
                discard()?;
                return Err(SpaceError::Exists(root.to_owned()));
            }
            moved => moved.doing("name", root.display())?,
        }
        parent.sync().doing("flush", root.display())?;
        Self::open(root)
    }

    /// Takes up a space, and finishes or undoes what was interrupted.
    pub fn open(root: &Path) -> Result<Self, SpaceError> {
        let no_space = |why: &str| SpaceError::NoSpace { path: root.to_owned(), why: why.to_owned() };
        let dir = absent(Dir::open(root)).doing("open", root.display())?.ok_or_else(|| no_space("nothing is there"))?;
        let bytes = files::read(&dir, RECORD)?.ok_or_else(|| no_space("it has no `space.json`"))?;
        let record: Record =
            serde_json::from_slice(&bytes).map_err(|_| no_space("its `space.json` cannot be understood"))?;
        if record.version != VERSION {
            return Err(no_space("another version of Placet made it"));
        }
        let base = record.base.map(|base| PathBuf::from(OsString::from_vec(base.as_bytes().to_vec())));
        let recovered = Recovery::Nothing;
        let mut space = Self { path: root.to_owned(), dir, base, limits: Limits::default(), recovered, key: None };
        space.recovered = space.recover()?;
        Ok(space)
    }
}

/// Everything a space has, in an empty directory. What says that it is one comes last.
fn lay_out(dir: &Dir, base: Option<&Path>) -> Result<(), SpaceError> {
    for name in [UPPER.as_bytes(), WORK.as_bytes(), AGENT.as_bytes(), SNAPSHOTS, OBJECTS] {
        dir.make(name).doing("make", String::from_utf8_lossy(name))?;
    }
    match base {
        None => drop(dir.make(BASE.as_bytes()).doing("make", BASE)?),
        Some(base) => {
            let baseline = Baseline::record(base, Limits::default())?;
            let bytes = serde_json::to_vec(&baseline).map_err(SpaceError::unwritable)?;
            files::replace_durably(dir, BASELINE, &bytes)?;
        }
    }
    files::replace(dir, BOOT, index::boot().as_bytes())?;
    let base = base.map(std::path::absolute).transpose().doing("make absolute", BASE)?;
    let base = base.map(|base| RawBytes::new(base.as_os_str().as_bytes()));
    let record = serde_json::to_vec_pretty(&Record { version: VERSION, base }).map_err(SpaceError::unwritable)?;
    files::replace_durably(dir, RECORD, &record)
}

/// Compared by where they really are, as far as they exist.
fn refuse_overlap(base: &Path, root: &Path) -> Result<(), SpaceError> {
    let real_base = base.canonicalize().doing("find", base.display())?;
    let parent = root.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real_root = parent.canonicalize().doing("find", parent.display())?.join(root.file_name().unwrap_or_default());
    if real_base.starts_with(&real_root) || real_root.starts_with(&real_base) {
        return Err(SpaceError::Overlapping { base: real_base, root: real_root });
    }
    Ok(())
}
