//! What a browser and an authenticator say they did: for whom, at which address, asked by what, with a person at it or not.
//!
//! The browser's part is JSON, the authenticator's is bytes at fixed places (WebAuthn, 5.8.1 and 6.1). Both are signed; what is not in
//! them was not promised.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Encoded, Site, cbor};
use crate::digest::Digest;
use crate::refusal::PasskeyFlaw;

const USER_PRESENT: u8 = 1;
const USER_VERIFIED: u8 = 1 << 2;
const MAY_BE_COPIED: u8 = 1 << 3;
const IS_COPIED: u8 = 1 << 4;
const HAS_CREDENTIAL: u8 = 1 << 6;
const HAS_EXTENSIONS: u8 = 1 << 7;

/// Digest of the site, flags, count.
const FIXED: usize = 32 + 1 + 4;
/// Which model it is: whoever makes it says so, and nobody here believes it.
const MODEL: usize = 16;
/// What the standard allows.
pub(super) const LONGEST_CREDENTIAL: usize = 1_023;

/// What a browser was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ceremony {
    Create,
    Get,
}

impl Ceremony {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "webauthn.create",
            Self::Get => "webauthn.get",
        }
    }
}

/// Members that nobody knows yet may stand in it; two of the same name may not.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientData {
    r#type: String,
    challenge: String,
    origin: String,
    #[serde(default)]
    cross_origin: bool,
    top_origin: Option<IgnoredAny>,
}

/// Whether the browser did this, at this site, not inside of a page of somebody else, for this challenge.
pub(super) fn check_client(
    client_data: &[u8],
    ceremony: Ceremony,
    site: &Site,
    challenge: Digest,
) -> Result<(), PasskeyFlaw> {
    let said: ClientData = serde_json::from_slice(client_data).map_err(|_| PasskeyFlaw::Malformed)?;
    if said.r#type != ceremony.as_str() {
        return Err(PasskeyFlaw::OtherPurpose);
    }
    if said.origin != site.origin() || said.cross_origin || said.top_origin.is_some() {
        return Err(PasskeyFlaw::OtherSite);
    }
    if said.challenge != URL_SAFE_NO_PAD.encode(challenge.as_bytes()) {
        return Err(PasskeyFlaw::OtherChallenge);
    }
    Ok(())
}

/// What an authenticator says, once it is known to be about this site and a person who proved to it who they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authenticated {
    pub(super) sign_count: u32,
    /// Only where one was made.
    pub(super) made: Option<Made>,
}

/// A credential that was made, with its public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Made {
    pub(super) credential: Encoded,
    pub(super) key: Encoded,
}

pub(super) fn check_authenticator(data: &[u8], site: &Site) -> Result<Authenticated, PasskeyFlaw> {
    let (fixed, rest) = data.split_at_checked(FIXED).ok_or(PasskeyFlaw::Malformed)?;
    let (site_digest, fixed) = fixed.split_at(32);
    if site_digest != Digest::of(site.rp_id().as_bytes()).as_bytes() {
        return Err(PasskeyFlaw::OtherSite);
    }
    let (flags, count) = fixed.split_first().ok_or(PasskeyFlaw::Malformed)?;
    if flags & USER_PRESENT == 0 || flags & USER_VERIFIED == 0 {
        return Err(PasskeyFlaw::NoPerson);
    }
    // What cannot be copied is not copied.
    if flags & IS_COPIED != 0 && flags & MAY_BE_COPIED == 0 {
        return Err(PasskeyFlaw::Malformed);
    }
    let sign_count = count.iter().fold(0, |count, byte| count << 8 | u32::from(*byte));
    let (made, rest) = if flags & HAS_CREDENTIAL == 0 {
        (None, rest)
    } else {
        let (made, rest) = made(rest)?;
        (Some(made), rest)
    };
    check_rest(rest, flags & HAS_EXTENSIONS != 0)?;
    Ok(Authenticated { sign_count, made })
}

/// The credential that was made, and what comes after it.
fn made(bytes: &[u8]) -> Result<(Made, &[u8]), PasskeyFlaw> {
    let bad = PasskeyFlaw::Malformed;
    let (head, rest) = bytes.split_at_checked(MODEL + 2).ok_or(bad)?;
    let length = head.iter().skip(MODEL).fold(0, |length, byte| length << 8 | usize::from(*byte));
    if length == 0 || length > LONGEST_CREDENTIAL {
        return Err(bad);
    }
    let (id, after) = rest.split_at_checked(length).ok_or(bad)?;
    let (_, rest) = cbor::read_first(after).map_err(|_| bad)?;
    let key = after.get(..after.len() - rest.len()).ok_or(bad)?;
    let (credential, key) = (Encoded::new(id.to_vec()).ok_or(bad)?, Encoded::new(key.to_vec()).ok_or(bad)?);
    Ok((Made { credential, key }, rest))
}

/// Extensions that nobody asked for mean nothing here, but they must be what they say; and nothing comes after.
fn check_rest(rest: &[u8], has_extensions: bool) -> Result<(), PasskeyFlaw> {
    let sound = match cbor::read(rest) {
        Ok(extensions) => has_extensions && extensions.as_map().is_some(),
        Err(_) => !has_extensions && rest.is_empty(),
    };
    if sound { Ok(()) } else { Err(PasskeyFlaw::Malformed) }
}
