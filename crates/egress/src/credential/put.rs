//! How a credential goes into a request: in a header, or in the query where a host knows no better.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use placet_dial::Secret;
use serde::Deserialize;
use zeroize::Zeroizing;

placet_domain::names! {
    /// A header that carries a credential.
    HeaderName = "header for a credential", |text| {
        (1..=64).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !WRITTEN_ANEW.iter().any(|name| text.eq_ignore_ascii_case(name))
    }, "letters, digits and hyphens, and not one that says where a request goes or ends";
    /// A parameter of the query that carries a credential.
    ParameterName = "parameter for a credential", |text| {
        (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    }, "letters, digits, hyphens and underscores";
    /// The name that goes with a password.
    UserName = "name of a user", |text| {
        text.len() <= 128 && text.bytes().all(|b| b.is_ascii_graphic() && b != b':')
    }, "visible ASCII without a colon, at most 128";
}

/// Headers that the gateway writes itself, or that belong to one connection.
const WRITTEN_ANEW: &[&str] = &[
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "accept-encoding",
];

/// The way a credential is put into a request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Put {
    /// `Authorization: Bearer …`
    #[default]
    Bearer,
    /// `Authorization: Basic …`, with this user.
    Basic(UserName),
    /// In a header of its own, bare.
    Header(HeaderName),
    /// In the query. Servers write queries into their logs; only where a host knows no other way.
    Query(ParameterName),
}

impl Put {
    /// The header it is, if it is one.
    pub(crate) fn header(&self) -> Option<&str> {
        match self {
            Self::Bearer | Self::Basic(_) => Some("Authorization"),
            Self::Header(name) => Some(name.as_str()),
            Self::Query(_) => None,
        }
    }

    /// What follows the colon of the header, or the equals sign of the parameter.
    pub(crate) fn value(&self, secret: &Secret) -> Zeroizing<String> {
        Zeroizing::new(match self {
            Self::Bearer => format!("Bearer {}", secret.expose()),
            Self::Basic(user) => format!("Basic {}", *pair(user, secret)),
            Self::Header(_) => secret.expose().to_owned(),
            Self::Query(_) => return secret.escaped(),
        })
    }

    /// Every way in which a host hears it, and could say it back.
    pub(super) fn spellings(&self, secret: &Secret) -> Vec<Zeroizing<String>> {
        let mut all = secret.spellings();
        if let Self::Basic(user) = self {
            all.push(pair(user, secret));
        }
        all
    }
}

/// `user:password`, as `Basic` encodes it.
fn pair(user: &UserName, secret: &Secret) -> Zeroizing<String> {
    let plain = Zeroizing::new(format!("{user}:{}", secret.expose()));
    Zeroizing::new(STANDARD.encode(plain.as_bytes()))
}

#[cfg(test)]
mod tests {
    use placet_dial::KeySource;

    use super::*;

    #[tokio::test]
    async fn each_way_writes_the_credential_as_hosts_expect_it() {
        let argv = ["printf", "%s", "se/cr+et=&1"].map(ToOwned::to_owned).to_vec();
        let secret = KeySource::Command(argv).read().await.unwrap();
        let value = |put: &Put| put.value(&secret).to_string();
        assert_eq!(value(&Put::Bearer), "Bearer se/cr+et=&1");
        assert_eq!(value(&Put::Basic("git".parse().unwrap())), "Basic Z2l0OnNlL2NyK2V0PSYx");
        assert_eq!(value(&Put::Header("X-Api-Key".parse().unwrap())), "se/cr+et=&1");
        let query = Put::Query("key".parse().unwrap());
        assert_eq!((value(&query).as_str(), query.header()), ("se%2Fcr%2Bet%3D%261", None));
        assert_eq!(query.spellings(&secret).len(), 2);
        assert_eq!(Put::Basic("git".parse().unwrap()).spellings(&secret).len(), 3);
    }

    #[test]
    fn a_header_that_says_where_a_request_ends_carries_no_credential() {
        for bad in ["Host", "content-length", "Transfer-Encoding", "Connection", "a b", "a:b", "", "a\r\nb"] {
            assert!(bad.parse::<HeaderName>().is_err(), "{bad:?}");
        }
        assert!("PRIVATE-TOKEN".parse::<HeaderName>().is_ok());
        assert!("us:er".parse::<UserName>().is_err() && "a=b".parse::<ParameterName>().is_err());
    }
}
