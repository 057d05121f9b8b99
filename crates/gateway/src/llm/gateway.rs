//! The way of one call through the gateway, from the key to the answer.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::Body;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Request, Response};
use placet_domain::budget::Amounts;
use placet_domain::digest::Digest;

use super::config::{Limits, Settings};
use super::forward::{Answer, Call};
use super::key::{CallScope, KeyRefusal, Keys, shown};
use super::listing;
use super::price::{Prices, Tariff};
use super::purse::{NotDrawn, Purse};
use super::record::new_id;
use super::reserve::{Reserved, Worst};
use super::settle::{Open, Waiting};
use super::stream::{Metered, Passing, Reader};
use super::upstream::{SecretError, Upstream, is_events, passed_back, passed_on};
use super::wire::{Asked, Complaint, Endpoint, Kind, Object, Route, Wire};

/// An answer: whole, or on its way from an upstream.
pub type Answered = Response<AnswerBody>;
/// The body of an answer. An error of it means that the answer broke in the middle; the connection must be closed then.
pub struct AnswerBody(Either<Full<Bytes>, Metered>);

/// A body must come within this time; whoever sends it a byte at a time is not waited for.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);
/// The name of a call, for whoever looks for its record.
const CALL_HEADER: &str = "x-placet-call";

/// The gateway, ready to serve. Keys and purse belong to whoever runs it.
pub struct Gateway<K, P> {
    keys: K,
    purse: Arc<P>,
    upstreams: Vec<Arc<Upstream>>,
    prices: Prices,
    limits: Limits,
}

