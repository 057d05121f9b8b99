//! One request on a connection of its own: over TLS to an address that was checked, or to this machine. What comes back is whatever comes,
//! also a redirect, which nobody follows.

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;

use super::{Dialer, Line, NotReached, TargetUrl};

const AGENT: &str = concat!("placet/", env!("CARGO_PKG_VERSION"));

/// An answer that has begun. Its connection ends with it, whatever becomes of it.
pub(super) struct Begun {
    pub(super) response: Response<Incoming>,
    pub(super) _carrying: JoinSet<()>,
}

/// What is asked, with headers whose values may be secrets.
pub(super) fn request(
    url: &TargetUrl,
    method: Method,
    headers: &[(&'static str, &str)],
    body: Vec<u8>,
) -> Result<Request<Full<Bytes>>, NotReached> {
    let bad = || NotReached::Broken("the request cannot be written".to_owned());
    let value = |text: &str| HeaderValue::from_str(text).map_err(|_| bad());
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = method;
    *request.uri_mut() = url.path_and_query().parse().map_err(|_| bad())?;
    request.headers_mut().insert(HOST, value(&url.host_header())?);
    request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
    for (name, text) in headers {
        let mut value = value(text)?;
        value.set_sensitive(true);
        request.headers_mut().insert(HeaderName::from_static(name), value);
    }
    Ok(request)
}

impl Dialer {
    pub(super) async fn ask(&self, url: &TargetUrl, request: Request<Full<Bytes>>) -> Result<Begun, NotReached> {
        let broken = |error: hyper::Error| NotReached::Broken(error.to_string());
        let line = self.line(url).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(line)).await.map_err(broken)?;
        let mut carrying = JoinSet::new();
        carrying.spawn(async move {
            let _ = connection.await;
        });
        let response = sender.send_request(request).await.map_err(broken)?;
        Ok(Begun { response, _carrying: carrying })
    }

    /// Without TLS an address is this machine, as it was read; every other is checked.
    async fn line(&self, url: &TargetUrl) -> Result<Line, NotReached> {
        if !url.is_secure() {
            return self.connect_here(url.to()).await;
        }
        self.secure(self.connect(url.to()).await?, url.to().place()).await
    }
}
