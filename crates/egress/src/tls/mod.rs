//! Inside of TLS, for hosts whose rules ask for it: those with methods, with paths, or with a credential.
//!
//! The proxy answers the client with a certificate of its own ([`Issuer`]), reads each request as strictly as a plain
//! one, and carries it to the host over TLS that it checks itself ([`Upstream`]). Every other host stays an opaque tunnel.
//!
//! What it deliberately does not do: it speaks HTTP/1.1 and nothing newer, changes no protocol (no WebSocket), shows
//! no certificate of a client, and accepts no host that it cannot verify, whatever the client would have accepted.

mod certificate;
mod der;
mod issuer;
mod joined;
mod upstream;

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use placet_dial::Roots;
use placet_domain::scope::Authority;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::rustls;
use tokio_rustls::{TlsAcceptor, client, server};

pub use issuer::Issuer;

use super::client::Client;
use super::limits::{Limits, millis};
use super::rules::{Reason, Rules};
use joined::Joined;
use upstream::Upstream;

/// Why TLS cannot be opened on this machine.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("this machine has no randomness to make a key from")]
    NoRandomness,
    #[error("tls cannot be set up")]
    Setup(#[from] rustls::Error),
}

/// Whatever is needed to stand between a client and a host.
pub(super) struct Opening {
    issuer: Issuer,
    upstream: Upstream,
}

impl Opening {
    /// For the hosts whose rules ask for it at this moment; none if there are none.
    pub(super) fn make(rules: &Rules, roots: Roots) -> Result<Option<Self>, TlsError> {
        let opened: Vec<_> = rules.allow.iter().filter(|rule| rule.looks_inside()).cloned().collect();
        if opened.is_empty() {
            return Ok(None);
        }
        let issuer = Issuer::make(opened, SystemTime::now())?;
        Ok(Some(Self { issuer, upstream: Upstream::new(roots)? }))
    }

    /// The certificate that a cage has to trust.
    pub(super) fn certificate_pem(&self) -> String {
        self.issuer.pem()
    }

    /// What the client is answered with. A host that came with later rules is refused: the cage could not trust it.
    pub(super) fn answering(&self, to: &Authority) -> Result<Arc<rustls::ServerConfig>, Reason> {
        let made = self.issuer.answering(to.place(), SystemTime::now());
        made.ok_or_else(|| Reason::NotOpened { host: to.place().to_string() })
    }

    /// Speaks TLS with the host, which must be the very one.
    pub(super) async fn reach(
        &self,
        stream: TcpStream,
        to: &Authority,
        limits: &Limits,
    ) -> Result<client::TlsStream<TcpStream>, Reason> {
        let wait_ms = limits.connect_ms;
        let reached = tokio::time::timeout(millis(wait_ms), self.upstream.connect(stream, to.place()));
        reached.await.unwrap_or(Err(Reason::HostTooSlow { wait_ms }))
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opening")
    }
}

/// Speaks TLS with the client, beginning with what it said already.
pub(super) async fn accept<'a, S: AsyncRead + AsyncWrite>(
    client: &'a mut Client<S>,
    config: Arc<rustls::ServerConfig>,
    limits: &Limits,
) -> Result<server::TlsStream<Joined<'a, S>>, Reason> {
    let head_ms = limits.head_ms;
    let accepted = tokio::time::timeout(millis(head_ms), TlsAcceptor::from(config).accept(Joined::new(client)));
    match accepted.await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(Reason::NoHandshake(why_not(&error))),
        Err(_) => Err(Reason::TooSlow { head_ms }),
    }
}

/// In our own words: what a client sends is not repeated.
fn why_not(error: &std::io::Error) -> &'static str {
    use rustls::AlertDescription::{BadCertificate, CertificateUnknown, DecryptError, UnknownCA};
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(rustls::Error::AlertReceived(UnknownCA | BadCertificate | CertificateUnknown | DecryptError)) => {
            "the client does not trust the certificate of this cage"
        }
        Some(rustls::Error::NoApplicationProtocol) => "the client does not speak HTTP/1.1",
        Some(rustls::Error::PeerIncompatible(_)) => "the client speaks no TLS 1.2 or 1.3",
        _ => "it was broken off",
    }
}
