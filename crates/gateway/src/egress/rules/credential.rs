//! Whose credential goes along with a request, and what counts as one.
//!
//! An allowed host is a way out for whoever brings a key of their own: the data goes to the account of an attacker at
//! a host that everybody trusts. Therefore a header that carries a credential is refused unless the rule says that the
//! agent may bring its own. Credentials of the team are put in here, from outside of the cage.

use std::fmt;

use serde::{Deserialize, Serialize};

placet_domain::names! {
    /// What a credential of the host is called in rules.
    CredentialName = "name of a credential", |text| {
        (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    }, "lowercase letters, digits and hyphens, at most 64";
}

/// Whose credential a rule lets pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Credential {
    /// Nobody's: a request that carries one is refused.
    #[default]
    None,
    /// The agent may bring its own.
    Own,
    /// The gateway puts in the one of this name; a request that carries another is refused.
    Inject(CredentialName),
}

impl fmt::Display for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Own => f.write_str("own"),
            Self::Inject(name) => write!(f, "inject:{name}"),
        }
    }
}

/// A value that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A header with a credential of the host, ready to be put in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldCredential {
    header: String,
    value: Secret,
}

/// A credential that would break the request it is put into.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the header `{0}` cannot carry this credential; use a plain name and a value without line breaks")]
pub struct BadCredential(String);

impl HeldCredential {
    /// For example `Authorization` and `Bearer …`.
    pub fn new(header: &str, value: Secret) -> Result<Self, BadCredential> {
        let name_ok = !header.is_empty() && header.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let value_ok = !value.0.is_empty() && value.0.bytes().all(|b| (0x20..0x7f).contains(&b));
        if name_ok && value_ok {
            Ok(Self { header: header.to_owned(), value })
        } else {
            Err(BadCredential(placet_domain::text::spelled_out(header)))
        }
    }

    pub(crate) fn header(&self) -> &str {
        &self.header
    }

    pub(crate) fn value(&self) -> &str {
        self.value.expose()
    }
}

/// Where credentials come from: outside of the cage, asked for one request at a time.
pub trait Keys: Send + Sync {
    fn credential(&self, name: &CredentialName) -> Option<HeldCredential>;
}

/// No credential at all: rules that inject one refuse.
#[derive(Debug, Clone, Copy)]
pub struct NoKeys;

impl Keys for NoKeys {
    fn credential(&self, _name: &CredentialName) -> Option<HeldCredential> {
        None
    }
}

/// Parts of names by which credentials are recognised. Too many are refused rather than too few: the answer says how to
/// allow them.
const TELLING: &[&str] = &[
    "authorization",
    "authentication",
    "api-key",
    "apikey",
    "access-key",
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "cookie",
    "session",
    "x-auth",
    "signature",
    "client-key",
    "private-key",
    "subscription-key",
];

/// Whether a header or a parameter of this name carries a credential.
pub fn is_credential(name: &str) -> bool {
    let plain: String = name.to_ascii_lowercase().replace(['_', '.'], "-");
    plain == "key" || plain == "auth" || plain == "sig" || TELLING.iter().any(|part| plain.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r25_headers_that_carry_credentials_are_known_by_their_names() {
        for name in [
            "Authorization",
            "PROXY-AUTHORIZATION",
            "Cookie",
            "X-Api-Key",
            "x_api_key",
            "api-key",
            "apikey",
            "X-Goog-Api-Key",
            "PRIVATE-TOKEN",
            "X-Vault-Token",
            "X-Amz-Security-Token",
            "X-Auth",
            "access_token",
            "X-Client-Secret",
            "key",
            "X-Amz-Signature",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["Accept", "User-Agent", "Content-Type", "Range", "If-None-Match", "X-Request-Id", "Keep-Alive"] {
            assert!(!is_credential(name), "{name}");
        }
    }

    #[test]
    fn r24_a_credential_is_never_printed_and_never_breaks_a_request() {
        let held = HeldCredential::new("Authorization", Secret::new("Bearer canary")).unwrap();
        assert!(!format!("{held:?}").contains("canary"));
        assert!(HeldCredential::new("Authorization", Secret::new("a\r\nHost: evil")).is_err());
        assert!(HeldCredential::new("Bad Name", Secret::new("a")).is_err());
    }
}
