//! Watches the limits of a cage from outside: on notice where the kernel gives one, by a look from time to time where
//! it does not.
//!
//! A look costs some microseconds per process. While the tree works there are ten a second, but never so many that
//! looking takes more than a small part of the time; a tree that stands still is looked at less often.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::fs::{Mode, OFlags};
use rustix::process::Pid;

use super::census::{Census, Count};
use super::groups::Groups;
use super::meter::Meter;
use super::written::Told;
use crate::outcome::{Excess, LimitKind, Usage};
use crate::profile::Limits;
use crate::sys::Result;

const BUSY: Duration = Duration::from_millis(100);
const IDLE: Duration = Duration::from_millis(500);

/// Looking may take one part in so many.
const LOOK_SHARE: u32 = 20;

/// What the helper opened for the monitor before the cage had its own view of the host.
#[derive(Default)]
pub(super) struct Outlook {
    census: Option<Census>,
    disks: Vec<Disk>,
    scratch: Vec<Scratch>,
}

/// A file system that the cage writes to, and others too.
struct Disk {
    place: OwnedFd,
    used_before_bytes: u64,
}

/// A scratch file system of the cage.
struct Scratch {
    place: OwnedFd,
    size_bytes: u64,
}

impl Outlook {
    pub(super) fn open(written: &[PathBuf]) -> Result<Self> {
        let disks = written.iter().map(|host| Disk::open(host)).collect::<Result<_>>()?;
        Ok(Self { census: Census::open(), disks, scratch: Vec::new() })
    }

    pub(super) fn add_scratch(&mut self, place: &OwnedFd, size_bytes: u64) -> Result<()> {
        let place = rustix::io::fcntl_dupfd_cloexec(place, 0)?;
        self.scratch.push(Scratch { place, size_bytes });
        Ok(())
    }
}

fn used_bytes(place: &OwnedFd) -> Result<u64> {
    let stat = rustix::fs::fstatvfs(place)?;
    Ok(stat.f_blocks.saturating_sub(stat.f_bfree).saturating_mul(stat.f_frsize))
}

/// The monitor's eyes.
pub(super) struct Watch {
    limits: Limits,
    init: Pid,
    meter: Meter,
    outlook: Outlook,
    /// Process 1 adds to it what its reaped children wrote.
    reaped: Told,
    reaped_bytes: u64,
    /// The most that reaped and living processes together were seen to have written.
    written_bytes: u64,
    seen_cpu_ms: u64,
    pause: Duration,
    next_look: Instant,
}

impl Watch {
    pub(super) fn new(limits: Limits, init: Pid, groups: Groups, outlook: Outlook, reaped: Told) -> Self {
        Self {
            limits,
            init,
            meter: Meter::new(groups),
            outlook,
            reaped,
            reaped_bytes: 0,
            written_bytes: 0,
            seen_cpu_ms: 0,
            pause: BUSY,
            next_look: Instant::now() + BUSY,
        }
    }

    pub(super) fn notices(&self) -> impl Iterator<Item = (BorrowedFd<'_>, PollFlags)> {
        self.meter.notices()
    }

    pub(super) fn wall_ms(&self) -> u64 {
        self.limits.wall_ms
    }

    pub(super) fn next_look(&self) -> Instant {
        self.next_look
    }

    /// Ends the tree at once, if the kernel can.
    pub(super) fn kill(&self) -> bool {
        self.meter.kill()
    }

    /// How many threads of the cage could go on. `None`: nobody can tell.
    pub(super) fn awake(&self) -> Option<u64> {
        self.outlook.census.as_ref().map(|census| census.awake(self.init))
    }

    /// After a notice, or when it is time.
    pub(super) fn look(&mut self) -> Option<Excess> {
        let refusal = self.meter.refusal(&self.limits);
        if refusal.is_some() || Instant::now() < self.next_look {
            return refusal;
        }
        let began = Instant::now();
        let count = self.count();
        let excess = self.cpu(&count).or_else(|| self.memory(&count)).or_else(|| self.processes(&count));
        let excess = excess.or_else(|| self.disk(&count));
        self.plan_next(began, self.meter.cpu_ms().unwrap_or(count.cpu_ms));
        excess
    }

    /// When everybody is gone: what happened since the last look.
    pub(super) fn last_look(&mut self) -> Option<Excess> {
        let nobody = Count::default();
        // Processor time is compared by the launcher, which is told the sum.
        self.meter.refusal(&self.limits).or_else(|| self.disk(&nobody))
    }

