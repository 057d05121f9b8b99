//! Where a run sits on this host: its space, in which one thing happens at a time.
//!
//! ```text
//!  <runs>/<run>/
//!    space/     workspace, memory and snapshots
//!    shared/    what people gave to the run; never written again
//!    ready      only once all of it is there
//! ```

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use placet_domain::id::RunId;
use placet_seal::Key;
use placet_workspace::space::{Recovery, Space, SpaceError};
use tokio::sync::{Mutex as Turns, OwnedMutexGuard};

use crate::execute::Cancel;

const READY: &str = "ready";

/// The seats of all runs that this process had to do with.
#[derive(Debug, Default)]
pub(crate) struct Seats {
    runs: PathBuf,
    /// With which what is saved is encrypted.
    key: Option<Arc<Key>>,
    known: Mutex<HashMap<RunId, Weak<Seat>>>,
}

impl Seats {
    pub(crate) fn in_folder(runs: PathBuf) -> Self {
        Self { runs, ..Self::default() }
    }

    /// The same, and what is saved in them from now on is encrypted.
    pub(crate) fn sealed_with(self, key: Option<Arc<Key>>) -> Self {
        Self { key, ..self }
    }

    /// The one seat of a run: whoever asks meanwhile gets the same.
    pub(crate) fn of(&self, run: RunId) -> Arc<Seat> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seat) = known.get(&run).and_then(Weak::upgrade) {
            return seat;
        }
        let (root, key) = (self.runs.join(run.to_string()), self.key.clone());
        let seat = Arc::new(Seat { root, key, turns: Arc::default(), job: Mutex::default() });
        known.retain(|_, seat| seat.strong_count() > 0);
        known.insert(run, Arc::downgrade(&seat));
        seat
    }
}

#[derive(Debug)]
pub(crate) struct Seat {
    root: PathBuf,
    key: Option<Arc<Key>>,
    turns: Arc<Turns<Option<Space>>>,
    /// The action that is executed in it now.
    job: Mutex<Option<Cancel>>,
}

/// The space, for as long as it is one's turn.
#[derive(Debug)]
pub(crate) struct Turn {
    space: OwnedMutexGuard<Option<Space>>,
    root: PathBuf,
    key: Option<Arc<Key>>,
}

impl Seat {
    /// Waits for whatever happens in the space now, and then is alone with it.
    pub(crate) async fn turn(&self) -> Turn {
        let space = Arc::clone(&self.turns).lock_owned().await;
        Turn { space, root: self.root.clone(), key: self.key.clone() }
    }

    /// From here on [`Seat::end_job`] ends this execution.
    pub(crate) fn executes(&self, job: Cancel) {
        *self.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
    }

    /// What is being executed has no future: the run goes back, or is over.
    pub(crate) fn end_job(&self) {
        if let Some(job) = self.job.lock().unwrap_or_else(PoisonError::into_inner).take() {
            job.now();
        }
    }
}

impl Turn {
    /// The space, taken up from disk if this process has not done so yet.
    pub(crate) fn space(&mut self) -> Result<&Space, SpaceError> {
        let opened = match self.space.take() {
            Some(space) => space,
            None => Space::open(&self.root.join("space"))?.sealed_with(self.key.clone()),
        };
        Ok(self.space.insert(opened))
    }

    /// The space, if what lies in it is what was written to it. What a machine had not yet written to disk when it stopped is gone,
    /// and nobody knows what that was.
    pub(crate) fn relied_on(&mut self) -> Result<&Space, SeatError> {
        // A rollback may have mended it since it was opened.
        if self.space()?.recovered() == Recovery::MachineRestarted {
            *self.space = None;
        }
        let space = self.space()?;
        if space.recovered() == Recovery::MachineRestarted { Err(SeatError::MachineRestarted) } else { Ok(space) }
    }

    /// Where all of it is.
    pub(crate) fn path(&self) -> &Path {
        &self.root
    }

    /// Whether everything that was approved lies in it. A space alone is not enough: its making may have been interrupted.
    pub(crate) fn is_made(&self) -> bool {
        self.root.join(READY).exists()
    }

    /// From here on it is made, and programs may be started in it.
    pub(crate) fn is_ready(&mut self) -> io::Result<()> {
        fs::write(self.root.join(READY), b"")
    }

