//! The first message of TLS (ClientHello), read without taking part in it: which host it names, and whether a second
//! one may be hidden in it.
//!
//! Nothing is decrypted and nothing is changed. The reader is strict: lengths must fit exactly, nothing may be there
//! twice, and a message may be spread over records but not beyond 32 KiB.

use placet_domain::scope::Host;

use crate::rules::Reason;

/// Keys of the size of today's post-quantum exchanges fit several times over.
const MOST_BYTES: usize = 32 << 10;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;
/// Encrypted ClientHello (RFC 9849), and the draft for encrypted names before it.
const ENCRYPTED: [u16; 2] = [0xfe0d, 0xffce];

/// What a first message says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    server_name: Option<Host>,
    encrypted: bool,
}

impl Hello {
    pub(crate) const fn server_name(&self) -> Option<&Host> {
        self.server_name.as_ref()
    }

    /// Whether it carries an encrypted message of its own, which may name another host. Many clients send an empty one
    /// to everybody, so it is recorded and not refused.
    pub(crate) const fn is_encrypted(&self) -> bool {
        self.encrypted
    }
}

/// How far the bytes so far reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Opened {
    More,
    Whole(Hello),
}

/// Reads the bytes that came so far.
pub(crate) fn open(bytes: &[u8]) -> Result<Opened, Reason> {
    let message = match gather(bytes)? {
        Some(message) => message,
        None if bytes.len() >= MOST_BYTES => return Err(Reason::BadHello("it is too long")),
        None => return Ok(Opened::More),
    };
    parse(&message).ok_or(Reason::BadHello("a length does not fit")).and_then(|hello| hello.map(Opened::Whole))
}

/// Puts the message together from the records it is spread over; `None` until all of it is there.
fn gather(bytes: &[u8]) -> Result<Option<Vec<u8>>, Reason> {
    let (mut message, mut rest) = (Vec::new(), bytes);
    loop {
        if rest.first().is_some_and(|&kind| kind != HANDSHAKE) || rest.get(1).is_some_and(|&major| major != 3) {
            return Err(Reason::NotTls);
        }
        let Some((header, after)) = rest.split_first_chunk::<5>() else { return Ok(None) };
        let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
        if length == 0 || length > 1 << 14 {
            return Err(Reason::BadHello("a record has a length that no record has"));
        }
        let whole = after.len() >= length;
        message.extend_from_slice(&after[..length.min(after.len())]);
        if let Some(wanted) = wanted(&message)? {
            match message.len().cmp(&wanted) {
                std::cmp::Ordering::Greater => return Err(Reason::BadHello("more follows in the same record")),
                std::cmp::Ordering::Equal if whole => return Ok(Some(message)),
                std::cmp::Ordering::Equal | std::cmp::Ordering::Less => {}
            }
        }
        if !whole {
            return Ok(None);
        }
        rest = &after[length..];
    }
}

/// How long the whole message is, once its header is there.
fn wanted(message: &[u8]) -> Result<Option<usize>, Reason> {
    if message.first().is_some_and(|&kind| kind != CLIENT_HELLO) {
        return Err(Reason::BadHello("it is another message"));
    }
    let Some(header) = message.first_chunk::<4>() else { return Ok(None) };
    let length = 4 + (usize::from(header[1]) << 16 | usize::from(header[2]) << 8 | usize::from(header[3]));
    if length > MOST_BYTES { Err(Reason::BadHello("it is too long")) } else { Ok(Some(length)) }
}

/// Bytes that are taken from the front.
struct Left<'a>(&'a [u8]);

impl<'a> Left<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<usize> {
        self.take(1).map(|taken| usize::from(taken[0]))
    }

    fn pair(&mut self) -> Option<u16> {
        self.take(2).map(|taken| u16::from_be_bytes([taken[0], taken[1]]))
    }

    fn after_byte(&mut self) -> Option<&'a [u8]> {
        let length = self.byte()?;
        self.take(length)
    }

    fn after_pair(&mut self) -> Option<&'a [u8]> {
        let length = self.pair()?;
        self.take(length.into())
    }
}

/// `None` where a length does not fit.
fn parse(message: &[u8]) -> Option<Result<Hello, Reason>> {
    let mut left = Left(message.get(4..)?);
    let [major, _] = left.take(2)? else { return None };
    let (_random, session) = (left.take(32)?, left.after_byte()?);
    let (suites, compression) = (left.after_pair()?, left.after_byte()?);
    if *major != 3 || session.len() > 32 || suites.is_empty() || suites.len() % 2 != 0 || compression.is_empty() {
        return Some(Err(Reason::BadHello("a field has a value that none has")));
    }
    if left.0.is_empty() {
        return Some(Ok(Hello { server_name: None, encrypted: false }));
    }
    let extensions = left.after_pair()?;
    if left.0.is_empty() { read_extensions(extensions) } else { None }
}

fn read_extensions(bytes: &[u8]) -> Option<Result<Hello, Reason>> {
    let (mut left, mut seen) = (Left(bytes), Vec::new());
    let mut hello = Hello { server_name: None, encrypted: false };
    while !left.0.is_empty() {
        let (kind, content) = (left.pair()?, left.after_pair()?);
        if seen.contains(&kind) {
            return Some(Err(Reason::BadHello("an extension is there twice")));
        }
        seen.push(kind);
        hello.encrypted |= ENCRYPTED.contains(&kind);
        if kind == SERVER_NAME {
            match server_name(content)? {
                Ok(host) => hello.server_name = Some(host),
                Err(reason) => return Some(Err(reason)),
            }
        }
    }
    Some(Ok(hello))
}

/// Exactly one name of the one kind there is.
fn server_name(content: &[u8]) -> Option<Result<Host, Reason>> {
    let mut list = Left(content);
    let mut entry = Left(list.after_pair()?);
    let (kind, name) = (entry.byte()?, entry.after_pair()?);
    if kind != 0 || !entry.0.is_empty() || !list.0.is_empty() {
        return Some(Err(Reason::BadHello("it names more than one host")));
    }
    let name = std::str::from_utf8(name).ok().and_then(|text| text.parse().ok());
    Some(name.ok_or(Reason::BadHello("the name in it is no plain host name")))
}

#[cfg(test)]
mod tests;
