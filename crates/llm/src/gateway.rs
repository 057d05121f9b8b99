//! The way of one call through the gateway, from the key to the answer.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use hyper::http::request::Parts;
use hyper::{Request, StatusCode};
use placet_domain::budget::Amounts;
use placet_domain::id::RunId;

use super::answer::{Answered, json, refused};
use super::carry::Carried;
use super::config::{COPIES, Limits, Settings};
use super::forward::Call;
use super::key::{CallScope, KeyRefusal, Keys, shown};
use super::listing;
use super::patience::Calls;
use super::portion::{Portion, Use, Whole};
use super::price::{Prices, Tariff};
use super::purse::{NotDrawn, Purse, Unclaimed};
use super::reading::{Read, read};
use super::record::new_id;
use super::reserve::{Reserved, Worst};
use super::settle::Open;
use super::upstream::{OpenError, Upstream, asks_for_wide_context, passed_query};
use super::wire::{Asked, Complaint, Endpoint, Kind, Route, Wire};
use super::words::Heard;

/// A body must come within this time; whoever sends it a byte at a time is not waited for.
const BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// A body as servers hand it out.
pub trait RequestBody: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send {}

impl<B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send> RequestBody for B {}

/// The gateway, ready to serve. Keys and purse belong to whoever runs it.
pub struct Gateway<K, P> {
    keys: K,
    purse: Arc<P>,
    pub(super) upstreams: Vec<Arc<Upstream>>,
    pub(super) prices: Prices,
    limits: Limits,
    calls: Calls,
    /// What all bodies together may take, and what is said in open calls where that is kept.
    room: Arc<Whole>,
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
    pub async fn open(settings: Settings, keys: K, purse: Arc<P>) -> Result<Self, OpenError> {
        let mut upstreams = Vec::new();
        for upstream in settings.upstreams {
            upstreams.push(Arc::new(Upstream::open(upstream).await?));
        }
        let (prices, limits) = (Prices::new(settings.prices), settings.limits);
        let (calls, room) = (Calls::new(&limits), Whole::new(limits.bytes_in_flight.get(), limits.largest()));
        if !room.has_room_for_words() {
            tracing::warn!(
                "no words of calls can be kept: `bytes_in_flight` is not more than eight times `request_bytes`"
            );
        }
        Ok(Self { keys, purse, upstreams, prices, limits, calls, room })
    }

    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Lets calls under way finish for a while, then hangs up on their upstreams and has them estimated. Returns when each of them is
    /// settled. Whoever runs the gateway takes no new ones meanwhile.
    pub async fn stop(&self, grace: Duration) {
        self.calls.stop(grace).await;
    }

