//! Calls the hosts that the settings name: receivers of webhooks, chats, mail servers, sign-on providers.
//!
//! A name is resolved once, every address of the answer is checked as those of cages are, and the connection goes to one of these
//! addresses: no second lookup could answer differently. Addresses that are not public are called only where the settings list their
//! network. The TLS certificate must be for the name that was called.
//!
//! The dialer follows no redirect, uses no proxy, pools no connection and tries once. Retries belong to the caller.

mod exchange;
mod fetch;
mod post;
mod target_url;

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

pub use fetch::{FetchError, FetchRequest};
pub use target_url::{TargetUrl, TargetUrlError};

use crate::address::{SpecialNetwork, check_address};
use crate::resolve::{Resolve, SystemResolver};
use crate::roots::{Roots, RootsError, explain_tls_error};

/// Time to resolve a name, and again for the TLS handshake.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);
/// Time to connect to one address: an address that drops every packet leaves time for the next.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Addresses that are tried; all of them are checked. More than any host needs.
const MAX_TRIED: usize = 4;

/// Both directions of a connection, with or without TLS.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// Connection to a host that was called.
pub type Connection = Box<dyn Duplex>;

/// Client for the hosts that the settings name.
#[derive(Clone)]
pub struct Dialer {
    resolver: Arc<dyn Resolve>,
    /// Networks that may be called although they are not public.
    listed: Arc<[Network]>,
    tls: Arc<ClientConfig>,
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").field("listed", &self.listed).finish_non_exhaustive()
    }
}

/// Reason why a call failed. Names hosts and addresses, never the content of the call.
#[derive(Debug, thiserror::Error)]
pub enum DialError {
    #[error("`{host}` leads to {address}, which is {special}; if that is meant, list its network under `networks`")]
    Special { host: String, address: IpAddr, special: SpecialNetwork },
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

/// Reason why no dialer can be made.
#[derive(Debug, thiserror::Error)]
pub enum DialerSetupError {
    #[error(transparent)]
    Roots(#[from] RootsError),
    #[error("tls cannot be set up")]
    Tls(#[from] rustls::Error),
}

impl Dialer {
    /// Makes a dialer that believes the public roots, or only the roots of `ca_file`.
    pub fn new(ca_file: Option<&Path>, listed: Vec<Network>) -> Result<Self, DialerSetupError> {
        let tls = Arc::new(Roots::client::<DialerSetupError>(ca_file)?);
        Ok(Self { resolver: Arc::new(SystemResolver::default()), listed: listed.into(), tls })
    }

    /// Replaces the resolver.
    #[must_use]
    pub fn with_resolver(self, resolver: Arc<dyn Resolve>) -> Self {
        Self { resolver, ..self }
    }

    /// Connects to one of the checked addresses of a host, without TLS.
    pub async fn connect(&self, to: &Authority) -> Result<Connection, DialError> {
        let addresses = self.resolve_checked(to).await?;
        let host = to.place().to_string();
        let stream = connect_first(&host, &addresses, CONNECT_TIMEOUT, TcpStream::connect).await?;
        // Messages are short and somebody waits for them: send each at once.
        let _ = stream.set_nodelay(true);
        Ok(Box::new(stream))
    }

    /// Connects to this machine, at a loopback address or `localhost`. Such a connection needs no TLS.
    pub async fn connect_here(&self, to: &Authority) -> Result<Connection, DialError> {
        let host = to.place().to_string();
        let addresses: Vec<SocketAddr> =
            local_addresses(to.place()).iter().map(|&address| SocketAddr::new(address, to.port())).collect();
        if addresses.is_empty() {
            return Err(DialError::Unreachable { host, why: "it is not on this machine".to_owned() });
        }
        let stream = connect_first(&host, &addresses, CONNECT_TIMEOUT, TcpStream::connect).await?;
        let _ = stream.set_nodelay(true);
        Ok(Box::new(stream))
    }

    /// Resolves the host to addresses that may be called. One forbidden address refuses the whole answer.
    async fn resolve_checked(&self, to: &Authority) -> Result<Vec<SocketAddr>, DialError> {
        let found = match to.place() {
            Place::At(address) => vec![*address],
            // `localhost` is never resolved.
            place @ Place::Named(_) if !local_addresses(place).is_empty() => local_addresses(place),
            Place::Named(host) => within_step_timeout(self.resolver.resolve(host)).await?.unwrap_or_default(),
        };
        for &address in &found {
            let host = || to.place().to_string();
            check_address(address, &self.listed).map_err(|special| DialError::Special {
                host: host(),
                address,
                special,
            })?;
        }
        Ok(found.into_iter().map(|address| SocketAddr::new(address, to.port())).collect())
    }

    /// Starts TLS on a connection. The other side must prove to be `host`.
    pub async fn secure(&self, connection: Connection, host: &Place) -> Result<Connection, DialError> {
        let untrusted = |why| DialError::Untrusted { host: host.to_string(), why };
        let name = match host {
            Place::Named(name) => {
                ServerName::try_from(name.as_str().to_owned()).map_err(|_| untrusted("it has no name"))?
            }
            Place::At(address) => ServerName::IpAddress((*address).into()),
        };
        let agreed = within_step_timeout(TlsConnector::from(Arc::clone(&self.tls)).connect(name, connection)).await?;
        let stream = agreed.map_err(|error| {
            let distrust =
                error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()).map(explain_tls_error);
            distrust.map_or_else(|| DialError::Broken(error.to_string()), untrusted)
        })?;
        Ok(Box::new(stream))
    }
}

/// Lists the addresses of this machine that a place stands for. `localhost` is never resolved (RFC 6761): others can change the address
/// of a name, also between two lookups.
fn local_addresses(place: &Place) -> Vec<IpAddr> {
    match place {
        Place::At(address) if address.is_loopback() => vec![*address],
        Place::Named(name) if name.as_str() == "localhost" => {
            vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
        }
        Place::At(_) | Place::Named(_) => Vec::new(),
    }
}

/// Connects to the first address that answers. Addresses are tried in turn, each for at most `each`.
async fn connect_first<T, C: Future<Output = io::Result<T>>>(
    host: &str,
    addresses: &[SocketAddr],
    each: Duration,
    connect: impl Fn(SocketAddr) -> C,
) -> Result<T, DialError> {
    let mut last = DialError::Unresolved(host.to_owned());
    for &address in addresses.iter().take(MAX_TRIED) {
        last = match timeout(each, connect(address)).await {
            Ok(Ok(connected)) => return Ok(connected),
            Ok(Err(error)) => DialError::Unreachable { host: host.to_owned(), why: error.to_string() },
            Err(_) => DialError::TooSlow(each),
        };
    }
    Err(last)
}

/// Bounds one step of a call.
async fn within_step_timeout<T>(call: impl Future<Output = T>) -> Result<T, DialError> {
    timeout(STEP_TIMEOUT, call).await.map_err(|_| DialError::TooSlow(STEP_TIMEOUT))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    use placet_domain::scope::Host;

    use super::*;
    use crate::resolve::ResolveFuture;

    /// Resolver that gives one answer after the other, and counts lookups.
    #[derive(Default)]
    pub(super) struct ScriptedResolver {
        answers: Mutex<Vec<Vec<IpAddr>>>,
        lookups: AtomicU32,
    }

    impl ScriptedResolver {
        pub(super) fn in_turn(answers: &[&[&str]]) -> Arc<Self> {
            let parsed = |answer: &&[&str]| answer.iter().map(|text| text.parse().unwrap()).collect();
            Arc::new(Self { answers: Mutex::new(answers.iter().rev().map(parsed).collect()), ..Self::default() })
        }
    }

    impl Resolve for ScriptedResolver {
        fn resolve<'a>(&'a self, _: &'a Host) -> ResolveFuture<'a> {
            self.lookups.fetch_add(1, Ordering::Relaxed);
            let next = self.answers.lock().unwrap().pop().unwrap_or_default();
            Box::pin(async move { Ok(next) })
        }
    }

    pub(super) fn dialer(listed: &[&str], resolver: Arc<ScriptedResolver>) -> Dialer {
        let listed = listed.iter().map(|text| text.parse().unwrap()).collect();
        Dialer::new(None, listed).unwrap().with_resolver(resolver)
    }

    async fn refused(dialer: &Dialer, to: &str) -> DialError {
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
            let error = refused(&dialer(&[], ScriptedResolver::in_turn(&[&[address]])), "hooks.example").await;
            assert!(matches!(error, DialError::Special { .. }), "{address}: {error}");
            assert!(error.to_string().contains("`networks`"), "{error}");
        }
        let mixed = ScriptedResolver::in_turn(&[&["93.184.216.34", "169.254.169.254"]]);
        assert!(matches!(refused(&dialer(&[], mixed), "hooks.example").await, DialError::Special { .. }));
        let literal = refused(&dialer(&[], ScriptedResolver::in_turn(&[])), "169.254.169.254").await;
        assert!(matches!(literal, DialError::Special { .. }), "{literal}");
        let wide = refused(&dialer(&["0.0.0.0/0"], ScriptedResolver::in_turn(&[&["10.0.0.1"]])), "hooks.example").await;
        assert!(matches!(wide, DialError::Special { .. }), "a list that merely includes it opens nothing: {wide}");
    }

