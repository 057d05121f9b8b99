//! Asks for one document, or sends one form, and takes one bounded answer. An answer that is not 200 is none.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::{Method, StatusCode};
use zeroize::Zeroizing;

use super::exchange::{Begun, request};
use super::{Dialer, NotReached, TargetUrl};

/// A person waits for it.
const LONGEST: Duration = Duration::from_secs(15);
/// Documents of providers take a few kilobytes.
const MOST_ANSWER_BYTES: usize = 256 << 10;

/// What is asked for.
#[expect(missing_debug_implementations, reason = "it holds a secret that no log may show")]
pub enum Ask {
    Document,
    /// Sends a form, with what proves who asks.
    Form {
        body: String,
        authorization: Zeroizing<String>,
    },
}

/// Why there is no answer. What the other side said is no part of it.
#[derive(Debug, thiserror::Error)]
pub enum NotFetched {
    #[error(transparent)]
    NotReached(#[from] NotReached),
    #[error("it answered {0}, not 200")]
    Refused(StatusCode),
    #[error("it answered more than {} KiB, or broke off", MOST_ANSWER_BYTES >> 10)]
    TooMuch,
}

impl Dialer {
    /// One answer, or none.
    pub async fn fetch(&self, url: &TargetUrl, ask: Ask) -> Result<Bytes, NotFetched> {
        let accept = ("accept", "application/json");
        let request = match &ask {
            Ask::Document => request(url, Method::GET, &[accept], Vec::new())?,
            Ask::Form { body, authorization } => {
                let form = ("content-type", "application/x-www-form-urlencoded");
                let headers = [accept, form, ("authorization", authorization.as_str())];
                request(url, Method::POST, &headers, body.clone().into_bytes())?
            }
        };
        let asked = async {
            let Begun { response, _carrying } = self.ask(url, request).await?;
            if response.status() != StatusCode::OK {
                return Err(NotFetched::Refused(response.status()));
            }
            let body = Limited::new(response.into_body(), MOST_ANSWER_BYTES).collect().await;
            Ok(body.map_err(|_| NotFetched::TooMuch)?.to_bytes())
        };
        tokio::time::timeout(LONGEST, asked).await.map_err(|_| NotReached::TooSlow(LONGEST))?
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Told, dialer};
    use super::*;

    #[tokio::test]
    async fn t9_a_name_over_tls_that_leads_to_this_machine_is_not_asked() {
        for text in ["https://127.0.0.1:9/", "https://[::1]:9/", "https://169.254.169.254/"] {
            let refused = dialer(&[], Told::in_turn(&[])).fetch(&text.parse().unwrap(), Ask::Document).await;
            assert!(matches!(refused, Err(NotFetched::NotReached(NotReached::Special { .. }))), "{text}: {refused:?}");
        }
        let answers: [&[&str]; 3] =
            [&["127.0.0.1"], &["93.184.216.34", "10.0.0.1"], &["2606:4700::1", "::ffff:10.0.0.1"]];
        for answer in answers {
            let provider = "https://login.example/".parse().unwrap();
            let refused = dialer(&[], Told::in_turn(&[answer])).fetch(&provider, Ask::Document).await;
            assert!(
                matches!(refused, Err(NotFetched::NotReached(NotReached::Special { .. }))),
                "one such address is enough: {answer:?}: {refused:?}"
            );
        }
    }
}
