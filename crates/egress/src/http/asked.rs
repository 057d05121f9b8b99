//! What a request means: whom it is for, what it asks and where its body ends. Read once, from a head that was read once.

use placet_domain::scope::Authority;

use super::exchange::Form;
use super::framing::{self, Framing};
use super::head::{Flaw, RequestHead, Version};
use super::rewrite;
use crate::credential::{Credentials, Put};
use crate::name;
use crate::rules::{Brought, HttpAsk, Reason, Request, is_same_name};

/// A request that was read, and what it means.
pub(super) struct Asked {
    pub(super) head: RequestHead,
    pub(super) framing: Framing,
    pub(super) request: Request,
    /// The path with its query, for the first line to the host.
    pub(super) rest: String,
    /// The port that its `Host` need not name.
    pub(super) usual_port: u16,
}

impl Asked {
    /// What stands where a credential is to be put, and is no placeholder: the name of a header or of a parameter, in whichever
    /// spelling some server takes for the same.
    pub(super) fn rival(&self, put: &Put, credentials: &Credentials) -> Option<String> {
        let is_ours = |name: &str, value: &[u8]| {
            credentials.in_header(name, value).is_some_and(|brought| !brought.stands_for.is_empty())
        };
        if let Put::Query(wanted) = put {
            let pairs = query(&self.rest).split('&').filter(|pair| in_pair(pair, credentials).is_empty());
            let names =
                pairs.flat_map(|pair| pair.split([';', '?'])).map(|part| part.split('=').next().unwrap_or(part));
            return names.map(unescaped).find(|name| names_parameter(name, wanted.as_str()));
        }
        let wanted = put.header()?;
        let mut headers = self.head.headers.iter().filter(|(name, _)| is_same_name(name, wanted));
        headers.find(|(name, value)| !is_ours(name, value)).map(|(name, _)| name.to_owned())
    }
}

/// Some servers read escapes twice.
fn names_parameter(name: &str, wanted: &str) -> bool {
    is_same_name(name, wanted) || is_same_name(&unescaped(name), wanted)
}

fn query(rest: &str) -> &str {
    rest.split_once('?').map_or("", |(_, query)| query)
}

/// A tunnel has no body, and its `Host`, if there is one, names the same place.
pub(super) fn connect_to(head: &RequestHead) -> Result<Authority, Reason> {
    let to = name::of_connect(&head.target)?;
    let host = head.headers.only("host", "there are two hosts").map_err(Reason::Malformed)?;
    let same = |text: &str| {
        text.parse::<Authority>().is_ok_and(|named| named == to) || name::is_host_of(text, &to, name::HTTP_PORT)
    };
    let same_place = |text: &str| same(text) || text.parse().is_ok_and(|place| to.place() == &place);
    if host.is_some_and(|host| !std::str::from_utf8(host).is_ok_and(same_place)) {
        return Err(Reason::HostHeader);
    }
    match framing::of_request(head).map_err(Reason::Malformed)? {
        Framing::Nothing | Framing::Length(0) => Ok(to),
        Framing::Length(_) | Framing::Chunked | Framing::UntilClose => Err(Reason::Malformed("CONNECT has no body")),
    }
}

/// From a head to what is judged. Credentials are only asked whose placeholders are in it.
pub(super) fn understand(head: RequestHead, form: &Form, credentials: &Credentials) -> Result<Asked, Reason> {
    let (to, rest) = match form {
        Form::Forward => name::of_absolute(&head.target)?,
        Form::Within(to) | Form::Inside(to) if head.target.starts_with('/') => (to.clone(), head.target.as_str()),
        Form::Within(_) | Form::Inside(_) => return Err(Reason::Unsupported("within a tunnel a request names a path")),
    };
    if rest.contains('#') {
        return Err(Reason::Malformed("a fragment is not for the server"));
    }
    let usual_port = form.usual_port();
    let host = head.headers.only("host", "there are two hosts").map_err(Reason::Malformed)?;
    let is_same = |host: &[u8]| std::str::from_utf8(host).is_ok_and(|text| name::is_host_of(text, &to, usual_port));
    match (host, head.version) {
        (Some(host), _) if !is_same(host) => return Err(Reason::HostHeader),
        (None, Version::Http11) => return Err(Reason::HostHeader),
        (Some(_), _) | (None, Version::Http10) => {}
    }
    rewrite::check_connection(&head.headers).map_err(Reason::Malformed)?;
    check_expectation(&head).map_err(Reason::Malformed)?;
    check_overrides(&head).map_err(Reason::Malformed)?;
    let framing = framing::of_request(&head).map_err(Reason::Malformed)?;
    let path = rest.split('?').next().unwrap_or_default();
    let brought = brought(&head, rest, credentials);
    let ask = HttpAsk { method: head.method.clone(), path: path.parse().ok(), brought };
    let (asks, rest) = (form.asks(ask), rest.to_owned());
    Ok(Asked { head, framing, request: Request { to, asks }, rest, usual_port })
}