impl<K, P> fmt::Debug for Gateway<K, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gateway")
            .field("upstreams", &self.upstreams)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl<K: Keys, P: Purse> Gateway<K, P> {
    /// Reads the real keys; fails if one of them cannot be had.
    pub async fn open(settings: Settings, keys: K, purse: Arc<P>) -> Result<Self, SecretError> {
        let mut upstreams = Vec::new();
        for upstream in settings.upstreams {
            upstreams.push(Arc::new(Upstream::open(upstream).await?));
        }
        Ok(Self { keys, purse, upstreams, prices: Prices::new(settings.prices), limits: settings.limits })
    }

    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Answers one request. Never fails: what goes wrong is told in the shape that the agent's library reads.
    pub async fn handle<B>(&self, request: Request<B>) -> Answered
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let started = Instant::now();
        let (head, body) = request.into_parts();
        let is_anthropic = head.headers.contains_key("anthropic-version");
        match Route::of(&head.method, head.uri.path(), is_anthropic) {
            None => refused(Wire::Chat, &Complaint::new(Kind::Unknown, "this path is not carried by the gateway")),
            Some(Route::Models(listing)) => match self.scope(&head).await {
                Ok(scope) => json(200, listing::body(listing, &self.offered(&scope))),
                Err(complaint) => refused(listing.wire(), &complaint),
            },
            Some(Route::Call { wire, endpoint }) => {
                let called = self.call(wire, &endpoint, &head, body, started).await;
                called.unwrap_or_else(|complaint| refused(wire, &complaint))
            }
        }
    }

    async fn scope(&self, head: &Parts) -> Result<CallScope, Complaint> {
        let key = shown(head).map_err(|none| Complaint::new(Kind::Key, none.to_string()))?;
        self.keys.scope(&key).await.map_err(|refusal| {
            let kind = match &refusal {
                KeyRefusal::Unknown => Kind::Key,
                KeyRefusal::Closed(_) => Kind::Forbidden,
                KeyRefusal::Fault(fault) => {
                    tracing::error!(%fault, "keys cannot be checked");
                    Kind::Unavailable
                }
            };
            Complaint::new(kind, refusal.to_string())
        })
    }

    /// The models that a caller may use and that somebody serves, as far as they have names.
    fn offered(&self, scope: &CallScope) -> Vec<String> {
        let names =
            self.upstreams.iter().flat_map(|upstream| upstream.settings.models.iter()).chain(scope.models.iter());
        let served = |name: &str| self.upstreams.iter().any(|upstream| upstream.settings.models.include(name));
        let mut offered: Vec<String> = names
            .filter_map(|pattern| pattern.name())
            .filter(|name| scope.models.include(name) && served(name))
            .map(str::to_owned)
            .collect();
        offered.sort_unstable();
        offered.dedup();
        offered
    }

    async fn call<B>(
        &self,
        wire: Wire,
        endpoint: &Endpoint,
        head: &Parts,
        body: B,
        started: Instant,
    ) -> Result<Answered, Complaint>
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let scope = self.scope(head).await?;
        let body = self.collect(body).await?;
        let unreadable = |odd: super::wire::Unreadable| Complaint::new(Kind::Unreadable, odd.to_string());
        let object = Object::parse(&body).map_err(unreadable)?;
        let asked = wire.read(endpoint, &object).map_err(unreadable)?;
        let upstreams = self.choose(wire, &scope, &asked)?;
        let tariffs = self.tariffs(endpoint, &upstreams, &asked)?;
        let reserved = self.reserve(&scope, endpoint, &asked, &tariffs, body.len()).await?;
        let call = Call {
            wire,
            endpoint,
            asked: &asked,
            object: &object,
            body: &body,
            headers: &passed_on(&head.headers),
            query: &without_key(head.uri.query()),
            most_output: (!endpoint.is_free).then_some(reserved.most_output),
        };
        let waiting = Waiting::new(Open {
            purse: Arc::clone(&self.purse),
            draw: reserved.draw,
            id: new_id(),
            run: scope.run,
            wire,
            upstream: upstreams[0].settings.name.clone(),
            model: asked.model.clone(),
            streams: asked.streams,
            request: Digest::of(&body),
            request_bytes: body.len() as u64,
            tariff: tariffs.first().cloned(),
            started,
        });
        let answered = call.forward(&upstreams, started).await;
        let by = answered.as_ref().map_or_else(|none| none.by, |answer| answer.by);
        let open = waiting.over(&upstreams[by].settings.name, tariffs.get(by).cloned());
        match answered {
            Ok(answer) => Ok(pass(answer, open, &asked, &upstreams[by])),
            Err(none) => {
                open.unanswered(none.complaint.status(wire).as_u16(), &none.complaint.body(wire), none.may_cost);
                Err(none.complaint)
            }
        }
    }

    async fn collect<B>(&self, body: B) -> Result<Bytes, Complaint>
    where
        B: Body<Data = Bytes> + Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let most = self.limits.request_bytes.get();
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let collected = tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, most).collect()).await;
        let collected = collected.map_err(|_| Complaint::new(Kind::Unreadable, "the body did not come in time"))?;
        collected.map(http_body_util::Collected::to_bytes).map_err(|error| {
            if error.is::<LengthLimitError>() {
                Complaint::new(Kind::TooLarge, format!("the request is larger than {most} bytes; send less at once"))
            } else {
                Complaint::new(Kind::Unreadable, "the body broke off")
            }
        })
    }

    /// The upstreams that may be asked, in order.
    fn choose(&self, wire: Wire, scope: &CallScope, asked: &Asked) -> Result<Vec<Arc<Upstream>>, Complaint> {
        let model = &asked.model;
        if !scope.models.include(model) {
            let message = format!("this run may not use the model `{model}`; it may use {}", scope.models);
            return Err(Complaint::new(Kind::Forbidden, message));
        }
        let serving: Vec<_> = self.upstreams.iter().filter(|upstream| upstream.serves(wire, model)).cloned().collect();
        if serving.is_empty() {
            let message = format!("no upstream serves `{model}` in the wire format `{wire}`; add one to gateway.toml");
            return Err(Complaint::new(Kind::Unknown, message));
        }
        let Some(tool) = &asked.server_tool else { return Ok(serving) };
        let permitting: Vec<_> = serving.into_iter().filter(|upstream| upstream.settings.server_tools).collect();
        let shown: String = tool.chars().take(60).flat_map(char::escape_default).collect();
        let message = format!(
            "the tool `{shown}` would be run by the upstream, past the cage; leave it out, or set `server_tools = true` for the \
             upstream in gateway.toml"
        );
        if permitting.is_empty() { Err(Complaint::new(Kind::Forbidden, message)) } else { Ok(permitting) }
    }

    /// One for each upstream; none at all if the call is free.
    fn tariffs(
        &self,
        endpoint: &Endpoint,
        upstreams: &[Arc<Upstream>],
        asked: &Asked,
    ) -> Result<Vec<Tariff>, Complaint> {
        if endpoint.is_free {
            return Ok(Vec::new());
        }
        let tariff = |upstream: &Arc<Upstream>| {
            let provider = upstream.settings.provider.as_deref();
            self.prices.tariff(provider, upstream.calls(&asked.model))
        };
        let all: Result<_, _> = upstreams.iter().map(tariff).collect();
        all.map_err(|none| Complaint::new(Kind::Forbidden, none.to_string()))
    }

    async fn reserve(
        &self,
        scope: &CallScope,
        endpoint: &Endpoint,
        asked: &Asked,
        tariffs: &[Tariff],
        body_bytes: usize,
    ) -> Result<Reserved, Complaint> {
        if endpoint.is_free {
            let drawn = self.purse.draw(scope.run, Amounts::NONE).await;
            let closed = |why: NotDrawn| Complaint::new(Kind::Forbidden, format!("this run makes no calls now: {why}"));
            return drawn.map(|draw| Reserved { draw, most_output: 0 }).map_err(closed);
        }
        Worst::of(asked, body_bytes, tariffs, &self.limits)?.draw(self.purse.as_ref(), scope.run, &self.limits).await
    }
}

