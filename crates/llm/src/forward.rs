//! FORWARD: the request goes to the first upstream that can be reached and is well; never to a second one once the first has begun
//! to answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::http::response::Parts;
use hyper::{HeaderMap, StatusCode};
use placet_dial::{Scrubber, Secret};

use super::settle::{MayCost, gave_up};
use super::upstream::{NotSent, Outgoing, Upstream, passed_on};
use super::wire::{Asked, Change, Complaint, Edits, Endpoint, Kind, Object, Unreadable, Wire};

/// What is sent on, in terms of the agent's request.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) wire: Wire,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) asked: &'a Asked,
    pub(crate) object: &'a Object,
    pub(crate) body: &'a Bytes,
    /// The agent's, as they came.
    pub(crate) headers: &'a HeaderMap,
    pub(crate) query: &'a str,
    /// How long the answer may be; nothing for calls that are free.
    pub(crate) most_output: Option<u64>,
}

/// An answer that begins.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) by: usize,
    pub(crate) head: Parts,
    pub(crate) first: Option<Bytes>,
    pub(crate) rest: Incoming,
    pub(crate) first_byte: Duration,
    /// What takes the real key out of it, if one was sent: some servers put a request into their errors, some echo it. The head is
    /// clean already.
    pub(crate) scrubber: Option<Scrubber>,
}

/// No answer, and what the upstream may have worked for it all the same.
#[derive(Debug)]
pub(crate) struct NoAnswer {
    pub(crate) complaint: Complaint,
    pub(crate) by: usize,
    pub(crate) may_cost: MayCost,
}

/// What one try came to.
enum Tried {
    Answer(Answer),
    /// Somebody else can be asked; if nobody is left, this is the answer.
    Next(Result<Answer, NoAnswer>),
    Over(NoAnswer),
}

/// The same, ready to be sent without the request it was made of.
#[derive(Debug)]
pub(crate) struct Sending {
    wire: Wire,
    body: Bytes,
    /// How each upstream is asked, in order.
    tries: Vec<Try>,
    /// Which of them is being asked: whoever gives up meanwhile owes that one.
    asking: AtomicUsize,
}

#[derive(Debug)]
struct Try {
    upstream: Arc<Upstream>,
    path_and_query: String,
    headers: HeaderMap,
    edits: Result<Edits, Unreadable>,
}

impl Call<'_> {
    pub(crate) fn sending(&self, upstreams: Vec<Arc<Upstream>>) -> Sending {
        let tries = upstreams.into_iter().map(|upstream| self.asking(upstream)).collect();
        Sending { wire: self.wire, body: self.body.clone(), tries, asking: AtomicUsize::new(0) }
    }

    fn asking(&self, upstream: Arc<Upstream>) -> Try {
        let model = upstream.calls(&self.asked.model);
        let as_it_is = self.endpoint.is_free && model == self.asked.model;
        let edits = if as_it_is { Ok(Edits::default()) } else { self.edits(&upstream) };
        let query = if self.query.is_empty() { String::new() } else { format!("?{}", self.query) };
        let path_and_query = format!("{}{query}", self.endpoint.path(model));
        let headers = passed_on(self.wire, self.headers, &upstream.settings.allow_headers);
        Try { upstream, path_and_query, headers, edits }
    }

    fn edits(&self, upstream: &Upstream) -> Result<Edits, Unreadable> {
        let model = upstream.calls(&self.asked.model);
        let change = Change {
            model: (model != self.asked.model).then_some(model),
            most_output: self.most_output,
            limit_name: upstream.settings.limit_name.as_str(),
            ask_for_usage: self.asked.hides_usage,
        };
        self.wire.change(self.object, &change)
    }
}

impl Sending {
    /// The upstream of this number. There is at least one, and nobody knows of others.
    pub(crate) fn upstream(&self, by: usize) -> &Upstream {
        &self.tries[by].upstream
    }

    /// The number of the upstream that was asked last.
    pub(crate) fn asking(&self) -> usize {
        self.asking.load(Ordering::Relaxed)
    }

    pub(crate) async fn forward(&self, started: Instant) -> Result<Answer, NoAnswer> {
        let mut last = None;
        for (by, one) in self.tries.iter().enumerate() {
            self.asking.store(by, Ordering::Relaxed);
            match self.try_one(by, one, started).await {
                Tried::Answer(answer) => return Ok(answer),
                Tried::Over(none) => return Err(none),
                Tried::Next(result) => last = Some(result),
            }
        }
        last.unwrap_or_else(|| {
            let complaint = Complaint::new(Kind::Unknown, "no upstream serves this model");
            Err(NoAnswer { complaint, by: 0, may_cost: MayCost::Nothing })
        })
    }

