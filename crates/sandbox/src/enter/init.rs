//! Process 1 of the cage: starts the command, reaps whatever is orphaned, and ends everything when the command ends
//! or when it is told to. It forwards no signals and listens to none from inside. What stops everybody, or lets them go on,
//! it sends when the monitor says so.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use super::line::{Extension, Heard};
use super::written::Written;
use super::{Entering, quiet};
use crate::control::{Report, Steps};
use crate::outcome::Usage;
use crate::sys::{self, Reaped, Result, Wait};

/// The child goes on as the command, with the steps behind. Until it executes the program or gives up, this process stands
/// still and lends it its memory: to copy it for so short a time took longer than most steps.
pub(super) fn fork_command(entering: &mut Entering, behind: &mut Steps<'_>) -> Result<()> {
    let children = sys::child_signal_fd()?;
    let command = sys::fork_lending_memory(|| entering.follow(behind))?;
    // Its number is one of the child's table of descriptors.
    std::mem::forget(entering.program.take());
    let line = entering.line.take().ok_or(Errno::NOENT)?;
    let written = entering.written.take();
    // Process 1 that cannot go on ends, and the kernel ends everyone else with it.
    let mut init = Init { command, line, children, written, ended: None };
    let _ = init.run(entering);
    // Closing one descriptor after the other is left to the kernel.
    sys::exit_now(0)
}

struct Init {
    command: Pid,
    /// Closes when the monitor wants the end, or is gone.
    line: Extension,
    children: OwnedFd,
    written: Option<Written>,
    ended: Option<Reaped>,
}

/// Of the children that were not reaped yet.
#[derive(PartialEq, Eq)]
enum Left {
    Nobody,
    Somebody,
}

impl Init {
    fn run(&mut self, entering: &Entering) -> Result<()> {
        quiet(&[1, 2])?;
        if entering.gave_up {
            return Ok(());
        }
        // A cage that is frozen notices nothing, and must not outlive its monitor all the same.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        self.line.say_up()?;
        entering.control.send(&Report::Started, &[])?;
        let stopped = self.wait()?;
        self.end_everyone()?;
        let status = self.ended.as_ref().map(|reaped| reaped.status);
        let command = self.ended.as_ref().map_or(Usage::default(), |reaped| reaped.usage);
        entering.control.send(&Report::Ended { stopped, status, command }, &[])
    }

    /// Whether the monitor wanted the end before the command came to its own.
    fn wait(&mut self) -> Result<bool> {
        loop {
            let mut watched = [PollFd::new(&self.children, PollFlags::IN), PollFd::new(&self.line, PollFlags::IN)];
            match rustix::event::poll(&mut watched, None) {
                Err(Errno::INTR) => continue,
                other => other?,
            };
            let spoken = !watched[1].revents().is_empty();
            // One signal may stand for many children, so the content does not matter, only that it is taken.
            let _ = rustix::io::read(&self.children, &mut [0; 128]);
            self.reap_available()?;
            if self.ended.is_some() {
                return Ok(false);
            }
            if spoken && matches!(self.line.obey()?, Heard::Closed) {
                return Ok(true);
            }
            self.tell_written();
        }
    }

    fn reap_available(&mut self) -> Result<Left> {
        loop {
            match sys::reap(None, Wait::Poll) {
                Ok(Some(reaped)) => self.note(reaped),
                Ok(None) => return Ok(Left::Somebody),
                Err(Errno::CHILD) => return Ok(Left::Nobody),
                Err(errno) => return Err(errno),
            }
        }
    }

    /// Kills and reaps until nobody is left, so that what they used is counted. Everybody in the cage descends from this
    /// process, so without a child there is nobody to kill: the kernel would look among all processes of the host.
    fn end_everyone(&mut self) -> Result<()> {
        while self.reap_available()? == Left::Somebody {
            match sys::signal_all_others(Signal::KILL) {
                Ok(()) | Err(Errno::SRCH) => {}
                Err(errno) => return Err(errno),
            }
            match sys::reap(None, Wait::Block) {
                Ok(Some(reaped)) => self.note(reaped),
                Ok(None) | Err(Errno::CHILD) => {}
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
