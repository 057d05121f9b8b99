//! The helper after it forked process 1: it waits outside the cage, and ends it when a limit is exceeded or the
//! launcher is gone. What it knows of the inside, it knows by counting; see [`super::watch`]. When the launcher asks for a
//! standstill, it brings that about; see [`super::frost`].

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::frost::{Cold, Frost};
use super::groups::GroupFreezer;
use super::line::{self, Line};
use super::watch::Watch;
use super::written::{self, Written};
use super::{Entering, fork_leaving, identity, quiet};
use crate::control::{Answer, Control, FrozenBy, Report, Stillness};
use crate::outcome::{Excess, LimitKind, Usage};
use crate::sys::{self, Result, Wait};

/// Process 1 ends the cage within milliseconds; when it does not, the kernel does it.
const PATIENCE: Duration = Duration::from_secs(2);

/// The child goes on as process 1; its line closes when this process is gone or says so.
pub(super) fn fork_init(entering: &mut Entering) -> Result<()> {
    let clock = Clock::start(entering.terms.limits.wall_ms);
    let (line, extension) = line::line()?;
    let mut extension = Some(extension);
    let (counter, told) = written::counter()?;
    fork_leaving(|init| {
        // Held by process 1 alone, so that the line closes with it.
        extension = None;
        entering.detached.clear();
        entering.uppers.clear();
        entering.mappings.clear();
        let (mut groups, outlook) = (std::mem::take(&mut entering.groups), std::mem::take(&mut entering.outlook));
        let freezer = groups.take_freezer();
        let watch = Watch::new(entering.terms.limits, init, groups, outlook, told);
        let control = &entering.control;
        let mut cage = Cage { init, line: Some(line), control, watch, clock, freezer, is_up: false, frost: None };
        // A monitor that cannot watch ends: the line closes, and with it the cage.
        let _ = cage.watch();
        // Closing one descriptor after the other is left to the kernel.
        sys::exit_now(0)
    })?;
    entering.outlook = Default::default();
    entering.line = extension;
    entering.written = Written::new(counter);
    Ok(())
}

struct Cage<'a> {
    init: Pid,
    line: Option<Line>,
    control: &'a Control,
    watch: Watch,
    clock: Clock,
    freezer: Option<GroupFreezer>,
    /// Whether the program runs. What the launcher says before is for process 1.
    is_up: bool,
    frost: Option<Frost>,
}

enum Event {
    Ended,
    Abandoned,
    Over(Excess),
}

