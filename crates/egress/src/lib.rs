//! Egress proxy of cages: carries requests to allowed hosts, and refuses all others.
//!
//! A cage has no network but doors. The process that holds the outer side of a door accepts its connections ([`accept`], up to a limit)
//! and serves each ([`serve`]) as a proxy for HTTP/1.1 (absolute addresses and CONNECT) or SOCKS5; the first byte tells which.
//! Each request takes the same steps: parse the host name once, judge it by the rules of the run ([`rules`]), resolve it and check
//! every address ([`placet_dial::address`]), write a record ([`record`]), carry and count the bytes ([`Meter`]).
//!
//! The process that starts a cage makes its [`Egress`] from the settings of a team ([`Settings::read`], [`Settings::open`]) or by hand
//! ([`Egress::new`], [`Egress::with_credentials`]), gives the cage its [`Outfit`] ([`Egress::outfit`]: variables, and files that
//! are shown at [`FOLDER`]), and serves its door. Credentials of the team ([`credential`]) are added to requests here; the cage holds
//! only placeholders. An action is sealed with the names of the credentials that it uses ([`Rules::for_action`], [`Team`]).
//!
//! TLS is tunnelled to the requested host. It is opened ([`tls`]) only for hosts whose rules name methods, paths or a credential
//! ([`Egress::opening_tls`]); a cage trusts the certificate of its own proxy for those hosts alone.
//!
//! The proxy looks into no other TLS: there it judges the host and not the request. It keeps no content, and decides nothing that a
//! person should decide. A refused request becomes a [`Wish`]; records can be turned into narrower rules ([`learn`]), which a person
//! puts to work.

mod answer;
mod carry;
mod client;
pub mod credential;
mod door;
mod http;
mod inbox;
pub mod learn;
mod limits;
mod name;
mod outfit;
mod record;
mod resolve;
pub mod rules;
mod settings;
mod socks;
mod team;
pub mod tls;
mod trip;
mod tunnel;

pub use carry::{Meter, Used};
pub use credential::{CredentialError, CredentialSettings, Credentials};
pub use door::{Accepted, accept};
pub use limits::Limits;
pub use outfit::{FOLDER, Outfit};
pub use record::{Decision, EgressRecord, NotKept, Sink, Way, Why, Wish};
pub use rules::{Established, Live, Reason, Rule, Rules};
pub use settings::{BadSettings, OpenError, Settings, TlsSettings};
pub use team::{NotPutIn, Team};

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use placet_dial::{Resolve, Roots, SystemResolver};
use placet_domain::id::RunId;
use placet_domain::scope::Authority;
use placet_domain::time::Timestamp;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

use client::Client;
use tls::Opening;

/// A person is asked about so many things of one run; whoever wants more is not asking.
const MOST_WISHES: usize = 100;

/// The way out of one run's cages: its rules, limits and counts. One for all connections of the run.
pub struct Egress {
    run: Option<RunId>,
    rules: Live,
    limits: Limits,
    meter: Meter,
    /// For connections that are served, and for those that are accepted at all.
    places: Semaphore,
    room: Arc<Semaphore>,
    resolver: Arc<dyn Resolve>,
    credentials: Credentials,
    opening: Option<Opening>,
    sink: Arc<dyn Sink>,
    wishes: Mutex<BTreeSet<Wish>>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

impl Egress {
    /// With the rules, and with the place where records go. The rest is as usual: default limits, the host's resolver
    /// and clock, no credentials.
    pub fn new(rules: Live, sink: Arc<dyn Sink>) -> Self {
        Self {
            run: None,
            rules,
            limits: Limits::default(),
            meter: Meter::new(Limits::default().run_bytes),
            places: Semaphore::new(Limits::default().connections),
            room: door::room(&Limits::default()),
            resolver: Arc::new(SystemResolver::default()),
            credentials: Credentials::default(),
            opening: None,
            sink,
            wishes: Mutex::default(),
            clock: Arc::new(system_time),
        }
    }

    /// The run its records name.
    #[must_use]
    pub fn for_run(mut self, run: RunId) -> Self {
        self.run = Some(run);
        self
    }

    /// Other limits. Counts begin anew.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.meter = Meter::new(limits.run_bytes);
        self.places = Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS));
        self.room = door::room(&limits);
        self.limits = limits;
        self
    }

    #[must_use]
    pub fn with_resolver(mut self, resolver: Arc<dyn Resolve>) -> Self {
        self.resolver = resolver;
        self
    }

    /// The credentials that rules put in.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = credentials;
        self
    }

    /// Opens TLS for the hosts whose rules look inside at this moment. Before it, and for hosts that later rules bring,
    /// such rules refuse. The clock of certificates is the system's.
    pub fn opening_tls(mut self, roots: Roots) -> Result<Self, tls::TlsError> {
        self.opening = Opening::make(&self.rules.now(), roots)?;
        Ok(self)
    }

    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Self {
        self.clock = clock;
        self
    }

    pub const fn rules(&self) -> &Live {
        &self.rules
    }

    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the run carried so far.
    pub const fn meter(&self) -> &Meter {
        &self.meter
    }

    const fn run(&self) -> Option<RunId> {
        self.run
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    fn resolver(&self) -> &dyn Resolve {
        &*self.resolver
    }

    const fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// What opens TLS to the host.
    fn opening(&self, to: &Authority) -> Result<&Opening, Reason> {
        self.opening.as_ref().ok_or_else(|| Reason::NotOpened { host: to.place().to_string() })
    }

    fn sink(&self) -> &dyn Sink {
        &*self.sink
    }

    /// Tells a wish once, and no more than a person can read.
    fn wish(&self, wish: Wish) {
        let mut wishes = self.wishes.lock().unwrap_or_else(PoisonError::into_inner);
        if wishes.len() < MOST_WISHES && wishes.insert(wish.clone()) {
            drop(wishes);
            self.sink.wish(&wish);
        }
    }
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").field("run", &self.run).field("limits", &self.limits).finish_non_exhaustive()
    }
}

fn system_time() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The first byte of SOCKS5.
const SOCKS5: u8 = 5;

/// Who is turned away is told so if it says something within this time: told in its own language, and not waited for.
const TURNED_AWAY_WITHIN_MS: u64 = 1_000;

/// Serves one connection of a cage until it is over. Dropping the future ends it. Connections of a door come from [`accept`], which
/// bounds them.
pub async fn serve<S: AsyncRead + AsyncWrite>(stream: S, egress: &Egress) {
    let mut client = Client::new(stream);
    // Also a connection that says nothing has a place, until it is let go.
    let place = egress.places.try_acquire();
    let head_ms = egress.limits.head_ms;
    let wait_ms = if place.is_ok() { head_ms } else { head_ms.min(TURNED_AWAY_WITHIN_MS) };
    let first = tokio::time::timeout(limits::millis(wait_ms), client.inbox.more()).await;
    let Ok(Ok(1..)) = first else { return };
    let is_socks = client.inbox.held().first() == Some(&SOCKS5);
    if place.is_err() {
        return turn_away(&mut client, egress, if is_socks { Way::Socks } else { Way::Http }).await;
    }
    if is_socks {
        socks::serve(&mut client, egress).await;
    } else {
        http::converse(&mut client, egress).await;
    }
}

async fn turn_away<S: AsyncRead + AsyncWrite>(client: &mut Client<S>, egress: &Egress, way: Way) {
    let reason = Reason::TooMany { most: egress.limits.connections };
    trip::Trip::begin(egress, way).end(Err(&reason));
    client.dismiss(&answer::refused(way, &reason)).await;
}
