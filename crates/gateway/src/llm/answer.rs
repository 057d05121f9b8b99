//! What an agent gets: an answer on its way from an upstream, or our own words in the shape that its library reads.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::{Response, StatusCode};

use super::forward::Answer;
use super::purse::Purse;
use super::settle::Open;
use super::stream::{Metered, Passing, Reader};
use super::upstream::{Upstream, is_events, passed_back};
use super::wire::{Asked, Complaint, Wire};

/// The name of a call, for whoever looks for its record.
const CALL_HEADER: &str = "x-placet-call";

/// An answer: whole, or on its way from an upstream.
pub type Answered = Response<AnswerBody>;

/// The body of an answer. An error of it means that the answer broke in the middle; the connection must be closed then.
pub struct AnswerBody(Either<Full<Bytes>, Metered>);

/// Passes an answer on; it is settled when it is over, however that comes.
pub(crate) fn pass<P: Purse>(answer: Answer, open: Open<P>, asked: &Asked, upstream: &Upstream) -> Answered {
    let Answer { head, first, rest, first_byte, .. } = answer;
    let status = head.status;
    let reader = match (head.headers.contains_key(CONTENT_ENCODING), is_events(&head.headers)) {
        (true, _) => Reader::of_opaque(open.wire),
        (false, true) => Reader::of_events(open.wire, asked.hides_usage),
        (false, false) => Reader::of_json(open.wire),
    };
    let call = open.id.clone();
    let (idle, keeps_words) = (upstream.settings.timeouts.idle(), open.words.is_some());
    let passing = Passing { first, rest, reader, idle, started: open.started, keeps_words };
    let body = Metered::new(passing, move |ending| open.passed(status.as_u16(), first_byte, ending));
    let mut response = Response::new(AnswerBody(Either::Right(body)));
    *response.status_mut() = status;
    *response.headers_mut() = passed_back(&head.headers);
    if let Ok(call) = HeaderValue::from_str(&call) {
        response.headers_mut().insert(CALL_HEADER, call);
    }
    response
}

pub(crate) fn refused(wire: Wire, complaint: &Complaint) -> Answered {
    tracing::info!(%wire, kind = ?complaint.kind, "a call is refused");
    json(complaint.status(wire), complaint.body(wire))
}

pub(crate) fn json(status: StatusCode, body: Bytes) -> Answered {
    let mut response = Response::new(AnswerBody(Either::Left(Full::new(body))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

impl fmt::Debug for AnswerBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnswerBody")
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.0).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
