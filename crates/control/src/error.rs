//! Reasons why a request was not carried out. Faults of the store are among them; how they are shown to a caller is decided elsewhere.

use placet_domain::evidence::BadManifest;
use placet_domain::proposal::{BadChange, Unsealable};
use placet_domain::refusal::Refusal;
use placet_store::StoreError;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum No {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Unsealable(#[from] Unsealable),
    #[error(transparent)]
    Change(#[from] BadChange),
    #[error(transparent)]
    Evidence(#[from] BadManifest),
    #[error("the evidence `{0}` was not uploaded; upload it before you report")]
    MissingEvidence(String),
    #[error(
        "{whose} would have uploaded more than {most_bytes} bytes that nothing names; name them in an action, or wait: what nothing names is removed a day after its upload"
    )]
    TooManyUploads { whose: &'static str, most_bytes: u64 },
    #[error("this idempotency key was used for another request; take a new one")]
    KeyReused,
    #[error("the bytes do not have the digest they were sent under")]
    WrongDigest,
    #[error("the bytes could not be looked at")]
    Unseen,
    #[error("this token is not known or was revoked")]
    NoLongerKnown,
    #[error("the store has a fault")]
    Fault(#[from] StoreError),
}
