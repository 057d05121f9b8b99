//! Requests and answers as they are passed on: headers of the connection stay behind, what says where a body ends is
//! written anew.

use placet_dial::Scrubber;
use zeroize::Zeroizing;

use super::asked::{Asked, in_pair};
use super::framing::{Framing, length_of};
use super::head::{AnswerHead, Flaw, Headers};
use crate::credential::{Credentials, Held, Put};
use crate::rules::is_credential;

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
pub(super) fn request(asked: &Asked) -> Zeroizing<Vec<u8>> {
    let mut bytes = start(asked, &asked.rest);
    pass_on(&mut bytes, &asked.head.headers, |_, _| true);
    finish(bytes, asked.framing)
}

/// The same with a credential in it. Placeholders stay behind, and the answer is asked for in plain text: what is
/// compressed cannot be searched for what the host repeats.
pub(super) fn request_with(asked: &Asked, held: &Held, credentials: &Credentials) -> Zeroizing<Vec<u8>> {
    let value = held.put().value(held.secret());
    let rest = rest_with(&asked.rest, held.put(), &value, credentials);
    let mut bytes = start(asked, &rest);
    let stays = |name: &str, value: &[u8]| {
        !name.eq_ignore_ascii_case("accept-encoding") && credentials.in_header(name, value).is_none()
    };
    pass_on(&mut bytes, &asked.head.headers, stays);
    put(&mut bytes, "Accept-Encoding", b"identity");
    if let Some(header) = held.put().header() {
        put(&mut bytes, header, value.as_bytes());
    }
    finish(bytes, asked.framing)
}

/// The path with its query, without placeholders and, where that is the way, with the credential.
fn rest_with(rest: &str, way: &Put, value: &str, credentials: &Credentials) -> Zeroizing<String> {
    let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
    let own = query.into_iter().flat_map(|query| query.split('&')).filter(|pair| in_pair(pair, credentials).is_empty());
    let mut pairs: Vec<Zeroizing<String>> = own.map(|pair| Zeroizing::new(pair.to_owned())).collect();
    if let Put::Query(name) = way {
        pairs.push(Zeroizing::new(format!("{name}={value}")));
    }
    let mut rest = Zeroizing::new(path.to_owned());
    for (index, pair) in pairs.iter().enumerate() {
        rest.push(if index == 0 { '?' } else { '&' });
        rest.push_str(pair);
    }
    rest
}

fn start(asked: &Asked, rest: &str) -> Vec<u8> {
    let to = &asked.request.to;
    let host = if to.port() == asked.usual_port { to.place().to_string() } else { to.to_string() };
    format!("{} {rest} HTTP/1.1\r\nHost: {host}\r\n", asked.head.method).into_bytes()
}

fn finish(mut bytes: Vec<u8>, framing: Framing) -> Zeroizing<Vec<u8>> {
    frame(&mut bytes, framing);
    bytes.extend_from_slice(b"Connection: close\r\n\r\n");
    Zeroizing::new(bytes)
}

/// The head for the client, with the framing it gets and whether more may follow. Where a credential was put in, what
/// the host repeats of it is covered, and what the host gives in exchange for it, such as cookies, stays behind.
pub(super) fn answer(head: &AnswerHead, framing: Framing, stays_open: bool, scrubber: Option<&Scrubber>) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {} {}\r\n", head.status, head.phrase).into_bytes();
    pass_on(&mut bytes, &head.headers, |name, _| scrubber.is_none() || !is_credential(name));
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
    if let Some(scrubber) = scrubber {
        scrubber.cover(&mut bytes);
    }
    bytes
}

