//! Certificates (RFC 5280), as few kinds as are needed: one that issues, and those it issues for hosts. ECDSA with P-256
//! and SHA-256, which every client of today knows.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use placet_domain::scope::{Network, Place, Target, TargetRule};
use ring::rand::{SecureRandom as _, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::TlsError;
use super::der::{TRUE, bare, bits, integer, numbered, object, octets, sequence, set, text, utc_time};

const ECDSA_WITH_SHA256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02];
const EC_PUBLIC_KEY: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
const ORGANISATION: &[u8] = &[0x55, 0x04, 0x0a];
const SERVER_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];

const SUBJECT_KEY: &[u8] = &[0x55, 0x1d, 0x0e];
const KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const ALTERNATIVE_NAMES: &[u8] = &[0x55, 0x1d, 0x11];
const BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const NAME_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x1e];
const AUTHORITY_KEY: &[u8] = &[0x55, 0x1d, 0x23];
const EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];

/// Numbers of the kinds of names.
const DNS_NAME: u8 = 2;
const IP_ADDRESS: u8 = 7;

/// A key that never leaves this process.
pub(super) struct Key {
    pair: EcdsaKeyPair,
    pkcs8: Zeroizing<Vec<u8>>,
}

impl Key {
    pub(super) fn make() -> Result<Self, TlsError> {
        let (algorithm, random) = (&ECDSA_P256_SHA256_ASN1_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(|_| TlsError::NoRandomness)?;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random);
        Ok(Self { pair: pair.map_err(|_| TlsError::NoRandomness)?, pkcs8: Zeroizing::new(document.as_ref().to_vec()) })
    }

