//! The terminal of a command: one of its own, whose other end the launcher keeps.
//!
//! It is handed over open. The cage has no `/dev/pts`, and nothing by which it could make another one.

use std::os::fd::{AsFd as _, OwnedFd};

use crate::sys::{self, Result};

/// Makes it the controlling terminal of this session, which has none yet, and all three standard streams.
pub(super) fn take(terminal: &OwnedFd) -> Result<()> {
    rustix::process::ioctl_tiocsctty(terminal)?;
    (0..=2).try_for_each(|stream| sys::replace_stdio(terminal.as_fd(), stream))
}