fn pass_on(bytes: &mut Vec<u8>, headers: &Headers, is_passed: impl Fn(&str, &[u8]) -> bool) {
    let stays = |name: &str| STAYS_BEHIND.iter().any(|behind| name.eq_ignore_ascii_case(behind));
    let of_connection = |name: &str| stays(name) || headers.lists("connection", name);
    for (name, value) in headers.iter().filter(|(name, value)| !of_connection(name) && is_passed(name, value)) {
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
    use crate::credential::CredentialSettings;
    use crate::http::asked::understand;
    use crate::http::exchange::Form;
    use crate::http::head::RequestHead;

    /// The credential `team`, put in this way.
    async fn credentials(way: &str) -> Credentials {
        let text = format!("name = \"team\"\nput = {way}\nkey = {{ command = [\"printf\", \"canary/canary\"] }}");
        let settings: CredentialSettings = toml::from_str(&text).unwrap();
        Credentials::open(vec![settings]).await.unwrap()
    }

    fn asked(text: &str, credentials: &Credentials) -> Asked {
        understand(RequestHead::parse(text.as_bytes()).unwrap(), &Form::Forward, credentials).unwrap()
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn headers_of_the_connection_stay_behind_and_the_host_is_the_one_that_was_judged() {
        let credentials = credentials("\"bearer\"").await;
        let team = "team".parse().unwrap();
        let placeholder = credentials.placeholder(&team).unwrap();
        let asked = asked(
            &format!(
                "POST http://a.test/x?a=b HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nConnection: close, X-Gone\r\nX-Gone: 1\r\n\
                 Keep-Alive: 5\r\nProxy-Connection: x\r\nTE: trailers\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\
                 Authorization: token {placeholder}\r\nAccept-Encoding: gzip\r\n\r\n"
            ),
            &credentials,
        );
        assert_eq!(
            text(&request_with(&asked, credentials.get(&team).unwrap(), &credentials)),
            "POST /x?a=b HTTP/1.1\r\nHost: a.test\r\nAccept: */*\r\nAccept-Encoding: identity\r\n\
             Authorization: Bearer canary/canary\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
        );
        assert!(
            text(&request(&asked)).contains("Accept-Encoding: gzip\r\n"),
            "without a credential it may be compressed"
        );
    }

    #[tokio::test]
    async fn a_credential_goes_into_the_query_only_where_that_is_the_way() {
        let credentials = credentials("{ query = \"key\" }").await;
        let held = credentials.get(&"team".parse().unwrap()).unwrap();
        let placeholder = credentials.placeholder(&"team".parse().unwrap()).unwrap();
        for (rest, expected) in [
            ("/x".to_owned(), "/x?key=canary%2Fcanary"),
            ("/x?".to_owned(), "/x?&key=canary%2Fcanary"),
            (format!("/x?key={placeholder}"), "/x?key=canary%2Fcanary"),
            (format!("/x?a=b&key={placeholder}&c"), "/x?a=b&c&key=canary%2Fcanary"),
        ] {
            let asked = asked(&format!("GET http://a.test{rest} HTTP/1.1\r\nHost: a.test\r\n\r\n"), &credentials);
            let said = text(&request_with(&asked, held, &credentials));
            assert!(said.starts_with(&format!("GET {expected} HTTP/1.1\r\n")), "{said}");
            assert!(!said.contains("Authorization"), "{said}");
        }
    }

    #[test]
    fn a_connection_header_does_not_take_away_what_a_request_means() {
        for name in ["Host", "content-length", "Transfer-Encoding"] {
            let text = format!("GET / HTTP/1.1\r\nConnection: x, {name}\r\n\r\n");
            assert!(check_connection(&RequestHead::parse(text.as_bytes()).unwrap().headers).is_err(), "{name}");
        }
    }

    #[test]
    fn an_answer_to_head_keeps_its_length() {
        let head = AnswerHead::parse(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nKeep-Alive: 5\r\n\r\n").unwrap();
        let text = text(&answer(&head, Framing::Nothing, true, None));
        assert_eq!(text, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nConnection: keep-alive\r\n\r\n");
    }

    #[tokio::test]
    async fn r24_an_answer_neither_repeats_a_credential_nor_gives_another_for_it() {
        let credentials = credentials("{ basic = \"git\" }").await;
        let scrubber = credentials.get(&"team".parse().unwrap()).unwrap().scrubber();
        let head = AnswerHead::parse(
            b"HTTP/1.1 200 canary/canary\r\nX-Echo: Basic Z2l0OmNhbmFyeS9jYW5hcnk=\r\nSet-Cookie: session=1\r\n\
              Location: /x?key=canary%2Fcanary\r\n\r\n",
        );
        let text = text(&answer(&head.unwrap(), Framing::Length(0), true, Some(&scrubber)));
        assert!(!text.contains("canary") && !text.contains("Y2FuYX") && !text.contains("Cookie"), "{text}");
        assert!(text.contains("Location: /x?key=***************\r\n"), "{text}");
    }
}
