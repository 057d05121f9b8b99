//! Process 1 of the cage: starts the command, reaps whatever is orphaned, and ends everything when the command ends
//! or when it is told to. It forwards no signals and listens to none from inside.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::Pid;

use super::written::Written;
use super::{Entering, fork_leaving, quiet};
use crate::control::Report;
use crate::outcome::Usage;
use crate::sys::{self, Reaped, Result, Wait};

/// The child goes on as the command.
pub(super) fn fork_command(entering: &mut Entering) -> Result<()> {
    let stop = entering.stop.take().ok_or(Errno::NOENT)?;
    let children = sys::child_signal_fd()?;
    let (ready, readiness) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let mut readiness = Some(readiness);
    fork_leaving(|command| {
        readiness = None;
        // Process 1 that cannot go on ends, and the kernel ends everyone else with it.
        let written = entering.written.take();
        let _ = Init { command, stop, children, written, ended: None }.run(entering, &ready);
    })?;
    entering.ready = readiness;
    Ok(())
}

struct Init {
    command: Pid,
    /// Closes when the monitor wants the end, or is gone.
    stop: OwnedFd,
    children: OwnedFd,
    written: Option<Written>,
    ended: Option<Reaped>,
}

impl Init {
    fn run(mut self, entering: &Entering, ready: &OwnedFd) -> Result<()> {
        quiet(&[1, 2])?;
        if !self.started(ready)? {
            return Ok(());
        }
        entering.control.send(&Report::Started, &[])?;
        let stopped = self.wait()?;
        self.end_everyone()?;
        let status = self.ended.as_ref().map(|reaped| reaped.status);
        let command = self.ended.map_or(Usage::default(), |reaped| reaped.usage);
        entering.control.send(&Report::Ended { stopped, status, command }, &[])
    }

    /// The pipe closes by itself when the program starts; a byte on it means that the command gave up. The monitor may
    /// lose patience before either happens.
    fn started(&self, ready: &OwnedFd) -> Result<bool> {
        loop {
            let mut watched = [PollFd::new(ready, PollFlags::IN), PollFd::new(&self.stop, PollFlags::IN)];
            match rustix::event::poll(&mut watched, None) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            return if watched[0].revents().is_empty() {
                Ok(false)
            } else {
                Ok(rustix::io::read(ready, &mut [0; 1])? == 0)
            };
        }
    }

    /// Whether the monitor wanted the end before the command came to its own.
    fn wait(&mut self) -> Result<bool> {
        loop {
            let mut watched = [PollFd::new(&self.children, PollFlags::IN), PollFd::new(&self.stop, PollFlags::IN)];
            match rustix::event::poll(&mut watched, None) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            let stop = !watched[1].revents().is_empty();
            self.reap_available()?;
            match (&self.ended, stop) {
                (Some(_), _) => return Ok(false),
                (None, true) => return Ok(true),
                (None, false) => {}
            }
        }
    }

    fn reap_available(&mut self) -> Result<()> {
        // One signal may stand for many children, so the content does not matter, only that it is taken.
        let _ = rustix::io::read(&self.children, &mut [0; 128]);
        loop {
            match sys::reap(None, Wait::Poll) {
                Ok(Some(reaped)) => self.note(reaped),
                Ok(None) | Err(Errno::CHILD) => break,
                Err(errno) => return Err(errno),
            }
        }
        self.tell_written();
        Ok(())
    }

    /// Kills and reaps until nobody is left, so that what they used is counted.
    fn end_everyone(&mut self) -> Result<()> {
        loop {
            match sys::kill_all_others() {
                Ok(()) | Err(Errno::SRCH) => {}
                Err(errno) => return Err(errno),
            }
            match sys::reap(None, Wait::Block) {
                Ok(Some(reaped)) => self.note(reaped),
                Ok(None) => {}
                Err(Errno::CHILD) => break,
                Err(errno) => return Err(errno),
            }
        }
        self.tell_written();
        Ok(())
    }

    fn tell_written(&mut self) {
        if let Some(written) = &mut self.written {
            written.tell();
        }
    }

    fn note(&mut self, reaped: Reaped) {
        if reaped.pid == self.command {
            self.ended = Some(reaped);
        }
    }
}
