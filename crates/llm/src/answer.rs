//! What an agent gets: an answer on its way from an upstream, or our own words in the shape that its library reads.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::http::response::Parts;
use hyper::{Response, StatusCode};
use tokio::sync::mpsc;

use super::stream::Broken;
use super::upstream::passed_back;
use super::wire::{Complaint, Kind, Wire};

/// The name of a call, for whoever looks for its record.
const CALL_HEADER: &str = "x-placet-call";
/// Seconds after which who was told that there is no room may come again: bodies come and go faster than that.
const SOON: &str = "2";

/// An answer: whole, or on its way from an upstream.
pub type Answered = Response<AnswerBody>;

/// The body of an answer. An error of it means that the answer broke in the middle; the connection must be closed then.
pub struct AnswerBody(Either<Full<Bytes>, Coming>);

/// One step of an answer that is on its way.
#[derive(Debug)]
pub(crate) enum Piece {
    Bytes(Bytes),
    Broken(Broken),
    /// Nothing comes any more; without it the answer broke.
    End,
}

/// An answer that comes piece by piece.
struct Coming {
    pieces: mpsc::Receiver<Piece>,
    /// How many bytes are still to come, where that is known.
    left: Option<u64>,
    ended: bool,
}

impl AnswerBody {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self(Either::Left(Full::new(bytes)))
    }

    pub(crate) const fn coming(pieces: mpsc::Receiver<Piece>, bytes: Option<u64>) -> Self {
        Self(Either::Right(Coming { pieces, left: bytes, ended: false }))
    }
}

/// An upstream's answer as the agent gets it.
pub(crate) fn with_head(head: &Parts, call: &str, body: AnswerBody) -> Answered {
    let mut response = Response::new(body);
    *response.status_mut() = head.status;
    *response.headers_mut() = passed_back(&head.headers);
    if let Ok(call) = HeaderValue::from_str(call) {
        response.headers_mut().insert(CALL_HEADER, call);
    }
    response
}

pub(crate) fn refused(wire: Wire, complaint: &Complaint) -> Answered {
    tracing::info!(%wire, kind = ?complaint.kind, "a call is refused");
    let mut response = json(complaint.status(wire), complaint.body(wire));
    if complaint.kind == Kind::Busy {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static(SOON));
    }
    response
}

pub(crate) fn json(status: StatusCode, body: Bytes) -> Answered {
    let mut response = Response::new(AnswerBody::whole(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

impl fmt::Debug for AnswerBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnswerBody")
    }
}

impl Body for Coming {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let piece = ready!(self.pieces.poll_recv(cx));
        self.ended = !matches!(piece, Some(Piece::Bytes(_)));
        Poll::Ready(match piece {
            Some(Piece::Bytes(bytes)) => {
                self.left = self.left.map(|left| left.saturating_sub(bytes.len() as u64));
                Some(Ok(Frame::data(bytes)))
            }
            Some(Piece::Broken(broken)) => Some(Err(broken)),
            Some(Piece::End) => None,
            None => Some(Err(Broken::GivenUp)),
        })
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.left == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
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
