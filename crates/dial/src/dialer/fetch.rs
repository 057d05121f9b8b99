//! Fetches one document, or sends one form, and reads one bounded answer. Every status but 200 is an error.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Limited};
use hyper::{Method, StatusCode};
use zeroize::Zeroizing;

use super::exchange::{StartedResponse, build_request};
use super::{DialError, Dialer, TargetUrl};

/// Short, because a person waits for the answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Documents of providers have a few kilobytes.
const MAX_ANSWER_BYTES: usize = 256 << 10;

/// Request of one fetch.
#[expect(missing_debug_implementations, reason = "it holds a secret that no log may show")]
pub enum FetchRequest {
    Document,
    /// A form, with the header that authenticates the sender.
    Form {
        body: String,
        authorization: Zeroizing<String>,
    },
}

/// Reason why there is no answer. Holds no text of the other side.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error(transparent)]
    Dial(#[from] DialError),
    #[error("it answered {0}, not 200")]
    Refused(StatusCode),
    #[error("it answered more than {} KiB, or broke off", MAX_ANSWER_BYTES >> 10)]
    TooMuch,
}

impl Dialer {
    /// Sends the request once.
    pub async fn fetch(&self, url: &TargetUrl, request: FetchRequest) -> Result<Bytes, FetchError> {
        let accept = ("accept", "application/json");
        let http = match &request {
            FetchRequest::Document => build_request(url, Method::GET, &[accept], Vec::new())?,
            FetchRequest::Form { body, authorization } => {
                let form = ("content-type", "application/x-www-form-urlencoded");
                let headers = [accept, form, ("authorization", authorization.as_str())];
                build_request(url, Method::POST, &headers, body.clone().into_bytes())?
            }
        };
        let exchange = async {
            let StartedResponse { response, _connection } = self.send(url, http).await?;
            if response.status() != StatusCode::OK {
                return Err(FetchError::Refused(response.status()));
            }
            let body = Limited::new(response.into_body(), MAX_ANSWER_BYTES).collect().await;
            Ok(body.map_err(|_| FetchError::TooMuch)?.to_bytes())
        };
        tokio::time::timeout(TIMEOUT, exchange).await.map_err(|_| DialError::TooSlow(TIMEOUT))?
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ScriptedResolver, dialer};
    use super::*;

    #[tokio::test]
    async fn t9_a_name_over_tls_that_leads_to_this_machine_is_not_asked() {
        for text in ["https://127.0.0.1:9/", "https://[::1]:9/", "https://169.254.169.254/"] {
            let refused =
                dialer(&[], ScriptedResolver::in_turn(&[])).fetch(&text.parse().unwrap(), FetchRequest::Document).await;
            assert!(matches!(refused, Err(FetchError::Dial(DialError::Special { .. }))), "{text}: {refused:?}");
        }
        let answers: [&[&str]; 3] =
            [&["127.0.0.1"], &["93.184.216.34", "10.0.0.1"], &["2606:4700::1", "::ffff:10.0.0.1"]];
        for answer in answers {
            let provider = "https://login.example/".parse().unwrap();
            let refused =
                dialer(&[], ScriptedResolver::in_turn(&[answer])).fetch(&provider, FetchRequest::Document).await;
            assert!(
                matches!(refused, Err(FetchError::Dial(DialError::Special { .. }))),
                "one such address is enough: {answer:?}: {refused:?}"
            );
        }
    }
}
