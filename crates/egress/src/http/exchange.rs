//! One connection of requests, plain or inside of TLS: each is read, judged anew and carried on a connection of its own
//! to its host.

use placet_domain::scope::Authority;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::asked::{Asked, connect_to, understand};
use super::body::{Fault, Passing};
use super::framing::{self, Framing};
use super::head::{AnswerHead, RequestHead, Version};
use super::rewrite;
use crate::carry::{Carriage, Direction, guarded};
use crate::client::Client;
use crate::credential::Held;
use crate::inbox::{Inbox, Missing};
use crate::limits::{Limits, millis};
use crate::record::Way;
use crate::rules::{Asks, Credential, Grant, HttpAsk, Reason, Speaks};
use crate::trip::Trip;
use crate::{Egress, answer, name, tunnel};

/// How the requests of a connection name their host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form {
    /// Each its own, as to a proxy.
    Forward,
    /// All the same, within a tunnel to it.
    Within(Authority),
    /// All the same, within a tunnel whose TLS was opened.
    Inside(Authority),
}

impl Form {
    pub(super) const fn usual_port(&self) -> u16 {
        match self {
            Self::Forward | Self::Within(_) => name::HTTP_PORT,
            Self::Inside(_) => name::HTTPS_PORT,
        }
    }

    pub(super) const fn asks(&self, ask: HttpAsk) -> Asks {
        match self {
            Self::Forward | Self::Within(_) => Asks::Http(ask),
            Self::Inside(_) => Asks::Https(ask),
        }
    }
}

/// What comes after a request.
enum Next {
    Request,
    Close,
}

/// Serves a proxy's requests, and a tunnel if one is asked for, until one of the sides is done.
pub(crate) async fn converse<S: AsyncRead + AsyncWrite>(client: &mut Client<S>, egress: &Egress) {
    while let Some(head) = next_head(client, egress).await {
        if head.method.as_str() == "CONNECT" {
            return match connect_to(&head) {
                Ok(to) => tunnel::open(client, egress, Way::Connect, to).await,
                Err(reason) => refuse_unread(client, egress, &reason).await,
            };
        }
        if let Next::Close = one(client, egress, head, &Form::Forward).await {
            // What the client still sends must not take its answer back.
            return client.dismiss(b"").await;
        }
    }
}

/// The same within a tunnel, where there are requests and nothing else.
pub(crate) async fn converse_within<S: AsyncRead + AsyncWrite>(client: &mut Client<S>, egress: &Egress, form: &Form) {
    while let Some(head) = next_head(client, egress).await {
        if let Next::Close = one(client, egress, head, form).await {
            return client.dismiss(b"").await;
        }
    }
}

/// None if the client is done, or has been told that it cannot be understood.
async fn next_head<S: AsyncRead + AsyncWrite>(client: &mut Client<S>, egress: &Egress) -> Option<RequestHead> {
    match read_head(client, egress.limits()).await {
        Ok(head) => head,
        Err(reason) => {
            refuse_unread(client, egress, &reason).await;
            None
        }
    }
}

/// None if the client is done. A connection that rests between requests is given the time of a head.
async fn read_head<S: AsyncRead + AsyncWrite>(
    client: &mut Client<S>,
    limits: &Limits,
) -> Result<Option<RequestHead>, Reason> {
    let waited = timeout(millis(limits.head_ms), client.inbox.until(b"\r\n\r\n", limits.head_bytes)).await;
    let is_silent = client.inbox.held().is_empty();
    match waited {
        Ok(Ok(bytes)) => RequestHead::parse(&bytes).map(Some).map_err(Reason::Malformed),
        Ok(Err(Missing::TooLong)) => Err(Reason::HeadTooLarge { most_bytes: limits.head_bytes }),
        Ok(Err(Missing::Ended | Missing::Broken)) | Err(_) if is_silent => Ok(None),
        Ok(Err(Missing::Ended | Missing::Broken)) => Err(Reason::Malformed("it ended early")),
        Err(_) => Err(Reason::TooSlow { head_ms: limits.head_ms }),
    }
}

