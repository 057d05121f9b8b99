//! How the host itself calls somebody whom its settings name: a receiver of webhooks, a chat, a server of mail, a provider that people sign
//! on by.
//!
//! A name is looked up once, every address of the answer is checked as those of cages are, and the connection goes to one of these very
//! addresses: there is no second lookup that could answer differently. Addresses that are not public are reached only where the settings
//! list their network. TLS is checked against the name that was asked for.
//!
//! What it deliberately does not do: it follows no redirect, asks no proxy, keeps no connection, and tries once. Whoever calls tries again.

mod exchange;
mod fetch;
mod post;
mod url;

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use placet_domain::scope::{Authority, Network, Place};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{self, ClientConfig};

pub use fetch::{Ask, NotFetched};
pub use url::{BadUrl, TargetUrl};

use crate::egress::address::{Special, permitted};
use crate::egress::tls::{BadRoots, Roots, distrusted};
use crate::egress::{Resolve, SystemResolver};

/// To look a name up, and again to agree on TLS.
const PATIENCE: Duration = Duration::from_secs(10);
/// To be connected to one address: one that swallows everything leaves time for the next.
const PATIENCE_EACH: Duration = Duration::from_secs(2);
/// More addresses than any host needs; all of them are checked, so many are tried.
const MOST_TRIED: usize = 4;

/// Both directions of a connection, with TLS or without.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// A connection to whoever was called.
pub type Line = Box<dyn Duplex>;

/// Calls those whom the settings name.
#[derive(Clone)]
pub struct Dialer {
    resolver: Arc<dyn Resolve>,
    /// Networks that are not public and may be called all the same.
    listed: Arc<[Network]>,
    tls: Arc<ClientConfig>,
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").field("listed", &self.listed).finish_non_exhaustive()
    }
}

