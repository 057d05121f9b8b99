//! Posts one message and reads the status of the answer. Reads at most a few kilobytes of its body, and keeps nothing of it.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::{Method, Response, StatusCode};

use super::exchange::{StartedResponse, build_request};
use super::{DialError, Dialer, TargetUrl};

/// Time for the whole exchange: connect, send, answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time to read the rest of an answer.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// More than a receiver needs to acknowledge a message.
const MAX_ANSWER_BYTES: usize = 4 << 10;

impl Dialer {
    /// Posts the message once.
    pub async fn post(
        &self,
        url: &TargetUrl,
        headers: &[(&'static str, &str)],
        body: Vec<u8>,
    ) -> Result<StatusCode, DialError> {
        let exchange = async {
            let request = build_request(url, Method::POST, headers, body)?;
            let StartedResponse { response, _connection } = self.send(url, request).await?;
            let status = response.status();
            // The message was delivered: a slow or long rest of the answer does not change that.
            let _ = tokio::time::timeout(DRAIN_TIMEOUT, drain(response)).await;
            Ok(status)
        };
        tokio::time::timeout(TIMEOUT, exchange).await.map_err(|_| DialError::TooSlow(TIMEOUT))?
    }
}

/// Reads a short answer to its end, and stops at a long one.
async fn drain(response: Response<Incoming>) {
    let (mut body, mut read) = (response.into_body(), 0);
    while let Some(Ok(frame)) = body.frame().await {
        read += frame.data_ref().map_or(0, Bytes::len);
        if read > MAX_ANSWER_BYTES {
            return;
        }
    }
}
