//! What the processes of a cage wrote to disks, after they are gone.
//!
//! The kernel adds the count of a reaped process to that of whoever reaped it. Process 1 reaps every orphan and hides
//! itself, so nobody outside can read its count: it tells the monitor, through a counter they share.

use std::os::fd::OwnedFd;

use rustix::event::EventfdFlags;
use rustix::fs::{Mode, OFlags};

use super::meter::text_of;
use crate::group::read::field;
use crate::sys::Result;

/// The end of process 1.
pub(super) struct Written {
    monitor: OwnedFd,
    own: OwnedFd,
    told_bytes: u64,
}

/// The end of the monitor.
pub(super) struct Told(OwnedFd);

/// The counter, before process 1 exists: one end for each.
pub(super) fn counter() -> Result<(OwnedFd, Told)> {
    let counter = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
    let told = rustix::io::fcntl_dupfd_cloexec(&counter, 0)?;
    Ok((counter, Told(told)))
}

impl Written {
    /// In process 1, while it can still open its own files. `None`: the kernel does not count.
    pub(super) fn new(monitor: OwnedFd) -> Option<Self> {
        let own = rustix::fs::open("/proc/self/io", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        Some(Self { monitor, own, told_bytes: 0 })
    }

    /// A count that cannot be told now is told with the next one.
    pub(super) fn tell(&mut self) {
        let total = written_bytes(&text_of(&self.own)).unwrap_or(0);
        let more = total.saturating_sub(self.told_bytes);
        if more > 0 && rustix::io::write(&self.monitor, &more.to_ne_bytes()).is_ok() {
            self.told_bytes = total;
        }
    }
}

impl Told {
    /// What was told since the last time.
    pub(super) fn take_bytes(&self) -> u64 {
        let mut more = [0; 8];
        rustix::io::read(&self.0, &mut more).map_or(0, |_| u64::from_ne_bytes(more))
    }
}

/// `io` of a process, as the kernel writes it.
pub(super) fn written_bytes(io: &str) -> Option<u64> {
    field(&io.replace(": ", " "), "write_bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_the_one_on_its_way_to_disks() {
        let io = "rchar: 6976\nwchar: 12\nsyscr: 10\nread_bytes: 5\nwrite_bytes: 4096\ncancelled_write_bytes: 7\n";
        assert_eq!(written_bytes(io), Some(4_096));
        assert_eq!(written_bytes(""), None);
    }

    #[test]
    fn what_is_told_arrives_once() {
        let (counter, told) = counter().expect("a counter");
        assert_eq!(told.take_bytes(), 0);
        for more in [3_u64, 4] {
            rustix::io::write(&counter, &more.to_ne_bytes()).expect("told");
        }
        assert_eq!((told.take_bytes(), told.take_bytes()), (7, 0));
    }
}
