//! A cage that stands still, in the hands of the monitor.
//!
//! By its control group, where there is one that can be frozen: the kernel keeps every thread out of user mode, whatever
//! signals come, and ends them all the same when it is told to. Otherwise by signals, which process 1 sends to everybody at
//! once, and the process table tells whether they stand still. A program can arrange for a signal that wakes it (a timer,
//! for one), so it is looked at again and again, stopped again, and said that it did not hold.
//!
//! Whoever asked holds the other end of a socket. When that closes, for whatever reason, the cage goes on.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use super::groups::GroupFreezer;
use super::line::Line;
use super::watch::Watch;
use crate::control::{Control, FrozenBy, Stillness};
use crate::sys::Result;

/// How long a tree gets to stand still. What takes longer waits for hardware, and may wait for ever.
const PATIENCE: Duration = Duration::from_secs(5);
/// Who waits for a child that borrows its memory cannot stop before that child goes on: all go on, and are stopped anew.
const ATTEMPT: Duration = Duration::from_millis(200);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);
/// Looks in a row at which nobody was awake, see [`super::census::Census::awake`].
const STILL_LOOKS: u32 = 2;

/// A cage that stands still, from the moment on in which it did.
pub(super) struct Frost {
    asker: Control,
    by: FrozenBy,
    since: Instant,
    held: bool,
}

/// What a cage is frozen by.
pub(super) struct Cold<'a> {
    pub(super) group: Option<&'a GroupFreezer>,
    pub(super) line: &'a Line,
    pub(super) watch: &'a Watch,
    /// Becomes ready when nothing of this matters any more: the launcher wants the end, or it came by itself.
    pub(super) over: [(&'a dyn std::os::fd::AsFd, PollFlags); 2],
}

impl Frost {
    /// Whoever asked is told, either way.
    pub(super) fn begin(cold: &Cold<'_>, asker: Control) -> Option<Self> {
        let by = if cold.group.is_some() { FrozenBy::ControlGroup } else { FrozenBy::Signals };
        if !cold.freezes() {
            cold.thaw();
            let _ = asker.send(&Stillness::Awake, &[]);
            return None;
        }
        let frost = Self { asker, by, since: Instant::now(), held: true };
        match frost.asker.send(&Stillness::Frozen { by }, &[]) {
            Ok(()) => Some(frost),
            Err(_) => {
                cold.thaw();
                None
            }
        }
    }

    /// Becomes ready when the cage shall go on.
    pub(super) fn asker(&self) -> &Control {
        &self.asker
    }

    pub(super) fn by(&self) -> FrozenBy {
        self.by
    }

    pub(super) fn lasted(&self) -> Duration {
        self.since.elapsed()
    }

    /// From time to time: signals hold only until the next one.
    pub(super) fn renew(&mut self, cold: &Cold<'_>) {
        if self.by == FrozenBy::Signals && cold.watch.awake() != Some(0) {
            self.held = false;
            // Tried again at the next look.
            let _ = cold.line.stop_everybody();
        }
    }

    /// The cage goes on, and whoever asked is told how it was.
    pub(super) fn end(self, cold: &Cold<'_>) -> Duration {
        let held = self.held && (self.by == FrozenBy::ControlGroup || cold.watch.awake() == Some(0));
        let lasted = self.lasted();
        cold.thaw();
        let _ = self.asker.send(&Stillness::Thawed { held }, &[]);
        lasted
    }
}

impl Cold<'_> {
    fn freezes(&self) -> bool {
        match self.group {
            Some(group) => group.freeze().is_ok() && self.wait_for(group),
            None => self.stop_everybody(),
        }
    }

    fn thaw(&self) {
        // A cage that cannot be told is gone, or ends when its monitor is.
        let _ = match self.group {
            Some(group) => group.thaw(),
            None => self.line.let_everybody_go_on(),
        };
    }

    fn wait_for(&self, group: &GroupFreezer) -> bool {
        let until = Instant::now() + PATIENCE;
        while !group.is_frozen() {
            if Instant::now() >= until || self.is_over_after(PAUSE, Some(group.notice())) {
                return false;
            }
        }
        true
    }

    /// Nobody escapes the signal by a fork: the kernel makes either wait for the other.
    fn stop_everybody(&self) -> bool {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if self.stand_still().unwrap_or(false) {
                return true;
            }
            if self.line.let_everybody_go_on().is_err() || self.is_over_after(PAUSE, None) {
                return false;
            }
        }
        false
    }

    fn stand_still(&self) -> Result<bool> {
        let (until, mut looks) = (Instant::now() + ATTEMPT, 0);
        while Instant::now() < until {
            self.line.stop_everybody()?;
            looks = if self.watch.awake() == Some(0) { looks + 1 } else { 0 };
            if looks == STILL_LOOKS {
                return Ok(true);
            }
            if looks == 0 && self.is_over_after(PAUSE, None) {
                return Ok(false);
            }
        }
        Ok(false)
    }

    fn is_over_after(&self, pause: Duration, sooner: Option<&OwnedFd>) -> bool {
        let mut watched: Vec<PollFd<'_>> =
            self.over.iter().map(|(file, flags)| PollFd::from_borrowed_fd(file.as_fd(), *flags)).collect();
        watched.extend(sooner.map(|file| PollFd::new(file, PollFlags::PRI)));
        // An interrupted pause is a shorter one.
        let _ = rustix::event::poll(&mut watched, Timespec::try_from(pause).ok().as_ref());
        watched.iter().take(self.over.len()).any(|each| !each.revents().is_empty())
    }
}
