//! Makes sure that whoever answers is the control plane of a home, before a token is sent there: a port is anybody's, a key is not.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use placet_domain::permit::PermitVerifier;
use reqwest::Response;
use serde::Deserialize;

/// On the machine itself an answer takes milliseconds; whoever takes longer keeps a person waiting.
const PATIENCE: Duration = Duration::from_secs(10);
/// A proof and some words around it. Whoever answers may be anybody.
const LONGEST_ANSWER: usize = 4 << 10;

/// The key that proves a control plane, and whether it did.
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

    /// Whoever cannot be reached any more may have left the port to somebody else.
    pub(crate) fn forget(&self) {
        self.proven.store(false, Ordering::Release);
    }

    /// Asks whoever answers for a signature over a fresh question. The request carries no token.
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

/// Why whoever answers did not prove who it is.
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
