//! The journal of a promotion: what it is about to do, so that it can be undone after a crash.
//!
//! It lies in the private directory of the run, not in the lower: a repository could bring a forged one along.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::Write;
use std::path::Path;

use rustix::fs::Mode;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::STAGING;
use crate::dir::{Dir, absent};
use crate::error::{Doing, LayerError};
use crate::layer::baseline::Told;
use crate::path::{RawBytes, TreePath};

const NAME: &[u8] = b"promotion.json";
const DRAFT: &[u8] = b"promotion.json.draft";

/// Another program would have to understand it another way.
const VERSION: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Journal {
    version: u32,
    state: State,
    /// The name of the staging directory, chosen before it is made: one that somebody else left is none of ours.
    staging: RawBytes,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    /// Nothing but copies.
    Begun,
    /// Some steps may have been taken: to be undone.
    Planned,
    /// All steps were taken: to be cleaned up.
    Done,
}

/// One step, at one path, with one name in the staging directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) path: TreePath,
    pub(super) held: String,
    pub(super) act: Act,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Act {
    /// What was there moves to the staging directory.
    Take { old: Told },
    /// What was staged moves to where nothing is.
    Put { new: Told },
    /// What was staged and what was there change places.
    Exchange { old: Told, new: Told },
    /// A directory gets another mode.
    Mode { old: u32, new: u32 },
}

impl Journal {
    pub(super) fn begin() -> Self {
        // Every such state begins with other random bits. They need not be secret, only new.
        let number = RandomState::new().build_hasher().finish();
        let staging = [STAGING, format!("-{number:016x}").as_bytes()].concat();
        Self { version: VERSION, state: State::Begun, staging: RawBytes::new(staging), steps: Vec::new() }
    }

    pub(super) fn plan(&self, steps: Vec<Step>) -> Self {
        Self { state: State::Planned, steps, ..self.clone() }
    }

    pub(super) fn done(&self) -> Self {
        Self { state: State::Done, ..self.clone() }
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    pub(super) fn staging_name(&self) -> &[u8] {
        self.staging.as_bytes()
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Replaces the journal in one step, on disk before this returns.
    pub(super) fn write(&self, run: &Dir) -> Result<(), LayerError> {
        let write = || -> std::io::Result<()> {
            absent(run.unlink(DRAFT))?;
            let mut file = run.create(DRAFT)?;
            file.write_all(&serde_json::to_vec(self)?)?;
            rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
            file.sync_all()?;
            rustix::fs::renameat(run, DRAFT, run, NAME)?;
            Ok(run.sync()?)
        };
        write().doing("write", "the journal of the promotion")
    }

    pub(super) fn read(run: &Dir, shown: &Path) -> Result<Option<Self>, LayerError> {
        let file = match run.file(NAME) {
            Err(Errno::NOENT) => return Ok(None),
            file => file.doing("open", "the journal of the promotion")?.0,
        };
        let bad = |why: String| LayerError::Journal { path: shown.join("promotion.json"), why };
        let journal: Self =
            serde_json::from_reader(std::io::BufReader::new(file)).map_err(|why| bad(why.to_string()))?;
        if journal.version != VERSION {
            return Err(bad(format!("it has version {}, this program understands {VERSION}", journal.version)));
        }
        Ok(Some(journal))
    }

    pub(super) fn remove(run: &Dir) -> Result<(), LayerError> {
        absent(run.unlink(NAME)).and_then(|_| run.sync()).doing("remove", "the journal of the promotion")
    }
}
