//! What the client is told, in words and codes it understands. It is never asked for a password: there is none.

use super::record::Way;
use super::rules::{Kind, Reason};

/// That a tunnel is open.
pub(super) const fn opened(way: Way) -> &'static [u8] {
    match way {
        Way::Connect | Way::Http => b"HTTP/1.1 200 Connection established\r\n\r\n",
        Way::Socks => &[5, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    }
}

/// That it will not happen, or did not.
pub(super) fn refused(way: Way, reason: &Reason) -> Vec<u8> {
    match way {
        Way::Connect | Way::Http => plain(reason),
        Way::Socks => vec![5, socks_code(reason), 0, 1, 0, 0, 0, 0, 0, 0],
    }
}

fn plain(reason: &Reason) -> Vec<u8> {
    let (status, phrase) = status(reason);
    let body = format!("placet: {reason} (E{})\n{}\n", reason.number(), reason.hint());
    let length = body.len();
    format!(
        "HTTP/1.1 {status} {phrase}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         X-Placet-Reason: E{}\r\nConnection: close\r\n\r\n{body}",
        reason.number()
    )
    .into_bytes()
}

/// The reasons that HTTP has a status of its own for; the others go by their kind.
const fn status(reason: &Reason) -> (u16, &'static str) {
    match (reason.number(), reason.kind()) {
        (4, _) => (431, "Request Header Fields Too Large"),
        (45, _) => (408, "Request Timeout"),
        (44 | 60, _) => (503, "Service Unavailable"),
        (41 | 42 | 52, _) => (504, "Gateway Timeout"),
        (_, Kind::Unclear) => (400, "Bad Request"),
        (_, Kind::Refused | Kind::Cut) => (403, "Forbidden"),
        (_, Kind::Trouble) => (502, "Bad Gateway"),
    }
}

/// RFC 1928, section 6.
const fn socks_code(reason: &Reason) -> u8 {
    match (reason.number(), reason.kind()) {
        (5, _) => 7,
        (50, _) => 4,
        (51, _) => 5,
        (52, _) => 6,
        (_, Kind::Unclear | Kind::Trouble) => 1,
        (_, Kind::Refused | Kind::Cut) => 2,
    }
}

/// A client that speaks TLS already understands only TLS: a fatal alert, `access_denied` (RFC 8446, section 6.2).
pub(super) const TLS_DENIED: &[u8] = &[21, 3, 3, 0, 2, 2, 49];

#[cfg(test)]
mod tests {
    use super::*;

    fn text(reason: &Reason) -> String {
        String::from_utf8(refused(Way::Http, reason)).unwrap()
    }

    #[test]
    fn a_refusal_says_which_rule_is_missing_and_what_to_do() {
        let said = text(&Reason::NoRule { host: "evil.test".into() });
        assert!(said.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{said}");
        assert!(said.contains("no rule allows the host `evil.test` (E10)\n"), "{said}");
        assert!(said.contains("a person can allow it for this run"), "{said}");
        let length: usize = said.split("Content-Length: ").nth(1).unwrap().split('\r').next().unwrap().parse().unwrap();
        assert_eq!(said.split_once("\r\n\r\n").unwrap().1.len(), length);
    }

    #[test]
    fn trouble_outside_is_not_called_a_refusal() {
        assert!(text(&Reason::Unresolved).starts_with("HTTP/1.1 502 "));
        assert!(text(&Reason::HostTooSlow { wait_ms: 1 }).starts_with("HTTP/1.1 504 "));
        assert!(text(&Reason::TooSlow { head_ms: 1 }).starts_with("HTTP/1.1 408 "));
        assert!(text(&Reason::HeadTooLarge { most_bytes: 1 }).starts_with("HTTP/1.1 431 "));
        assert!(text(&Reason::NotRecorded).starts_with("HTTP/1.1 503 "));
    }

    #[test]
    fn socks_has_codes_of_its_own() {
        let code = |reason: &Reason| refused(Way::Socks, reason)[1];
        assert_eq!(code(&Reason::NoRule { host: "a".into() }), 2);
        assert_eq!((code(&Reason::Unresolved), code(&Reason::Unreachable)), (4, 5));
        assert_eq!((code(&Reason::Unsupported("x")), code(&Reason::HostTooSlow { wait_ms: 1 })), (7, 6));
    }
}
