//! Sends one message: the only place where the control plane calls somebody.
//!
//! It goes where the settings say and nowhere else: no proxy, no redirect, no name to resolve. What the receiver answers
//! is its status; of the rest at most a few kilobytes are read, to keep the connection, and nothing is kept.

use std::time::Duration;

use reqwest::{Response, StatusCode};

use super::{Attempt, OutgoingHook};

const TIMEOUT: Duration = Duration::from_secs(10);
/// Enough for any polite answer.
const MOST_ANSWER_BYTES: usize = 4 << 10;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delivered {
    Yes,
    /// Not this time, for this reason.
    NotYet(String),
    /// The receiver wants nothing any more (410).
    Gone,
}

#[derive(Debug, Clone)]
pub(crate) struct Messenger(reqwest::Client);

impl Messenger {
    /// # Panics
    /// When the operating system gives no sockets at all.
    pub(crate) fn new() -> Self {
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(TIMEOUT)
            .pool_max_idle_per_host(1)
            .user_agent(concat!("placet/", env!("CARGO_PKG_VERSION")))
            .build();
        Self(client.expect("an HTTP client without TLS needs nothing that can fail"))
    }

    pub(crate) async fn send(&self, hook: &OutgoingHook, attempt: Attempt<'_>) -> Delivered {
        let request = self
            .0
            .post(hook.url().as_url().clone())
            .header("content-type", "application/json")
            .header("webhook-id", attempt.id)
            .header("webhook-timestamp", attempt.unix_s.to_string())
            .header("webhook-signature", hook.secret().sign(attempt))
            .body(attempt.body.to_vec());
        match request.send().await {
            Ok(response) => judge(response).await,
            Err(error) => Delivered::NotYet(innermost(&error.without_url())),
        }
    }
}

async fn judge(response: Response) -> Delivered {
    let status = response.status();
    drain(response).await;
    match status {
        StatusCode::GONE => Delivered::Gone,
        status if status.is_success() => Delivered::Yes,
        status if status.is_redirection() => {
            Delivered::NotYet(format!("it answered {status}; redirects are not followed"))
        }
        status => Delivered::NotYet(format!("it answered {status}")),
    }
}

/// Reads a short answer to its end, so that the connection can be used again; hangs up on a long one.
async fn drain(mut response: Response) {
    let mut read = 0;
    while let Ok(Some(chunk)) = response.chunk().await {
        read += chunk.len();
        if read > MOST_ANSWER_BYTES {
            return;
        }
    }
}

/// The cause that says most: what the operating system said, without the layers that passed it on.
fn innermost(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).last().map(ToString::to_string).unwrap_or_default()
}
