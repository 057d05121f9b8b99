//! Keys on their way to a command, and no longer than it runs: what comes in later is carried to nobody.

use std::fs::File;
use std::io::{PipeReader, PipeWriter, Write as _};

use rustix::event::{PollFd, PollFlags, poll};

/// Carries keys until it is stopped.
pub(super) struct Keys {
    /// Closed when no more are wanted.
    wanted: PipeWriter,
}

impl Keys {
    pub(super) fn carry(to: File) -> std::io::Result<Self> {
        let (ended, wanted) = std::io::pipe()?;
        std::thread::spawn(move || carry_all(to, &ended));
        Ok(Self { wanted })
    }

    pub(super) fn stop(self) {
        drop(self.wanted);
    }
}

/// Ends with the keys, with the command, or when nothing more is wanted.
fn carry_all(mut to: File, ended: &PipeReader) {
    let stdin = std::io::stdin();
    let mut buffer = [0; 4 << 10];
    loop {
        let mut waiting = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(ended, PollFlags::IN)];
        match poll(&mut waiting, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
            Ok(_) if !waiting[1].revents().is_empty() => return,
            Ok(_) => {}
        }
        // Unlocked and unbuffered: what is not carried stays where it is.
        match rustix::io::read(&stdin, &mut buffer) {
            Ok(read @ 1..) if to.write_all(&buffer[..read]).is_ok() => {}
            Ok(_) | Err(_) => return,
        }
    }
}
