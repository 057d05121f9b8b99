//! Sends one request and reads its status. Of the rest of the answer at most a few kilobytes are read, and nothing is kept.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;

use super::{Dialer, Line, NotReached, TargetUrl};

/// For all of it: to be reached, to be sent, to be answered.
const LONGEST: Duration = Duration::from_secs(10);
const LONGEST_GOODBYE: Duration = Duration::from_secs(1);
/// Enough for any polite answer.
const MOST_ANSWER_BYTES: usize = 4 << 10;
const AGENT: &str = concat!("placet/", env!("CARGO_PKG_VERSION"));

impl Dialer {
    /// One try. The answer is whatever comes, also a redirect, which is not followed.
    pub async fn post(
        &self,
        url: &TargetUrl,
        headers: &[(&'static str, &str)],
        body: Vec<u8>,
    ) -> Result<StatusCode, NotReached> {
        let asked = async {
            let request = request(url, headers, body)?;
            exchange(self.line(url).await?, request).await
        };
        tokio::time::timeout(LONGEST, asked).await.map_err(|_| NotReached::TooSlow(LONGEST))?
    }

    /// Without TLS an address is this machine, as it was read; every other is checked.
    async fn line(&self, url: &TargetUrl) -> Result<Line, NotReached> {
        if !url.is_secure() {
            return self.connect_here(url.to()).await;
        }
        self.secure(self.connect(url.to()).await?, url.to().place()).await
    }
}

fn request(
    url: &TargetUrl,
    headers: &[(&'static str, &str)],
    body: Vec<u8>,
) -> Result<Request<Full<Bytes>>, NotReached> {
    let bad = || NotReached::Broken("the request cannot be written".to_owned());
    let value = |text: &str| HeaderValue::from_str(text).map_err(|_| bad());
    let mut request = Request::new(Full::new(Bytes::from(body)));
    *request.method_mut() = Method::POST;
    *request.uri_mut() = url.path_and_query().parse().map_err(|_| bad())?;
    request.headers_mut().insert(HOST, value(&url.host_header())?);
    request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
    for (name, text) in headers {
        request.headers_mut().insert(HeaderName::from_static(name), value(text)?);
    }
    Ok(request)
}

async fn exchange(line: Line, request: Request<Full<Bytes>>) -> Result<StatusCode, NotReached> {
    let broken = |error: hyper::Error| NotReached::Broken(error.to_string());
    let (mut sender, connection) = http1::handshake(TokioIo::new(line)).await.map_err(broken)?;
    // Ends with this call, whatever becomes of it.
    let mut carrying = JoinSet::new();
    carrying.spawn(async move {
        let _ = connection.await;
    });
    let response = sender.send_request(request).await.map_err(broken)?;
    let status = response.status();
    // What was said is said: how long the rest takes changes nothing.
    let _ = tokio::time::timeout(LONGEST_GOODBYE, drain(response)).await;
    Ok(status)
}

/// Reads a short answer to its end; hangs up on a long one.
async fn drain(response: Response<Incoming>) {
    let (mut body, mut read) = (response.into_body(), 0);
    while let Some(Ok(frame)) = body.frame().await {
        read += frame.data_ref().map_or(0, Bytes::len);
        if read > MOST_ANSWER_BYTES {
            return;
        }
    }
}
