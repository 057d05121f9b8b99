//! The body of an answer as the agent gets it. Whatever becomes of it (read to its end, broken, given up by the agent), it says once
//! how it ended.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use placet_dial::Scrubber;
use placet_domain::digest::Digest;
use tokio::time::Sleep;

use super::Reader;
use crate::patience::Over;
use crate::portion::Portion;
use crate::wire::Tally;
use crate::words::{Heard, Listener};

/// Why an answer stopped in the middle.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error("the upstream stopped in the middle of its answer")]
    Upstream(#[source] hyper::Error),
    #[error("the upstream sent nothing for {0} ms")]
    Silent(u128),
    #[error("the gateway stopped in the middle of this answer")]
    GivenUp,
}

/// How far an answer got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    /// The upstream said everything it had to say.
    End,
    /// It broke, or everything stopped.
    Break,
    /// Its agent left, and it was not waited for any longer.
    Left,
}

/// How an answer ended.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) tally: Tally,
    pub(crate) reached: Reached,
    /// Bytes the upstream sent.
    pub(crate) received_bytes: u64,
    /// Of what the agent got.
    pub(crate) digest: Digest,
    pub(crate) latency: Duration,
    /// What the agent got, where it is wanted.
    pub(crate) heard: Option<Heard>,
}

/// The answer of an upstream that begins to arrive.
pub(crate) struct Passing {
    pub(crate) first: Option<Bytes>,
    pub(crate) rest: Incoming,
    /// What takes the real key out of it.
    pub(crate) scrubber: Option<Scrubber>,
    pub(crate) reader: Reader,
    pub(crate) idle: Duration,
    pub(crate) started: Instant,
    /// Where what is said is collected, if it is wanted.
    pub(crate) words: Option<Portion>,
}

type OnEnd = Box<dyn FnOnce(Ending) + Send>;

pub(crate) struct Metered {
    first: Option<Bytes>,
    rest: Incoming,
    scrubber: Option<Scrubber>,
    /// Taken when the end was told.
    reader: Option<Reader>,
    idle: Duration,
    silence: Pin<Box<Sleep>>,
    started: Instant,
    received_bytes: u64,
    listener: Listener,
    on_end: Option<OnEnd>,
}

impl fmt::Debug for Metered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metered").field("received_bytes", &self.received_bytes).finish_non_exhaustive()
    }
}

impl Metered {
    pub(crate) fn new(passing: Passing, on_end: impl FnOnce(Ending) + Send + 'static) -> Self {
        Self {
            first: passing.first,
            rest: passing.rest,
            scrubber: passing.scrubber,
            reader: Some(passing.reader),
            idle: passing.idle,
            silence: Box::pin(tokio::time::sleep(passing.idle)),
            started: passing.started,
            received_bytes: 0,
            listener: Listener::new(passing.words),
            on_end: Some(Box::new(on_end)),
        }
    }

    /// All of it, if it came in one piece. It is over then.
    pub(crate) fn at_once(&mut self) -> Option<Bytes> {
        if !self.rest.is_end_stream() {
            return None;
        }
        let first = self.first.take().unwrap_or_default();
        let passed = self.take(first);
        Some(joined(passed, self.last().unwrap_or_default()))
    }

    /// Silence is counted from here: for as long as its agent took the last piece, nobody listened to the upstream.
    pub(crate) fn listen(&mut self) {
        self.silence.as_mut().reset(tokio::time::Instant::now() + self.idle);
    }

    /// Hangs up on the upstream.
    pub(crate) fn give_up(mut self, over: Over) {
        self.end(match over {
            Over::Left => Reached::Left,
            Over::Stopped => Reached::Break,
        });
    }

    /// The next bytes of the upstream, or its end. Trailers are not passed on.
    fn poll_upstream(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        loop {
            match Pin::new(&mut self.rest).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.listen();
                        return Poll::Ready(Some(Ok(bytes)));
                    }
                }
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(Broken::Upstream(error)))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => {
                    ready!(self.silence.as_mut().poll(cx));
                    return Poll::Ready(Some(Err(Broken::Silent(self.idle.as_millis()))));
                }
            }
        }
    }

    /// Reads and hashes; tells the end as soon as it is known, because whoever knows the length of a body may not ask for more.
    fn take(&mut self, bytes: Bytes) -> Bytes {
        self.received_bytes += bytes.len() as u64;
        let is_over = self.first.is_none() && self.rest.is_end_stream();
        let bytes = self.scrubbed(bytes, is_over);
        let Some(reader) = &mut self.reader else { return bytes };
        let passed = reader.pass(bytes);
        self.listener.update(&passed);
        if is_over && reader.is_exact() {
            self.end(Reached::End);
        }
        passed
    }

    /// Without the real key, before anybody reads, hashes or keeps it. What may be the beginning of it waits for the next bytes.
    fn scrubbed(&mut self, bytes: Bytes, is_over: bool) -> Bytes {
        let Some(scrubber) = &mut self.scrubber else { return bytes };
        let passed = scrubber.pass(bytes);
        if is_over { joined(passed, scrubber.rest()) } else { passed }
    }

    /// What was held back, at the end of the upstream's answer.
    fn last(&mut self) -> Option<Bytes> {
        let held = self.scrubbed(Bytes::new(), true);
        let reader = self.reader.as_mut()?;
        let rest = joined(reader.pass(held), reader.finish());
        self.listener.update(&rest);
        self.end(Reached::End);
        (!rest.is_empty()).then_some(rest)
    }

    fn end(&mut self, reached: Reached) {
        let (Some(mut reader), Some(on_end)) = (self.reader.take(), self.on_end.take()) else { return };
        reader.finish();
        let (digest, heard) = std::mem::take(&mut self.listener).finish();
        on_end(Ending {
            tally: reader.into_tally(),
            reached,
            received_bytes: self.received_bytes,
            digest,
            latency: self.started.elapsed(),
            heard,
        });
    }
}

/// One after the other; no copy where one of them is empty.
fn joined(first: Bytes, second: Bytes) -> Bytes {
    match (first.is_empty(), second.is_empty()) {
        (_, true) => first,
        (true, false) => second,
        (false, false) => [first, second].concat().into(),
    }
}

impl Body for Metered {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        loop {
            return Poll::Ready(match ready!(self.poll_upstream(cx)) {
                Some(Ok(bytes)) => {
                    let passed = self.take(bytes);
                    // A piece of which nothing is passed on: wait for the next.
                    if passed.is_empty() {
                        continue;
                    }
                    Some(Ok(Frame::data(passed)))
                }
                Some(Err(broken)) => {
                    // Who was silent for long may have thought all the while, and bills that.
                    let is_silent = matches!(broken, Broken::Silent(_));
                    self.end(if is_silent { Reached::Left } else { Reached::Break });
                    Some(Err(broken))
                }
                None => self.last().map(|rest| Ok(Frame::data(rest))),
            });
        }
    }

    fn is_end_stream(&self) -> bool {
        self.reader.is_none() && self.first.is_none() && self.rest.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let exact = self.reader.as_ref().is_none_or(Reader::is_exact);
        let first = self.first.as_ref().map_or(0, |first| first.len() as u64);
        match self.rest.size_hint().exact() {
            Some(rest) if exact => SizeHint::with_exact(rest + first),
            Some(_) | None => SizeHint::default(),
        }
    }
}

impl Drop for Metered {
    /// Lost on its way, whatever the reason.
    fn drop(&mut self) {
        self.end(Reached::Break);
    }
}
