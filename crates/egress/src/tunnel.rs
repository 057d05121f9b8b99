//! Tunnels, however they were asked for. What a client says first decides what may be said at all: TLS must name the
//! host that was asked for and is opened where a rule looks inside, plain HTTP is read request by request, and anything
//! else needs a rule for `tcp`.

use std::sync::Arc;

use placet_domain::scope::Authority;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::rustls::ServerConfig;

use super::carry::{Side, guarded, pump};
use super::client::Client;
use super::inbox::Inbox;
use super::limits::millis;
use super::name::{Hello, Opened};
use super::record::Way;
use super::rules::{Asks, Grant, Reason, Request, Speaks};
use super::trip::Trip;
use super::{Egress, answer, http, name, tls};

/// The first byte of TLS.
const HANDSHAKE: u8 = 22;

/// How a tunnel went on after it was opened.
enum Went {
    Over,
    /// What came is plain HTTP, and a rule for that is there.
    Plain,
    /// What came is TLS for the right host, and its rule looks inside.
    Opened(Arc<ServerConfig>),
}

/// What is there for a client that begins with TLS.
enum Ready {
    /// Somebody to pass it on to.
    Host(TcpStream, Grant),
    /// We are to answer it ourselves.
    Us(Arc<ServerConfig>, Grant),
    /// No rule allows it.
    Nobody,
}

/// Judges, connects, answers and carries.
pub(super) async fn open<S: AsyncRead + AsyncWrite>(client: &mut Client<S>, egress: &Egress, way: Way, to: Authority) {
    let mut trip = Trip::begin(egress, way);
    let mut tunnel = Tunnel { client, egress, way, is_open: false };
    match tunnel.carry(&mut trip, &to).await {
        Ok(Went::Over) => trip.end(Ok(())),
        Ok(Went::Plain) => {
            trip.end(Ok(()));
            http::converse_within(client, egress, &http::Form::Within(to)).await;
        }
        Ok(Went::Opened(config)) => match tls::accept(client, config, egress.limits()).await {
            Ok(stream) => {
                trip.end(Ok(()));
                http::converse_within(&mut Client::new(stream), egress, &http::Form::Inside(to)).await;
            }
            Err(reason) => trip.end(Err(&reason)),
        },
        Err(reason) => {
            trip.end(Err(&reason));
            tunnel.refuse(&reason).await;
        }
    }
}

/// What somebody speaks who begins like this, as far as it can be told: TLS, or a method of HTTP.
fn spoken(begun: &[u8]) -> Option<Speaks> {
    let word = begun.split(|byte| *byte == b' ').next().unwrap_or_default();
    match begun.first()? {
        &HANDSHAKE => Some(Speaks::Https),
        _ if (1..=20).contains(&word.len()) && word.iter().all(u8::is_ascii_uppercase) => Some(Speaks::Http),
        _ => None,
    }
}

struct Tunnel<'a, S> {
    client: &'a mut Client<S>,
    egress: &'a Egress,
    way: Way,
    is_open: bool,
}

