//! Waits, bounded, for somebody else who holds a lock of git's.

use std::time::{Duration, Instant};

use rustix::event::Timespec;

use super::{Call, Git, GitError};

/// How long others are waited for. Whoever holds a lock of git's longer than this has crashed.
const PATIENCE: Duration = Duration::from_secs(20);

/// What git says when a file it needs for a moment is somebody else's.
const BUSY: &[&str] = &[".lock': File exists", "cannot lock ref", "Unable to create", "could not lock config file"];

/// What is left of the time in which others are waited for.
#[derive(Debug)]
pub(crate) struct Patience {
    until: Instant,
    next_ms: u64,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { until: Instant::now() + PATIENCE, next_ms: 5 }
    }

    /// Waits a while, each time longer; whether there was time left.
    pub(crate) fn wait(&mut self) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        pause(Duration::from_millis(self.next_ms));
        self.next_ms = (self.next_ms * 2).min(250);
        true
    }
}

/// Blocks this thread; the crate as a whole blocks, and says so.
pub(crate) fn pause(time: Duration) {
    if let Ok(time) = Timespec::try_from(time) {
        // Woken early is as good.
        let _ = rustix::event::poll(&mut [], Some(&time));
    }
}

impl Git {
    /// The same as [`Git::run`], tried again while somebody else holds a lock.
    pub(crate) fn run_patiently(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let mut patience = Patience::new();
        loop {
            match self.call(Call::new(arguments.iter().copied())) {
                Err(GitError::Failed { stderr, .. }) if is_busy(&stderr) && patience.wait() => {}
                answer => return answer,
            }
        }
    }
}

fn is_busy(stderr: &str) -> bool {
    BUSY.iter().any(|words| stderr.contains(words)) && !stderr.contains("reference already exists")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lock_of_somebody_else_is_waited_for() {
        assert!(is_busy("error: Unable to create '/r/.git/packed-refs.lock': File exists."));
        assert!(!is_busy("fatal: cannot lock ref 'refs/heads/x': reference already exists"));
        assert!(!is_busy("fatal: not a git repository"));
    }

    #[test]
    fn patience_ends() {
        let mut patience = Patience { until: Instant::now() + Duration::from_millis(30), next_ms: 5 };
        let started = Instant::now();
        while patience.wait() {}
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}
