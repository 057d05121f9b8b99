//! Resolves host names to addresses.

use std::future::Future;
use std::io;
use std::net::{IpAddr, ToSocketAddrs as _};
use std::pin::Pin;
use std::sync::Arc;

use placet_domain::scope::Host;
use tokio::sync::Semaphore;

/// Future of one lookup: every address of the name.
pub type ResolveFuture<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Resolver of host names. Callers check every address of an answer before they connect to one of them.
pub trait Resolve: Send + Sync {
    fn resolve<'a>(&'a self, host: &'a Host) -> ResolveFuture<'a>;
}

/// Concurrent lookups of one resolver. Each occupies a thread until the system's resolver gives up, even if the caller left long
/// ago, and cages are started by threads of the same pool.
const MAX_LOOKUPS: usize = 16;
/// Concurrent lookups of all resolvers of this process: a quarter of the threads in the pool.
static ALL_LOOKUPS: Semaphore = Semaphore::const_new(128);

/// Resolver of this machine, with its `/etc/hosts` and search list.
#[derive(Debug, Clone)]
pub struct SystemResolver {
    lookups: Arc<Semaphore>,
}

impl Default for SystemResolver {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a Host) -> ResolveFuture<'a> {
        Box::pin(async move {
            let own = Arc::clone(&self.lookups).acquire_owned().await.map_err(io::Error::other)?;
            let all = ALL_LOOKUPS.acquire().await.map_err(io::Error::other)?;
            let name = host.as_str().to_owned();
            let lookup = tokio::task::spawn_blocking(move || {
                // The thread keeps its permits until the lookup ends, not until the caller leaves.
                let _permits = (own, all);
                (name.as_str(), 0).to_socket_addrs()
            });
            Ok(lookup.await.map_err(io::Error::other)??.map(|address| address.ip()).collect())
        })
    }
}