impl<S: AsyncRead + AsyncWrite> Tunnel<'_, S> {
    async fn carry(&mut self, trip: &mut Trip<'_>, to: &Authority) -> Result<Went, Reason> {
        let asking = |asks| Request { to: to.clone(), asks };
        let any = asking(Asks::Tunnel);
        let grant = trip.judge(&any)?;
        if grant.speaks() == Speaks::Tcp {
            let outside = trip.reach(&any, &grant).await?;
            self.say_open().await;
            return self.pass(trip, outside, (&any, &grant)).await;
        }
        // TLS is what most tunnels are for: connected before the answer, so that trouble can still be told.
        let tls = asking(Asks::Tls);
        let ready = match trip.judge(&tls) {
            Ok(grant) if grant.rule().looks_inside() => Ready::Us(self.egress.opening(to)?.answering(to)?, grant),
            Ok(grant) => Ready::Host(trip.reach(&tls, &grant).await?, grant),
            Err(_) => Ready::Nobody,
        };
        self.say_open().await;
        let first = self.first_byte().await?;
        spoken(self.client.inbox.held()).into_iter().for_each(|spoken| trip.heard(spoken));
        match (first, ready) {
            (None, _) => Ok(Went::Over),
            (Some(HANDSHAKE), Ready::Host(outside, grant)) => self.tls(trip, outside, (&tls, &grant)).await,
            (Some(HANDSHAKE), Ready::Us(config, grant)) => {
                self.check_hello(trip, (&tls, &grant)).await?;
                Ok(Went::Opened(config))
            }
            (Some(HANDSHAKE), Ready::Nobody) => Err(trip.judge(&tls).err().unwrap_or(Reason::RuleEnded)),
            (Some(_), ready) => {
                drop(ready);
                self.plain(trip, &asking(Asks::Plain)).await
            }
        }
    }

    async fn tls(
        &mut self,
        trip: &mut Trip<'_>,
        outside: TcpStream,
        (request, grant): (&Request, &Grant),
    ) -> Result<Went, Reason> {
        if grant.speaks() == Speaks::Https {
            self.check_hello(trip, (request, grant)).await?;
        }
        self.pass(trip, outside, (request, grant)).await
    }

    async fn check_hello(&mut self, trip: &mut Trip<'_>, (request, grant): (&Request, &Grant)) -> Result<(), Reason> {
        let hello = self.hello().await?;
        trip.record().encrypted_hello = hello.is_encrypted();
        grant.hello(&request.to, &hello)
    }

    async fn plain(&mut self, trip: &mut Trip<'_>, request: &Request) -> Result<Went, Reason> {
        let grant = trip.judge(request)?;
        if grant.speaks() == Speaks::Http {
            return Ok(Went::Plain);
        }
        let outside = trip.reach(request, &grant).await?;
        self.pass(trip, outside, (request, &grant)).await
    }

    async fn pass(
        &mut self,
        trip: &Trip<'_>,
        mut outside: TcpStream,
        allowed: (&Request, &Grant),
    ) -> Result<Went, Reason> {
        let (from, mut to) = outside.split();
        let mut inbox = Inbox::new(from);
        let inside = Side { inbox: &mut self.client.inbox, out: &mut self.client.out };
        let carried = pump(inside, Side { inbox: &mut inbox, out: &mut to }, trip.carriage());
        guarded(self.egress, trip.carriage(), allowed, carried).await??;
        Ok(Went::Over)
    }

    async fn say_open(&mut self) {
        self.client.tell(answer::opened(self.way)).await;
        self.is_open = true;
    }

    /// What the client begins with; none if it has nothing to say.
    async fn first_byte(&mut self) -> Result<Option<u8>, Reason> {
        if self.client.inbox.held().is_empty() {
            self.more().await?;
        }
        Ok(self.client.inbox.held().first().copied())
    }

    /// Waits for the whole first message of TLS, and takes nothing away from it.
    async fn hello(&mut self) -> Result<Hello, Reason> {
        let head_ms = self.egress.limits().head_ms;
        let whole = async {
            loop {
                if let Opened::Whole(hello) = name::open(self.client.inbox.held())? {
                    return Ok(hello);
                }
                if self.client.inbox.more().await.unwrap_or(0) == 0 {
                    return Err(Reason::BadHello("it ended early"));
                }
            }
        };
        timeout(millis(head_ms), whole).await.unwrap_or(Err(Reason::TooSlow { head_ms }))
    }

    async fn more(&mut self) -> Result<usize, Reason> {
        let head_ms = self.egress.limits().head_ms;
        let more = timeout(millis(head_ms), self.client.inbox.more()).await;
        more.map_err(|_| Reason::TooSlow { head_ms })?.map_err(|_| Reason::Broken)
    }

    /// In the language the client speaks by now.
    async fn refuse(&mut self, reason: &Reason) {
        let speaks_tls = self.client.inbox.held().first() == Some(&HANDSHAKE);
        match (self.is_open, speaks_tls) {
            (false, _) => self.client.dismiss(&answer::refused(self.way, reason)).await,
            (true, true) => self.client.dismiss(answer::TLS_DENIED).await,
            (true, false) => self.client.dismiss(b"").await,
        }
    }
}