async fn refuse_unread<S: AsyncRead + AsyncWrite>(client: &mut Client<S>, egress: &Egress, reason: &Reason) {
    Trip::begin(egress, Way::Http).end(Err(reason));
    client.dismiss(&answer::refused(Way::Http, reason)).await;
}

async fn one<S: AsyncRead + AsyncWrite>(
    client: &mut Client<S>,
    egress: &Egress,
    head: RequestHead,
    form: &Form,
) -> Next {
    let mut trip = Trip::begin(egress, Way::Http);
    let mut is_answered = false;
    let carried = match understand(head, form, egress.credentials()) {
        Ok(asked) => carry(client, egress, &mut trip, &asked, &mut is_answered).await,
        Err(reason) => Err(reason),
    };
    match carried {
        Ok(next) => {
            trip.end(Ok(()));
            next
        }
        Err(reason) => {
            trip.end(Err(&reason));
            if !is_answered {
                client.tell(&answer::refused(Way::Http, &reason)).await;
            }
            Next::Close
        }
    }
}

async fn carry<S: AsyncRead + AsyncWrite>(
    client: &mut Client<S>,
    egress: &Egress,
    trip: &mut Trip<'_>,
    asked: &Asked,
    is_answered: &mut bool,
) -> Result<Next, Reason> {
    trip.asks_for(asked.rest.split('?').next().unwrap_or_default());
    let grant = trip.judge(&asked.request)?;
    let held = injected(egress, &grant, asked)?;
    let outside = trip.reach(&asked.request, &grant).await?;
    let head = match held {
        Some(held) => rewrite::request_with(asked, held, egress.credentials()),
        None => rewrite::request(asked),
    };
    let mut status = None;
    let exchange = Exchange { asked, held, limits: egress.limits(), carriage: trip.carriage() };
    let done = if grant.speaks() == Speaks::Https {
        let outside = egress.opening(&asked.request.to)?.reach(outside, &asked.request.to, egress.limits()).await?;
        let work = exchange.run(client, outside, &head, (&mut status, is_answered));
        guarded(egress, trip.carriage(), (&asked.request, &grant), work).await
    } else {
        let work = exchange.run(client, outside, &head, (&mut status, is_answered));
        guarded(egress, trip.carriage(), (&asked.request, &grant), work).await
    };
    trip.record().status = status;
    done?
}

/// The credential the rule puts in. A request that has something else under the same name brings one of its own, which a host
/// might take for the one that counts.
fn injected<'e>(egress: &'e Egress, grant: &Grant, asked: &Asked) -> Result<Option<&'e Held>, Reason> {
    let Credential::Inject(name) = grant.credential() else { return Ok(None) };
    let held = egress.credentials().get(name).ok_or_else(|| Reason::NoCredential { name: name.to_string() })?;
    match asked.rival(held.put(), egress.credentials()) {
        Some(name) => Err(Reason::credential(asked.request.to.place().to_string(), &name)),
        None => Ok(Some(held)),
    }
}

/// One request and its answer, both on their way at the same time: a host may answer before it has heard everything.
struct Exchange<'a, 'b> {
    asked: &'a Asked,
    /// What was put in, and must not come back.
    held: Option<&'a Held>,
    limits: &'a Limits,
    carriage: &'a Carriage<'b>,
}

impl Exchange<'_, '_> {
    async fn run<S: AsyncRead + AsyncWrite, O: AsyncRead + AsyncWrite>(
        &self,
        client: &mut Client<S>,
        outside: O,
        head: &[u8],
        (status, is_answered): (&mut Option<u16>, &mut bool),
    ) -> Result<Next, Reason> {
        if self.asked.head.headers.lists("expect", "100-continue") && self.asked.framing != Framing::Nothing {
            client.tell(b"HTTP/1.1 100 Continue\r\n\r\n").await;
        }
        let (from, mut to) = tokio::io::split(outside);
        let (mut answers, mut is_sent, mut is_deaf) = (Inbox::new(from), false, false);
        let Client { inbox, out } = client;
        let send = self.send(inbox, &mut to, head);
        let receive = self.receive(&mut answers, out, (status, is_answered));
        tokio::pin!(send, receive);
        loop {
            tokio::select! {
                sent = &mut send, if !is_sent => {
                    is_sent = true;
                    // A host that does not listen any more may have answered already.
                    is_deaf = matches!(sent, Err(Fault::Deaf));
                    if !is_deaf { sent.map_err(of_client)? }
                }
                received = &mut receive => {
                    let stays_open = received?;
                    return Ok(if stays_open && is_sent && !is_deaf { Next::Request } else { Next::Close });
                }
            }
        }
    }

