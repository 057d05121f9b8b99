//! Asks one address on behalf of the control plane itself, and takes one bounded answer: for what an operator's settings name, not for cages.
//!
//! The name is looked up once, every address of the answer is checked, and the connection goes to one of these very addresses. Over TLS, or to
//! this machine. Redirects are not followed: an answer that is not 200 is none.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use placet_domain::scope::Network;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use crate::dial::NoDialer;
use crate::egress::address::permitted;
use crate::egress::tls::Roots;

/// A person waits for it.
const PATIENCE: Duration = Duration::from_secs(15);
/// Documents of providers take a few kilobytes.
const LONGEST_ANSWER: usize = 256 << 10;
const MOST_TRIED: usize = 4;

/// `https://…`, or `http://` to this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebAddress {
    uri: Uri,
    host: String,
    port: u16,
    is_tls: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no address that is asked: `https://` with a host, or `http://` on this machine (127.0.0.1, [::1], localhost)"
)]
pub struct BadAddress(String);

impl FromStr for WebAddress {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let bad = || BadAddress(text.chars().take(200).collect());
        let uri: Uri = text.parse().map_err(|_| bad())?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@')).ok_or_else(bad)?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        let is_tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") if is_this_machine(&host) => false,
            _ => return Err(bad()),
        };
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        if host.is_empty() || text.contains('#') {
            return Err(bad());
        }
        Ok(Self { uri, host, port, is_tls })
    }
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl WebAddress {
    pub const fn is_tls(&self) -> bool {
        self.is_tls
    }
}

impl std::fmt::Display for WebAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.uri)
    }
}

/// Why there is no answer. What the other side said is no part of it.
#[derive(Debug, thiserror::Error)]
pub enum NotFetched {
    #[error("`{0}` has no address that may be asked; list private networks in the settings")]
    NoAddress(String),
    #[error("it cannot be reached: {0}")]
    Unreachable(#[source] std::io::Error),
    #[error("the connection broke: {0}")]
    Broken(#[source] hyper::Error),
    #[error("it answered {0}, not 200")]
    Refused(StatusCode),
    #[error("it answered more than 256 KiB, or broke off")]
    TooMuch,
    #[error("it took longer than 15 seconds")]
    TooSlow,
}

/// Who asks.
#[derive(Clone)]
pub struct Fetcher {
    tls: TlsConnector,
    networks: Vec<Network>,
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("networks", &self.networks).finish_non_exhaustive()
    }
}

/// What is asked for.
#[derive(Debug)]
pub enum Ask {
    Document,
    /// Sends a form, with what proves who asks.
    Form {
        body: String,
        authorization: Option<HeaderValue>,
    },
}

impl Fetcher {
    /// Believes the roots that ship, or those of one file alone; reaches public addresses, and of others those that are listed.
    pub fn new(networks: Vec<Network>, ca_file: Option<&Path>) -> Result<Self, NoDialer> {
        let config = Roots::client::<NoDialer>(ca_file)?;
        Ok(Self { tls: TlsConnector::from(Arc::new(config)), networks })
    }

    /// One answer, or none.
    pub async fn fetch(&self, address: &WebAddress, ask: Ask) -> Result<Bytes, NotFetched> {
        tokio::time::timeout(PATIENCE, self.ask(address, ask)).await.map_err(|_| NotFetched::TooSlow)?
    }

    async fn ask(&self, address: &WebAddress, ask: Ask) -> Result<Bytes, NotFetched> {
        let stream = self.connect(address).await?;
        let request = request(address, ask);
        if !address.is_tls {
            return exchange(stream, request).await;
        }
        let invalid = |_| NotFetched::NoAddress(address.host.clone());
        let name = ServerName::try_from(address.host.clone()).map_err(invalid)?;
        let stream = self.tls.connect(name, stream).await.map_err(NotFetched::Unreachable)?;
        exchange(stream, request).await
    }

    /// Connects to an address that was checked, and to no other.
    async fn connect(&self, address: &WebAddress) -> Result<TcpStream, NotFetched> {
        let found = tokio::net::lookup_host((address.host.as_str(), address.port)).await;
        let found: Vec<SocketAddr> = found.map_err(NotFetched::Unreachable)?.collect();
        let is_meant = |found: &&SocketAddr| {
            if address.is_tls { permitted(found.ip(), &self.networks).is_ok() } else { found.ip().is_loopback() }
        };
        let mut last = NotFetched::NoAddress(address.host.clone());
        for place in found.iter().filter(is_meant).take(MOST_TRIED) {
            match TcpStream::connect(place).await {
                Ok(stream) => return Ok(stream),
                Err(error) => last = NotFetched::Unreachable(error),
            }
        }
        Err(last)
    }
}

fn request(address: &WebAddress, ask: Ask) -> Request<Full<Bytes>> {
    let (method, body, authorization) = match ask {
        Ask::Document => (Method::GET, String::new(), None),
        Ask::Form { body, authorization } => (Method::POST, body, authorization),
    };
    let is_form = method == Method::POST;
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = method;
    let path = address.uri.path_and_query().map_or("/", |path| path.as_str());
    *request.uri_mut() = path.parse().unwrap_or_default();
    let headers = request.headers_mut();
    let host = address.uri.authority().map_or("", |authority| authority.as_str());
    headers.insert(HOST, HeaderValue::from_str(host).unwrap_or(HeaderValue::from_static("")));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    if is_form {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    }
    if let Some(authorization) = authorization {
        headers.insert(AUTHORIZATION, authorization);
    }
    request
}

async fn exchange<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Bytes, NotFetched>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(NotFetched::Broken)?;
    let carried = tokio::spawn(connection);
    let answer = sender.send_request(request).await.map_err(NotFetched::Broken)?;
    if answer.status() != StatusCode::OK {
        return Err(NotFetched::Refused(answer.status()));
    }
    let body = Limited::new(answer.into_body(), LONGEST_ANSWER).collect().await;
    carried.abort();
    Ok(body.map_err(|_| NotFetched::TooMuch)?.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t9_only_tls_and_this_machine_are_asked() {
        for (text, fits) in [
            ("https://login.example.org/x?y=1", true),
            ("http://127.0.0.1:4000/x", true),
            ("http://localhost:4000", true),
            ("http://[::1]:4000/", true),
            ("http://login.example.org/", false),
            ("http://169.254.169.254/latest", false),
            ("http://127.0.0.1.example.org/", false),
            ("https://user:pass@login.example.org/", false),
            ("https://login.example.org/#x", false),
            ("ftp://login.example.org/", false),
            ("/x", false),
            ("", false),
        ] {
            assert_eq!(text.parse::<WebAddress>().is_ok(), fits, "{text}");
        }
    }

    #[tokio::test]
    async fn t9_a_name_over_tls_that_leads_to_this_machine_is_not_asked() {
        let fetcher = Fetcher::new(Vec::new(), None).unwrap();
        for text in ["https://127.0.0.1:9/", "https://localhost:9/", "https://169.254.169.254/"] {
            let refused = fetcher.fetch(&text.parse().unwrap(), Ask::Document).await;
            assert!(matches!(refused, Err(NotFetched::NoAddress(_))), "{text}: {refused:?}");
        }
    }
}
