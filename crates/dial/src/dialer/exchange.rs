//! Sends one request on a connection of its own: over TLS to a checked address, or to this machine. A redirect is returned like any other
//! response.

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;

use super::{Connection, DialError, Dialer, TargetUrl};

const USER_AGENT_VALUE: &str = concat!("placet/", env!("CARGO_PKG_VERSION"));

/// Response whose head has arrived. Dropping it closes its connection.
pub(super) struct StartedResponse {
    pub(super) response: Response<Incoming>,
    pub(super) _connection: JoinSet<()>,
}

/// Builds a request. Values of headers may be secrets, so they are marked as sensitive.
pub(super) fn build_request(
    url: &TargetUrl,
    method: Method,
    headers: &[(&'static str, &str)],
    body: Vec<u8>,
) -> Result<Request<Full<Bytes>>, DialError> {
    let bad = || DialError::Broken("the request cannot be written".to_owned());
    let value = |text: &str| HeaderValue::from_str(text).map_err(|_| bad());
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = method;
    *request.uri_mut() = url.path_and_query().parse().map_err(|_| bad())?;
    request.headers_mut().insert(HOST, value(&url.host_header())?);
    request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(USER_AGENT_VALUE));
    for (name, text) in headers {
        let mut value = value(text)?;
        value.set_sensitive(true);
        request.headers_mut().insert(HeaderName::from_static(name), value);
    }
    Ok(request)
}

impl Dialer {
    pub(super) async fn send(
        &self,
        url: &TargetUrl,
        request: Request<Full<Bytes>>,
    ) -> Result<StartedResponse, DialError> {
        let broken = |error: hyper::Error| DialError::Broken(error.to_string());
        let connection = self.open(url).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(connection)).await.map_err(broken)?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            let _ = connection.await;
        });
        let response = sender.send_request(request).await.map_err(broken)?;
        Ok(StartedResponse { response, _connection: driver })
    }

    /// Opens the connection of a call. Without TLS the address is on this machine, as its parser made sure.
    async fn open(&self, url: &TargetUrl) -> Result<Connection, DialError> {
        if !url.is_secure() {
            return self.connect_here(url.to()).await;
        }
        self.secure(self.connect(url.to()).await?, url.to().place()).await
    }
}
