//! Resolves an allowed host and connects to one of its checked addresses.
//!
//! A cage has no resolver, so a name is never looked up before it was judged: a refused name that carries data is not resolved.
//! Every address of the answer is checked, and the connection goes to one of these addresses: no second lookup could answer
//! differently.

use std::net::SocketAddr;

use placet_dial::Resolve;
use placet_domain::scope::{Authority, Place};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::limits::{Limits, millis};
use super::rules::{Grant, Reason};

/// More addresses than any host needs; all of them are checked, so many are tried.
const MOST_TRIED: usize = 4;

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
