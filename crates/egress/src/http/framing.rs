//! Where a body ends. Said once, in one way, or the message is refused.

use super::head::{AnswerHead, Flaw, Headers, RequestHead, Version};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    Nothing,
    Length(u64),
    Chunked,
    /// Only of answers.
    UntilClose,
}

/// Of a request.
pub(super) fn of_request(head: &RequestHead) -> Result<Framing, Flaw> {
    let said = said(&head.headers)?;
    if said == Some(Framing::Chunked) && head.version == Version::Http10 {
        return Err("HTTP/1.0 knows no chunks");
    }
    Ok(said.unwrap_or(Framing::Nothing))
}

/// Of the answer to a request with this method.
pub(super) fn of_answer(head: &AnswerHead, method: &str) -> Result<Framing, Flaw> {
    let said = said(&head.headers)?;
    let bare = method == "HEAD" || head.status < 200 || head.status == 204 || head.status == 304;
    Ok(if bare { Framing::Nothing } else { said.unwrap_or(Framing::UntilClose) })
}

fn said(headers: &Headers) -> Result<Option<Framing>, Flaw> {
    let length = headers.only("content-length", "there are two lengths")?;
    let encoding = headers.only("transfer-encoding", "there are two transfer encodings")?;
    match (length, encoding) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err("there is a length and a transfer encoding"),
        (Some(length), None) => length_of(length).map(|length| Some(Framing::Length(length))),
        (None, Some(encoding)) if encoding.eq_ignore_ascii_case(b"chunked") => Ok(Some(Framing::Chunked)),
        (None, Some(_)) => Err("the transfer encoding is not plainly `chunked`"),
    }
}

/// Digits alone: no sign, no list, no blank inside.
pub(super) fn length_of(text: &[u8]) -> Result<u64, Flaw> {
    let digits = (1..=18).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.filter(|_| digits).ok_or("the length is not a plain number")
}

/// The size in the first line of a chunk, without its CRLF. Extensions are refused: nobody needs them but to hide.
pub(super) fn chunk_size(line: &[u8]) -> Result<u64, Flaw> {
    let digits = (1..=15).contains(&line.len()) && line.iter().all(u8::is_ascii_hexdigit);
    let size = std::str::from_utf8(line).ok().and_then(|text| u64::from_str_radix(text, 16).ok());
    size.filter(|_| digits).ok_or("the size of a chunk is not a plain number")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framing(headers: &str) -> Result<Framing, Flaw> {
        let head = format!("POST / HTTP/1.1\r\n{headers}\r\n");
        of_request(&RequestHead::parse(head.as_bytes()).unwrap())
    }

    #[test]
    fn a_body_ends_where_one_header_says_so() {
        assert_eq!(framing("X: y\r\n"), Ok(Framing::Nothing));
        assert_eq!(framing("Content-Length: 12\r\n"), Ok(Framing::Length(12)));
        assert_eq!(framing("Transfer-Encoding: Chunked\r\n"), Ok(Framing::Chunked));
    }

    #[test]
    fn requests_that_hide_another_request_are_refused() {
        for trick in [
            "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n",
            "Content-Length: 5\r\nContent-Length: 5\r\n",
            "Content-Length: 5\r\nContent-Length: 6\r\n",
            "Content-Length: 5, 5\r\n",
            "Content-Length: +5\r\n",
            "Content-Length: -5\r\n",
            "Content-Length: 0x5\r\n",
            "Content-Length: 5 5\r\n",
            "Content-Length: \r\n",
            "Content-Length: 99999999999999999999\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
            "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
            "Transfer-Encoding: gzip, chunked\r\n",
            "Transfer-Encoding: chunked, identity\r\n",
            "Transfer-Encoding: xchunked\r\n",
            "Transfer-Encoding: \"chunked\"\r\n",
            "Transfer-Encoding: identity\r\n",
            "Transfer-Encoding:\r\n",
        ] {
            assert!(framing(trick).is_err(), "{trick:?}");
        }
        let old = RequestHead::parse(b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n").unwrap();
        assert!(of_request(&old).is_err());
    }

    #[test]
    fn sizes_of_chunks_are_hex_digits_alone() {
        assert_eq!(chunk_size(b"1aF"), Ok(0x1af));
        for trick in ["", "5;ext=1", "5 ", " 5", "0x5", "+5", "-1", "5\t", "fffffffffffffffff", "5\n"] {
            assert!(chunk_size(trick.as_bytes()).is_err(), "{trick:?}");
        }
    }

    #[test]
    fn answers_without_a_body_have_none_whatever_their_length_says() {
        let head = |status: u16| {
            AnswerHead::parse(format!("HTTP/1.1 {status} X\r\nContent-Length: 9\r\n\r\n").as_bytes()).unwrap()
        };
        assert_eq!(of_answer(&head(200), "GET"), Ok(Framing::Length(9)));
        assert_eq!(of_answer(&head(200), "HEAD"), Ok(Framing::Nothing));
        assert_eq!(of_answer(&head(304), "GET"), Ok(Framing::Nothing));
        let open = AnswerHead::parse(b"HTTP/1.1 200 X\r\n\r\n").unwrap();
        assert_eq!(of_answer(&open, "GET"), Ok(Framing::UntilClose));
    }
}
