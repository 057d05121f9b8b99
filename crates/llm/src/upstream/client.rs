//! Sends one request to one upstream: pooled connections, no redirects, one try.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderName};
use hyper::{HeaderMap, Method, Request, Response};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use placet_dial::{Roots, Secret, explain_tls_error};
use tokio_rustls::rustls;

use super::{KeyHeader, OpenError, Upstream, UpstreamSettings};
use crate::wire::Wire;

/// Servers hang up on idle connections after a minute or more; we do it first.
const IDLE_CONNECTION: Duration = Duration::from_secs(50);

#[derive(Clone)]
pub(crate) struct Client(legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Client")
    }
}

/// A request as it goes out, but for the key.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub(crate) path_and_query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotSent {
    /// It never got there; somebody else can be asked.
    #[error("it cannot be reached: {0}")]
    Unreachable(String),
    /// It is somebody, and not who it should be; nothing was sent.
    #[error("it is not believed: {0}")]
    Untrusted(&'static str),
    /// It got there, or may have, and then something went wrong.
    #[error("the connection broke: {0}")]
    Broken(String),
}

impl Client {
    pub(crate) fn new(settings: &UpstreamSettings) -> Result<Self, OpenError> {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(settings.timeouts.connect()));
        let tls = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(Roots::client::<OpenError>(settings.ca_file.as_deref())?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE_CONNECTION);
        Ok(Self(builder.build(tls)))
    }
}

/// Why its certificate is not believed, if that is what went wrong. Errors of TLS come wrapped as errors of a stream, once or twice.
fn distrust(error: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(why) = error.downcast_ref::<rustls::Error>() {
        return Some(explain_tls_error(why));
    }
    let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    let cause = wrapped.map_or_else(|| error.source(), |wrapped| Some(wrapped as &(dyn Error + 'static)));
    cause.and_then(distrust)
}

impl Upstream {
    /// One try. The answer is whatever comes, also a redirect, which is not followed.
    pub(crate) async fn send(
        &self,
        wire: Wire,
        outgoing: Outgoing,
        key: Option<&Secret>,
    ) -> Result<Response<Incoming>, NotSent> {
        let request = self.request(wire, outgoing, key)?;
        self.client.0.request(request).await.map_err(|error| {
            if let Some(why) = distrust(&error) {
                return NotSent::Untrusted(why);
            }
            let why = error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
            if error.is_connect() { NotSent::Unreachable(why) } else { NotSent::Broken(why) }
        })
    }

    fn request(&self, wire: Wire, outgoing: Outgoing, key: Option<&Secret>) -> Result<Request<Full<Bytes>>, NotSent> {
        let uri = self.settings.base_url.join(&outgoing.path_and_query);
        let mut request = Request::new(Full::new(outgoing.body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = uri.parse().map_err(|_| NotSent::Unreachable(format!("`{uri}` is no address")))?;
        *request.headers_mut() = outgoing.headers;
        if let Some(key) = key {
            let (name, before) = match self.key_header(wire) {
                KeyHeader::XApiKey => (HeaderName::from_static("x-api-key"), ""),
                KeyHeader::XGoogApiKey => (HeaderName::from_static("x-goog-api-key"), ""),
                KeyHeader::Bearer => (AUTHORIZATION, "Bearer "),
            };
            request.headers_mut().insert(name, key.header(before));
        }
        Ok(request)
    }
}
