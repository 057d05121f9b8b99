//! The line between the monitor and process 1: one byte is one word. It closes when either of them is gone, and when the
//! monitor wants the end.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::Signal;

use crate::sys::{self, Result};

/// Process 1 has nothing else to do, so it answers within microseconds.
const ANSWER: Duration = Duration::from_secs(2);

/// From process 1, once: the program runs.
const UP: u8 = b'u';
/// From the monitor: everybody stops, or goes on.
const STOP: u8 = b's';
const GO_ON: u8 = b'g';
/// From process 1: done.
const DONE: u8 = b'd';

/// The monitor's end. Dropping it ends the cage.
pub(super) struct Line(OwnedFd);

/// The end of process 1.
pub(super) struct Extension(OwnedFd);

/// What process 1 hears.
pub(super) enum Heard {
    /// The monitor wants the end, or is gone.
    Closed,
    /// A wish was carried out, or nothing was said.
    Open,
}

pub(super) fn line() -> Result<(Line, Extension)> {
    let (monitor, init) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    Ok((Line(monitor), Extension(init)))
}

impl Line {
    /// Waits until process 1 says that the program runs. `false`: it is gone.
    pub(super) fn is_up(&self) -> bool {
        read_word(&self.0) == Some(UP)
    }

    /// Returns when every other process of the cage was sent the signal to stop.
    pub(super) fn stop_everybody(&self) -> Result<()> {
        self.ask(STOP)
    }

    /// Returns when every other process of the cage was told to go on.
    pub(super) fn let_everybody_go_on(&self) -> Result<()> {
        self.ask(GO_ON)
    }

    fn ask(&self, wish: u8) -> Result<()> {
        write_word(&self.0, wish)?;
        let mut answer = [PollFd::new(&self.0, PollFlags::IN)];
        rustix::io::retry_on_intr(|| rustix::event::poll(&mut answer, Timespec::try_from(ANSWER).ok().as_ref()))?;
        if answer[0].revents().is_empty() {
            return Err(Errno::TIMEDOUT);
        }
        if read_word(&self.0) == Some(DONE) { Ok(()) } else { Err(Errno::PIPE) }
    }
}

impl Extension {
    pub(super) fn say_up(&self) -> Result<()> {
        write_word(&self.0, UP)
    }

    /// Does what the monitor wants, once there is something to read.
    pub(super) fn obey(&self) -> Result<Heard> {
        let signal = match read_word(&self.0) {
            Some(STOP) => Signal::STOP,
            Some(GO_ON) => Signal::CONT,
            _ => return Ok(Heard::Closed),
        };
        match sys::signal_all_others(signal) {
            Ok(()) | Err(Errno::SRCH) => write_word(&self.0, DONE).map(|()| Heard::Open),
            Err(errno) => Err(errno),
        }
    }
}

impl AsFd for Line {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsFd for Extension {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn read_word(end: &OwnedFd) -> Option<u8> {
    let mut word = [0];
    let read = rustix::io::retry_on_intr(|| rustix::io::read(end, &mut word));
    matches!(read, Ok(1)).then_some(word[0])
}

fn write_word(end: &OwnedFd, word: u8) -> Result<()> {
    rustix::net::send(end, &[word], rustix::net::SendFlags::NOSIGNAL).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_once_that_the_program_runs_and_closes_with_either_end() {
        let (monitor, init) = line().expect("a line");
        init.say_up().expect("said");
        assert!(monitor.is_up());
        drop(monitor);
        assert!(matches!(init.obey(), Ok(Heard::Closed)));
        assert!(init.say_up().is_err());
        let (monitor, init) = line().expect("a line");
        drop(init);
        assert!(!monitor.is_up() && monitor.stop_everybody().is_err());
    }
}