/// Why nobody was reached. Names hosts and addresses, never what was to be sent.
#[derive(Debug, thiserror::Error)]
pub enum NotReached {
    #[error("`{host}` leads to {address}, which is {special}; if that is meant, list its network under `networks`")]
    Special { host: String, address: IpAddr, special: Special },
    #[error("`{0}` has no address")]
    Unresolved(String),
    #[error("`{host}` cannot be reached: {why}")]
    Unreachable { host: String, why: String },
    #[error("it took longer than {} s", .0.as_secs())]
    TooSlow(Duration),
    #[error("`{host}` is not believed: {why}")]
    Untrusted { host: String, why: &'static str },
    #[error("the connection broke: {0}")]
    Broken(String),
}

/// Why calls cannot be made at all.
#[derive(Debug, thiserror::Error)]
pub enum NoDialer {
    #[error(transparent)]
    Roots(#[from] BadRoots),
    #[error("tls cannot be set up")]
    Tls(#[from] rustls::Error),
}

impl Dialer {
    /// Believes whoever everybody believes about names, or whom the file holds and nobody else.
    pub fn new(ca_file: Option<&Path>, listed: Vec<Network>) -> Result<Self, NoDialer> {
        let tls = Arc::new(Roots::client::<NoDialer>(ca_file)?);
        Ok(Self { resolver: Arc::new(SystemResolver::default()), listed: listed.into(), tls })
    }

    /// The same with another who knows the addresses of names.
    #[must_use]
    pub fn with_resolver(self, resolver: Arc<dyn Resolve>) -> Self {
        Self { resolver, ..self }
    }

    /// A connection to one of the host's checked addresses, without TLS yet.
    pub async fn connect(&self, to: &Authority) -> Result<Line, NotReached> {
        let addresses = self.look_up(to).await?;
        let host = to.place().to_string();
        let stream = first_of(&host, &addresses, PATIENCE_EACH, TcpStream::connect).await?;
        // Short messages that are awaited: better sent at once than in company.
        let _ = stream.set_nodelay(true);
        Ok(Box::new(stream))
    }

    /// A connection to this machine, at an address that was written as one, or as `localhost`. What is said there needs no TLS.
    pub async fn connect_here(&self, to: &Authority) -> Result<Line, NotReached> {
        let host = to.place().to_string();
        let addresses: Vec<SocketAddr> =
            here(to.place()).iter().map(|&address| SocketAddr::new(address, to.port())).collect();
        if addresses.is_empty() {
            return Err(NotReached::Unreachable { host, why: "it is not on this machine".to_owned() });
        }
        let stream = first_of(&host, &addresses, PATIENCE_EACH, TcpStream::connect).await?;
        let _ = stream.set_nodelay(true);
        Ok(Box::new(stream))
    }

    /// Every address of the host, if all of them may be called: an answer with one that may not is no honest one.
    async fn look_up(&self, to: &Authority) -> Result<Vec<SocketAddr>, NotReached> {
        let found = match to.place() {
            Place::At(address) => vec![*address],
            // Nobody is asked where this machine is.
            place @ Place::Named(_) if !here(place).is_empty() => here(place),
            Place::Named(host) => patiently(self.resolver.resolve(host)).await?.unwrap_or_default(),
        };
        for &address in &found {
            let host = || to.place().to_string();
            permitted(address, &self.listed).map_err(|special| NotReached::Special {
                host: host(),
                address,
                special,
            })?;
        }
        Ok(found.into_iter().map(|address| SocketAddr::new(address, to.port())).collect())
    }

    /// The same connection inside of TLS, with somebody who proves to be the host.
    pub async fn secure(&self, line: Line, host: &Place) -> Result<Line, NotReached> {
        let untrusted = |why| NotReached::Untrusted { host: host.to_string(), why };
        let name = match host {
            Place::Named(name) => {
                ServerName::try_from(name.as_str().to_owned()).map_err(|_| untrusted("it has no name"))?
            }
            Place::At(address) => ServerName::IpAddress((*address).into()),
        };
        let agreed = patiently(TlsConnector::from(Arc::clone(&self.tls)).connect(name, line)).await?;
        let stream = agreed.map_err(|error| {
            let distrust = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).map(distrusted);
            distrust.map_or_else(|| NotReached::Broken(error.to_string()), untrusted)
        })?;
        Ok(Box::new(stream))
    }
}

/// The addresses of this machine that a place stands for. `localhost` is never looked up (RFC 6761): what a name leads to can be changed by
/// others, and between two looks.
fn here(place: &Place) -> Vec<IpAddr> {
    match place {
        Place::At(address) if address.is_loopback() => vec![*address],
        Place::Named(name) if name.as_str() == "localhost" => {
            vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
        }
        Place::At(_) | Place::Named(_) => Vec::new(),
    }
}

/// Whatever answers first, one address after the other and each for so long.
async fn first_of<T, C: Future<Output = io::Result<T>>>(
    host: &str,
    addresses: &[SocketAddr],
    each: Duration,
    connect: impl Fn(SocketAddr) -> C,
) -> Result<T, NotReached> {
    let mut last = NotReached::Unresolved(host.to_owned());
    for &address in addresses.iter().take(MOST_TRIED) {
        last = match timeout(each, connect(address)).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => NotReached::Unreachable { host: host.to_owned(), why: error.to_string() },
            Err(_) => NotReached::TooSlow(each),
        };
    }
    Err(last)
}

/// Nobody who is called may keep us waiting without end.
async fn patiently<T>(call: impl Future<Output = T>) -> Result<T, NotReached> {
    timeout(PATIENCE, call).await.map_err(|_| NotReached::TooSlow(PATIENCE))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    use placet_domain::scope::Host;

    use super::*;
    use crate::egress::Found;

    /// Gives one answer after the other, and counts.
    #[derive(Default)]
    pub(super) struct Told {
        answers: Mutex<Vec<Vec<IpAddr>>>,
        asked: AtomicU32,
    }

    impl Told {
        pub(super) fn in_turn(answers: &[&[&str]]) -> Arc<Self> {
            let parsed = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
            Arc::new(Self { answers: Mutex::new(answers.iter().rev().map(parsed).collect()), ..Self::default() })
        }
    }

    impl Resolve for Told {
        fn resolve<'a>(&'a self, _: &'a Host) -> Found<'a> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            let next = self.answers.lock().unwrap().pop().unwrap_or_default();
            Box::pin(async move { Ok(next) })
        }
    }

    pub(super) fn dialer(listed: &[&str], told: Arc<Told>) -> Dialer {
        let listed = listed.iter().map(|text| text.parse().unwrap()).collect();
        Dialer::new(None, listed).unwrap().with_resolver(told)
    }

