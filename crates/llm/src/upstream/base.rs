//! The address of an upstream, read once and strictly.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use hyper::Uri;
use serde::{Deserialize, Deserializer};

/// Scheme, host, port and whatever path comes before `/v1/…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl {
    /// `https` or `http`.
    scheme: String,
    authority: String,
    /// Without a slash at the end, and without a last `/v1` or `/v1beta`: that comes with each request.
    path: String,
}

/// An address that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadBase {
    #[error("`{0}` is no address of an upstream; write one like `https://api.anthropic.com`")]
    NoAddress(String),
    #[error("`{0}` holds a user, a query or a fragment; write the host and at most a path")]
    TooMuch(String),
    #[error("`{0}` is not on this machine or in a private network, so it needs `https`")]
    Open(String),
}

impl BaseUrl {
    /// The full address of a path.
    pub(crate) fn join(&self, path_and_query: &str) -> String {
        format!("{}://{}{}{path_and_query}", self.scheme, self.authority, self.path)
    }

    pub(crate) fn is_plain(&self) -> bool {
        self.scheme == "http"
    }

    pub(crate) fn is_loopback(&self) -> bool {
        let host = host(&self.authority);
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

impl FromStr for BaseUrl {
    type Err = BadBase;

    fn from_str(text: &str) -> Result<Self, BadBase> {
        let shown = || text.chars().take(120).flat_map(char::escape_default).collect::<String>();
        let uri: Uri = text.parse().map_err(|_| BadBase::NoAddress(shown()))?;
        let (Some(scheme @ ("http" | "https")), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(BadBase::NoAddress(shown()));
        };
        if authority.as_str().contains('@') || uri.query().is_some() || text.contains('#') {
            return Err(BadBase::TooMuch(shown()));
        }
        if scheme == "http" && !is_near(host(authority.as_str())) {
            return Err(BadBase::Open(shown()));
        }
        let path = uri.path().trim_end_matches('/');
        let path = path.strip_suffix("/v1").or_else(|| path.strip_suffix("/v1beta")).unwrap_or(path);
        Ok(Self { scheme: scheme.to_owned(), authority: authority.as_str().to_owned(), path: path.to_owned() })
    }
}

fn host(authority: &str) -> &str {
    let host = authority.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(host, _)| host);
    host.unwrap_or_else(|| authority.split_once(':').map_or(authority, |(host, _)| host))
}

/// This machine, or a network that does not reach the internet. Not link-local: clouds serve their own keys there.
fn is_near(host: &str) -> bool {
    match host.parse() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local(),
        Err(_) => host == "localhost",
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.join(""))
    }
}

impl<'de> Deserialize<'de> for BaseUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_may_be_part_of_the_address_or_not() {
        for text in [
            "https://api.openai.com",
            "https://api.openai.com/",
            "https://api.openai.com/v1",
            "https://api.openai.com/v1/",
        ] {
            let base: BaseUrl = text.parse().unwrap();
            assert_eq!(base.join("/v1/responses"), "https://api.openai.com/v1/responses", "{text}");
        }
        let nested: BaseUrl = "https://models.example/team/v1".parse().unwrap();
        assert_eq!(nested.join("/v1/models"), "https://models.example/team/v1/models");
    }

    #[test]
    fn a_key_never_travels_in_the_open() {
        for text in [
            "http://127.0.0.1:8080",
            "http://localhost:11434/v1",
            "http://[::1]:1",
            "http://10.1.2.3",
            "http://[fd00::1]:80",
        ] {
            assert!(text.parse::<BaseUrl>().is_ok(), "{text}");
        }
        for text in ["http://api.openai.com", "http://169.254.169.254", "http://8.8.8.8", "http://127.0.0.1.example"] {
            assert!(matches!(text.parse::<BaseUrl>(), Err(BadBase::Open(_))), "{text}");
        }
    }

    #[test]
    fn what_is_more_or_less_than_an_address_is_refused() {
        for text in ["", "api.openai.com", "ftp://x", "https://", "file:///etc/passwd"] {
            assert!(matches!(text.parse::<BaseUrl>(), Err(BadBase::NoAddress(_))), "{text}");
        }
        for text in ["https://u:p@x", "https://x?key=1", "https://x/#a"] {
            assert!(matches!(text.parse::<BaseUrl>(), Err(BadBase::TooMuch(_))), "{text}");
        }
    }
}