    /// An empty seat, whatever an interrupted attempt left of it.
    pub(crate) fn clear(&mut self) -> io::Result<()> {
        *self.space = None;
        if let Some(runs) = self.root.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(runs)?;
        }
        match fs::remove_dir_all(&self.root) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        for dir in [self.root.clone(), self.shared()] {
            fs::DirBuilder::new().mode(0o700).create(dir)?;
        }
        Ok(())
    }

    /// Where what people give to the run is laid before there is a space.
    pub(crate) fn shared(&self) -> PathBuf {
        self.root.join("shared")
    }

    /// Makes the space above what is shared.
    pub(crate) fn make(&mut self) -> Result<&Space, SpaceError> {
        let made = Space::create(&self.root.join("space"), Some(&self.shared()))?;
        Ok(self.space.insert(made.sealed_with(self.key.clone())))
    }

    /// Removes everything, and looks that nothing is left.
    pub(crate) fn destroy(&mut self) -> Result<(), DestroyError> {
        let space = self.root.join("space");
        match self.space.take() {
            Some(opened) => drop(opened.destroy()?),
            None if space.exists() => drop(Space::destroy_at(&space)?),
            None => {}
        }
        match fs::remove_dir_all(&self.root) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        if self.root.symlink_metadata().is_ok() { Err(DestroyError::Left(self.root.clone())) } else { Ok(()) }
    }
}

/// Why the files of a run cannot be worked with.
#[derive(Debug, thiserror::Error)]
pub enum SeatError {
    #[error(transparent)]
    Space(#[from] SpaceError),
    #[error("the machine was restarted, and what was written last may be lost; roll it back to a snapshot")]
    MachineRestarted,
    #[error(
        "its files are not here: there is no `{0}`; start the worker with the `--runs` it had, and the volume mounted, then roll \
         the run back to a snapshot; or cancel it"
    )]
    NotHere(PathBuf),
}

/// Why something may be left of a run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DestroyError {
    #[error(transparent)]
    Space(#[from] SpaceError),
    #[error("the seat cannot be removed: {0}")]
    Io(#[from] io::Error),
    #[error("`{0}` is still there")]
    Left(PathBuf),
}

/// Writes a file below a directory that only this process has written to.
pub(crate) fn lay(root: &Path, path: &str, bytes: &[u8]) -> io::Result<()> {
    let path = root.join(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u128) -> RunId {
        RunId::from_uuid(uuid::Uuid::from_u128(number))
    }

    #[tokio::test]
    async fn e2_two_who_ask_for_one_run_wait_for_each_other_and_others_do_not() {
        let dir = tempfile::tempdir().unwrap();
        let seats = Seats::in_folder(dir.path().to_owned());
        let first = seats.of(run(1));
        let held = first.turn().await;
        let again = seats.of(run(1));
        assert!(tokio::time::timeout(std::time::Duration::from_millis(50), again.turn()).await.is_err());
        drop(seats.of(run(2)).turn().await);
        drop(held);
        drop(again.turn().await);
    }

    #[tokio::test]
    async fn c6_what_was_made_is_found_again_and_nothing_survives_its_end() {
        let dir = tempfile::tempdir().unwrap();
        let seats = || Seats::in_folder(dir.path().join("runs"));
        {
            let mut turn = seats().of(run(1)).turn().await;
            assert!(!turn.is_made());
            turn.clear().unwrap();
            lay(&turn.shared(), "data/prices.csv", b"1,2").unwrap();
            turn.make().unwrap();
            turn.is_ready().unwrap();
        }
        let mut turn = seats().of(run(1)).turn().await;
        assert!(turn.is_made());
        assert_eq!(fs::read(turn.space().unwrap().base().join("data/prices.csv")).unwrap(), b"1,2");
        turn.destroy().unwrap();
        turn.destroy().unwrap();
        assert_eq!(fs::read_dir(dir.path().join("runs")).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn an_interrupted_beginning_is_no_beginning() {
        let dir = tempfile::tempdir().unwrap();
        let seats = Seats::in_folder(dir.path().to_owned());
        let mut turn = seats.of(run(1)).turn().await;
        turn.clear().unwrap();
        lay(&turn.shared(), "half", b"written").unwrap();
        // Killed after the space was made and before the agent's files lay in it.
        turn.make().unwrap();
        assert!(!turn.is_made());
        turn.clear().unwrap();
        assert_eq!(fs::read_dir(turn.shared()).unwrap().count(), 0);
    }
}