/// Passes an answer on; it is settled when it is over, however that comes.
fn pass<P: Purse>(answer: Answer, open: Open<P>, asked: &Asked, upstream: &Upstream) -> Answered {
    let Answer { head, first, rest, first_byte, .. } = answer;
    let status = head.status;
    let reader = match (head.headers.contains_key(CONTENT_ENCODING), is_events(&head.headers)) {
        (true, _) => Reader::of_opaque(open.wire),
        (false, true) => Reader::of_events(open.wire, asked.hides_usage),
        (false, false) => Reader::of_json(open.wire),
    };
    let call = open.id.clone();
    let passing = Passing { first, rest, reader, idle: upstream.settings.timeouts.idle(), started: open.started };
    let body = Metered::new(passing, move |ending| open.passed(status.as_u16(), first_byte, ending));
    let mut response = Response::new(AnswerBody(Either::Right(body)));
    *response.status_mut() = status;
    *response.headers_mut() = passed_back(&head.headers);
    if let Ok(call) = HeaderValue::from_str(&call) {
        response.headers_mut().insert(CALL_HEADER, call);
    }
    response
}

fn refused(wire: Wire, complaint: &Complaint) -> Answered {
    tracing::info!(%wire, kind = ?complaint.kind, "a call is refused");
    json(complaint.status(wire).as_u16(), complaint.body(wire))
}

fn json(status: u16, body: Bytes) -> Answered {
    let mut response = Response::new(AnswerBody(Either::Left(Full::new(body))));
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The query without the agent's key.
fn without_key(query: Option<&str>) -> String {
    let kept = query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty() && !is_key(pair));
    kept.collect::<Vec<_>>().join("&")
}

fn is_key(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or_default();
    // A name with a percent sign may be any name once it is decoded; none of ours needs one.
    name.eq_ignore_ascii_case("key") || name.eq_ignore_ascii_case("access_token") || name.contains('%')
}

impl fmt::Debug for AnswerBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnswerBody")
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<hyper::body::Frame<Bytes>, Self::Error>>> {
        std::pin::Pin::new(&mut self.0).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.0.size_hint()
    }
}
