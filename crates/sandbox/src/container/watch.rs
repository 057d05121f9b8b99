//! Watches a running container until its end: its state, its time, and what it uses.
//!
//! The end of the output is the usual sign that a command is about to end, and is followed closely; otherwise there is
//! a look twice a second. Engines have a call that waits, but some answer it most of a second late.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use super::api::{Api, State};
use super::disk::Disk;
use super::error::EngineError;
use super::http::Line;
use crate::outcome::{Excess, LimitKind, Usage};
use crate::profile::Limits;
use crate::running::Stop;

const LOOK: Duration = Duration::from_millis(500);
const SHORTEST_LOOK: Duration = Duration::from_millis(5);

/// An engine that is restarted comes back within this time.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a container wrote is on its way when it has ended; an engine that keeps the line open is cut off.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// What the watch is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    OutputEnded,
    Stop,
}

/// Tells the watch to end the container.
#[derive(Debug)]
pub(super) struct Stopper(pub(super) Sender<Notice>);

impl Stop for Stopper {
    fn stop(&self) {
        // Nobody watches any more: it has ended.
        let _ = self.0.send(Notice::Stop);
    }
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) state: Result<State, EngineError>,
    /// It ran until the watch killed it.
    pub(super) killed: bool,
    pub(super) over: Option<Excess>,
    pub(super) usage: Usage,
}

/// The eyes on one container.
#[derive(Debug)]
pub(super) struct Watch {
    api: Arc<Api>,
    id: String,
    limits: Limits,
    disk: Option<Disk>,
    line: Line,
    started: Instant,
    notices: Receiver<Notice>,
    output_ended: bool,
    stopping: bool,
    killed: bool,
    over: Option<Excess>,
    usage: Usage,
    pause: Duration,
    answered: Instant,
}

impl Watch {
    pub(super) fn new(
        (api, id): (Arc<Api>, String),
        limits: Limits,
        disk: Option<Disk>,
        line: Line,
        notices: Receiver<Notice>,
    ) -> Self {
        let now = Instant::now();
        Self {
            api,
            id,
            limits,
            disk,
            line,
            started: now,
            notices,
            output_ended: false,
            stopping: false,
            killed: false,
            over: None,
            usage: Usage::default(),
            pause: LOOK,
            answered: now,
        }
    }

    /// Until the end.
    pub(super) fn run(mut self) -> Ended {
        let state = loop {
            self.rest();
            match self.look() {
                Ok(Some(state)) => break Ok(state),
                Ok(None) => self.answered = Instant::now(),
                Err(error) if error.is_absence() => break Err(EngineError::Gone),
                Err(error) if self.answered.elapsed() > PATIENCE => break Err(error),
                Err(_) => {}
            }
        };
        self.usage.wall_ms = self.elapsed_ms();
        self.hear_last_words();
        Ended { state, killed: self.killed, over: self.over, usage: self.usage }
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Until a notice, the next look, or the end of the time, whatever comes first.
    fn rest(&mut self) {
        let until_late = Duration::from_millis(self.limits.wall_ms.saturating_sub(self.elapsed_ms()));
        let pause = if self.stopping { self.pause } else { self.pause.min(until_late.max(SHORTEST_LOOK)) };
        match self.notices.recv_timeout(pause) {
            Ok(Notice::OutputEnded) => {
                self.output_ended = true;
                self.pause = SHORTEST_LOOK;
            }
            // Without anybody left who could stop it, nobody wants its outcome either.
            Ok(Notice::Stop) | Err(RecvTimeoutError::Disconnected) => self.end(),
            Err(RecvTimeoutError::Timeout) => self.pause = (self.pause * 2).min(LOOK),
        }
    }

    fn look(&mut self) -> Result<Option<State>, EngineError> {
        let state = self.api.state(&self.id)?;
        if state.ended() {
            return Ok(Some(state));
        }
        if !self.stopping && self.pause == LOOK {
            // A container that ends between two calls has nothing to count any more.
            if let Ok(stats) = self.api.stats(&self.id) {
                stats.add_to(&mut self.usage);
            }
        }
        if !self.stopping {
            self.over = self.excess();
        }
        if self.over.is_some() || self.stopping {
            self.end();
        }
        Ok(None)
    }

    fn excess(&self) -> Option<Excess> {
        let cpu_limit_ms = self.limits.cpu_seconds.saturating_mul(1_000);
        let over = |which, limit, seen| (seen > limit).then_some(Excess { which, limit, seen });
        over(LimitKind::WallClock, self.limits.wall_ms, self.elapsed_ms().saturating_add(1))
            .or_else(|| over(LimitKind::Cpu, cpu_limit_ms, self.usage.cpu_ms))
            .or_else(|| {
                let limit = self.limits.disk_bytes;
                let seen = self.disk.as_ref().and_then(|disk| disk.excess(limit))?;
                over(LimitKind::Disk, limit, seen)
            })
    }

    /// Repeated at every look until it is gone. One that ended by itself meanwhile refuses to be killed.
    fn end(&mut self) {
        if !self.stopping {
            self.stopping = true;
            self.pause = SHORTEST_LOOK;
        }
        self.killed |= self.api.kill(&self.id).is_ok();
    }

    fn hear_last_words(&mut self) {
        let until = Instant::now() + LAST_WORDS;
        while !self.output_ended && Instant::now() < until {
            match self.notices.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(Notice::OutputEnded) => return,
                Ok(Notice::Stop) => {}
                Err(_) => break,
            }
        }
        self.line.hang_up();
    }
}
