//! Reaps helpers that have said their last word, so that nobody waits until the kernel has taken them apart.
//!
//! One thread for the whole process, which sleeps while there is nothing to reap. It ends nobody: a helper that was
//! left to it is on its way out.

use std::process::Child;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::thread;

/// It calls one function.
const STACK_BYTES: usize = 64 << 10;

/// Sees to it that no zombie stays behind.
pub(crate) fn reap_later(helper: Child) {
    static REAPER: OnceLock<Sender<Child>> = OnceLock::new();
    // Without a thread there is nobody to receive it, and it is waited for here.
    if let Err(SendError(helper)) = REAPER.get_or_init(start).send(helper) {
        reap(helper);
    }
}

fn start() -> Sender<Child> {
    let (sender, receiver) = channel();
    let run = move || Receiver::into_iter(receiver).for_each(reap);
    // A thread that could not be started drops the receiver.
    let _ = thread::Builder::new().name("placet-reaper".into()).stack_size(STACK_BYTES).spawn(run);
    sender
}

fn reap(mut helper: Child) {
    // The only failure is that somebody else reaped it.
    let _ = helper.wait();
}
