//! Sends one message and reads its status. Of the rest of the answer at most a few kilobytes are read, and nothing is kept.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::{Method, Response, StatusCode};

use super::exchange::{Begun, request};
use super::{Dialer, NotReached, TargetUrl};

/// For all of it: to be reached, to be sent, to be answered.
const LONGEST: Duration = Duration::from_secs(10);
const LONGEST_GOODBYE: Duration = Duration::from_secs(1);
/// Enough for any polite answer.
const MOST_ANSWER_BYTES: usize = 4 << 10;

impl Dialer {
    /// One try.
    pub async fn post(
        &self,
        url: &TargetUrl,
        headers: &[(&'static str, &str)],
        body: Vec<u8>,
    ) -> Result<StatusCode, NotReached> {
        let asked = async {
            let Begun { response, _carrying } = self.ask(url, request(url, Method::POST, headers, body)?).await?;
            let status = response.status();
            // What was said is said: how long the rest takes changes nothing.
            let _ = tokio::time::timeout(LONGEST_GOODBYE, drain(response)).await;
            Ok(status)
        };
        tokio::time::timeout(LONGEST, asked).await.map_err(|_| NotReached::TooSlow(LONGEST))?
    }
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
