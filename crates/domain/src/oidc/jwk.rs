//! The public keys of a provider (RFC 7517), those of them that tokens are checked with: RS256, ES256, EdDSA with Ed25519. Secrets that are
//! shared (`HS…`) are no public keys, and a token without a signature has none.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;

/// More keys than any provider has at a time.
const MOST_KEYS: usize = 64;
/// 8192 bits.
const LONGEST_PART: usize = 1_024;

/// How a token is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the provider's keys cannot be read")]
pub struct UnreadableKeys;

#[derive(Deserialize)]
struct Jwks {
    keys: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// The keys of a provider that tokens can be checked with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keys(Vec<Key>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    kid: Option<String>,
    algorithm: Algorithm,
    /// The point, the key, or the modulus.
    public: Vec<u8>,
    exponent: Vec<u8>,
}

impl Keys {
    /// Reads a key set. Keys of other kinds and for other purposes are passed over: providers have them beside these.
    pub fn read(json: &[u8]) -> Result<Self, UnreadableKeys> {
        let set: Jwks = serde_json::from_slice(json).map_err(|_| UnreadableKeys)?;
        if set.keys.len() > MOST_KEYS {
            return Err(UnreadableKeys);
        }
        let keys = set.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok());
        Ok(Self(keys.filter_map(|key| Key::of(&key)).collect()))
    }

    /// The key that a token names; without a name, the only one of its kind.
    pub(super) fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Option<&Key> {
        let fits = |key: &&Key| key.algorithm == algorithm && (kid.is_none() || key.kid.as_deref() == kid);
        let mut found = self.0.iter().filter(fits);
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}

impl Key {
    fn of(key: &Jwk) -> Option<Self> {
        if key.purpose.as_deref().is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let (algorithm, public, exponent) = match (key.kty.as_str(), key.crv.as_deref()) {
            ("RSA", None) => (Algorithm::Rs256, part(key.n.as_ref())?, part(key.e.as_ref())?),
            ("EC", Some("P-256")) => {
                let (x, y) = (part(key.x.as_ref())?, part(key.y.as_ref())?);
                let whole = x.len() == 32 && y.len() == 32;
                (Algorithm::Es256, whole.then(|| [&[4][..], &x, &y].concat())?, Vec::new())
            }
            ("OKP", Some("Ed25519")) => (Algorithm::EdDsa, part(key.x.as_ref())?, Vec::new()),
            _ => return None,
        };
        let said = key.alg.as_deref().map(Algorithm::named);
        let agrees = said.is_none_or(|said| said == Some(algorithm));
        agrees.then(|| Self { kid: key.kid.clone(), algorithm, public, exponent })
    }

    pub(super) fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match self.algorithm {
            Algorithm::Es256 => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, &self.public).verify(message, signature).is_ok()
            }
            Algorithm::EdDsa => UnparsedPublicKey::new(&ED25519, &self.public).verify(message, signature).is_ok(),
            Algorithm::Rs256 => RsaPublicKeyComponents { n: &self.public, e: &self.exponent }
                .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
                .is_ok(),
        }
    }
}

fn part(text: Option<&String>) -> Option<Vec<u8>> {
    let bytes = URL_SAFE_NO_PAD.decode(text?).ok()?;
    (!bytes.is_empty() && bytes.len() <= LONGEST_PART).then_some(bytes)
}
