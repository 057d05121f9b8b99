//! The helper after it forked process 1: it waits outside the cage, and ends it when a limit is exceeded or the
//! launcher is gone. What it knows of the inside, it knows by counting; see [`super::watch`].

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::watch::Watch;
use super::written::{self, Written};
use super::{Entering, fork_leaving, identity, quiet};
use crate::control::{Control, Report};
use crate::outcome::{Excess, LimitKind, Usage};
use crate::sys::{self, Result, Wait};

/// Process 1 ends the cage within milliseconds; when it does not, the kernel does it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The child goes on as process 1; its stop pipe closes when this process is gone or says so.
pub(super) fn fork_init(entering: &mut Entering) -> Result<()> {
    let started = Instant::now();
    let deadline = started.checked_add(Duration::from_millis(entering.terms.limits.wall_ms));
    let (stop, stopper) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    let (counter, told) = written::counter()?;
    fork_leaving(|init| {
        entering.detached.clear();
        entering.uppers.clear();
        entering.mappings.clear();
        let (groups, outlook) = (std::mem::take(&mut entering.groups), std::mem::take(&mut entering.outlook));
        let watch = Watch::new(entering.terms.limits, init, groups, outlook, told);
        let mut cage = Cage { init, stopper: Some(stopper), control: &entering.control, watch, started, deadline };
        // A monitor that cannot watch ends: the stop pipe closes, and with it the cage.
        let _ = cage.watch();
        // Closing one descriptor after the other is left to the kernel.
        sys::exit_now(0)
    })?;
    entering.outlook = Default::default();
    entering.stop = Some(stop);
    entering.written = Written::new(counter);
    Ok(())
}

struct Cage<'a> {
    init: Pid,
    stopper: Option<OwnedFd>,
    control: &'a Control,
    watch: Watch,
    started: Instant,
    deadline: Option<Instant>,
}

enum Event {
    Ended,
    Abandoned,
    Over(Excess),
}

impl Cage<'_> {
    fn watch(&mut self) -> Result<()> {
        let pidfd = rustix::process::pidfd_open(self.init, PidfdFlags::empty())?;
        quiet(&[1, 2])?;
        identity::drop_own_capabilities()?;
        identity::become_undumpable()?;
        let event = self.wait(&pidfd)?;
        match &event {
            Event::Ended => {}
            Event::Abandoned => self.stop(&pidfd)?,
            Event::Over(excess) => {
                self.tell(&Report::Over(*excess));
                self.stop(&pidfd)?;
            }
        }
        let reaped = sys::reap(Some(self.init), Wait::Block)?.map(|reaped| reaped.usage).unwrap_or_default();
        if let (Event::Ended, Some(excess)) = (event, self.watch.last_look()) {
            self.tell(&Report::Over(excess));
        }
        let wall_ms = self.started.elapsed().as_millis() as u64;
        self.tell(&Report::Gone { usage: Usage { wall_ms, ..self.watch.usage(reaped) } });
        Ok(())
    }

    fn wait(&mut self, pidfd: &OwnedFd) -> Result<Event> {
        loop {
            match self.wake(pidfd)? {
                Some(event) => return Ok(event),
                None => {
                    if let Some(excess) = self.late().or_else(|| self.watch.look()) {
                        return Ok(Event::Over(excess));
                    }
                }
            }
        }
    }

    /// Waits for the first thing to happen. `None`: it is something, or some time, to have a look at.
    fn wake(&self, pidfd: &OwnedFd) -> Result<Option<Event>> {
        let mut watched = vec![PollFd::new(pidfd, PollFlags::IN), PollFd::new(self.control, PollFlags::RDHUP)];
        watched.extend(self.watch.notices().map(|(file, flags)| PollFd::from_borrowed_fd(file, flags)));
        let next = self.deadline.map_or(self.watch.next_look(), |deadline| deadline.min(self.watch.next_look()));
        match poll(&mut watched, next.saturating_duration_since(Instant::now())) {
            Ok(_) if !watched[0].revents().is_empty() => Ok(Some(Event::Ended)),
            Ok(_) if !watched[1].revents().is_empty() => Ok(Some(Event::Abandoned)),
            Ok(_) | Err(Errno::INTR) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    fn late(&self) -> Option<Excess> {
        let seen = self.started.elapsed().as_millis() as u64;
        let late = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        let limit = self.watch.wall_ms();
        late.then_some(Excess { which: LimitKind::WallClock, limit, seen })
    }

    /// Where the kernel can end everybody at once, it does; elsewhere process 1 is asked first, because only it can
    /// account for what the cage used.
    fn stop(&mut self, pidfd: &OwnedFd) -> Result<()> {
        self.stopper = None;
        self.watch.kill();
        match poll(&mut [PollFd::new(pidfd, PollFlags::IN)], PATIENCE) {
            Ok(0) | Err(_) => rustix::process::pidfd_send_signal(pidfd, Signal::KILL),
            Ok(_) => Ok(()),
        }
    }

    fn tell(&self, report: &Report) {
        // A launcher that is gone needs no report.
        let _ = self.control.send(report, &[]);
    }
}

fn poll(watched: &mut [PollFd<'_>], timeout: Duration) -> Result<usize> {
    rustix::event::poll(watched, Timespec::try_from(timeout).ok().as_ref())
}
