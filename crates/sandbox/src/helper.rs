//! The helper of one cage, as the launcher sees it: a process that the zygote forked, and the socket to it.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags};

use crate::control::Control;
use crate::sys::Result;
use crate::zygote::Zygote;

/// The process and the socket. Dropping it ends the cage, and returns when it is gone.
#[derive(Debug)]
pub(crate) struct Helper {
    /// Readable when the process is gone, and with it whatever it held. A number could be another's by then.
    gone: OwnedFd,
    control: Arc<Control>,
    /// Its parent, which reaps it.
    _zygote: Arc<Zygote>,
}

impl Helper {
    pub(crate) fn new(gone: OwnedFd, control: Control, zygote: Arc<Zygote>) -> Self {
        Self { gone, control: Arc::new(control), _zygote: zygote }
    }

    pub(crate) fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// Until it is gone.
    pub(crate) fn wait(&self) -> Result<()> {
        rustix::io::retry_on_intr(|| rustix::event::poll(&mut [PollFd::new(&self.gone, PollFlags::IN)], None)).map(drop)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.control.shut_down();
        // Gone already after its last report; otherwise it ends as soon as the cage is empty.
        let _ = self.wait();
    }
}
