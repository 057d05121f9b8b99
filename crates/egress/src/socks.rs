//! SOCKS5 (RFC 1928): no password, CONNECT alone, names and addresses. A name is what is judged; whoever sends an
//! address instead of a name is judged by the address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use placet_domain::scope::{Authority, Place};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use super::client::Client;
use super::inbox::{Inbox, Missing};
use super::limits::millis;
use super::record::Way;
use super::rules::Reason;
use super::trip::Trip;
use super::{Egress, answer, name, tunnel};

const NO_PASSWORD: u8 = 0;
const NO_WAY: u8 = 0xff;
const CONNECT: u8 = 1;

pub(super) async fn serve<S: AsyncRead + AsyncWrite>(client: &mut Client<S>, egress: &Egress) {
    let head_ms = egress.limits().head_ms;
    let asked = timeout(millis(head_ms), asked(client)).await;
    match asked.unwrap_or(Err(Reason::TooSlow { head_ms })) {
        Ok(to) => tunnel::open(client, egress, Way::Socks, to).await,
        Err(reason) => {
            Trip::begin(egress, Way::Socks).end(Err(&reason));
            client.dismiss(&answer::refused(Way::Socks, &reason)).await;
        }
    }
}

async fn asked<S: AsyncRead + AsyncWrite>(client: &mut Client<S>) -> Result<Authority, Reason> {
    let count = usize::from(client.inbox.exactly(2).await?[1]);
    let methods = client.inbox.exactly(count).await?;
    if !methods.contains(&NO_PASSWORD) {
        client.tell(&[5, NO_WAY]).await;
        return Err(Reason::Unsupported("there is no password here; connect without one"));
    }
    client.tell(&[5, NO_PASSWORD]).await;
    let [version, command, reserved, kind] = array(&mut client.inbox).await?;
    if version != 5 || reserved != 0 {
        return Err(Reason::Malformed("not SOCKS version 5"));
    }
    // Read to the end before anything is refused, so that the answer is not lost.
    let to = destination(&mut client.inbox, kind).await?;
    if command == CONNECT { to } else { Err(Reason::Unsupported("only CONNECT is passed on")) }
}

/// The outer error is about the bytes, the inner about what they say.
async fn destination<R: AsyncRead + Unpin>(
    inbox: &mut Inbox<R>,
    kind: u8,
) -> Result<Result<Authority, Reason>, Reason> {
    match kind {
        1 => {
            let address = Ipv4Addr::from(array::<4, _>(inbox).await?);
            Ok(at(address.into(), port(inbox).await?))
        }
        3 => {
            let [length] = array(inbox).await?;
            let text = inbox.exactly(length.into()).await?;
            Ok(name::of_socks(&text, port(inbox).await?))
        }
        4 => {
            let address = Ipv6Addr::from(array::<16, _>(inbox).await?);
            Ok(at(address.into(), port(inbox).await?))
        }
        _ => Err(Reason::Unsupported("an address is IPv4, IPv6 or a name")),
    }
}

fn at(address: IpAddr, port: u16) -> Result<Authority, Reason> {
    Ok(Authority::new(Place::At(address), port)?)
}

async fn port<R: AsyncRead + Unpin>(inbox: &mut Inbox<R>) -> Result<u16, Reason> {
    Ok(u16::from_be_bytes(array(inbox).await?))
}

async fn array<const N: usize, R: AsyncRead + Unpin>(inbox: &mut Inbox<R>) -> Result<[u8; N], Reason> {
    let bytes = inbox.exactly(N).await?;
    Ok(*bytes.first_chunk().expect("exactly so many were taken"))
}

impl From<Missing> for Reason {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::TooLong => Self::Malformed("it does not end where it should"),
            Missing::Ended => Self::Malformed("it ended early"),
            Missing::Broken => Self::Broken,
        }
    }
}