    #[tokio::test]
    async fn b12_a_name_is_looked_up_once_for_each_call_and_the_checked_address_is_the_one_that_is_called() {
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to = format!("hooks.example:{}", server.local_addr().unwrap().port());
        let resolver = ScriptedResolver::in_turn(&[&["127.0.0.1"], &["169.254.169.254"]]);
        let dialer = dialer(&["127.0.0.0/8"], Arc::clone(&resolver));
        let authority = Authority::with_default_port(&to, 443).unwrap();
        dialer.connect(&authority).await.unwrap();
        server.accept().await.unwrap();
        assert_eq!(resolver.lookups.load(Ordering::Relaxed), 1, "nothing asks a second time");
        assert!(matches!(refused(&dialer, &to).await, DialError::Special { .. }), "and the next call checks anew");
    }

    #[tokio::test]
    async fn b12_localhost_is_this_machine_and_is_never_looked_up() {
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let resolver = ScriptedResolver::in_turn(&[&["93.184.216.34"]]);
        let dialer = dialer(&[], Arc::clone(&resolver));
        let at = |host: &str| {
            Authority::with_default_port(&format!("{host}:{}", server.local_addr().unwrap().port()), 80).unwrap()
        };
        dialer.connect_here(&at("localhost")).await.unwrap();
        server.accept().await.unwrap();
        assert_eq!(resolver.lookups.load(Ordering::Relaxed), 0);
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
        assert_eq!(connect_first("mail.example", &addresses, each, connect).await.unwrap(), good);
        let error = connect_first("mail.example", &[closed, silent], each, connect).await.unwrap_err();
        assert!(matches!(error, DialError::TooSlow(_)), "{error}");
        let error = connect_first("mail.example", &[silent, closed], each, connect).await.unwrap_err();
        assert!(matches!(error, DialError::Unreachable { .. }), "{error}");
    }

    #[tokio::test]
    async fn a_name_without_an_address_is_told_as_such() {
        let error = refused(&dialer(&[], ScriptedResolver::in_turn(&[])), "nowhere.example").await;
        assert!(matches!(error, DialError::Unresolved(_)), "{error}");
    }
}
