//! Output of git that is read while it is printed: as much of it as the reader wants, in bounded memory and time.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use super::run::{MAX_STDERR_BYTES, end_group, feed, harmless};
use super::{GitError, failed};

/// A running git. It is ended when this value goes.
#[derive(Debug)]
pub(crate) struct Stream {
    child: Child,
    stdout: ChildStdout,
    feeder: Option<JoinHandle<()>>,
    stderr: Option<JoinHandle<Vec<u8>>>,
    command: String,
    deadline: Instant,
    timeout_ms: u64,
    /// Once it is reaped, its number may be somebody else's.
    reaped: bool,
}

impl Stream {
    pub(super) fn start(
        mut command: Command,
        input: Vec<u8>,
        shown: String,
        timeout_ms: u64,
    ) -> Result<Self, GitError> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(GitError::Start)?;
        let feeder = child.stdin.take().map(|stdin| feed(stdin, input));
        let stderr = child.stderr.take().map(|stderr| thread::spawn(move || first_bytes(stderr)));
        let missing = || GitError::Start(io::Error::other("a program without an output"));
        let stdout = child.stdout.take().ok_or_else(missing)?;
        let deadline = Instant::now() + Duration::from_millis(timeout_ms);
        Ok(Self { child, stdout, feeder, stderr, command: shown, deadline, timeout_ms, reaped: false })
    }

    /// After everything was read: whether git meant it to be everything.
    pub(crate) fn finish(mut self) -> Result<(), GitError> {
        let status = self.child.wait().map_err(GitError::Start)?;
        self.reaped = true;
        let stderr = self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        if status.success() { Ok(()) } else { Err(failed(self.command.clone(), status.code(), harmless(&stderr))) }
    }

    /// Everything it prints, up to a limit; whether git meant it to be everything is asked, too.
    pub(crate) fn read_all(mut self, limit_bytes: u64) -> Result<Vec<u8>, GitError> {
        let mut kept = Vec::new();
        let read = self.by_ref().take(limit_bytes + 1).read_to_end(&mut kept);
        match read {
            Ok(read) if read as u64 > limit_bytes => {
                Err(GitError::TooMuch { command: self.command.clone(), limit_bytes })
            }
            Ok(_) => self.finish().map(|()| kept),
            Err(error) => Err(self.explain(error)),
        }
    }

    /// What an error while reading means to whoever asked git.
    pub(crate) fn explain(&self, error: io::Error) -> GitError {
        if error.kind() == io::ErrorKind::TimedOut {
            return GitError::TimedOut { command: self.command.clone(), timeout_ms: self.timeout_ms };
        }
        GitError::Start(error)
    }

    fn wait_for_output(&self) -> io::Result<()> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let left = Timespec::try_from(left).map_err(io::Error::other)?;
            match rustix::event::poll(&mut [PollFd::new(&self.stdout, PollFlags::IN)], Some(&left)) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.wait_for_output()?;
        self.stdout.read(buffer)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if !self.reaped {
            end_group(&self.child);
            // It was told to end; there is nobody to tell that it did not.
            let _ = self.child.wait();
        }
        self.feeder.take().map(JoinHandle::join);
    }
}

/// The first of what was said, and the rest thrown away, so that saying it holds nobody up.
fn first_bytes(mut pipe: impl Read) -> Vec<u8> {
    let mut kept = Vec::new();
    let _ = pipe.by_ref().take(MAX_STDERR_BYTES).read_to_end(&mut kept);
    let _ = io::copy(&mut pipe, &mut io::sink());
    kept
}
