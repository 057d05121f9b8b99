//! Addresses that the host calls: from its settings, or published by a sign-on provider. Parsed once and strictly; the path may be a
//! secret and is never shown.

use std::fmt;
use std::str::FromStr;

use hyper::Uri;
use placet_domain::scope::Authority;

use super::local_addresses;

/// Address of a call: HTTPS anywhere, or HTTP on this machine.
#[derive(Clone, PartialEq, Eq)]
pub struct TargetUrl {
    is_secure: bool,
    to: Authority,
    path_and_query: String,
}

/// Reason why an address is refused. Repeats no part of it that may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetUrlError {
    #[error(
        "this is not an address; write one like `https://HOST/PATH`, or `http://127.0.0.1:9000/PATH` on this machine"
    )]
    Form,
    #[error(
        "`{host}` is not on this machine, and without TLS nothing else is called; write `https`, or `127.0.0.1`, `[::1]` or `localhost`: any other name could lead anywhere"
    )]
    NotLoopback { host: String },
    #[error("an address that is called holds no user, password or fragment; who calls is said in another way")]
    Credentials,
}

impl TargetUrl {
    pub const fn is_secure(&self) -> bool {
        self.is_secure
    }

    pub const fn to(&self) -> &Authority {
        &self.to
    }

    pub(super) fn path_and_query(&self) -> &str {
        &self.path_and_query
    }

    /// Formats host and port for the `Host` header.
    pub(super) fn host_header(&self) -> String {
        let default_port = if self.is_secure { 443 } else { 80 };
        if self.to.port() == default_port {
            self.to.place().to_string()
        } else {
            format!("{}:{}", self.to.place(), self.to.port())
        }
    }
}

/// Shows scheme and host, without the path.
impl fmt::Display for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}/…", if self.is_secure { "https" } else { "http" }, self.host_header())
    }
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TargetUrl({self})")
    }
}

impl FromStr for TargetUrl {
    type Err = TargetUrlError;

    fn from_str(text: &str) -> Result<Self, TargetUrlError> {
        let uri: Uri = text.parse().map_err(|_| TargetUrlError::Form)?;
        let authority = uri.authority().ok_or(TargetUrlError::Form)?.as_str();
        if authority.contains('@') || text.contains('#') {
            return Err(TargetUrlError::Credentials);
        }
        let (is_secure, default_port) = match uri.scheme_str() {
            Some("https") => (true, 443),
            Some("http") => (false, 80),
            Some(_) | None => return Err(TargetUrlError::Form),
        };
        let to = Authority::with_default_port(authority, default_port).map_err(|_| TargetUrlError::Form)?;
        if !is_secure && local_addresses(to.place()).is_empty() {
            return Err(TargetUrlError::NotLoopback { host: to.place().to_string() });
        }
        let path_and_query = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { is_secure, to, path_and_query })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b12_without_tls_messages_go_to_this_machine_only() {
        for good in [
            "http://127.0.0.1:9000/hook",
            "http://127.9.9.9/",
            "http://[::1]:80/a?b=c",
            "http://localhost:4000",
            "https://hooks.example/x",
        ] {
            good.parse::<TargetUrl>().unwrap_or_else(|error| panic!("{good}: {error}"));
        }
        let refused = |text: &str| text.parse::<TargetUrl>().unwrap_err();
        for elsewhere in [
            "http://10.0.0.1/",
            "http://169.254.169.254/latest",
            "http://example.com/",
            "http://localhost.example.com/",
            "http://127.0.0.1.example.com/",
        ] {
            assert!(matches!(refused(elsewhere), TargetUrlError::NotLoopback { .. }), "{elsewhere}");
        }
        assert!(matches!(refused("http://[::ffff:10.0.0.1]/"), TargetUrlError::NotLoopback { .. }));
        assert_eq!(refused("http://user:pass@127.0.0.1/"), TargetUrlError::Credentials);
        assert_eq!(refused("https://127.0.0.1@example.com/"), TargetUrlError::Credentials);
        assert_eq!(refused("https://example.com/#x"), TargetUrlError::Credentials);
        for wrong in [
            "",
            "127.0.0.1:9000",
            "file:///etc/passwd",
            "unix:/run/x",
            "https://",
            "ftp://a/",
            "https://a b/",
            "https://127.1/",
        ] {
            assert_eq!(refused(wrong), TargetUrlError::Form, "{wrong}");
        }
    }

    #[test]
    fn b12_a_path_that_may_be_a_secret_is_never_shown() {
        let url: TargetUrl = "https://hooks.example:8443/services/T0/B0/canary?key=canary".parse().unwrap();
        assert_eq!(url.to_string(), "https://hooks.example:8443/…");
        assert!(!format!("{url:?}").contains("canary"));
        assert!(!"ftp://hooks.example/canary".parse::<TargetUrl>().unwrap_err().to_string().contains("canary"));
    }
}
