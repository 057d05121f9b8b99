//! CARRY: a call that was sent goes on in a task of its own, whatever its agent does.
//!
//! An upstream works on, and bills, when nobody listens any more. So the answer of a call whose agent hung up is read to its end all
//! the same and settled by what the upstream counted, within bounds ([`Patience`]). Beyond a bound, and when everything stops, the
//! upstream is hung up on and the call is estimated.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::body::Body as _;
use hyper::header::CONTENT_ENCODING;
use tokio::sync::{mpsc, oneshot};

use super::answer::{AnswerBody, Answered, Piece, with_head};
use super::forward::{Answer, Sending};
use super::patience::Patience;
use super::portion::Portion;
use super::price::Tariff;
use super::purse::Purse;
use super::settle::{Head, MayCost, Open};
use super::stream::{Metered, Passing, Reader};
use super::upstream::{is_events, request_id};
use super::wire::{Complaint, Kind, Wire};
use super::words::Heard;

/// Pieces on their way to the agent: enough that both sides work at the same time. What is beyond waits at the upstream.
const PIECES: usize = 4;

/// A call with everything that belongs to it.
pub(crate) struct Carried<P> {
    pub(crate) sending: Sending,
    /// One for each upstream; none if the call is free.
    pub(crate) tariffs: Vec<Tariff>,
    pub(crate) hides_usage: bool,
    pub(crate) open: Open<P>,
    /// What its body has of all bytes, until the upstream has it.
    pub(crate) room: Portion,
    pub(crate) patience: Patience,
}

type Tell = oneshot::Sender<Result<Answered, Complaint>>;

impl<P: Purse> Carried<P> {
    /// Sends it. Gives what the agent gets.
    pub(crate) async fn carry(self) -> Result<Answered, Complaint> {
        let (tell, told) = oneshot::channel();
        tokio::spawn(self.go(tell));
        told.await.unwrap_or_else(|_| Err(stopping()))
    }

    async fn go(self, mut tell: Tell) {
        let Self { sending, tariffs, hides_usage, open, room, mut patience } = self;
        if patience.is_stopped() {
            return refuse(open, stopping(), MayCost::Nothing, tell);
        }
        let begun = tokio::select! {
            biased;
            begun = sending.forward(open.started) => Some(begun),
            _ = patience.over(tell.closed()) => None,
        };
        let by = match &begun {
            Some(Ok(answer)) => answer.by,
            Some(Err(none)) => none.by,
            None => sending.asking(),
        };
        let upstream = sending.upstream(by);
        let (open, idle) = (open.answered_by(upstream, tariffs.get(by).cloned()), upstream.settings.timeouts.idle());
        // The body first, then its room: answers last for minutes, and what was given back must be free.
        drop(sending);
        drop(room);
        match begun {
            Some(Ok(answer)) => pass(answer, open, hides_usage, idle, patience, tell).await,
            Some(Err(none)) => refuse(open, none.complaint, none.may_cost, tell),
            None => open.given_up(),
        }
    }
}

fn stopping() -> Complaint {
    Complaint::new(Kind::Unavailable, "the gateway is stopping; try again in a moment")
}

/// Settles what it may have cost, and tells why there is no answer.
fn refuse<P: Purse>(open: Open<P>, complaint: Complaint, may_cost: MayCost, tell: Tell) {
    let (status, body) = (complaint.status(open.wire), complaint.body(open.wire));
    open.unanswered(status.as_u16(), &body, may_cost);
    let _ = tell.send(Err(complaint));
}

/// Passes an answer on; it is settled when it is over, however that comes.
async fn pass<P: Purse>(
    answer: Answer,
    open: Open<P>,
    hides_usage: bool,
    idle: Duration,
    patience: Patience,
    tell: Tell,
) {
    let Answer { head, first, rest, first_byte, scrubber, .. } = answer;
    let (call, started) = (open.id.clone(), open.started);
    let begun = Head { status: head.status.as_u16(), first_byte, request_id: request_id(open.wire, &head.headers) };
    let (reader, words) = (reader(open.wire, &head.headers, hides_usage), open.words.as_ref().map(Heard::beside));
    let passing = Passing { first, rest, scrubber, reader, idle, started, words };
    let mut metered = Metered::new(passing, move |ending| open.passed(begun, ending));
    // Whoever left meanwhile gets nothing; the answer is read all the same.
    if let Some(whole) = metered.at_once() {
        let _ = tell.send(Ok(with_head(&head, &call, AnswerBody::whole(whole))));
        return;
    }
    let (sender, receiver) = mpsc::channel(PIECES);
    let body = AnswerBody::coming(receiver, metered.size_hint().exact());
    let _ = tell.send(Ok(with_head(&head, &call, body)));
    pump(metered, Some(sender), patience).await;
}

