//! Requests and answers as they are passed on: headers of the connection stay behind, what says where a body ends is
//! written anew.

use super::framing::{Framing, length_of};
use super::head::{AnswerHead, Flaw, Headers, RequestHead};
use crate::egress::rules::HeldCredential;
use placet_domain::scope::Authority;

/// Headers of one connection (RFC 9110, section 7.6.1), and those that are written anew.
const STAYS_BEHIND: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
    "host",
    "expect",
    "http2-settings",
];

/// What `Connection` may not take away: without them the request would mean something else.
const KEPT: &[&str] = &["host", "content-length", "transfer-encoding"];

/// Refuses a request that would have its own meaning removed on the way.
pub(super) fn check_connection(headers: &Headers) -> Result<(), Flaw> {
    let taken = headers.words("connection").any(|word| KEPT.iter().any(|kept| word.eq_ignore_ascii_case(kept)));
    if taken { Err("`Connection` names a header that must stay") } else { Ok(()) }
}

/// The head for the host, with the path alone in its first line.
pub(super) fn request(
    head: &RequestHead,
    (to, rest): (&Authority, &str),
    framing: Framing,
    credential: Option<&HeldCredential>,
) -> Vec<u8> {
    let host = if to.port() == 80 { to.place().to_string() } else { to.to_string() };
    let mut bytes = format!("{} {rest} HTTP/1.1\r\nHost: {host}\r\n", head.method).into_bytes();
    pass_on(&mut bytes, &head.headers);
    if let Some(credential) = credential {
        put(&mut bytes, credential.header(), credential.value().as_bytes());
    }
    frame(&mut bytes, framing);
    bytes.extend_from_slice(b"Connection: close\r\n\r\n");
    bytes
}

/// The head for the client, with the framing it gets and whether more may follow.
pub(super) fn answer(head: &AnswerHead, framing: Framing, stays_open: bool) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {} {}\r\n", head.status, head.phrase).into_bytes();
    pass_on(&mut bytes, &head.headers);
    match framing {
        // The length of what would have been sent, in an answer to HEAD.
        Framing::Nothing => {
            let length = head.headers.all("content-length").next().and_then(|text| length_of(text).ok());
            length.into_iter().for_each(|length| frame(&mut bytes, Framing::Length(length)));
        }
        Framing::Length(_) | Framing::Chunked | Framing::UntilClose => frame(&mut bytes, framing),
    }
    put(&mut bytes, "Connection", if stays_open { b"keep-alive" } else { b"close" });
    bytes.extend_from_slice(b"\r\n");
    bytes
}

fn pass_on(bytes: &mut Vec<u8>, headers: &Headers) {
    let stays = |name: &str| STAYS_BEHIND.iter().any(|behind| name.eq_ignore_ascii_case(behind));
    for (name, value) in headers.iter().filter(|(name, _)| !stays(name) && !headers.lists("connection", name)) {
        put(bytes, name, value);
    }
}

fn put(bytes: &mut Vec<u8>, name: &str, value: &[u8]) {
    bytes.extend_from_slice(name.as_bytes());
    bytes.extend_from_slice(b": ");
    bytes.extend_from_slice(value);
    bytes.extend_from_slice(b"\r\n");
}

fn frame(bytes: &mut Vec<u8>, framing: Framing) {
    match framing {
        Framing::Nothing | Framing::UntilClose => {}
        Framing::Length(length) => put(bytes, "Content-Length", length.to_string().as_bytes()),
        Framing::Chunked => put(bytes, "Transfer-Encoding", b"chunked"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::rules::Secret;

    fn head(text: &str) -> RequestHead {
        RequestHead::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn headers_of_the_connection_stay_behind_and_the_host_is_the_one_that_was_judged() {
        let head = head(
            "POST http://a.test/x HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nConnection: close, X-Gone\r\nX-Gone: 1\r\n\
             Keep-Alive: 5\r\nProxy-Connection: x\r\nTE: trailers\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\n",
        );
        let credential = HeldCredential::new("Authorization", Secret::new("Bearer k")).unwrap();
        let to = "a.test:80".parse().unwrap();
        let bytes = request(&head, (&to, "/x"), Framing::Length(3), Some(&credential));
        assert_eq!(
            String::from_utf8(bytes).unwrap(),
            "POST /x HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nAuthorization: Bearer k\r\nContent-Length: 3\r\n\
             Connection: close\r\n\r\n"
        );
    }

    #[test]
    fn a_connection_header_does_not_take_away_what_a_request_means() {
        for name in ["Host", "content-length", "Transfer-Encoding"] {
            let head = head(&format!("GET / HTTP/1.1\r\nConnection: x, {name}\r\n\r\n"));
            assert!(check_connection(&head.headers).is_err(), "{name}");
        }
    }

    #[test]
    fn an_answer_to_head_keeps_its_length() {
        let head = AnswerHead::parse(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nKeep-Alive: 5\r\n\r\n").unwrap();
        let text = String::from_utf8(answer(&head, Framing::Nothing, true)).unwrap();
        assert_eq!(text, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: keep-alive\r\n\r\n");
    }
}
