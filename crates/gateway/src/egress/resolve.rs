//! From a name to an address, outside of the cage and only after the name was allowed.
//!
//! A cage has no resolver, so a name is never looked up before it was judged: names that carry data out are refused
//! unseen. Every address of the answer is checked, and the connection goes to one of these very addresses; there is no
//! second lookup that could answer differently.

use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::pin::Pin;
use std::sync::Arc;

use placet_domain::scope::{Authority, Host, Place};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::limits::{Limits, millis};
use super::rules::{Grant, Reason};

/// More addresses than any host needs; all of them are checked, so many are tried.
const MOST_TRIED: usize = 4;

/// What a resolver will have found.
pub type Found<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Who knows the addresses of names.
pub trait Resolve: Send + Sync {
    fn resolve<'a>(&'a self, host: &'a Host) -> Found<'a>;
}

/// Names that one way out looks up at once. Each takes a thread until the system's resolver gives up, however long ago whoever asked
/// did, and cages are started by threads of the same kind.
const LOOKUPS: usize = 16;
/// Of all ways out of this process together: a quarter of the threads there are.
static ALL_LOOKUPS: Semaphore = Semaphore::const_new(128);

/// The resolver of the host this runs on, with whatever its `/etc/hosts` and search list say.
#[derive(Debug, Clone)]
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(LOOKUPS)) }
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a Host) -> Found<'a> {
        Box::pin(async move {
            let own = Arc::clone(&self.lookups).acquire_owned().await.map_err(io::Error::other)?;
            let all = ALL_LOOKUPS.acquire().await.map_err(io::Error::other)?;
            let name = host.as_str().to_owned();
            let looking = tokio::task::spawn_blocking(move || {
                let _held = (own, all);
                (name.as_str(), 0).to_socket_addrs()
            });
            Ok(looking.await.map_err(io::Error::other)??.map(|address| address.ip()).collect())
        })
    }
}

/// The addresses the grant permits, of the name or of the address itself.
pub(super) async fn look_up(
    resolver: &dyn Resolve,
    to: &Authority,
    grant: &Grant,
    limits: &Limits,
) -> Result<Vec<SocketAddr>, Reason> {
    let found = match to.place() {
        Place::At(address) => vec![*address],
        Place::Named(host) => {
            let answer = timeout(millis(limits.resolve_ms), resolver.resolve(host)).await;
            let answer = answer.map_err(|_| Reason::HostTooSlow { wait_ms: limits.resolve_ms })?;
            answer.ok().filter(|found| !found.is_empty()).ok_or(Reason::Unresolved)?
        }
    };
    grant.addresses(to, &found)
}

/// Connects to the first that answers.
pub(super) async fn connect(addresses: &[SocketAddr], limits: &Limits) -> Result<(TcpStream, SocketAddr), Reason> {
    let tried = &addresses[..addresses.len().min(MOST_TRIED)];
    let each_ms = limits.connect_ms / tried.len().max(1) as u64;
    let mut last = Reason::Unreachable;
    for &address in tried {
        match timeout(millis(each_ms), TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // Small messages of tunnels should not wait for one another.
                let _ = stream.set_nodelay(true);
                return Ok((stream, address));
            }
            Ok(Err(_)) => last = Reason::Unreachable,
            Err(_) => last = Reason::HostTooSlow { wait_ms: limits.connect_ms },
        }
    }
    Err(last)
}
