//! An authenticator with a browser around it, in software: it makes passkeys and signs with them as WebAuthn says, and lies when asked to.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use placet_domain::digest::Digest;
use placet_domain::passkey::{Assertion, Creation, Encoded};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};

pub(crate) const PRESENT: u8 = 1;
pub(crate) const VERIFIED: u8 = 4;
const HAS_CREDENTIAL: u8 = 64;

#[derive(Debug)]
pub(crate) struct Authenticator {
    key: EcdsaKeyPair,
    credential: Vec<u8>,
    /// How often it has signed; one that does not count says 0.
    pub(crate) count: u32,
    pub(crate) flags: u8,
    /// What its browser says where it is.
    pub(crate) origin: String,
    /// What it takes the site for.
    pub(crate) rp_id: String,
    pub(crate) cross_origin: bool,
    pub(crate) format: &'static str,
}

pub(crate) fn encoded(bytes: &[u8]) -> Encoded {
    Encoded::new(bytes.to_vec()).unwrap()
}

impl Authenticator {
    pub(crate) fn at(origin: &str) -> Self {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, document.as_ref(), &random).unwrap();
        let credential = Digest::of(key.public_key().as_ref()).as_bytes().to_vec();
        let rp_id = origin.split("://").nth(1).unwrap().split(':').next().unwrap().to_owned();
        Self {
            key,
            credential,
            count: 0,
            flags: PRESENT | VERIFIED,
            origin: origin.to_owned(),
            rp_id,
            cross_origin: false,
            format: "none",
        }
    }

    pub(crate) fn credential(&self) -> Encoded {
        encoded(&self.credential)
    }

    /// Says that it is another one.
    pub(crate) fn pretends_to_be(&mut self, other: &Self) {
        self.credential.clone_from(&other.credential);
    }

    fn client_data(&self, what: &str, challenge: &[u8]) -> Vec<u8> {
        let challenge = URL_SAFE_NO_PAD.encode(challenge);
        let (origin, cross) = (&self.origin, self.cross_origin);
        let said = format!(
            r#"{{"type":"{what}","challenge":"{challenge}","origin":"{origin}","crossOrigin":{cross},"other_keys_can_be_added_here":"do not compare"}}"#
        );
        said.into_bytes()
    }

    fn data(&self, flags: u8) -> Vec<u8> {
        let site = Digest::of(self.rp_id.as_bytes());
        [site.as_bytes(), &[flags][..], &self.count.to_be_bytes()].concat()
    }

    /// The public key in COSE.
    pub(crate) fn cose(&self) -> Vec<u8> {
        let point = self.key.public_key().as_ref();
        let (x, y) = point[1..].split_at(32);
        [&[0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32][..], x, &[0x22, 0x58, 32], y].concat()
    }

    pub(crate) fn creates(&self, challenge: &[u8]) -> Creation {
        let id = &self.credential;
        let head = [&self.data(self.flags | HAS_CREDENTIAL)[..], &[0; 16], &(id.len() as u16).to_be_bytes()].concat();
        let data = [&head[..], id, &self.cose()].concat();
        let text = |text: &str| [&[0x60 | text.len() as u8][..], text.as_bytes()].concat();
        let length = (data.len() as u16).to_be_bytes();
        let attestation = [
            &[0xa3][..],
            &text("fmt"),
            &text(self.format),
            &text("attStmt"),
            &[0xa0],
            &text("authData"),
            &if data.len() > 255 { [&[0x59][..], &length].concat() } else { vec![0x58, data.len() as u8] },
            &data,
        ];
        let client_data = encoded(&self.client_data("webauthn.create", challenge));
        Creation { client_data, attestation: encoded(&attestation.concat()) }
    }

    pub(crate) fn signs(&self, challenge: &[u8]) -> Assertion {
        self.signs_as("webauthn.get", challenge)
    }

    pub(crate) fn signs_as(&self, what: &str, challenge: &[u8]) -> Assertion {
        let (client_data, data) = (self.client_data(what, challenge), self.data(self.flags));
        let message = [&data[..], Digest::of(&client_data).as_bytes()].concat();
        let signature = self.key.sign(&SystemRandom::new(), &message).unwrap();
        Assertion {
            credential: self.credential(),
            client_data: encoded(&client_data),
            authenticator_data: encoded(&data),
            signature: encoded(signature.as_ref()),
        }
    }
}
