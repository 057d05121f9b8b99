//! Verifies that a server is the control plane of a home before the client sends a token: any process can listen on a port, but only
//! the control plane has the key.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use placet_domain::permit::PermitVerifier;
use reqwest::Response;
use serde::Deserialize;

/// Timeout for the proof. A local answer takes milliseconds, and a longer wait would block the user.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum size of the answer: a proof with a few other fields. The server is not trusted yet.
const LONGEST_ANSWER: usize = 4 << 10;

/// The key that verifies a control plane, and whether the server has proven itself.
#[derive(Debug)]
pub(crate) struct Presence {
    verifier: PermitVerifier,
    proven: AtomicBool,
}

#[derive(Deserialize)]
struct Health {
    proof: Option<String>,
}

impl Presence {
    pub(crate) const fn new(verifier: PermitVerifier) -> Self {
        Self { verifier, proven: AtomicBool::new(false) }
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.proven.load(Ordering::Acquire)
    }

    /// Discards the proof. After a lost connection another process may listen on the port.
    pub(crate) fn forget(&self) {
        self.proven.store(false, Ordering::Release);
    }

    /// Asks the server for a signature over a fresh question. The request carries no token.
    pub(crate) async fn prove(&self, http: &reqwest::Client, server: &str) -> Result<(), Unproven> {
        let question = fresh_question();
        let asked = http.get(format!("{server}/health?question={question}")).timeout(PATIENCE).send().await;
        let response = asked.map_err(Unproven::Unreachable)?;
        let dialled = response.remote_addr();
        let proof = proof_in(response).await?.ok_or(Unproven::Stranger("it gave no proof"))?;
        let dialled = dialled.ok_or(Unproven::Stranger("it is not known where it answered"))?;
        self.verifier
            .check_presence(&proof, &question, dialled)
            .map_err(|_| Unproven::Stranger("its proof is of another key or address"))?;
        self.proven.store(true, Ordering::Release);
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
