//! A cage that stands still: the launcher's side.
//!
//! What freezes it, how long that may take and what can be said about it afterwards is the monitor's, in
//! `enter/frost.rs`. Nothing is decided here, and nothing is kept but one end of a socket: when it closes, because it was
//! dropped or because this process died, the cage goes on or ends.

use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use thiserror::Error;

use crate::control::{Answer, Control, FrozenBy, Stillness};

/// Longer than the monitor tries.
const PATIENCE: Duration = Duration::from_secs(15);

/// Freezes a cage from anywhere. Cloned freely; outliving the cage does no harm.
#[derive(Clone, Debug)]
pub struct Freezer(Arc<Control>);

/// A cage that stands still: no process in it runs. Dropping it lets the cage go on.
///
/// Its limit of time stands still too. It can be ended at any moment, and dies with its launcher like any other.
#[derive(Debug)]
pub struct Frozen {
    line: Control,
    by: FrozenBy,
}

/// What became of a standstill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Nothing in the cage ran meanwhile.
    Throughout,
    /// Something woke up and was stopped again. Only where signals froze it; see [`FrozenBy`].
    NotThroughout,
}

/// Why a cage does not stand still.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FreezeError {
    /// There is nothing left to freeze.
    #[error("the cage has ended")]
    Ended,
    /// One standstill at a time.
    #[error("the cage is frozen already; let it go on first")]
    Already,
    /// Some process would not stop, and everything goes on.
    #[error("a process of the cage does not stand still; end the cage if it must not go on")]
    Awake,
    /// The socket failed.
    #[error("the cage cannot be asked")]
    Io(#[source] std::io::Error),
}

impl Freezer {
    pub(crate) fn of(control: &Arc<Control>) -> Self {
        Self(Arc::clone(control))
    }

    /// Returns when no process of the cage runs any more, and none can before [`Frozen::thaw`].
    pub fn freeze(&self) -> Result<Frozen, FreezeError> {
        let (line, theirs) = Control::pair().map_err(failed)?;
        line.set_patience(Some(PATIENCE)).map_err(failed)?;
        self.0.send(&Answer::Freeze, &[theirs.as_fd()]).map_err(failed)?;
        drop(theirs);
        match answer(&line)? {
            Stillness::Frozen { by } => Ok(Frozen { line, by }),
            Stillness::Already => Err(FreezeError::Already),
            Stillness::Awake | Stillness::Thawed { .. } => Err(FreezeError::Awake),
        }
    }
}

impl Frozen {
    /// What keeps it still.
    #[must_use]
    pub fn by(&self) -> FrozenBy {
        self.by
    }

    /// Lets the cage go on, and says whether it stood still all the time.
    pub fn thaw(self) -> Result<Held, FreezeError> {
        self.line.shut_down();
        match answer(&self.line)? {
            Stillness::Thawed { held: true } => Ok(Held::Throughout),
            Stillness::Thawed { held: false } | Stillness::Frozen { .. } | Stillness::Already | Stillness::Awake => {
                Ok(Held::NotThroughout)
            }
        }
    }
}

fn answer(line: &Control) -> Result<Stillness, FreezeError> {
    line.receive().map_err(failed)?.map(|(said, _)| said).ok_or(FreezeError::Ended)
}

fn failed(errno: Errno) -> FreezeError {
    match errno {
        Errno::PIPE | Errno::CONNRESET => FreezeError::Ended,
        other => FreezeError::Io(other.into()),
    }
}