/// Headers by which some servers take another method or path than the first line has: what was judged would not be what happens.
const OVERRIDES: [&str; 5] =
    ["x-http-method-override", "x-http-method", "x-method-override", "x-original-url", "x-rewrite-url"];

fn check_overrides(head: &RequestHead) -> Result<(), Flaw> {
    let is_override = |name: &str| OVERRIDES.contains(&name.to_ascii_lowercase().replace('_', "-").as_str());
    if head.headers.iter().any(|(name, _)| is_override(name)) {
        return Err("a header says another method or path than the first line");
    }
    Ok(())
}

fn check_expectation(head: &RequestHead) -> Result<(), Flaw> {
    let expected = head.headers.only("expect", "there are two expectations")?;
    let known = expected.is_none_or(|value| value.eq_ignore_ascii_case(b"100-continue"));
    if known { Ok(()) } else { Err("only `100-continue` can be expected") }
}

/// The headers, and the parameters of the query, that bring a credential.
fn brought(head: &RequestHead, rest: &str, credentials: &Credentials) -> Vec<Brought> {
    let headers = head.headers.iter().filter_map(|(name, value)| credentials.in_header(name, value));
    headers.chain(query(rest).split('&').flat_map(|pair| in_pair(pair, credentials))).collect()
}

/// What one pair of a query brings. Some servers read `;` as `&`: then it is several, and none of them a placeholder, because
/// only a whole pair can be taken out.
pub(super) fn in_pair(pair: &str, credentials: &Credentials) -> Vec<Brought> {
    let is_several = pair.contains(';');
    let parts = pair.split(';').map(|part| part.split_once('=').unwrap_or((part, "")));
    let brought = parts.filter_map(|(name, value)| credentials.in_query(&unescaped(name), value));
    brought.map(|brought| if is_several { Brought::foreign(brought.name) } else { brought }).collect()
}

/// Percent escapes as a server would read them.
fn unescaped(text: &str) -> String {
    let (mut bytes, mut left) = (Vec::new(), text.as_bytes());
    while let Some((&first, after)) = left.split_first() {
        let escape = after.first_chunk::<2>().filter(|_| first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        let byte = escape.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        bytes.push(byte.unwrap_or(first));
        left = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Asks;

    fn asked(text: &str) -> Result<Asked, Reason> {
        let head = RequestHead::parse(text.as_bytes()).map_err(Reason::Malformed)?;
        understand(head, &Form::Forward, &Credentials::default())
    }

    #[test]
    fn what_is_judged_is_what_is_passed_on() {
        let asked = asked("GET http://a.test:81/b/c?d=e HTTP/1.1\r\nHost: a.test:81\r\n\r\n").unwrap();
        assert_eq!((asked.request.to.to_string().as_str(), asked.rest.as_str()), ("a.test:81", "/b/c?d=e"));
        let Asks::Http(ask) = asked.request.asks else { panic!("a plain request") };
        assert_eq!((ask.path.unwrap().as_str(), ask.brought), ("/b/c", Vec::new()));
    }

    #[test]
    fn escapes_are_read_once() {
        assert_eq!(unescaped("access%5Ftoken"), "access_token");
        assert_eq!(unescaped("a%2541"), "a%41");
        assert_eq!(
            (unescaped("%"), unescaped("%4"), unescaped("%zz"), unescaped("")),
            ("%".into(), "%4".into(), "%zz".into(), String::new())
        );
    }

    #[test]
    fn a_path_with_two_readings_is_no_path_to_judge() {
        let asked = asked("GET http://a.test/b/../c HTTP/1.1\r\nHost: a.test\r\n\r\n").unwrap();
        assert!(matches!(asked.request.asks, Asks::Http(HttpAsk { path: None, .. })));
    }
}
