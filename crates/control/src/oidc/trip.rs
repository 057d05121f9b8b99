//! The way to a provider and back: whoever comes back is the browser that went, with the answer to its own question.
//!
//! Nothing is kept of it here. A cookie holds a random secret, when it was made, where somebody wanted to go, and a mark that only we can write; `state`, `nonce` and the
//! PKCE verifier follow from the secret. Somebody who has the address to come back to has none of them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use placet_domain::digest::Digest;
use placet_domain::oidc::LONGEST_SIGN_ON_MS;
use placet_domain::time::Timestamp;
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

const RANDOM: usize = 32;
/// Room for the longest way to a page; longer ones are not even looked at.
const LONGEST_COOKIE: usize = 640;

pub struct Trips {
    key: [u8; 32],
}

impl Default for Trips {
    fn default() -> Self {
        Self { key: random() }
    }
}

impl std::fmt::Debug for Trips {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trips").finish_non_exhaustive()
    }
}

fn random() -> [u8; RANDOM] {
    let mut bytes = [0; RANDOM];
    getrandom::fill(&mut bytes).expect("the operating system gives randomness");
    bytes
}

/// One trip, by its secret.
#[derive(Clone)]
pub struct Trip {
    secret: Vec<u8>,
    /// Where somebody wanted to go when they set out.
    pub to: Option<String>,
}

impl std::fmt::Debug for Trip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trip").finish_non_exhaustive()
    }
}

impl Trips {
    /// Somebody sets out; the cookie is what their browser keeps.
    pub fn begin(&self, to: Option<String>, now: Timestamp) -> (Trip, String) {
        let secret = random().to_vec();
        let (at, way) = (now.unix_ms(), to.as_deref().unwrap_or_default());
        let mark = encode(&self.mark(at, &secret, way));
        let cookie = format!("{at}.{}.{}.{mark}", encode(&secret), encode(way.as_bytes()));
        (Trip { secret, to }, cookie)
    }

    /// Somebody comes back with this cookie, in time and with one of ours.
    pub fn resume(&self, cookie: &str, now: Timestamp) -> Option<Trip> {
        let mut parts = cookie.get(..LONGEST_COOKIE.min(cookie.len()))?.split('.');
        let (at, secret) = (parts.next()?.parse::<i64>().ok()?, decode(parts.next()?)?);
        let (way, mark) = (String::from_utf8(decode(parts.next()?)?).ok()?, decode(parts.next()?)?);
        let begun = Timestamp::from_unix_ms(at);
        let in_time = begun <= now && now <= begun.plus_ms(LONGEST_SIGN_ON_MS);
        let ours = bool::from(self.mark(at, &secret, &way)[..].ct_eq(&mark[..]));
        let to = Some(way).filter(|way| !way.is_empty());
        (in_time && ours && parts.next().is_none()).then_some(Trip { secret, to })
    }

    fn mark(&self, at: i64, secret: &[u8], way: &str) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key).expect("keys of any length are taken");
        mac.update(&at.to_be_bytes());
        // A number and a secret of one length; only the way is as long as it is.
        mac.update(secret);
        mac.update(way.as_bytes());
        mac.finalize().into_bytes().into()
    }
}

impl Trip {
    fn derived(&self, what: &str) -> String {
        let line = format!("placet/oidc/{what}/v1\n");
        encode(Digest::of(&[line.as_bytes(), &self.secret].concat()).as_bytes())
    }

    pub fn state(&self) -> String {
        self.derived("state")
    }

    pub fn nonce(&self) -> String {
        self.derived("nonce")
    }

    /// What only whoever began the trip can show (PKCE).
    pub fn verifier(&self) -> String {
        self.derived("verifier")
    }

    pub fn challenge(&self) -> String {
        encode(Digest::of(self.verifier().as_bytes()).as_bytes())
    }

    pub fn is_state(&self, given: &str) -> bool {
        bool::from(self.state().as_bytes().ct_eq(given.as_bytes()))
    }
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn decode(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_unix_ms(1_000_000);

    #[test]
    fn t8_a_trip_ends_where_it_began_and_in_time() {
        let trips = Trips::default();
        let (trip, cookie) = trips.begin(Some("/runs?after=3".to_owned()), NOW);
        let back = trips.resume(&cookie, NOW).unwrap();
        assert_eq!(back.to.as_deref(), Some("/runs?after=3"));
        let (nowhere, plain) = trips.begin(None, NOW);
        assert_eq!((nowhere.to, trips.resume(&plain, NOW).unwrap().to), (None, None));
        let long = format!("/{}", "x".repeat(299));
        assert_eq!(trips.resume(&trips.begin(Some(long.clone()), NOW).1, NOW).unwrap().to, Some(long));
        assert!(back.is_state(&trip.state()) && back.nonce() == trip.nonce());
        assert!(!back.is_state("") && !trips.begin(None, NOW).0.is_state(&trip.state()));
        let all = [trip.state(), trip.nonce(), trip.verifier(), trip.challenge()];
        assert_eq!(all.iter().collect::<std::collections::BTreeSet<_>>().len(), 4, "none gives another away");
        assert!(trips.resume(&cookie, NOW.plus_ms(LONGEST_SIGN_ON_MS + 1)).is_none(), "too late");
        assert!(Trips::default().resume(&cookie, NOW).is_none(), "of another control plane");
        let (at, rest) = cookie.split_once('.').unwrap();
        let younger = format!("{}.{rest}", at.parse::<i64>().unwrap() + 1);
        assert!(trips.resume(&younger, NOW.plus_ms(1)).is_none(), "made younger");
        let elsewhere: Vec<&str> = cookie.split('.').collect();
        let way = encode(b"/settings");
        let elsewhere = [elsewhere[0], elsewhere[1], &way, elsewhere[3]].join(".");
        assert!(trips.resume(&elsewhere, NOW).is_none(), "led elsewhere");
        for bad in ["", ".", "1.2", "1..", &"x".repeat(10_000), &format!("{cookie}.x")] {
            assert!(trips.resume(bad, NOW).is_none(), "{bad}");
        }
    }
}
