//! As much HTTP/1.1 as a container engine on a unix socket needs: one request per connection, blocking, with a time
//! limit for every answer.
//!
//! There is no reuse of connections: connecting to a unix socket costs microseconds, and an engine takes milliseconds
//! for the cheapest call.

mod body;
#[cfg(test)]
mod tests;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(super) use body::Body;

use super::error::EngineError;

/// Engines send a dozen short headers.
const MAX_HEAD_BYTES: u64 = 64 << 10;
const MAX_HEADERS: usize = 64;

/// What is shown of an engine's complaint.
const MAX_COMPLAINT_BYTES: u64 = 4 << 10;

/// One request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) method: &'static str,
    pub(super) target: &'a str,
    pub(super) json: Option<&'a str>,
    /// For messages: the engine cannot …
    pub(super) doing: &'static str,
    pub(super) patience: Duration,
}

/// Where an engine listens.
#[derive(Clone, Debug)]
pub(super) struct Client {
    socket: PathBuf,
}

/// The beginning of an answer.
struct Head {
    status: u16,
    framing: body::Framing,
}

impl Client {
    pub(super) fn new(socket: &Path) -> Self {
        Self { socket: socket.to_owned() }
    }

    /// The body of the answer, if the engine agrees.
    pub(super) fn send(&self, call: &Call<'_>) -> Result<Body, EngineError> {
        let (head, reader) = self.exchange(call, "Connection: close\r\n")?;
        let body = Body::new(reader, head.framing);
        if (200..300).contains(&head.status) { Ok(body) } else { Err(complaint(call, head.status, body)) }
    }

    /// The connection itself, which from now on carries what the engine streams and nothing else.
    pub(super) fn upgrade(&self, call: &Call<'_>) -> Result<Upgraded, EngineError> {
        let (head, mut reader) = self.exchange(call, "Connection: Upgrade\r\nUpgrade: tcp\r\n")?;
        match head.status {
            // Engines before the upgrade existed answer 200 and go on in the same way.
            101 | 200 => {
                reader.get_mut().until = None;
                Ok(Upgraded(reader))
            }
            status => Err(complaint(call, status, Body::new(reader, head.framing))),
        }
    }

    fn exchange(&self, call: &Call<'_>, headers: &str) -> Result<(Head, BufReader<Timed>), EngineError> {
        let connect = || {
            let stream = UnixStream::connect(&self.socket)?;
            stream.set_write_timeout(Some(call.patience))?;
            Ok(stream)
        };
        let mut stream =
            connect().map_err(|source| EngineError::Unreachable { socket: self.socket.clone(), source })?;
        write_request(&mut stream, call, headers).map_err(EngineError::lost(call.doing))?;
        let mut reader = BufReader::new(Timed { stream, until: Some(Instant::now() + call.patience) });
        let bytes = read_head(&mut reader).map_err(EngineError::lost(call.doing))?;
        let head = parse_head(&bytes).map_err(|why| EngineError::answer(call.doing, why))?;
        Ok((head, reader))
    }
}

fn write_request(stream: &mut UnixStream, call: &Call<'_>, headers: &str) -> io::Result<()> {
    let body = call.json.unwrap_or_default();
    let kind = if call.json.is_some() { "Content-Type: application/json\r\n" } else { "" };
    let (method, target, length) = (call.method, call.target, body.len());
    let head = format!("{method} {target} HTTP/1.1\r\nHost: engine\r\n{headers}{kind}Content-Length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

fn read_head(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let (mut head, mut limited) = (Vec::new(), reader.take(MAX_HEAD_BYTES));
    while !head.ends_with(b"\r\n\r\n") {
        if limited.read_until(b'\n', &mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}

fn parse_head(bytes: &[u8]) -> Result<Head, String> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut answer = httparse::Response::new(&mut headers);
    match answer.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err("its head is incomplete".into()),
        Err(error) => return Err(error.to_string()),
    }
    let status = answer.code.ok_or("it has no status")?;
    Ok(Head { status, framing: body::Framing::of(status, answer.headers)? })
}

/// Engines explain themselves in `message`; what else they say is shown as it is.
fn complaint(call: &Call<'_>, status: u16, body: Body) -> EngineError {
    let mut bytes = Vec::new();
    // What cannot be read any more is not needed to say that it failed.
    let _ = body.take(MAX_COMPLAINT_BYTES).read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
    let json: Option<serde_json::Value> = serde_json::from_str(&text).ok();
    let message = json.and_then(|json| json["message"].as_str().map(ToOwned::to_owned)).unwrap_or(text);
    EngineError::Refused { doing: call.doing, status, message }
}

/// Both directions of an upgraded connection.
#[derive(Debug)]
pub(super) struct Upgraded(BufReader<Timed>);

impl Upgraded {
    /// A second handle, to write and to hang up.
    pub(super) fn line(&self) -> io::Result<Line> {
        self.0.get_ref().stream.try_clone().map(Line)
    }
}

impl Read for Upgraded {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.read(into)
    }
}

/// The other handle of an upgraded connection.
#[derive(Debug)]
pub(super) struct Line(UnixStream);

impl Line {
    /// Everything there is to say, and that there is no more. A program that does not listen is no failure.
    pub(super) fn say(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes);
        let _ = self.0.shutdown(Shutdown::Write);
    }

    pub(super) fn hang_up(&self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

/// A stream whose reads fail when the time is over, however many there are.
#[derive(Debug)]
pub(super) struct Timed {
    stream: UnixStream,
    until: Option<Instant>,
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(left)?;
        match self.stream.read(into) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(io::ErrorKind::TimedOut.into()),
            other => other,
        }
    }
}
