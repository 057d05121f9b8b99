//! Sends one message to a receiver of webhooks, and says what its answer means.
//!
//! It goes where the settings say and nowhere else: no proxy, no redirect, and only to addresses that were checked. What the receiver
//! answers is its status; nothing else of it is kept.

use axum::http::StatusCode;
use placet_dial::{Dialer, TargetUrl};

use super::{Attempt, HookSecret};

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delivered {
    Yes,
    /// Not this time, for this reason.
    NotYet(String),
    /// The receiver wants nothing any more (410).
    Gone,
}

pub(crate) async fn post_signed(
    dialer: &Dialer,
    url: &TargetUrl,
    secret: &HookSecret,
    attempt: Attempt<'_>,
) -> Delivered {
    let (unix_s, signature) = (attempt.unix_s.to_string(), secret.sign(attempt));
    let headers = [
        ("content-type", "application/json"),
        ("webhook-id", attempt.id),
        ("webhook-timestamp", unix_s.as_str()),
        ("webhook-signature", signature.as_str()),
    ];
    match dialer.post(url, &headers, attempt.body.to_vec()).await {
        Ok(status) => judged(status),
        Err(error) => Delivered::NotYet(error.to_string()),
    }
}

/// What a status means to whoever sends messages.
pub(crate) fn judged(status: StatusCode) -> Delivered {
    match status {
        StatusCode::GONE => Delivered::Gone,
        status if status.is_success() => Delivered::Yes,
        status if status.is_redirection() => {
            Delivered::NotYet(format!("it answered {status}; redirects are not followed"))
        }
        status => Delivered::NotYet(format!("it answered {status}")),
    }
}