    /// Answers one request. Never fails: what goes wrong is told in the shape that the agent's library reads.
    pub async fn handle<B: RequestBody>(&self, request: Request<B>) -> Answered {
        let started = Instant::now();
        let (head, body) = request.into_parts();
        let is_anthropic = head.headers.contains_key("anthropic-version");
        match Route::of(&head.method, head.uri.path(), is_anthropic) {
            None => refused(Wire::Chat, &Complaint::new(Kind::Unknown, "this path is not carried by the gateway")),
            Some(Route::Models(listing)) => match self.scope(&head).await {
                Ok(scope) => json(StatusCode::OK, listing::body(listing, &self.offered(&scope))),
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

    /// Whether the key stands for what it stood for.
    async fn is_still(&self, head: &Parts, scope: &CallScope) -> Result<(), Complaint> {
        if self.scope(head).await? == *scope {
            return Ok(());
        }
        Err(Complaint::new(Kind::Forbidden, "this key stands for something else by now; call again"))
    }

    async fn call<B: RequestBody>(
        &self,
        wire: Wire,
        endpoint: &Endpoint,
        head: &Parts,
        body: B,
        started: Instant,
    ) -> Result<Answered, Complaint> {
        let scope = self.scope(head).await?;
        let prepared = self.prepare(wire, endpoint, head, body, started, &scope).await;
        let noted = |no: &Complaint| self.purse.refused(scope.run, no.kind.as_str(), &no.message);
        prepared.inspect_err(noted)?.carry().await
    }

    /// Everything before a call is sent. What is refused here costs nothing.
    async fn prepare<B: RequestBody>(
        &self,
        wire: Wire,
        endpoint: &Endpoint,
        head: &Parts,
        body: B,
        started: Instant,
        scope: &CallScope,
    ) -> Result<Carried<P>, Complaint> {
        let (body, room) = self.collect(scope.run, body).await?;
        // A body may take its time, and its run may have been stopped meanwhile.
        self.is_still(head, scope).await?;
        let Read { object, mut asked, digest, room } = read(wire, endpoint, &body, room).await?;
        asked.wide_context = asks_for_wide_context(&head.headers);
        let upstreams = self.choose(wire, scope, &asked)?;
        let tariffs = self.tariffs(endpoint, &upstreams, &asked)?;
        let reserved = self.reserve(scope, endpoint, &asked, &tariffs, body.len()).await?;
        // Money may take its time as well.
        let draw = Unclaimed::new(reserved.draw);
        self.is_still(head, scope).await?;
        let call = Call {
            wire,
            endpoint,
            asked: &asked,
            object: &object,
            body: &body,
            headers: &head.headers,
            query: &passed_query(head.uri.query()),
            most_output: (!endpoint.is_free).then_some(reserved.most_output),
        };
        let open = Open {
            purse: Arc::clone(&self.purse),
            draw: draw.claim(),
            id: new_id(),
            wire,
            upstream: upstreams[0].settings.name.clone(),
            model: asked.model.clone(),
            called: asked.model.clone(),
            streams: asked.streams,
            request: digest,
            request_bytes: body.len() as u64,
            most_output: reserved.most_output.saturating_mul(asked.choices.max(1)),
            tariff: tariffs.first().cloned(),
            started,
            words: scope.keeps_words.then(|| self.heard(scope.run, &body)),
        };
        let (sending, hides_usage) = (call.sending(upstreams), asked.hides_usage);
        let patience = self.calls.patience(scope.run);
        // From here on nobody but the sending has the body, and gives it back with its room.
        drop(object);
        drop(body);
        Ok(Carried { sending, tariffs, hides_usage, open, room, patience })
    }

    /// The body, and its part of what all bodies may take. It cannot be priced before it is here: its model, and how long the answer
    /// may be, can stand at its very end.
    async fn collect<B: RequestBody>(&self, run: RunId, body: B) -> Result<(Bytes, Portion), Complaint> {
        let most = self.limits.request_bytes.get();
        let announced = body.size_hint().lower();
        if announced > most {
            return Err(too_large(most));
        }
        if !self.room.has_room(run, announced.saturating_mul(COPIES)) {
            return Err(no_room());
        }
        let room = self.room.portion(run, Use::Body);
        let collected = tokio::time::timeout(BODY_TIMEOUT, collect(body, most, room)).await;
        collected.map_err(|_| Complaint::new(Kind::Unreadable, "the body did not come in time"))?
    }

    /// What the agent says, to be kept.
    fn heard(&self, run: RunId, body: &Bytes) -> Heard {
        let mut heard = Heard::new(self.room.portion(run, Use::Words));
        heard.hear(body);
        heard
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

/// Room is taken for what has come, not for what was announced: who sends slowly holds little. Pieces are joined as they come, because
/// one that is kept for itself takes more than its bytes: whoever sends them one by one would have forty times the room that is counted.
async fn collect<B: RequestBody>(body: B, most: u64, mut room: Portion) -> Result<(Bytes, Portion), Complaint> {
    let mut body = std::pin::pin!(body);
    let mut whole: Vec<u8> = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Complaint::new(Kind::Unreadable, "the body broke off"))?;
        let Ok(bytes) = frame.into_data() else { continue };
        if (whole.len() + bytes.len()) as u64 > most {
            return Err(too_large(most));
        }
        if !room.grow((bytes.len() as u64).saturating_mul(COPIES)) {
            return Err(no_room());
        }
        whole.extend_from_slice(&bytes);
    }
    Ok((whole.into_boxed_slice().into(), room))
}

fn too_large(most: u64) -> Complaint {
    Complaint::new(Kind::TooLarge, format!("the request is larger than {most} bytes; send less at once"))
}

fn no_room() -> Complaint {
    Complaint::new(Kind::Busy, "too much is being sent at once; try again in a moment")
}