    async fn send<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
        &self,
        inbox: &mut Inbox<R>,
        to: &mut W,
        head: &[u8],
    ) -> Result<(), Fault> {
        let mut passing =
            Passing { from: inbox, to, carriage: self.carriage, direction: Direction::Up, scrubber: None };
        passing.write(head).await?;
        passing.body(self.asked.framing, self.asked.framing).await
    }

    /// Whether the connection of the client may stay open.
    async fn receive<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
        &self,
        answers: &mut Inbox<R>,
        out: &mut W,
        (status, is_answered): (&mut Option<u16>, &mut bool),
    ) -> Result<bool, Reason> {
        let head = self.final_head(answers).await?;
        *status = Some(head.status);
        let framing = framing::of_answer(&head, self.asked.head.method.as_str()).map_err(Reason::BadAnswer)?;
        let is_old = self.asked.head.version == Version::Http10;
        let framed = if is_old && framing == Framing::Chunked { Framing::UntilClose } else { framing };
        let closes = self.asked.head.headers.lists("connection", "close");
        let stays_open = framed != Framing::UntilClose && !is_old && !closes;
        let scrubber = self.held.map(Held::scrubber);
        let answer = rewrite::answer(&head, framed, stays_open, scrubber.as_ref());
        let (carriage, direction) = (self.carriage, Direction::Down);
        let mut passing = Passing { from: answers, to: out, carriage, direction, scrubber };
        *is_answered = true;
        passing.write(&answer).await.map_err(of_host)?;
        passing.body(framing, framed).await.map_err(of_host)?;
        Ok(stays_open)
    }

    /// The answer that counts; those that only say that one will come are left out.
    async fn final_head<R: AsyncRead + Unpin>(&self, answers: &mut Inbox<R>) -> Result<AnswerHead, Reason> {
        const MOST_INTERIM: usize = 10;
        for _ in 0..MOST_INTERIM {
            let bytes = answers.until(b"\r\n\r\n", self.limits.head_bytes).await.map_err(|missing| match missing {
                Missing::TooLong => Reason::BadAnswer("its head is too large"),
                Missing::Ended | Missing::Broken => Reason::BadAnswer("it ended early"),
            })?;
            self.carriage.moved();
            let head = AnswerHead::parse(&bytes).map_err(Reason::BadAnswer)?;
            match head.status {
                101 => return Err(Reason::BadAnswer("it changes the protocol, which nobody asked for")),
                407 => return Err(Reason::BadAnswer("it asks for a password for a proxy")),
                100..200 => {}
                _ => return Ok(head),
            }
        }
        Err(Reason::BadAnswer("it is announced without an end"))
    }
}

/// What a fault of the body that the client sends means.
fn of_client(fault: Fault) -> Reason {
    match fault {
        Fault::Ended => Reason::Malformed("it ended early"),
        Fault::Flawed(flaw) => Reason::Malformed(flaw),
        Fault::Deaf => Reason::Broken,
        Fault::Cut(reason) => reason,
    }
}

/// What a fault of the body that the host sends means.
fn of_host(fault: Fault) -> Reason {
    match fault {
        Fault::Ended => Reason::BadAnswer("it ended early"),
        Fault::Flawed(flaw) => Reason::BadAnswer(flaw),
        Fault::Deaf => Reason::Broken,
        Fault::Cut(reason) => reason,
    }
}