    /// Completes what the kernel counted for process 1 and all it reaped.
    pub(super) fn usage(&self, reaped: Usage) -> Usage {
        Usage {
            cpu_ms: self.meter.cpu_ms().unwrap_or(reaped.cpu_ms),
            peak_memory_bytes: self.meter.peak_memory_bytes().unwrap_or(reaped.peak_memory_bytes),
            max_processes: self.meter.max_processes(),
            written_bytes: Some(self.written_bytes),
            ..reaped
        }
    }

    /// The table is read only for what nobody else counts.
    fn count(&self) -> Count {
        let grouped = self.meter.counts_memory() && self.meter.counts_processes() && self.meter.cpu_ms().is_some();
        let needed = !self.outlook.disks.is_empty() || !grouped;
        self.outlook.census.as_ref().filter(|_| needed).map(|census| census.count(self.init)).unwrap_or_default()
    }

    fn cpu(&self, count: &Count) -> Option<Excess> {
        let limit = self.limits.cpu_seconds.saturating_mul(1_000);
        let seen = self.meter.cpu_ms().unwrap_or(count.cpu_ms);
        (seen > limit).then_some(Excess { which: LimitKind::Cpu, limit, seen })
    }

    /// Only without a group: the kernel needs no look.
    fn memory(&self, count: &Count) -> Option<Excess> {
        let limit = self.limits.memory_bytes;
        let scratch = self.scratch_bytes();
        if self.meter.counts_memory() || count.private_bytes.saturating_add(scratch) <= limit {
            return None;
        }
        let seen = self.outlook.census.as_ref()?.fair_memory_bytes(self.init).saturating_add(scratch);
        (seen > limit).then_some(Excess { which: LimitKind::Memory, limit, seen })
    }

    /// Only without a group. The kernel then lets the tree have one more than it may, and refuses the next: what stands
    /// above the limit wanted more than it was given.
    fn processes(&self, count: &Count) -> Option<Excess> {
        let over = !self.meter.counts_processes() && count.tasks > self.limits.pids;
        over.then_some(Excess { which: LimitKind::Processes, limit: self.limits.pids, seen: count.tasks })
    }

    fn disk(&mut self, count: &Count) -> Option<Excess> {
        let over = |limit, seen| Excess { which: LimitKind::Disk, limit, seen };
        if let Some(full) = self.outlook.scratch.iter().find(|scratch| scratch.is_full()) {
            return Some(over(full.size_bytes, full.size_bytes));
        }
        let seen = self.written(count).saturating_add(self.scratch_bytes());
        (seen > self.limits.disk_bytes).then(|| over(self.limits.disk_bytes, seen))
    }

    /// A process that hides what it writes is charged with everything that was written to its file system, by
    /// whomever: nobody gains by hiding.
    fn written(&mut self, count: &Count) -> u64 {
        self.reaped_bytes = self.reaped_bytes.saturating_add(self.reaped.take_bytes());
        self.written_bytes = self.written_bytes.max(self.reaped_bytes.saturating_add(count.written_bytes));
        let grown = self.outlook.disks.iter().filter(|_| count.hidden > 0).map(Disk::grown_bytes).max();
        self.written_bytes.max(grown.unwrap_or(0))
    }

    fn scratch_bytes(&self) -> u64 {
        self.outlook.scratch.iter().filter_map(|scratch| used_bytes(&scratch.place).ok()).sum()
    }

    fn plan_next(&mut self, began: Instant, cpu_ms: u64) {
        let idle = cpu_ms == self.seen_cpu_ms;
        self.seen_cpu_ms = cpu_ms;
        self.pause = if idle { (self.pause * 2).min(IDLE) } else { BUSY };
        let now = Instant::now();
        let cost = now.duration_since(began) * LOOK_SHARE;
        self.next_look = now + self.pause.max(cost);
    }
}

impl Disk {
    fn open(host: &Path) -> Result<Self> {
        let place = rustix::fs::open(host, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let used_before_bytes = used_bytes(&place)?;
        Ok(Self { place, used_before_bytes })
    }

    fn grown_bytes(&self) -> u64 {
        used_bytes(&self.place).unwrap_or(0).saturating_sub(self.used_before_bytes)
    }
}

impl Scratch {
    /// Of bytes or of names.
    fn is_full(&self) -> bool {
        rustix::fs::fstatvfs(self.place.as_fd()).is_ok_and(|stat| stat.f_bfree == 0 || stat.f_ffree == 0)
    }
}
