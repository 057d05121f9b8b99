//! The public key of a passkey (COSE, RFC 9053), and whether it signed something. ES256, EdDSA with Ed25519 and RS256: what people's
//! authenticators have. Whatever else a key says of itself is refused, so that none is taken for something that it is not.

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};

use super::cbor::{self, Value};
use crate::refusal::PasskeyFlaw;

/// 4096 bits: what no authenticator goes beyond.
const LONGEST_MODULUS: usize = 512;
const LONGEST_EXPONENT: usize = 8;

/// A key that can be checked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PublicKey<'k> {
    Es256 { point: [u8; 65] },
    Ed25519 { key: &'k [u8] },
    Rs256 { modulus: &'k [u8], exponent: &'k [u8] },
}

/// What registration asks for, the preferred one first: their numbers in COSE.
pub const ALGORITHMS: &[i64] = &[ES256, EDDSA, RS256];
const ES256: i64 = -7;
const EDDSA: i64 = -8;
const RS256: i64 = -257;

impl<'k> PublicKey<'k> {
    /// Reads a key; the bytes are the key and nothing else.
    pub(super) fn read(cose: &'k [u8]) -> Result<Self, PasskeyFlaw> {
        let key = cbor::read(cose).map_err(|_| PasskeyFlaw::Malformed)?;
        Self::of(&key).ok_or(PasskeyFlaw::OtherKey)
    }

    fn of(key: &Value<'k>) -> Option<Self> {
        let number = |name| match key.get(&Value::Number(name)) {
            Some(Value::Number(number)) => Some(*number),
            Some(Value::Bytes(_) | Value::Text(_) | Value::List(_) | Value::Map(_) | Value::Bool(_) | Value::Null)
            | None => None,
        };
        let bytes = |name| key.get(&Value::Number(name)).and_then(Value::as_bytes);
        match (number(1)?, number(3)?, number(-1)) {
            (2, ES256, Some(1)) => point(bytes(-2)?, bytes(-3)?).map(|point| Self::Es256 { point }),
            (1, EDDSA, Some(6)) => bytes(-2).filter(|key| key.len() == 32).map(|key| Self::Ed25519 { key }),
            (3, RS256, None) => {
                let (modulus, exponent) = (bytes(-1)?, bytes(-2)?);
                let fits = modulus.len() <= LONGEST_MODULUS && exponent.len() <= LONGEST_EXPONENT;
                fits.then_some(Self::Rs256 { modulus, exponent })
            }
            _ => None,
        }
    }

    /// Whether this key signed the message.
    pub(super) fn signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Es256 { point } => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_ASN1, point).verify(message, signature).is_ok()
            }
            Self::Ed25519 { key } => UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok(),
            Self::Rs256 { modulus, exponent } => RsaPublicKeyComponents { n: modulus, e: exponent }
                .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
                .is_ok(),
        }
    }
}

/// An uncompressed point, as SEC 1 writes it.
fn point(x: &[u8], y: &[u8]) -> Option<[u8; 65]> {
    let mut point = [4; 65];
    point.get_mut(1..33).filter(|_| x.len() == 32)?.copy_from_slice(x);
    point.get_mut(33..).filter(|_| y.len() == 32)?.copy_from_slice(y);
    Some(point)
}
