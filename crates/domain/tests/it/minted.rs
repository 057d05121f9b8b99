//! A provider's mint, in software: it signs tokens as OpenID Connect says, and lies when asked to.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};

#[derive(Debug)]
pub(crate) struct Mint {
    key: Ed25519KeyPair,
    pub(crate) kid: String,
}

pub(crate) fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl Mint {
    pub(crate) fn new(kid: &str) -> Self {
        let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self { key: Ed25519KeyPair::from_pkcs8(document.as_ref()).unwrap(), kid: kid.to_owned() }
    }

    pub(crate) fn jwk(&self) -> Value {
        let x = encoded(self.key.public_key().as_ref());
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": self.kid, "use": "sig", "alg": "EdDSA", "x": x })
    }

    pub(crate) fn token(&self, claims: &Value) -> String {
        self.signs(&json!({ "alg": "EdDSA", "kid": self.kid, "typ": "JWT" }), claims)
    }

    pub(crate) fn signs(&self, header: &Value, claims: &Value) -> String {
        let signed = format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(claims.to_string().as_bytes()));
        let signature = encoded(self.key.sign(signed.as_bytes()).as_ref());
        format!("{signed}.{signature}")
    }
}
