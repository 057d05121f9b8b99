//! Heads of requests and answers, read strictly. One spelling: CRLF, single spaces, no folded lines, no control bytes.
//!
//! Two readers that disagree about where a request ends is how one request hides in another. What different readers
//! could read differently is therefore not repaired but refused.

use crate::rules::Method;

/// More than any client sends.
const MOST_HEADERS: usize = 100;

/// Why a head is refused.
pub(super) type Flaw = &'static str;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    Http10,
    Http11,
}

/// Headers in the order they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Headers(Vec<(String, Vec<u8>)>);

impl Headers {
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.iter().filter(move |(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// The only header of this name.
    pub(super) fn only(&self, name: &str, twice: Flaw) -> Result<Option<&[u8]>, Flaw> {
        let mut found = self.0.iter().filter(|(given, _)| given.eq_ignore_ascii_case(name));
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(twice),
            (first, None) => Ok(first.map(|(_, value)| value.as_slice())),
        }
    }

    /// Whether a list such as that of `Connection` has the word.
    pub(super) fn lists(&self, name: &str, word: &str) -> bool {
        self.words(name).any(|given| given.eq_ignore_ascii_case(word))
    }

    /// The words of a header that is a list.
    pub(super) fn words<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let lists = self.all(name).filter_map(|value| std::str::from_utf8(value).ok());
        lists
            .flat_map(|list| list.split(','))
            .map(|word| word.trim_matches([' ', '\t']))
            .filter(|word| !word.is_empty())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestHead {
    pub(super) method: Method,
    pub(super) target: String,
    pub(super) version: Version,
    pub(super) headers: Headers,
}

impl RequestHead {
    /// Reads a head that ends with an empty line.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Flaw> {
        let (start, headers) = split(bytes)?;
        let mut words = start.split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err("the first line is not `METHOD target HTTP/1.1`");
        };
        let method = method.parse().map_err(|_| "the method is not in capital letters")?;
        if target.is_empty() || !target.bytes().all(|b| b.is_ascii_graphic()) {
            return Err("the target has bytes that must be percent-encoded");
        }
        Ok(Self { method, target: target.to_owned(), version: version_of(version)?, headers })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnswerHead {
    pub(super) status: u16,
    pub(super) phrase: String,
    pub(super) headers: Headers,
}

impl AnswerHead {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Flaw> {
        let (start, headers) = split(bytes)?;
        let (version, rest) = start.split_once(' ').ok_or("the first line is not `HTTP/1.1 status`")?;
        version_of(version)?;
        let (status, phrase) = rest.split_once(' ').unwrap_or((rest, ""));
        let digits = status.len() == 3 && status.bytes().all(|b| b.is_ascii_digit());
        let status = status.parse().ok().filter(|status| digits && (100..600).contains(status));
        Ok(Self {
            status: status.ok_or("the status is not a number of three digits")?,
            phrase: phrase.to_owned(),
            headers,
        })
    }
}

fn version_of(text: &str) -> Result<Version, Flaw> {
    match text {
        "HTTP/1.1" => Ok(Version::Http11),
        "HTTP/1.0" => Ok(Version::Http10),
        _ => Err("the version is not HTTP/1.1"),
    }
}

/// The first line and the headers.
fn split(bytes: &[u8]) -> Result<(String, Headers), Flaw> {
    let inner = bytes.strip_suffix(b"\r\n\r\n").ok_or("the head has no end")?;
    let mut lines = inner.split(|&b| b == b'\n');
    let start = line(lines.next().unwrap_or_default(), inner.contains(&b'\n'))?;
    let start = std::str::from_utf8(start).ok().filter(|text| text.is_ascii()).ok_or("the first line is not ASCII")?;
    let rest: Vec<&[u8]> = lines.collect();
    if rest.len() > MOST_HEADERS {
        return Err("there are too many headers");
    }
    let count = rest.len();
    let headers = rest.into_iter().enumerate().map(|(index, text)| header(line(text, index + 1 < count)?));
    Ok((start.to_owned(), Headers(headers.collect::<Result<_, _>>()?)))
}

/// A line without its CR; the last one lost it with the end of the head.
fn line(bytes: &[u8], has_cr: bool) -> Result<&[u8], Flaw> {
    let text = if has_cr { bytes.strip_suffix(b"\r").ok_or("a line ends without CR")? } else { bytes };
    let control = |&b: &u8| (b < 0x20 && b != b'\t') || b == 0x7f;
    if text.iter().any(control) { Err("there is a control byte in the head") } else { Ok(text) }
}

fn header(line: &[u8]) -> Result<(String, Vec<u8>), Flaw> {
    if line.first().is_some_and(|b| b.is_ascii_whitespace()) {
        return Err("a header is folded onto a second line");
    }
    let colon = line.iter().position(|&b| b == b':').ok_or("a header has no colon")?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    let token = |b: &u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(b);
    if name.is_empty() || !name.iter().all(token) {
        return Err("the name of a header is not plain");
    }
    let name = String::from_utf8_lossy(name).into_owned();
    // Some servers read `_` as `-`, and would see a second length or host.
    if name.contains('_') && is_framing(&name.replace('_', "-")) {
        return Err("a header looks like one that says where the request ends");
    }
    Ok((name, trimmed(value).to_vec()))
}

fn is_framing(name: &str) -> bool {
    ["host", "content-length", "transfer-encoding"].iter().any(|framing| name.eq_ignore_ascii_case(framing))
}

fn trimmed(value: &[u8]) -> &[u8] {
    let blank = |b: &u8| *b == b' ' || *b == b'\t';
    let start = value.iter().position(|b| !blank(b)).unwrap_or(value.len());
    let end = value.iter().rposition(|b| !blank(b)).map_or(start, |at| at + 1);
    &value[start..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(text: &str) -> Result<RequestHead, Flaw> {
        RequestHead::parse(text.as_bytes())
    }

    #[test]
    fn a_plain_request_is_read_as_it_stands() {
        let head =
            request("GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\nX: \t b c \r\nConnection: a, Close\r\n\r\n")
                .unwrap();
        assert_eq!((head.method.as_str(), head.target.as_str()), ("GET", "http://a.test/x"));
        assert_eq!(head.headers.only("x", "twice"), Ok(Some(&b"b c"[..])));
        assert!(head.headers.lists("connection", "close") && !head.headers.lists("connection", "b"));
        assert!(request("GET / HTTP/1.0\r\n\r\n").is_ok(), "no headers at all");
    }

    #[test]
    fn spellings_that_two_readers_read_differently_are_refused() {
        for trick in [
            "GET / HTTP/1.1\nHost: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
            "GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n",
            "GET / HTTP/1.1\r\nX: a\r\n\tb\r\n\r\n",
            "GET / HTTP/1.1\r\n Host: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost\t: a\r\n\r\n",
            "GET / HTTP/1.1\r\n: a\r\n\r\n",
            "GET / HTTP/1.1\r\nHost\r\n\r\n",
            "GET / HTTP/1.1\r\nX: a\0b\r\n\r\n",
            "GET / HTTP/1.1\r\nX\0: a\r\n\r\n",
            "GET / HTTP/1.1\r\nContent_Length: 5\r\n\r\n",
            "GET / HTTP/1.1\r\nTRANSFER_ENCODING: chunked\r\n\r\n",
            "GET  / HTTP/1.1\r\n\r\n",
            "GET /  HTTP/1.1\r\n\r\n",
            "GET /a b HTTP/1.1\r\n\r\n",
            "GET\t/ HTTP/1.1\r\n\r\n",
            " GET / HTTP/1.1\r\n\r\n",
            "\r\nGET / HTTP/1.1\r\n\r\n",
            "get / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.2\r\n\r\n",
            "GET / HTTP/2.0\r\n\r\n",
            "GET / http/1.1\r\n\r\n",
            "GET / HTTP/1.1 \r\n\r\n",
            "GET /\r\n\r\n",
            "GET /ä HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n",
            "",
        ] {
            assert!(request(trick).is_err(), "{trick:?}");
        }
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: a\r\n".repeat(MOST_HEADERS + 1));
        assert!(request(&many).is_err());
    }

    #[test]
    fn answers_have_a_status_of_three_digits() {
        let head = AnswerHead::parse(b"HTTP/1.1 404 Not Found\r\nX: y\r\n\r\n").unwrap();
        assert_eq!((head.status, head.phrase.as_str()), (404, "Not Found"));
        assert_eq!(AnswerHead::parse(b"HTTP/1.0 200\r\n\r\n").unwrap().status, 200);
        for bad in
            ["HTTP/1.1 0200 OK\r\n\r\n", "HTTP/1.1 +20 OK\r\n\r\n", "HTTP/1.1 999 X\r\n\r\n", "ICY 200 OK\r\n\r\n"]
        {
            assert!(AnswerHead::parse(bad.as_bytes()).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_parser_panic(bytes: Vec<u8>) {
            let _ = RequestHead::parse(&bytes);
            let _ = AnswerHead::parse(&[&bytes[..], b"\r\n\r\n"].concat());
        }

        #[test]
        fn an_accepted_head_has_no_line_break_in_any_part(text in "GET /[ -~\r\n\t]{0,60}\r\n\r\n") {
            if let Ok(head) = request(&text) {
                let clean = |bytes: &[u8]| !bytes.contains(&b'\r') && !bytes.contains(&b'\n');
                prop_assert!(head.headers.iter().all(|(name, value)| clean(name.as_bytes()) && clean(value)));
                prop_assert!(clean(head.target.as_bytes()));
            }
        }
    }
}
