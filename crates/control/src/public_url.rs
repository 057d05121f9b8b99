//! Where people come, if not to the address that is listened at: the end of a tunnel on their side, or the name of a proxy that speaks TLS
//! and passes on what it is asked, name included. Links in messages begin with it, and pages answer to it.

use std::fmt;
use std::str::FromStr;

use placet_domain::scope::{Authority, Place};

/// Without a slash at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl {
    url: String,
    /// As browsers write it into `Host`: lowercase, and without the port that goes without saying.
    host: String,
    is_secure: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not where people can come: write the name of a proxy that speaks TLS, like `https://placet.example.org`, or the end of a tunnel, like `http://localhost:8070`; and no path"
)]
pub struct BadPublicUrl(String);

impl PublicUrl {
    pub fn as_str(&self) -> &str {
        &self.url
    }

    /// Whether this is what a browser was asked for.
    pub(crate) fn is_host(&self, host: &str) -> bool {
        host.eq_ignore_ascii_case(&self.host)
    }

    pub(crate) const fn is_secure(&self) -> bool {
        self.is_secure
    }

    /// Whether browsers may be told that this name is for TLS alone. They keep that for a name whatever the port: it is not said where
    /// something else may answer at another port of it, nor of names that everybody's own machine has.
    pub(crate) fn is_for_tls_alone(&self) -> bool {
        let is_local = self.host == "localhost" || self.host.ends_with(".localhost");
        self.is_secure && !self.host.contains(':') && !is_local
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

impl FromStr for PublicUrl {
    type Err = BadPublicUrl;

    fn from_str(text: &str) -> Result<Self, BadPublicUrl> {
        let bad = || BadPublicUrl(text.chars().filter(|c| !c.is_control()).take(80).collect());
        let (scheme, rest) = text.split_once("://").ok_or_else(bad)?;
        let (is_secure, usual_port) = match scheme {
            "https" => (true, 443),
            "http" => (false, 80),
            _ => return Err(bad()),
        };
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let authority = Authority::with_default_port(authority, usual_port).map_err(|_| bad())?;
        let (place, port) = (authority.place().to_string(), authority.port());
        // A number has no certificate that people would have, and a name without TLS can be pointed anywhere.
        let fits = if is_secure { matches!(authority.place(), Place::Named(_)) } else { is_this_machine(&place) };
        if !fits {
            return Err(bad());
        }
        let host = if port == usual_port { place } else { format!("{place}:{port}") };
        Ok(Self { url: format!("{scheme}://{host}"), host, is_secure })
    }
}

/// Names that nobody else can point here.
pub(crate) fn is_this_machine(name: &str) -> bool {
    matches!(name, "127.0.0.1" | "[::1]" | "localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b4_people_come_by_tls_or_to_their_own_machine_and_no_other_way() {
        for (good, kept) in [
            ("http://127.0.0.1:7070", "http://127.0.0.1:7070"),
            ("http://localhost:8070/", "http://localhost:8070"),
            ("http://localhost", "http://localhost"),
            ("http://[::1]:7070", "http://[::1]:7070"),
            ("https://placet.example.org", "https://placet.example.org"),
            ("https://Placet.Example.org:443/", "https://placet.example.org"),
            ("https://placet.example.org:8443", "https://placet.example.org:8443"),
            ("https://localhost:8443", "https://localhost:8443"),
        ] {
            assert_eq!(good.parse::<PublicUrl>().unwrap().as_str(), kept);
        }
        for bad in [
            "",
            "localhost:8070",
            "http://placet.example.org",
            "http://localhost.evil.example",
            "http://127.0.0.2:7070",
            "http://10.0.0.1",
            "https://10.0.0.1",
            "https://[::1]",
            "https://placet.example.org/path",
            "https://placet.example.org?a",
            "https://u:p@placet.example.org",
            "http://localhost:8070/path",
            "http://u:p@localhost",
            "http://local host",
            "javascript://localhost",
        ] {
            let error = bad.parse::<PublicUrl>().expect_err(bad).to_string();
            assert!(error.contains("tunnel") && error.contains("TLS"), "{error}");
        }
    }

    #[test]
    fn t8_a_name_is_for_tls_alone_at_its_usual_port_and_never_on_everybodys_own_machine() {
        for (url, is_so) in [
            ("https://placet.example.org", true),
            ("https://placet.example.org:443", true),
            ("https://notlocalhost", true),
            ("https://placet.example.org:8443", false),
            ("https://localhost", false),
            ("https://LOCALHOST:443", false),
            ("https://localhost:8443", false),
            ("https://placet.localhost", false),
            ("http://localhost", false),
        ] {
            assert_eq!(url.parse::<PublicUrl>().unwrap().is_for_tls_alone(), is_so, "{url}");
        }
    }

    #[test]
    fn b4_a_browser_asks_for_it_in_any_case_and_with_its_port() {
        let proxy: PublicUrl = "https://placet.example.org".parse().unwrap();
        assert!(proxy.is_host("placet.example.org") && proxy.is_host("PLACET.example.org"));
        for other in ["placet.example.org:7070", "placet.example.org.", "example.org", "evil.placet.example.org", ""] {
            assert!(!proxy.is_host(other), "{other}");
        }
    }
}
