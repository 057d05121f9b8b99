//! Fresh names and secrets: the only randomness of the control plane.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use placet_domain::digest::Digest;
use placet_wire::Token;
use uuid::Uuid;

/// Time-ordered, so that ids sort by age.
pub(crate) fn fresh_uuid() -> Uuid {
    Uuid::now_v7()
}

/// A new bearer token of 256 random bits, recognisable by its beginning so that secret scanners find it.
///
/// # Panics
/// When the operating system has no randomness to give: nothing safe could be done then.
pub fn fresh_token() -> Token {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the operating system gives randomness");
    Token::new(format!("plc_{}", URL_SAFE_NO_PAD.encode(bytes)))
}

/// What is kept of a token. Plain SHA-256 suffices: there is nothing to guess in 256 random bits.
pub fn token_digest(token: &str) -> Digest {
    Digest::of(token.as_bytes())
}
