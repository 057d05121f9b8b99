//! DISPATCH: the permit, a signed right to execute exactly these bytes, once, on one worker, before a deadline.
//!
//! The control plane signs it from a recorded lease and nothing else; the worker checks it itself before it does anything
//! and consumes it by value. That it was not used before is not written in the permit: the control plane's record of the
//! redemption says so, in the same transaction that starts the job.

mod presence;
mod slip;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use crate::action::ActionState;
use crate::canonical;
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId};
use crate::proposal::Action;
use crate::refusal::PermitFlaw;
use crate::time::Timestamp;

pub use presence::LONGEST_QUESTION;
pub use slip::{Granted, Slip};

/// Longer texts are no permits of ours; they are refused before they cost anything.
const LONGEST_TOKEN: usize = 2_048;
/// Signed along with the content, so that no other signature of the same key could ever pass for a permit.
const PURPOSE: &[u8] = b"placet/permit/v1\n";

/// What a permit says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Permit {
    action: ActionId,
    digest: Digest,
    worker: IdentityId,
    attempt: u32,
    expires_at: Timestamp,
}

impl Permit {
    /// The permit that goes with a recorded lease; without one there is none.
    pub fn for_lease(state: &ActionState) -> Option<Self> {
        let lease = state.lease()?;
        let (action, digest, attempt) = (state.id, state.digest, state.attempt);
        Some(Self { action, digest, worker: lease.worker, attempt, expires_at: lease.expires_at })
    }

    pub const fn action(&self) -> ActionId {
        self.action
    }

    pub const fn digest(&self) -> Digest {
        self.digest
    }

    pub const fn worker(&self) -> IdentityId {
        self.worker
    }

    /// Which attempt it is for: the fencing token of everything the worker reports.
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    pub const fn expires_at(&self) -> Timestamp {
        self.expires_at
    }
}

/// The control plane's half: signs permits.
pub struct PermitSigner(SigningKey);

impl PermitSigner {
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(seed))
    }

    pub fn verifier(&self) -> PermitVerifier {
        PermitVerifier(self.0.verifying_key())
    }

    /// A token that anybody with the verifier can check: content and signature, each in base64url.
    pub fn sign(&self, permit: &Permit) -> String {
        self.token(PURPOSE, &canonical::to_bytes(permit))
    }

    fn token(&self, purpose: &[u8], content: &[u8]) -> String {
        let signature = self.0.sign(&[purpose, content].concat());
        format!("{}.{}", BASE64.encode(content), BASE64.encode(signature.to_bytes()))
    }
}

impl std::fmt::Debug for PermitSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PermitSigner(…)")
    }
}

/// The other half: checks permits. Workers hold it; it is no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermitVerifier(VerifyingKey);

/// A permit whose signature was checked. Not yet: that it fits what is about to be executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed(Permit);

impl Signed {
    pub const fn permit(&self) -> &Permit {
        &self.0
    }

    /// Checks that the permit is for exactly this: these bytes on this worker. What comes back can be spent once.
    ///
    /// Not whether it expired: the control plane says so when the permit is redeemed, by its own clock. A worker's clock
    /// proves nothing.
    pub fn fit(self, action: ActionId, sealed: Action, worker: IdentityId) -> Result<Fitting, PermitFlaw> {
        let permit = self.0;
        if permit.worker != worker {
            Err(PermitFlaw::OtherWorker)
        } else if permit.action != action {
            Err(PermitFlaw::OtherAction)
        } else if permit.digest != sealed.digest() {
            Err(PermitFlaw::OtherBytes)
        } else {
            Ok(Fitting { permit, sealed })
        }
    }
}

/// A permit together with the very bytes it is for. The only thing a worker can execute; it cannot be copied.
#[derive(Debug, PartialEq, Eq)]
pub struct Fitting {
    permit: Permit,
    sealed: Action,
}

impl Fitting {
    pub const fn permit(&self) -> &Permit {
        &self.permit
    }

    pub const fn sealed(&self) -> &Action {
        &self.sealed
    }

    /// Spends the permit: what is left is what to execute.
    pub fn spend(self) -> (Permit, Action) {
        (self.permit, self.sealed)
    }
}

impl PermitVerifier {
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        VerifyingKey::from_bytes(bytes).ok().map(Self)
    }

    pub fn to_bytes(&self) -> [u8; 32] {
        self.0.to_bytes()
    }

    pub fn check(&self, token: &str) -> Result<Signed, PermitFlaw> {
        if token.len() > LONGEST_TOKEN {
            return Err(PermitFlaw::Malformed);
        }
        let content = self.content(PURPOSE, token)?;
        serde_json::from_slice(&content).map(Signed).map_err(|_| PermitFlaw::Malformed)
    }

    /// What was signed for this purpose, if it was signed by the other half.
    fn content(&self, purpose: &[u8], token: &str) -> Result<Vec<u8>, PermitFlaw> {
        let (content, signature) = token.split_once('.').ok_or(PermitFlaw::Malformed)?;
        let content = BASE64.decode(content).map_err(|_| PermitFlaw::Malformed)?;
        let signature = BASE64.decode(signature).map_err(|_| PermitFlaw::Malformed)?;
        let signature = Signature::from_slice(&signature).map_err(|_| PermitFlaw::Malformed)?;
        let message = [purpose, &content].concat();
        self.0.verify_strict(&message, &signature).map_err(|_| PermitFlaw::Forged)?;
        Ok(content)
    }
}
