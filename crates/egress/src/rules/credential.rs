//! Whose credential goes along with a request, and what counts as one.
//!
//! An allowed host is a way out for whoever brings a key of their own: the data goes to the account of an attacker at
//! a host that everybody trusts. Therefore a header that carries a credential is refused unless the rule says that the
//! agent may bring its own. Credentials of the team are put in outside of the cage ([`super::super::credential`]).

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use placet_domain::proposal::CredentialName;

/// Whose credential a rule lets pass.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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

impl Credential {
    /// The first thing that a request brings and may not. A placeholder is welcome where the very credential it stands
    /// for is put in, and nowhere else: at another host it would be a sign that something follows a redirect with it.
    pub(super) fn unwelcome<'a>(&self, brought: &'a [Brought]) -> Option<&'a Brought> {
        match self {
            Self::None => brought.first(),
            Self::Own => None,
            Self::Inject(name) => brought.iter().find(|brought| !brought.stands_for.contains(name)),
        }
    }
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

/// A header, or a parameter of the query, by which a request brings a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Brought {
    /// Of the header or the parameter; never its value.
    pub name: String,
    /// The credentials whose placeholder it is. Empty for anything else: that is a stranger's.
    pub stands_for: BTreeSet<CredentialName>,
}

impl Brought {
    /// Something that nobody here gave the agent.
    pub fn foreign(name: impl Into<String>) -> Self {
        Self { name: name.into(), stands_for: BTreeSet::new() }
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
pub(crate) fn is_credential(name: &str) -> bool {
    let plain = plain(name);
    let whole = without_index(&plain);
    whole == "key" || whole == "auth" || whole == "sig" || TELLING.iter().any(|part| plain.contains(part))
}

/// Whether some server takes the one name for the other. They read `_`, `.` and blanks like `-`, drop blanks around a name, end it
/// at a NUL, or take `name[]` for a list of that name.
pub(crate) fn is_same_name(one: &str, other: &str) -> bool {
    let (one, other) = (plain(one), plain(other));
    without_index(&one) == without_index(&other)
}

/// In small letters, with one sign between words.
fn plain(name: &str) -> String {
    let is_around = |c: char| c.is_whitespace() || c.is_control() || c == '+';
    let one_sign = |c: char| if matches!(c, '_' | '.' | ' ' | '+') { '-' } else { c.to_ascii_lowercase() };
    name.split('\0').next().unwrap_or_default().trim_matches(is_around).chars().map(one_sign).collect()
}

fn without_index(plain: &str) -> &str {
    plain.split('[').next().unwrap_or_default()
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
            "api+key",
            " key",
            "key[]",
            "x[token]",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["Accept", "User-Agent", "Content-Type", "Range", "If-None-Match", "X-Request-Id", "Keep-Alive"] {
            assert!(!is_credential(name), "{name}");
        }
    }

    #[test]
    fn r25_names_are_the_same_where_some_server_would_take_them_for_the_same() {
        for other in
            ["App-Id", "APP_ID", "app.id", "app+id", " app id\t", "app_id[]", "app_id[0]", "app_id\0x", "+app_id"]
        {
            assert!(is_same_name("app_id", other), "{other:?}");
        }
        for other in ["appid", "app_ids", "xapp_id", "a[app_id]", ""] {
            assert!(!is_same_name("app_id", other), "{other:?}");
        }
    }

    #[test]
    fn r25_a_placeholder_is_welcome_where_its_credential_is_put_in_and_nowhere_else() {
        let name = |text: &str| text.parse::<CredentialName>().unwrap();
        let placeholder = |of: &[&str]| Brought {
            name: "Authorization".to_owned(),
            stands_for: of.iter().map(|of| name(of)).collect(),
        };
        let inject = Credential::Inject(name("team"));
        assert_eq!(inject.unwelcome(&[placeholder(&["team", "git"])]), None);
        assert_eq!(inject.unwelcome(&[placeholder(&["git"])]), Some(&placeholder(&["git"])));
        let both = [placeholder(&["team"]), Brought::foreign("Cookie")];
        assert_eq!(inject.unwelcome(&both), Some(&both[1]), "nor another beside it");
        assert_eq!(Credential::None.unwelcome(&[placeholder(&["team"])]), Some(&placeholder(&["team"])));
        assert_eq!(Credential::Own.unwelcome(&[Brought::foreign("Cookie")]), None);
    }
}
