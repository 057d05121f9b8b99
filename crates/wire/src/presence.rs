//! Verifies that a server is the control plane of a home before the client sends a token: any process can listen on a port, but only
//! the control plane has the key.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use placet_domain::permit::PermitVerifier;
use reqwest::Response;
use serde::Deserialize;

/// Timeout for the proof. A local answer takes milliseconds, and a longer wait would block the user.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum size of the answer: a proof with a few other fields. The server is not trusted yet.
const LONGEST_ANSWER: usize = 4 << 10;

/// Time for which a proof holds. Another process may listen on the port as soon as the server has stopped, and the
/// client may not notice.
const VALIDITY: Duration = Duration::from_secs(2);

/// The key that verifies a control plane, and when the server has proven itself.
#[derive(Debug)]
pub(crate) struct Presence {
    verifier: PermitVerifier,
    proven: Mutex<Option<Instant>>,
}

#[derive(Deserialize)]
struct Health {
    proof: Option<String>,
}

impl Presence {
    pub(crate) const fn new(verifier: PermitVerifier) -> Self {
        Self { verifier, proven: Mutex::new(None) }
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.proven().is_some_and(|since| since.elapsed() < VALIDITY)
    }

    fn proven(&self) -> MutexGuard<'_, Option<Instant>> {
        self.proven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Discards the proof. After a lost connection another process may listen on the port.
    pub(crate) fn forget(&self) {
        *self.proven() = None;
    }

    #[cfg(test)]
    pub(crate) fn assume_proven(&self) {
        *self.proven() = Some(Instant::now());
    }

    /// Asks the server for a signature over a fresh question. The request carries no token.
    pub(crate) async fn prove(&self, http: &reqwest::Client, server: &str) -> Result<(), Unproven> {
        let (question, asked_at) = (fresh_question(), Instant::now());
        let asked = http.get(format!("{server}/health?question={question}")).timeout(PATIENCE).send().await;
        let response = asked.map_err(Unproven::Unreachable)?;
        let dialled = response.remote_addr();
        let proof = proof_in(response).await?.ok_or(Unproven::Stranger("it gave no proof"))?;
        let dialled = dialled.ok_or(Unproven::Stranger("it is not known where it answered"))?;
        self.verifier
            .check_presence(&proof, &question, dialled)
            .map_err(|_| Unproven::Stranger("its proof is of another key or address"))?;
        *self.proven() = Some(asked_at);
        Ok(())
    }
}

/// Reason why the server did not prove its identity.
pub(crate) enum Unproven {
    Unreachable(reqwest::Error),
    Stranger(&'static str),
}

async fn proof_in(mut response: Response) -> Result<Option<String>, Unproven> {
    let mut answer = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(Unproven::Unreachable)? {
        answer.extend_from_slice(&chunk);
        if answer.len() > LONGEST_ANSWER {
            return Ok(None);
        }
    }
    Ok(serde_json::from_slice(&answer).ok().and_then(|health: Health| health.proof))
}

fn fresh_question() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the operating system gives randomness");
    BASE64.encode(bytes)
}

#[cfg(test)]
mod tests {
    use placet_domain::permit::PermitSigner;

    use super::*;

    #[test]
    fn proof_holds_for_two_seconds() {
        let presence = Presence::new(PermitSigner::from_seed(&[1; 32]).verifier());
        assert!(!presence.is_proven());
        presence.assume_proven();
        assert!(presence.is_proven());
        *presence.proven() = Instant::now().checked_sub(VALIDITY);
        assert!(!presence.is_proven());
    }
}
