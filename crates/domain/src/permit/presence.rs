//! Proof that a control plane belongs to a home: it signs the caller's question together with the address at which the connection
//! arrived. It uses the permit key with a separate purpose.
//!
//! A process that listens on another's port cannot produce the proof. It cannot relay the question to the real control plane either,
//! because that one signs its own address, which differs from the one that the caller dialled.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use super::{PermitSigner, PermitVerifier};
use crate::canonical;
use crate::refusal::PermitFlaw;

const PURPOSE: &[u8] = b"placet/presence/v1\n";
/// Maximum length of a question. Our clients send shorter ones; longer ones are not signed.
pub const LONGEST_QUESTION: usize = 64;
/// Maximum length of a token: question, address and signature in base64, with room to spare.
const LONGEST_TOKEN: usize = 512;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Presence {
    question: String,
    address: SocketAddr,
}

impl PermitSigner {
    /// Signs a question for the address at which it arrived. Returns `None` if the question is too long.
    pub fn sign_presence(&self, question: &str, address: SocketAddr) -> Option<String> {
        let presence = Presence { question: question.to_owned(), address };
        (question.len() <= LONGEST_QUESTION).then(|| self.token(PURPOSE, &canonical::to_bytes(&presence)))
    }
}

impl PermitVerifier {
    /// Checks that the token answers this question and was signed for the dialled address.
    pub fn check_presence(&self, token: &str, question: &str, dialled: SocketAddr) -> Result<(), PermitFlaw> {
        if token.len() > LONGEST_TOKEN {
            return Err(PermitFlaw::Malformed);
        }
        let content = self.content(PURPOSE, token)?;
        let presence: Presence = serde_json::from_slice(&content).map_err(|_| PermitFlaw::Malformed)?;
        if presence.question == question && presence.address == dialled { Ok(()) } else { Err(PermitFlaw::Forged) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presence_is_proven_for_one_question_and_address() {
        let (ours, other) = (PermitSigner::from_seed(&[1; 32]), PermitSigner::from_seed(&[2; 32]));
        let [here, elsewhere]: [SocketAddr; 2] = ["127.0.0.1:7070", "127.0.0.1:7071"].map(|at| at.parse().unwrap());
        let token = ours.sign_presence("a question", here).unwrap();
        let verifier = ours.verifier();
        assert_eq!(verifier.check_presence(&token, "a question", here), Ok(()));
        assert_eq!(verifier.check_presence(&token, "another", here), Err(PermitFlaw::Forged), "replayed");
        assert_eq!(verifier.check_presence(&token, "a question", elsewhere), Err(PermitFlaw::Forged), "relayed");
        assert_eq!(other.verifier().check_presence(&token, "a question", here), Err(PermitFlaw::Forged));
        assert_eq!(verifier.check_presence("x", "a question", here), Err(PermitFlaw::Malformed));
        assert_eq!(verifier.check(&token).unwrap_err(), PermitFlaw::Forged, "no permit");
        assert!(verifier.check_slip(&token).is_err(), "no slip");
        assert_eq!(ours.sign_presence(&"x".repeat(65), here), None);
    }
}
