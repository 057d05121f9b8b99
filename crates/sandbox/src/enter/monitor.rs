//! The helper after it forked process 1: it waits outside the cage, and ends it when time is up or the launcher is
//! gone. It never looks inside.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::{Entering, fork_leaving, identity, quiet};
use crate::control::{Control, Report};
use crate::outcome::Usage;
use crate::sys::{self, Result, Wait};

/// Process 1 ends the cage within milliseconds; when it does not, the kernel does it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The child goes on as process 1; its stop pipe closes when this process is gone or says so.
pub(super) fn fork_init(entering: &mut Entering) -> Result<()> {
    let started = Instant::now();
    let deadline = started.checked_add(Duration::from_millis(entering.wall_ms));
    let (stop, stopper) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    fork_leaving(|init| {
        entering.detached.clear();
        entering.uppers.clear();
        let cage = Cage { init, stopper: Some(stopper), control: &entering.control, started, deadline };
        // A monitor that cannot watch ends: the stop pipe closes, and with it the cage.
        let _ = cage.watch();
    })?;
    entering.stop = Some(stop);
    Ok(())
}

struct Cage<'a> {
    init: Pid,
    stopper: Option<OwnedFd>,
    control: &'a Control,
    started: Instant,
    deadline: Option<Instant>,
}

enum Event {
    Ended,
    Abandoned,
    TimeIsUp,
}

impl Cage<'_> {
    fn watch(mut self) -> Result<()> {
        let pidfd = rustix::process::pidfd_open(self.init, PidfdFlags::empty())?;
        quiet(1)?;
        quiet(2)?;
        identity::drop_capabilities()?;
        identity::become_undumpable()?;
        match self.wait(&pidfd)? {
            Event::Ended => {}
            Event::Abandoned => self.stop(&pidfd)?,
            Event::TimeIsUp => {
                self.tell(&Report::TimeIsUp);
                self.stop(&pidfd)?;
            }
        }
        let usage = sys::reap(Some(self.init), Wait::Block)?.map(|reaped| reaped.usage).unwrap_or_default();
        let wall_ms = self.started.elapsed().as_millis() as u64;
        self.tell(&Report::Gone { usage: Usage { wall_ms, ..usage } });
        Ok(())
    }

    fn wait(&self, pidfd: &OwnedFd) -> Result<Event> {
        loop {
            let left = self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let mut watched = [PollFd::new(pidfd, PollFlags::IN), PollFd::new(self.control, PollFlags::RDHUP)];
            match poll(&mut watched, left) {
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
                Ok(0) => return Ok(Event::TimeIsUp),
                Ok(_) if !watched[0].revents().is_empty() => return Ok(Event::Ended),
                Ok(_) => return Ok(Event::Abandoned),
            }
        }
    }

    /// Asks process 1 first, because only it can account for what the cage used.
    fn stop(&mut self, pidfd: &OwnedFd) -> Result<()> {
        self.stopper = None;
        match poll(&mut [PollFd::new(pidfd, PollFlags::IN)], Some(PATIENCE)) {
            Ok(0) | Err(_) => rustix::process::pidfd_send_signal(pidfd, Signal::KILL),
            Ok(_) => Ok(()),
        }
    }

    fn tell(&self, report: &Report) {
        // A launcher that is gone needs no report.
        let _ = self.control.send(report, &[]);
    }
}

fn poll(watched: &mut [PollFd<'_>], timeout: Option<Duration>) -> Result<usize> {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    rustix::event::poll(watched, timeout.as_ref())
}