/// How the tokens of an answer are found.
fn reader(wire: Wire, headers: &HeaderMap, hides_usage: bool) -> Reader {
    match (headers.contains_key(CONTENT_ENCODING), is_events(headers)) {
        (true, _) => Reader::of_opaque(wire),
        (false, true) => Reader::of_events(wire, hides_usage),
        (false, false) => Reader::of_json(wire),
    }
}

/// Reads the upstream to its end, and hands over what somebody takes.
async fn pump(mut metered: Metered, mut to: Option<mpsc::Sender<Piece>>, mut patience: Patience) {
    loop {
        let next = tokio::select! {
            biased;
            next = metered.frame() => next,
            over = patience.over(gone(to.as_ref())) => return metered.give_up(over),
        };
        let (piece, is_last) = match next {
            Some(Ok(frame)) => (Piece::Bytes(frame.into_data().unwrap_or_default()), false),
            Some(Err(broken)) => (Piece::Broken(broken), true),
            None => (Piece::End, true),
        };
        let handed_over = patience.hand_over(&mut to, piece).await;
        metered.listen();
        match (handed_over, is_last) {
            // What is over is settled already; whether somebody heard the last word changes nothing.
            (_, true) => return,
            (Ok(()), false) => {}
            (Err(over), false) => return metered.give_up(over),
        }
    }
}

/// Returns when nobody takes pieces any more.
async fn gone(to: Option<&mpsc::Sender<Piece>>) {
    if let Some(sender) = to {
        sender.closed().await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use bytes::Bytes;
    use http_body_util::Empty;
    use hyper::Request;
    use hyper::body::Incoming;
    use hyper_util::rt::TokioIo;
    use placet_domain::id::RunId;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

    use super::*;
    use crate::config::Limits;
    use crate::patience::Calls;

    const IDLE: Duration = Duration::from_millis(400);

    /// An answer that has begun, and its upstream.
    async fn begun() -> (Incoming, DuplexStream) {
        let (near, mut upstream) = tokio::io::duplex(4_096);
        let (mut asking, connection) = hyper::client::conn::http1::handshake(TokioIo::new(near)).await.unwrap();
        tokio::spawn(connection);
        let answer =
            tokio::spawn(async move { asking.send_request(Request::new(Empty::<Bytes>::new())).await.unwrap() });
        let _ = upstream.read(&mut [0; 4_096]).await.unwrap();
        upstream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n").await.unwrap();
        (answer.await.unwrap().into_body(), upstream)
    }

    #[tokio::test]
    async fn c12_an_agent_that_takes_its_time_does_not_break_its_own_call() {
        let (rest, mut upstream) = begun().await;
        let (first, reader, started) = (None, Reader::of_opaque(Wire::Chat), Instant::now());
        let metered =
            Metered::new(Passing { first, rest, scrubber: None, reader, idle: IDLE, started, words: None }, |_| ());
        let (sender, mut receiver) = mpsc::channel(1);
        let calls = Calls::new(&Limits::default());
        tokio::spawn(pump(metered, Some(sender), calls.patience(RunId::from_bytes([1; 16]))));
        // Longer than an upstream may be silent; the second piece waits for it.
        tokio::time::sleep(IDLE * 3 / 2).await;
        let heard = [receiver.recv().await, receiver.recv().await];
        assert!(heard.iter().all(|piece| matches!(piece, Some(Piece::Bytes(_)))), "{heard:?}");
        tokio::time::sleep(IDLE / 8).await;
        upstream.write_all(b"0\r\n\r\n").await.unwrap();
        assert!(matches!(receiver.recv().await, Some(Piece::End)), "it came to its end");
    }
}
