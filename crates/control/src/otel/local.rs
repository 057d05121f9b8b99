//! The address of a collector: on this machine, so that what is told needs no TLS.

use std::net::IpAddr;
use std::str::FromStr;

use reqwest::Url;

/// Where a collector listens: over HTTP, on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocalUrl(Url);

/// An address that nothing is sent to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotLocal {
    #[error("`{given}` is not an address; write one like `http://127.0.0.1:9000/hook`")]
    Form { given: String },
    #[error(
        "`{given}` needs TLS, which cannot be spoken yet; send to a proxy on this machine, `http://127.0.0.1:PORT/…`, that does"
    )]
    Tls { given: String },
    #[error(
        "`{given}` is not on this machine, and without TLS messages are sent to a loopback address only; write `127.0.0.1` or `[::1]`, a name could lead anywhere"
    )]
    NotLoopback { given: String },
    #[error("the address of a collector holds no user, password or fragment")]
    Credentials,
}

impl LocalUrl {
    pub(super) const fn as_url(&self) -> &Url {
        &self.0
    }
}

impl FromStr for LocalUrl {
    type Err = NotLocal;

    fn from_str(text: &str) -> Result<Self, NotLocal> {
        let given = || text.chars().take(200).collect();
        let url = Url::parse(text).map_err(|_| NotLocal::Form { given: given() })?;
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return Err(NotLocal::Credentials);
        }
        match url.scheme() {
            "http" if is_loopback(&url) => Ok(Self(url)),
            "http" => Err(NotLocal::NotLoopback { given: given() }),
            "https" => Err(NotLocal::Tls { given: given() }),
            _ => Err(NotLocal::Form { given: given() }),
        }
    }
}

/// Only a literal address counts: what a name leads to can be changed by others, and between two looks.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b12_a_collector_is_on_this_machine() {
        for good in ["http://127.0.0.1:9000/hook", "http://127.9.9.9/", "http://[::1]:80/a?b=c"] {
            good.parse::<LocalUrl>().unwrap();
        }
        let refused = |text: &str| text.parse::<LocalUrl>().unwrap_err();
        for elsewhere in
            ["http://10.0.0.1/", "http://169.254.169.254/latest", "http://example.com/", "http://localhost/"]
        {
            assert!(matches!(refused(elsewhere), NotLocal::NotLoopback { .. }), "{elsewhere}");
        }
        assert!(matches!(refused("http://[::ffff:10.0.0.1]/"), NotLocal::NotLoopback { .. }));
        assert!(matches!(refused("https://127.0.0.1/"), NotLocal::Tls { .. }));
        assert_eq!(refused("http://user:pass@127.0.0.1/"), NotLocal::Credentials);
        assert_eq!(refused("http://127.0.0.1@example.com/"), NotLocal::Credentials);
        for wrong in ["", "127.0.0.1:9000", "file:///etc/passwd", "unix:/run/x"] {
            assert!(matches!(refused(wrong), NotLocal::Form { .. }), "{wrong}");
        }
    }
}
