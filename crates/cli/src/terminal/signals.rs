//! What the system says to whoever has the whole window. Heard from before the window is taken, so that it is given back however it ends.

use rustix::process::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The window has another size.
    Resized,
    /// Stand still for a while.
    Stopped,
    /// The window is closed.
    HungUp,
    /// Come to an end.
    Ended,
    Interrupted,
}

pub(crate) struct Signals {
    resized: Signal,
    stopped: Signal,
    hung_up: Signal,
    ended: Signal,
    interrupted: Signal,
}

impl Signals {
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self {
            resized: signal(SignalKind::window_change())?,
            stopped: signal(SignalKind::from_raw(Number::TSTP.as_raw()))?,
            hung_up: signal(SignalKind::hangup())?,
            ended: signal(SignalKind::terminate())?,
            interrupted: signal(SignalKind::interrupt())?,
        })
    }

    /// The next one. Nothing is lost if it is not waited for to the end.
    pub(crate) async fn next(&mut self) -> Heard {
        tokio::select! {
            _ = self.resized.recv() => Heard::Resized,
            _ = self.stopped.recv() => Heard::Stopped,
            _ = self.hung_up.recv() => Heard::HungUp,
            _ = self.ended.recv() => Heard::Ended,
            _ = self.interrupted.recv() => Heard::Interrupted,
        }
    }
}
