//! The launcher's hold on its zygote: the one process it spawns, which forks a helper for every cage.
//!
//! It comes up with the first launch and ends with the last launcher and the last cage of it. It has no state: one that
//! died is replaced by the next, and a helper that it had not forked yet is asked for again. What it does on its side is
//! in [`crate::enter`].

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;

use crate::control::{Control, Fork, Report};
use crate::enter::HELPER_NAME;
use crate::error::SandboxError;
use crate::group::Group;
use crate::helper::Helper;
use crate::host;
use crate::request::HostUser;
use crate::step::Step;

/// A cage is entered within milliseconds. Longer than this, the binary that was executed is no helper.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a helper is asked for. Each time is another zygote: one that is killed is no reason to give up, and a binary
/// that is no helper never becomes one.
const ATTEMPTS: usize = 3;

/// The zygote of a launcher and of its clones: none before the first launch, and one at a time.
#[derive(Debug)]
pub(crate) struct Zygotes {
    binary: PathBuf,
    living: Mutex<Option<Arc<Zygote>>>,
}

impl Zygotes {
    /// Of a binary whose `main` begins with [`crate::helper_entry`].
    pub(crate) fn of(binary: PathBuf) -> Self {
        Self { binary, living: Mutex::default() }
    }

    /// Asks for a helper, which begins with these steps. Threads may ask at the same time: every helper has a socket of
    /// its own, and what is asked of the zygote is one message each.
    pub(crate) fn ask(&self, steps: &[Step]) -> Result<Asked<'_>, SandboxError> {
        let zygote = self.living()?;
        let (control, socket) = Control::pair().map_err(SandboxError::io("make a socket"))?;
        control.set_patience(Some(PATIENCE)).map_err(SandboxError::io("wait for the helper"))?;
        let (stdout, stdout_in) = pipe()?;
        let (stderr, stderr_in) = pipe()?;
        let fork = Fork { steps: steps.to_vec() };
        match zygote.control.send(&fork, &[socket.as_fd(), stdout_in.as_fd(), stderr_in.as_fd()]) {
            // One that is gone is noticed by its silence, like one that goes now.
            Ok(()) | Err(Errno::PIPE | Errno::CONNRESET) => {}
            Err(errno) => return Err(SandboxError::io("ask for a helper")(errno)),
        }
        Ok(Asked { zygotes: self, zygote, steps: fork.steps, control, outputs: [stdout, stderr] })
    }

    /// Starts a zygote before the first request for a helper.
    pub(crate) fn prepare(&self) -> Result<(), SandboxError> {
        self.living().map(drop)
    }

    /// A caller that became somebody else must not have cages made with the rights of whom it was.
    fn living(&self) -> Result<Arc<Zygote>, SandboxError> {
        let mut living = self.living.lock().unwrap_or_else(PoisonError::into_inner);
        match living.as_ref().filter(|zygote| zygote.caller == host::caller()) {
            Some(zygote) => Ok(Arc::clone(zygote)),
            None => Ok(Arc::clone(living.insert(Arc::new(Zygote::spawn(&self.binary)?)))),
        }
    }

    /// Unless another thread has replaced it already.
    fn forget(&self, gone: &Arc<Zygote>) {
        let mut living = self.living.lock().unwrap_or_else(PoisonError::into_inner);
        if living.as_ref().is_some_and(|living| Arc::ptr_eq(living, gone)) {
            *living = None;
        }
    }
}

/// A helper that was asked for. It comes up while the launcher looks at the host.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    zygotes: &'a Zygotes,
    zygote: Arc<Zygote>,
    steps: Vec<Step>,
    control: Control,
    outputs: [File; 2],
}

impl Asked<'_> {
    /// Has it handed over what the helper is to do, waits until it is there, and returns it with what its command writes to.
    /// A zygote that is gone is replaced, and asked again: a helper reads nothing before it says that it is there, so
    /// nothing happens twice.
    pub(crate) fn up<T>(
        mut self,
        mut hand_over: impl FnMut(&Control) -> Result<T, SandboxError>,
    ) -> Result<(Helper, [File; 2], T), SandboxError> {
        let (zygotes, steps) = (self.zygotes, self.steps.clone());
        let mut attempt = 1;
        loop {
            let handed = hand_over(&self.control)?;
            match self.await_report() {
                Err(SandboxError::HelperDied) if attempt < ATTEMPTS => self = zygotes.ask(&steps)?,
                other => return other.map(|(helper, outputs)| (helper, outputs, handed)),
            }
            attempt += 1;
        }
    }

    fn await_report(self) -> Result<(Helper, [File; 2]), SandboxError> {
        let error = match self.control.receive() {
            Ok(Some((Report::Up, descriptors))) => {
                let [gone] = <[OwnedFd; 1]>::try_from(descriptors).map_err(|_| SandboxError::HelperSilent)?;
                return Ok((Helper::new(gone, self.control, self.zygote), self.outputs));
            }
            Ok(Some((Report::NotForked { errno }, _))) => {
                return Err(SandboxError::io("fork a helper")(Errno::from_raw_os_error(errno)));
            }
            Ok(None) => SandboxError::HelperDied,
            Ok(Some(_)) | Err(Errno::AGAIN | Errno::BADMSG) => SandboxError::HelperSilent,
            Err(errno) => SandboxError::io("wait for the helper")(errno),
        };
        self.zygotes.forget(&self.zygote);
        Err(error)
    }
}

/// The process. Ended when nobody needs it any more: neither a launcher nor a helper, which it reaps.
#[derive(Debug)]
pub(crate) struct Zygote {
    child: Child,
    control: Control,
    /// Who the caller was.
    caller: HostUser,
}

impl Zygote {
    fn spawn(binary: &Path) -> Result<Self, SandboxError> {
        Group::find_place();
        let (control, socket) = Control::pair().map_err(SandboxError::io("make a socket"))?;
        let caller = host::caller();
        let child = Command::new(binary)
            .arg0(HELPER_NAME)
            .env_clear()
            .stdin(Stdio::from(socket))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| SandboxError::Io { doing: "start the helper", source })?;
        Ok(Self { child, control, caller })
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        // It has nothing to finish, and a binary that is no helper would not end by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pipe() -> Result<(File, OwnedFd), SandboxError> {
    let made = io::pipe().map_err(|source| SandboxError::Io { doing: "make a pipe", source })?;
    Ok((File::from(OwnedFd::from(made.0)), OwnedFd::from(made.1)))
}
