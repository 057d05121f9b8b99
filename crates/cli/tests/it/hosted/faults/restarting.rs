//! A control plane that ends itself again and again, and is started again each time; in between somebody looks at what it left.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::support::Process;

/// How a process ends that ends itself at a fault point.
const ABORTED: i32 = 6;

pub(super) struct Restarting {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<usize>>,
}

impl Restarting {
    /// `between` looks at the store while nobody has it open.
    pub(super) fn start(
        command: impl Fn() -> Command + Send + 'static,
        mut between: impl FnMut() + Send + 'static,
    ) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            for crashes in 0.. {
                let mut process = Process::start(&mut command());
                while !process.has_ended() {
                    if stopped.load(Ordering::SeqCst) {
                        assert!(process.interrupt("TERM", Duration::from_secs(30)).success());
                        return crashes;
                    }
                    thread::sleep(Duration::from_millis(5));
                }
                let status = process.wait(Duration::ZERO);
                assert_eq!(status.signal(), Some(ABORTED), "{status}: {}", process.stderr());
                between();
            }
            unreachable!("it is stopped before that")
        });
        Self { stop, thread: Some(thread) }
    }

    /// Whether whoever looks in between was content so far.
    pub(super) fn goes_on(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Lets it end in order; how often it did not.
    pub(super) fn stop(mut self) -> usize {
        self.stop.store(true, Ordering::SeqCst);
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Restarting {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