    async fn refused(dialer: &Dialer, to: &str) -> NotReached {
        let to = Authority::with_default_port(to, 443).unwrap();
        match dialer.connect(&to).await {
            Ok(_) => panic!("`{}` was connected to", to.place()),
            Err(error) => error,
        }
    }

    #[tokio::test]
    async fn b12_the_host_calls_no_address_that_is_not_public_whatever_a_name_leads_to() {
        for address in [
            "127.0.0.1",
            "10.0.0.1",
            "172.16.5.5",
            "192.168.1.1",
            "169.254.169.254",
            "100.100.100.200",
            "0.0.0.0",
            "::1",
            "fd00:ec2::254",
            "fe80::1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
        ] {
            let error = refused(&dialer(&[], Told::in_turn(&[&[address]])), "hooks.example").await;
            assert!(matches!(error, NotReached::Special { .. }), "{address}: {error}");
            assert!(error.to_string().contains("`networks`"), "{error}");
        }
        let mixed = Told::in_turn(&[&["93.184.216.34", "169.254.169.254"]]);
        assert!(matches!(refused(&dialer(&[], mixed), "hooks.example").await, NotReached::Special { .. }));
        let literal = refused(&dialer(&[], Told::in_turn(&[])), "169.254.169.254").await;
        assert!(matches!(literal, NotReached::Special { .. }), "{literal}");
        let wide = refused(&dialer(&["0.0.0.0/0"], Told::in_turn(&[&["10.0.0.1"]])), "hooks.example").await;
        assert!(matches!(wide, NotReached::Special { .. }), "a list that merely includes it opens nothing: {wide}");
    }

    #[tokio::test]
    async fn b12_a_name_is_looked_up_once_for_each_call_and_the_checked_address_is_the_one_that_is_called() {
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = format!("hooks.example:{}", server.local_addr().unwrap().port());
        let told = Told::in_turn(&[&["127.0.0.1"], &["169.254.169.254"]]);
        let dialer = dialer(&["127.0.0.0/8"], Arc::clone(&told));
        let authority = Authority::with_default_port(&to, 443).unwrap();
        dialer.connect(&authority).await.unwrap();
        server.accept().await.unwrap();
        assert_eq!(told.asked.load(Ordering::Relaxed), 1, "nothing asks a second time");
        assert!(matches!(refused(&dialer, &to).await, NotReached::Special { .. }), "and the next call checks anew");
    }

    #[tokio::test]
    async fn b12_localhost_is_this_machine_and_is_never_looked_up() {
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let told = Told::in_turn(&[&["93.184.216.34"]]);
        let dialer = dialer(&[], Arc::clone(&told));
        let at = |host: &str| {
            Authority::with_default_port(&format!("{host}:{}", server.local_addr().unwrap().port()), 80).unwrap()
        };
        dialer.connect_here(&at("localhost")).await.unwrap();
        server.accept().await.unwrap();
        assert_eq!(told.asked.load(Ordering::Relaxed), 0);
        for elsewhere in ["localhost.example", "10.0.0.1", "hooks.example"] {
            assert!(dialer.connect_here(&at(elsewhere)).await.is_err(), "{elsewhere}");
        }
    }

    #[tokio::test]
    async fn b12_an_address_that_swallows_everything_or_refuses_leaves_time_for_the_next() {
        let addresses = ["192.0.2.1:25", "192.0.2.2:25", "192.0.2.3:25"].map(|text| text.parse().unwrap());
        let [silent, closed, good] = addresses;
        let connect = |address: SocketAddr| async move {
            if address == silent {
                std::future::pending::<()>().await;
            }
            if address == closed { Err(io::ErrorKind::ConnectionRefused.into()) } else { Ok(address) }
        };
        let each = Duration::from_millis(1);
        assert_eq!(first_of("mail.example", &addresses, each, connect).await.unwrap(), good);
        let error = first_of("mail.example", &[closed, silent], each, connect).await.unwrap_err();
        assert!(matches!(error, NotReached::TooSlow(_)), "{error}");
        let error = first_of("mail.example", &[silent, closed], each, connect).await.unwrap_err();
        assert!(matches!(error, NotReached::Unreachable { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_name_without_an_address_is_told_as_such() {
        let error = refused(&dialer(&[], Told::in_turn(&[])), "nowhere.example").await;
        assert!(matches!(error, NotReached::Unresolved(_)), "{error}");
    }
}
