//! Names, read once. What a client wrote as a host becomes an [`Authority`] here or is refused, and from then on nobody
//! looks at the text again: what was judged is what is resolved and connected to.

mod hello;

pub(crate) use hello::{Hello, Opened, open};

use placet_domain::scope::{Authority, Place};

use super::rules::Reason;

/// The port of a plain address that names none.
pub(crate) const HTTP_PORT: u16 = 80;
/// The same inside of TLS.
pub(crate) const HTTPS_PORT: u16 = 443;

/// `host:port`, as CONNECT writes it.
pub(crate) fn of_connect(text: &str) -> Result<Authority, Reason> {
    Ok(text.parse::<Authority>()?)
}

/// The authority and the rest of `http://host[:port]/path?query`. The rest begins with `/`.
pub(crate) fn of_absolute(text: &str) -> Result<(Authority, &str), Reason> {
    let rest = text.strip_prefix("http://").ok_or_else(|| not_absolute(text))?;
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if rest.contains('#') {
        return Err(Reason::Malformed("a fragment is not for the server"));
    }
    if rest.starts_with('?') {
        return Err(Reason::Malformed("a query needs a path; write `/?…`"));
    }
    let authority = Authority::with_default_port(authority, HTTP_PORT)?;
    Ok((authority, if rest.is_empty() { "/" } else { rest }))
}

fn not_absolute(text: &str) -> Reason {
    if text.starts_with('/') || text == "*" {
        return Reason::Unsupported("this is a proxy; send the whole address (`http://host/path`), or CONNECT");
    }
    Reason::Unsupported("only `http://` addresses are passed on; for others ask for a tunnel with CONNECT")
}

/// Whether a `Host` header names the very place and port. Without a port it means the usual one.
pub(crate) fn is_host_of(header: &str, authority: &Authority, usual_port: u16) -> bool {
    Authority::with_default_port(header, usual_port).is_ok_and(|named| named == *authority)
}

/// A name as SOCKS carries it: bytes without a port.
pub(crate) fn of_socks(name: &[u8], port: u16) -> Result<Authority, Reason> {
    let text = String::from_utf8_lossy(name);
    Ok(Authority::new(text.parse::<Place>()?, port)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn r18_names_with_two_readings_are_refused() {
        let tricks = [
            "example.org\0.evil.test:443",
            "example.org.:443",
            "example.org..:443",
            "exämple.org:443",
            "ex\u{430}mple.org:443",
            "example.org:443:443",
            "example.org:+443",
            "example.org:0443",
            "example.org:0",
            "example.org:65536",
            "example.org:",
            "example.org",
            ":443",
            "user@example.org:443",
            "user:pw@example.org:443",
            "example.org@evil.test:443",
            "0177.0.0.1:443",
            "127.0.0.01:443",
            "0x7f.0.0.1:443",
            "0x7f000001:443",
            "2130706433:443",
            "127.1:443",
            "127.0.0.1.:443",
            "[::1:443",
            "::1]:443",
            "::1:443",
            "[127.0.0.1]:443",
            "[fe80::1%eth0]:443",
            "[fe80::1%25eth0]:443",
            "[::1]x:443",
            "[[::1]]:443",
            "[v1.x]:443",
            " example.org:443",
            "example.org :443",
            "example.org\t:443",
            "example.org\r\n:443",
            "ex%61mple.org:443",
            "example%2eorg:443",
            "example.org/:443",
            "example.org?x:443",
            "example.org#x:443",
            "example.org\\:443",
            "-example.org:443",
            "exam_ple.org:443",
            "*.example.org:443",
            "１２７.0.0.1:443",
            "example。org:443",
        ];
        for trick in tricks {
            let reason = of_connect(trick).expect_err(trick);
            assert_eq!(reason.number(), 1, "{trick:?}");
        }
        let long = format!("{}.org:443", "a".repeat(64));
        let longer = format!("{}:443", ["abcdefgh"; 30].join("."));
        assert_eq!(of_connect(&long).unwrap_err().number(), 1);
        assert_eq!(of_connect(&longer).unwrap_err().number(), 1);
    }

    #[test]
    fn plain_names_keep_one_spelling() {
        for (text, shown) in [
            ("Example.ORG:443", "example.org:443"),
            ("xn--exmple-cua.org:443", "xn--exmple-cua.org:443"),
            ("[2001:DB8:0::1]:80", "[2001:db8::1]:80"),
            ("127.0.0.1:1", "127.0.0.1:1"),
            ("[::ffff:127.0.0.1]:1", "[::ffff:127.0.0.1]:1"),
        ] {
            assert_eq!(of_connect(text).unwrap().to_string(), shown);
        }
    }

    #[test]
    fn absolute_addresses_are_split_once() {
        let (authority, rest) = of_absolute("http://example.org:8080/a/b?c=d").unwrap();
        assert_eq!((authority.to_string().as_str(), rest), ("example.org:8080", "/a/b?c=d"));
        assert_eq!(of_absolute("http://example.org").unwrap().1, "/");
        for (text, number) in [
            ("/a", 5),
            ("*", 5),
            ("https://example.org/", 5),
            ("ftp://example.org/", 5),
            ("HTTP://example.org/", 5),
            ("http://user@example.org/", 1),
            ("http://example.org\\@evil.test/", 1),
            ("http:///x", 1),
            ("http://example.org/#x", 3),
            ("http://example.org?x", 3),
            ("http://evil.test#@example.org/", 3),
        ] {
            assert_eq!(of_absolute(text).unwrap_err().number(), number, "{text}");
        }
    }

    #[test]
    fn a_host_header_is_the_same_place_or_another() {
        let authority = "example.org:80".parse().unwrap();
        assert!(is_host_of("example.org", &authority, 80) && is_host_of("EXAMPLE.org:80", &authority, 80));
        assert!(is_host_of("example.org", &"example.org:443".parse().unwrap(), 443));
        assert!(!is_host_of("example.org", &authority, 443));
        for other in ["example.org:8080", "evil.test", "", "example.org.", "example.org, evil.test", "user@example.org"]
        {
            assert!(!is_host_of(other, &authority, 80), "{other}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_accepted_comes_back_as_the_same_place(text in "\\PC{0,40}") {
            if let Ok(authority) = of_connect(&text) {
                prop_assert_eq!(of_connect(&authority.to_string()).unwrap(), authority);
            }
        }

        #[test]
        fn likely_names_come_back_as_the_same_place(text in "[a-zA-Z0-9.:\\[\\]%@-]{1,30}:[0-9]{1,5}") {
            if let Ok(authority) = of_connect(&text) {
                prop_assert_eq!(of_connect(&authority.to_string()).unwrap(), authority);
            }
        }

        #[test]
        fn no_bytes_of_socks_make_the_parser_fail_in_another_way(name: Vec<u8>, port: u16) {
            if let Ok(authority) = of_socks(&name, port) {
                prop_assert_eq!(authority.port(), port);
            }
        }
    }
}