    async fn try_one(&self, by: usize, one: &Try, started: Instant) -> Tried {
        let (upstream, name) = (&one.upstream, &one.upstream.settings.name);
        let none =
            |kind, message: String, may_cost| NoAnswer { complaint: Complaint::new(kind, message), by, may_cost };
        let body = match &one.edits {
            Ok(edits) => edits.clone().apply(&self.body),
            Err(odd) => return Tried::Over(none(Kind::Unreadable, odd.to_string(), MayCost::Nothing)),
        };
        let limit = upstream.settings.timeouts.first_byte();
        match tokio::time::timeout(limit, self.asked(by, one, &body, started)).await {
            Ok(Ok(answer)) => judge(answer, name),
            Ok(Err(NotSent::Unreachable(why))) => {
                tracing::warn!(upstream = %name, %why, "an upstream cannot be reached");
                let message = format!("the upstream `{name}` cannot be reached; try again later");
                Tried::Next(Err(none(Kind::Upstream, message, MayCost::Nothing)))
            }
            Ok(Err(NotSent::Untrusted(why))) => {
                tracing::error!(upstream = %name, why, "an upstream is not who it should be");
                let message = format!(
                    "the upstream `{name}` is not believed: {why}; whoever runs the gateway has to look after that"
                );
                Tried::Next(Err(none(Kind::Upstream, message, MayCost::Nothing)))
            }
            Ok(Err(NotSent::Broken(why))) => {
                tracing::warn!(upstream = %name, %why, "an upstream hung up");
                Tried::Over(none(
                    Kind::Upstream,
                    format!("the upstream `{name}` hung up before it answered"),
                    MayCost::Begun,
                ))
            }
            Err(_) => {
                let message = format!("the upstream `{name}` sent nothing within {} ms", limit.as_millis());
                Tried::Over(none(Kind::Slow, message, MayCost::Longest))
            }
        }
    }

    /// Asks. An upstream that does not take our key is asked once more if there is another one by now.
    async fn asked(&self, by: usize, one: &Try, body: &Bytes, started: Instant) -> Result<Answer, NotSent> {
        let key = one.upstream.key();
        let answer = self.begin(by, one, body, key.as_deref(), started).await?;
        let refused = answer.head.status == StatusCode::UNAUTHORIZED;
        match key.filter(|_| refused) {
            Some(key) if one.upstream.has_another_key(&key).await => {
                let key = one.upstream.key();
                self.begin(by, one, body, key.as_deref(), started).await
            }
            Some(_) | None => Ok(answer),
        }
    }

    /// Sends, and waits for the first byte of the answer: until then nothing was passed on.
    async fn begin(
        &self,
        by: usize,
        one: &Try,
        body: &Bytes,
        key: Option<&Secret>,
        started: Instant,
    ) -> Result<Answer, NotSent> {
        let (path_and_query, headers) = (one.path_and_query.clone(), one.headers.clone());
        let outgoing = Outgoing { path_and_query, headers, body: body.clone() };
        let (mut head, mut rest) = one.upstream.send(self.wire, outgoing, key).await?.into_parts();
        let scrubber = key.and_then(Scrubber::of_key);
        scrubber.iter().for_each(|scrubber| scrubber.cover_values(&mut head.headers));
        let mut first = None;
        while first.is_none() {
            match rest.frame().await {
                Some(Ok(frame)) => first = frame.into_data().ok().filter(|bytes| !bytes.is_empty()),
                Some(Err(error)) => return Err(NotSent::Broken(error.to_string())),
                None => break,
            }
        }
        Ok(Answer { by, head, first, rest, first_byte: started.elapsed(), scrubber })
    }
}

/// Whether an answer is passed on. An upstream that is not well leaves the call to the next one, unless it gave up waiting; one that refuses our key or points
/// elsewhere has nothing to say to an agent: its words may hold a part of the key.
fn judge(answer: Answer, name: &str) -> Tried {
    let status = answer.head.status;
    let by = answer.by;
    let none =
        |message| NoAnswer { complaint: Complaint::new(Kind::Upstream, message), by, may_cost: MayCost::Nothing };
    // The model behind it may be at work, and be paid; two would be.
    if gave_up(status.as_u16()) {
        tracing::warn!(upstream = %name, status = status.as_u16(), "an upstream waited for its model no longer");
        return Tried::Answer(answer);
    }
    if status.is_server_error() {
        tracing::warn!(upstream = %name, status = status.as_u16(), "an upstream is not well");
        return Tried::Next(Ok(answer));
    }
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::PROXY_AUTHENTICATION_REQUIRED) {
        tracing::error!(upstream = %name, status = status.as_u16(), "an upstream refuses the key of the gateway");
        let message =
            format!("the upstream `{name}` refuses the key of the gateway; whoever runs it has to look after that");
        return Tried::Over(none(message));
    }
    if status.is_redirection() || status.is_informational() {
        let message = format!("the upstream `{name}` points elsewhere ({}), which is not followed", status.as_u16());
        return Tried::Over(none(message));
    }
    Tried::Answer(answer)
}