/// Why the monitor woke up.
enum Woken {
    By(Event),
    /// Process 1 says that the program runs, or nothing any more.
    Up,
    /// The launcher asks for a standstill.
    Asked,
    /// Whoever asked for the standstill ends it.
    Released,
    /// Something, or some time, to have a look at.
    Perhaps,
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
        let wall_ms = self.clock.worked_ms(self.frost.as_ref());
        self.tell(&Report::Gone { usage: Usage { wall_ms, ..self.watch.usage(reaped) } });
        Ok(())
    }

    fn wait(&mut self, pidfd: &OwnedFd) -> Result<Event> {
        loop {
            match self.wake(pidfd)? {
                Woken::By(event) => return Ok(event),
                Woken::Up => self.is_up = self.line.as_ref().is_some_and(Line::is_up),
                Woken::Asked => self.freeze(pidfd)?,
                Woken::Released => self.thaw(pidfd),
                Woken::Perhaps => {
                    if let Some(excess) = self.look(pidfd) {
                        return Ok(Event::Over(excess));
                    }
                }
            }
        }
    }

    /// Waits for the first thing to happen.
    fn wake(&self, pidfd: &OwnedFd) -> Result<Woken> {
        let (from_launcher, from_init) = if self.is_up {
            (PollFlags::RDHUP | PollFlags::IN, PollFlags::empty())
        } else {
            (PollFlags::RDHUP, PollFlags::IN)
        };
        let line = self.line.as_ref().ok_or(Errno::NOENT)?;
        let asker = self.frost.as_ref().map_or(self.control, Frost::asker);
        let mut watched = vec![
            PollFd::new(pidfd, PollFlags::IN),
            PollFd::new(self.control, from_launcher),
            PollFd::new(line, from_init),
            PollFd::new(asker, PollFlags::RDHUP),
        ];
        watched.extend(self.watch.notices().map(|(file, flags)| PollFd::from_borrowed_fd(file, flags)));
        match poll(&mut watched, self.next_look().saturating_duration_since(Instant::now())) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        let ready = |index: usize, flags: PollFlags| watched[index].revents().intersects(flags);
        Ok(match () {
            () if !watched[0].revents().is_empty() => Woken::By(Event::Ended),
            () if ready(1, PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR) => Woken::By(Event::Abandoned),
            () if ready(2, PollFlags::IN) => Woken::Up,
            () if self.frost.is_some() && !watched[3].revents().is_empty() => Woken::Released,
            () if ready(1, PollFlags::IN) => Woken::Asked,
            () => Woken::Perhaps,
        })
    }

    fn next_look(&self) -> Instant {
        let deadline = self.clock.deadline.filter(|_| self.frost.is_none());
        deadline.map_or(self.watch.next_look(), |deadline| deadline.min(self.watch.next_look()))
    }

    fn look(&mut self, pidfd: &OwnedFd) -> Option<Excess> {
        if let Some(mut frost) = self.frost.take() {
            self.cold(pidfd).into_iter().for_each(|cold| frost.renew(&cold));
            self.frost = Some(frost);
            return self.watch.look();
        }
        let late = self.clock.is_late().then(|| Excess {
            which: LimitKind::WallClock,
            limit: self.watch.wall_ms(),
            seen: self.clock.worked_ms(None),
        });
        late.or_else(|| self.watch.look())
    }

    fn cold<'b>(&'b self, pidfd: &'b OwnedFd) -> Option<Cold<'b>> {
        let line = self.line.as_ref()?;
        let over: [(&dyn AsFd, PollFlags); 2] = [(pidfd, PollFlags::IN), (self.control, PollFlags::RDHUP)];
        Some(Cold { group: self.freezer.as_ref(), line, watch: &self.watch, over })
    }

    fn freeze(&mut self, pidfd: &OwnedFd) -> Result<()> {
        let Some((Answer::Freeze, asker)) = self.control.receive::<Answer>()? else { return Ok(()) };
        let Some(asker) = asker.into_iter().next().map(Control::new) else { return Ok(()) };
        if self.frost.is_some() {
            // Who does not listen need not be told.
            let _ = asker.send(&Stillness::Already, &[]);
            return Ok(());
        }
        self.frost = self.cold(pidfd).and_then(|cold| Frost::begin(&cold, asker));
        Ok(())
    }

    fn thaw(&mut self, pidfd: &OwnedFd) {
        if let (Some(frost), Some(cold)) = (self.frost.take(), self.cold(pidfd)) {
            let lasted = frost.end(&cold);
            self.clock.leave_out(lasted);
        }
    }

    /// Where the kernel can end everybody at once, it does; elsewhere process 1 is asked first, because only it can
    /// account for what the cage used.
    fn stop(&mut self, pidfd: &OwnedFd) -> Result<()> {
        self.line = None;
        let killed = self.watch.kill();
        if !killed && self.frost.as_ref().is_some_and(|frost| frost.by() == FrozenBy::ControlGroup) {
            // Process 1 hears nothing, and would have to go on first. The kernel ends whoever is left behind it.
            rustix::process::pidfd_send_signal(pidfd, Signal::KILL)?;
        }
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

/// The time that counts: during a standstill it does not pass.
struct Clock {
    started: Instant,
    deadline: Option<Instant>,
    still: Duration,
}

impl Clock {
    fn start(wall_ms: u64) -> Self {
        let started = Instant::now();
        Self { started, deadline: started.checked_add(Duration::from_millis(wall_ms)), still: Duration::ZERO }
    }

    fn leave_out(&mut self, still: Duration) {
        self.still += still;
        self.deadline = self.deadline.and_then(|deadline| deadline.checked_add(still));
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= Instant::now())
    }

    fn worked_ms(&self, now: Option<&Frost>) -> u64 {
        let still = self.still + now.map_or(Duration::ZERO, Frost::lasted);
        self.started.elapsed().saturating_sub(still).as_millis() as u64
    }
}

fn poll(watched: &mut [PollFd<'_>], timeout: Duration) -> Result<usize> {
    rustix::event::poll(watched, Timespec::try_from(timeout).ok().as_ref())
}