    pub(super) fn pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    fn public(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    /// By which certificates name it.
    fn id(&self) -> Vec<u8> {
        Sha256::digest(self.public())[..20].to_vec()
    }

    /// Each its own: clients look issuers up by name, and would take one for another.
    fn issuer_name(&self) -> String {
        self.id().iter().take(4).fold(format!("{ISSUER} "), |name, byte| format!("{name}{byte:02x}"))
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, TlsError> {
        let signature = self.pair.sign(&SystemRandom::new(), message).map_err(|_| TlsError::NoRandomness)?;
        Ok(signature.as_ref().to_vec())
    }
}

/// From when to when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Validity {
    pub(super) from: SystemTime,
    pub(super) until: SystemTime,
}

/// The certificate of the issuer, which counts for these hosts and no others.
pub(super) fn issuing(key: &Key, hosts: &[&TargetRule], validity: Validity) -> Result<Vec<u8>, TlsError> {
    let extensions = [
        extension(BASIC_CONSTRAINTS, TRUE, &sequence(&[TRUE, &integer(&[0])])),
        // keyCertSign.
        extension(KEY_USAGE, TRUE, &bits(2, &[0x04])),
        extension(NAME_CONSTRAINTS, TRUE, &constraints(hosts)),
        extension(SUBJECT_KEY, &[], &octets(&key.id())),
    ];
    let name = key.issuer_name();
    certificate(key, &name, (&name, key), validity, &extensions)
}

/// A certificate for one host.
pub(super) fn serving(issuer: &Key, key: &Key, host: &Place, validity: Validity) -> Result<Vec<u8>, TlsError> {
    let extensions = [
        extension(BASIC_CONSTRAINTS, TRUE, &sequence(&[])),
        // digitalSignature.
        extension(KEY_USAGE, TRUE, &bits(7, &[0x80])),
        extension(EXTENDED_KEY_USAGE, &[], &sequence(&[&object(SERVER_AUTH)])),
        extension(ALTERNATIVE_NAMES, &[], &sequence(&[&name_of(host)])),
        extension(SUBJECT_KEY, &[], &octets(&key.id())),
        extension(AUTHORITY_KEY, &[], &sequence(&[&bare(0, &issuer.id())])),
    ];
    certificate(key, SERVER, (&issuer.issuer_name(), issuer), validity, &extensions)
}

/// What people see who look at a certificate. Names of an organisation: a common name is taken for one of a host by some
/// (GnuTLS, and with it git on Debian), and none such is permitted where only addresses are.
const ISSUER: &str = "Placet, requests of one run";
const SERVER: &str = "Placet, in the place of a host";

fn certificate(
    key: &Key,
    subject: &str,
    (issuer, by): (&str, &Key),
    validity: Validity,
    extensions: &[Vec<u8>],
) -> Result<Vec<u8>, TlsError> {
    let algorithm = sequence(&[&object(ECDSA_WITH_SHA256)]);
    let extensions = sequence(&extensions.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let body = sequence(&[
        &numbered(0, &integer(&[2])),
        &integer(&serial()?),
        &algorithm,
        &named(issuer),
        &sequence(&[&time(validity.from), &time(validity.until)]),
        &named(subject),
        &public_key(key),
        &numbered(3, &extensions),
    ]);
    Ok(sequence(&[&body, &algorithm, &bits(0, &by.sign(&body)?)]))
}

/// Random, so that no two are alike; the first bits make it positive and keep its length.
fn serial() -> Result<[u8; 16], TlsError> {
    let mut bytes = [0; 16];
    SystemRandom::new().fill(&mut bytes).map_err(|_| TlsError::NoRandomness)?;
    bytes[0] = bytes[0] & 0x3f | 0x40;
    Ok(bytes)
}

fn named(organisation: &str) -> Vec<u8> {
    sequence(&[&set(&[&sequence(&[&object(ORGANISATION), &text(organisation)])])])
}

fn public_key(key: &Key) -> Vec<u8> {
    sequence(&[&sequence(&[&object(EC_PUBLIC_KEY), &object(P256)]), &bits(0, key.public())])
}

fn time(moment: SystemTime) -> Vec<u8> {
    let since = moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let moment = jiff::Timestamp::from_second(i64::try_from(since.as_secs()).unwrap_or(0)).unwrap_or_default();
    utc_time(&moment.strftime("%y%m%d%H%M%SZ").to_string())
}

/// `critical` is [`TRUE`] or nothing.
fn extension(kind: &[u8], critical: &[u8], content: &[u8]) -> Vec<u8> {
    sequence(&[&object(kind), critical, &octets(content)])
}

fn name_of(host: &Place) -> Vec<u8> {
    match host {
        Place::Named(host) => bare(DNS_NAME, host.as_str().as_bytes()),
        Place::At(IpAddr::V4(address)) => bare(IP_ADDRESS, &address.octets()),
        Place::At(IpAddr::V6(address)) => bare(IP_ADDRESS, &address.octets()),
    }
}

/// What the issuer may speak for. A name stands for those below it too (RFC 5280, section 4.2.1.10), which cannot be said more
/// narrowly; kinds of names of which none is permitted are excluded as a whole.
fn constraints(hosts: &[&TargetRule]) -> Vec<u8> {
    let subtree = |name: Vec<u8>| sequence(&[&name]);
    let permitted: Vec<Vec<u8>> = hosts.iter().filter_map(|host| permitted(host)).collect();
    let has = |kind: u8| permitted.iter().any(|name| name.first() == Some(&(0x80 | kind)));
    let mut excluded = Vec::new();
    if !has(DNS_NAME) {
        excluded.extend(subtree(bare(DNS_NAME, b"")));
    }
    if !has(IP_ADDRESS) {
        excluded.extend([[0; 8].as_slice(), &[0; 32]].map(|all| subtree(bare(IP_ADDRESS, all))).concat());
    }
    let mut both = numbered(0, &permitted.into_iter().map(subtree).collect::<Vec<_>>().concat());
    if !excluded.is_empty() {
        both.extend(numbered(1, &excluded));
    }
    sequence(&[&both])
}

fn permitted(host: &TargetRule) -> Option<Vec<u8>> {
    match host {
        TargetRule::Within(Target::Host(host)) | TargetRule::Below(host) => {
            Some(bare(DNS_NAME, host.as_str().as_bytes()))
        }
        TargetRule::Within(Target::Network(network)) => Some(bare(IP_ADDRESS, &with_mask(network))),
        // A rule has no URL as its host.
        TargetRule::Within(Target::Url(_)) => None,
    }
}

/// An address and the bits of it that count.
fn with_mask(network: &Network) -> Vec<u8> {
    let prefix = u32::from(network.prefix());
    match network.address() {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(prefix)).unwrap_or(0);
            [address.octets(), mask.to_be_bytes()].concat()
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(prefix)).unwrap_or(0);
            [address.octets(), mask.to_be_bytes()].concat()
        }
    }
}
