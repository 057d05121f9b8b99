//! An ID token (OpenID Connect Core, 3.1.3.7): signed by the provider, for us, about an answer to our question, now.
//!
//! The algorithm is one of three, whatever the token wishes; the key is one that the provider publishes, never one that comes along with the
//! token.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::jwk::{Algorithm, Keys};
use super::{Expected, LONGEST_SIGN_ON_MS};

/// More than a token with many claims takes.
const LONGEST_TOKEN: usize = 16 << 10;
/// Clocks of two machines are never quite the same.
const LEEWAY_S: i64 = 60;
/// What the standard allows.
const LONGEST_SUBJECT: usize = 255;

/// Why a token is not believed. What it says is never part of it: it may be anybody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenFlaw {
    #[error("it is no token")]
    Malformed,
    #[error("it is signed otherwise than with RS256, ES256 or EdDSA")]
    OtherAlgorithm,
    #[error("it is signed with a key that the provider does not publish")]
    UnknownKey,
    #[error("its signature is not the provider's")]
    Forged,
    #[error("it is of another provider")]
    OtherIssuer,
    #[error("it is for another service")]
    OtherAudience,
    #[error("it is an answer to another question")]
    OtherNonce,
    #[error("its time is over, or has not come")]
    Expired,
}

/// What a provider says of somebody, as far as it is listened to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Claims {
    pub iss: String,
    pub sub: String,
    aud: Audience,
    azp: Option<String>,
    exp: i64,
    iat: i64,
    nonce: Option<String>,
    pub email: Option<String>,
    #[serde(default)]
    pub email_verified: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Audience {
    /// Whether it is for us. Where others are named too, the token must say that we asked for it.
    fn is_for(&self, client_id: &str, azp: Option<&str>) -> bool {
        let named = match self {
            Self::One(one) => one == client_id,
            Self::Several(several) => several.iter().any(|one| one == client_id),
        };
        let alone = match self {
            Self::One(_) => true,
            Self::Several(several) => several.len() == 1,
        };
        named && azp.map_or(alone, |azp| azp == client_id)
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// What must be understood, and is not.
    crit: Option<IgnoredAny>,
}

/// Checks a token against the provider's keys and what was asked.
pub fn verify(token: &str, keys: &Keys, expected: &Expected<'_>) -> Result<Claims, TokenFlaw> {
    let Parts { header, payload, signature, signed } = parts(token).ok_or(TokenFlaw::Malformed)?;
    let header: Header = serde_json::from_slice(&header).map_err(|_| TokenFlaw::Malformed)?;
    let algorithm = Algorithm::named(&header.alg).ok_or(TokenFlaw::OtherAlgorithm)?;
    if header.crit.is_some() {
        return Err(TokenFlaw::Malformed);
    }
    let key = keys.find(header.kid.as_deref(), algorithm).ok_or(TokenFlaw::UnknownKey)?;
    if !key.signed(signed.as_bytes(), &signature) {
        return Err(TokenFlaw::Forged);
    }
    let claims: Claims = serde_json::from_slice(&payload).map_err(|_| TokenFlaw::Malformed)?;
    check(&claims, expected).map(|()| claims)
}

struct Parts<'t> {
    header: Vec<u8>,
    payload: Vec<u8>,
    signature: Vec<u8>,
    /// The text that is signed.
    signed: &'t str,
}

fn parts(token: &str) -> Option<Parts<'_>> {
    if token.len() > LONGEST_TOKEN {
        return None;
    }
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, payload) = signed.split_once('.')?;
    let decode = |part: &str| URL_SAFE_NO_PAD.decode(part).ok();
    Some(Parts { header: decode(header)?, payload: decode(payload)?, signature: decode(signature)?, signed })
}

fn check(claims: &Claims, expected: &Expected<'_>) -> Result<(), TokenFlaw> {
    let now_s = expected.now.unix_ms().div_euclid(1_000);
    let oldest_s = now_s - (LONGEST_SIGN_ON_MS / 1_000) as i64 - LEEWAY_S;
    if claims.iss != expected.issuer {
        return Err(TokenFlaw::OtherIssuer);
    }
    if !claims.aud.is_for(expected.client_id, claims.azp.as_deref()) {
        return Err(TokenFlaw::OtherAudience);
    }
    if claims.nonce.as_deref() != Some(expected.nonce) {
        return Err(TokenFlaw::OtherNonce);
    }
    let in_time = claims.exp > now_s - LEEWAY_S && (oldest_s..=now_s + LEEWAY_S).contains(&claims.iat);
    let named = !claims.sub.is_empty() && claims.sub.len() <= LONGEST_SUBJECT;
    match (in_time, named) {
        (true, true) => Ok(()),
        (false, _) => Err(TokenFlaw::Expired),
        (true, false) => Err(TokenFlaw::Malformed),
    }
}
