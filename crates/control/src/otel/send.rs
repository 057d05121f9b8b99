//! Handing things to a collector over HTTP, and what its answers mean.

use std::time::Duration;

use reqwest::{StatusCode, Url};

const TIMEOUT: Duration = Duration::from_secs(10);

/// What a collector made of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Yes,
    /// It would say the same again.
    Refused(String),
    NotYet(String),
}

/// A way to one path of a collector.
#[derive(Debug)]
pub(crate) struct Sender {
    client: reqwest::Client,
    url: Url,
}

impl Sender {
    /// Nothing, if this machine cannot make connections at all.
    pub(crate) fn new(url: Url) -> Option<Self> {
        let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        Some(Self { client: client.timeout(TIMEOUT).build().ok()?, url })
    }

    pub(crate) async fn send(&self, body: String) -> Taken {
        let request = self.client.post(self.url.clone()).header("content-type", "application/json").body(body);
        match request.send().await {
            Ok(response) => judged(response.status()),
            Err(error) => Taken::NotYet(error.without_url().to_string()),
        }
    }
}

/// As OTLP says: only these pass by themselves.
fn judged(status: StatusCode) -> Taken {
    match status {
        status if status.is_success() => Taken::Yes,
        StatusCode::TOO_MANY_REQUESTS
        | StatusCode::BAD_GATEWAY
        | StatusCode::SERVICE_UNAVAILABLE
        | StatusCode::GATEWAY_TIMEOUT => Taken::NotYet(format!("it answered {status}")),
        status => Taken::Refused(format!("it answered {status}")),
    }
}
