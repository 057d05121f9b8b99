//! TAP: what a program writes, for those who watch it work. Told about once a second, the newest of it, and never more than a bounded part.
//!
//! Whoever reads the program's output puts it in here and goes on at once: nothing is waited for, nothing can fail, and what is evidence is
//! collected elsewhere. So a program that floods costs nobody anything but what nobody hears, and how much that was is told.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use placet_domain::id::{ActionId, RunId};
use placet_sandbox::Stream;
use placet_wire::ClientError;
use placet_wire::api::{LogHeard, LogReport, LogStream, Said};
use placet_wire::endpoint::{ReportActionLog, ReportAgentLog};

use crate::lease::Worker;
use crate::report::is_temporary;

/// More than anybody reads in a second, and little to send.
const MOST_BYTES: usize = 16 << 10;
/// As many turns between both streams as are told at once: each takes more than its bytes.
const MOST_TURNS: usize = 256;
/// How often it is told.
const PAUSE: Duration = Duration::from_secs(1);
/// Nobody waits longer for the last words of a program to be told.
const FAREWELL: Duration = Duration::from_secs(2);

/// The newest that a program wrote and nobody was told of. Cloned freely.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tap(Arc<Mutex<Untold>>);

#[derive(Debug, Default)]
struct Untold {
    /// How many bytes were written before the first of these.
    at: u64,
    turns: VecDeque<(Stream, Vec<u8>)>,
    bytes: usize,
}

impl Tap {
    /// Takes what was read, and lets go of the oldest where there is too much.
    pub(crate) fn hear(&self, stream: Stream, bytes: &[u8]) {
        let mut untold = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        untold.add(stream, bytes);
        while untold.bytes > MOST_BYTES || untold.turns.len() > MOST_TURNS {
            untold.let_go();
        }
    }

    /// What is to be told now, if anything is.
    fn take(&self) -> Option<(u64, Vec<Said>)> {
        let mut untold = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Untold { at, turns, bytes } = std::mem::take(&mut *untold);
        untold.at = at + bytes as u64;
        let said = turns.into_iter().map(|(stream, bytes)| Said { stream: of_wire(stream), bytes });
        (bytes > 0).then(|| (at, said.collect()))
    }
}

impl Untold {
    fn add(&mut self, stream: Stream, bytes: &[u8]) {
        self.bytes += bytes.len();
        match self.turns.back_mut() {
            Some((last, said)) if *last == stream => said.extend_from_slice(bytes),
            Some(_) | None => self.turns.push_back((stream, bytes.to_vec())),
        }
    }

    /// The oldest goes, but not more of it than has to.
    fn let_go(&mut self) {
        let Some((stream, mut said)) = self.turns.pop_front() else { return };
        let too_many = if self.turns.len() >= MOST_TURNS { said.len() } else { self.bytes - MOST_BYTES };
        let gone = too_many.min(said.len());
        (self.at, self.bytes) = (self.at + gone as u64, self.bytes - gone);
        if gone < said.len() {
            said.drain(..gone);
            self.turns.push_front((stream, said));
        }
    }
}

const fn of_wire(stream: Stream) -> LogStream {
    match stream {
        Stream::Stdout => LogStream::Stdout,
        Stream::Stderr => LogStream::Stderr,
    }
}

/// The program whose output is reported.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Speaker {
    Action(ActionId),
    Agent(RunId),
}

impl Speaker {
    async fn report(self, worker: &Worker, report: &LogReport) -> Result<LogHeard, ClientError> {
        let client = &worker.config.client;
        match self {
            Self::Action(action) => client.post(ReportActionLog { action }, report).await,
            Self::Agent(run) => client.post(ReportAgentLog { run }, report).await,
        }
    }
}

/// Tells what a program writes, about once a second, for as long as it is not told to stop.
pub(crate) struct Teller {
    pub(crate) worker: Worker,
    pub(crate) speaker: Speaker,
    /// Which start of the program it is.
    pub(crate) start: u64,
    pub(crate) tap: Tap,
}

impl Teller {
    /// Until whoever asked for it stops it, or nobody wants to hear it.
    pub(crate) async fn tell(&self) {
        loop {
            tokio::time::sleep(PAUSE).await;
            if !self.tell_now(false).await {
                return;
            }
        }
    }

    /// The last words of a program that has ended.
    pub(crate) async fn farewell(&self) {
        // That it was not heard is no reason to keep anybody waiting.
        let _ = tokio::time::timeout(FAREWELL, self.tell_now(true)).await;
    }

    /// Whether to go on. What could not be told is not told again: the next report says how much was missed.
    async fn tell_now(&self, ended: bool) -> bool {
        let (at, said) = match self.tap.take() {
            Some(untold) => untold,
            None if ended => (self.told(), Vec::new()),
            None => return true,
        };
        let report = LogReport { start: self.start, at, said, ended };
        match self.speaker.report(&self.worker, &report).await {
            Ok(_) | Err(ClientError::Unreachable { .. } | ClientError::Stranger { .. }) => true,
            Err(ClientError::Refused(problem)) => is_temporary(&problem),
            Err(ClientError::Garbled { .. }) => false,
        }
    }

    fn told(&self) -> u64 {
        self.tap.0.lock().unwrap_or_else(PoisonError::into_inner).at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(tap: &Tap) -> (u64, Vec<(LogStream, usize)>) {
        let (at, said) = tap.take().unwrap();
        (at, said.iter().map(|said| (said.stream, said.bytes.len())).collect())
    }

    #[test]
    fn c16_both_streams_are_told_in_the_order_in_which_they_were_read() {
        let tap = Tap::default();
        for (stream, bytes) in
            [(Stream::Stdout, "one"), (Stream::Stdout, "two"), (Stream::Stderr, "bad"), (Stream::Stdout, "x")]
        {
            tap.hear(stream, bytes.as_bytes());
        }
        assert_eq!(told(&tap), (0, vec![(LogStream::Stdout, 6), (LogStream::Stderr, 3), (LogStream::Stdout, 1)]));
        assert!(tap.take().is_none(), "nothing is told twice");
        tap.hear(Stream::Stderr, b"more");
        assert_eq!(told(&tap), (10, vec![(LogStream::Stderr, 4)]));
    }

    #[test]
    fn e8_a_program_that_floods_is_told_of_by_its_newest_words_and_how_much_came_before() {
        let tap = Tap::default();
        for _ in 0..1_000 {
            tap.hear(Stream::Stdout, &[b'x'; 64 << 10]);
        }
        tap.hear(Stream::Stderr, b"the end");
        let most = MOST_BYTES - 7;
        assert_eq!(told(&tap), ((1_000 << 16) - most as u64, vec![(LogStream::Stdout, most), (LogStream::Stderr, 7)]));
    }

    #[test]
    fn e8_many_turns_between_both_streams_are_bounded_and_every_byte_is_counted() {
        let tap = Tap::default();
        for number in 0..10_000 {
            tap.hear(if number % 2 == 0 { Stream::Stdout } else { Stream::Stderr }, b"a");
        }
        let (at, said) = told(&tap);
        assert_eq!((said.len(), at), (MOST_TURNS, 10_000 - MOST_TURNS as u64));
    }
}
