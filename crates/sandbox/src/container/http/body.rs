//! The body of an answer: as long as it says, in chunks, or until the connection ends.

use std::io::{self, BufRead, BufReader, Read};

use super::Timed;

/// A length in hexadecimal digits, and extensions nobody uses.
const MAX_CHUNK_LINE_BYTES: u64 = 256;

/// How the end of a body is recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length { left_bytes: u64 },
    Chunks { left_bytes: u64, ended: bool },
    UntilClosed,
}

impl Framing {
    pub(super) fn of(status: u16, headers: &[httparse::Header<'_>]) -> Result<Self, String> {
        let value = |name: &str| {
            let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(header.value).ok().map(str::trim)
        };
        if status == 204 {
            return Ok(Self::Length { left_bytes: 0 });
        }
        match (value("transfer-encoding"), value("content-length")) {
            (Some(encoding), _) if encoding.eq_ignore_ascii_case("chunked") => {
                Ok(Self::Chunks { left_bytes: 0, ended: false })
            }
            (Some(encoding), _) => Err(format!("it is encoded as `{encoding}`")),
            (None, Some(length)) => {
                let left_bytes = length.parse().map_err(|_| format!("its length is `{length}`"))?;
                Ok(Self::Length { left_bytes })
            }
            (None, None) => Ok(Self::UntilClosed),
        }
    }
}

/// A body, to be read once.
#[derive(Debug)]
pub(in crate::container) struct Body<R = BufReader<Timed>> {
    reader: R,
    framing: Framing,
}

impl<R: BufRead> Body<R> {
    pub(super) fn new(reader: R, framing: Framing) -> Self {
        Self { reader, framing }
    }

    /// All of it, if it is not larger than this.
    pub(in crate::container) fn read_all(self, most_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.take(most_bytes + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most_bytes {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("more than {most_bytes} bytes")));
        }
        Ok(bytes)
    }

    fn read_within(&mut self, into: &mut [u8], left_bytes: u64) -> io::Result<usize> {
        let room = usize::try_from(left_bytes).unwrap_or(usize::MAX).min(into.len());
        if room == 0 {
            // Asked all the same, the reader would wait for what an engine never sends.
            return Ok(0);
        }
        match self.reader.read(&mut into[..room])? {
            // Whoever promised more and hung up was interrupted.
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            length => Ok(length),
        }
    }

    /// The length of the next chunk, whose line follows the end of the chunk before.
    fn next_chunk(&mut self) -> io::Result<u64> {
        let mut line = self.line()?;
        if line == b"\r\n" {
            line = self.line()?;
        }
        match httparse::parse_chunk_size(&line) {
            Ok(httparse::Status::Complete((_, length))) => Ok(length),
            Ok(httparse::Status::Partial) | Err(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "a broken chunk")),
        }
    }

    fn line(&mut self) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.reader.by_ref().take(MAX_CHUNK_LINE_BYTES).read_until(b'\n', &mut line)?;
        Ok(line)
    }
}

impl<R: BufRead> Read for Body<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.framing {
            Framing::UntilClosed => self.reader.read(into),
            Framing::Length { left_bytes } => {
                let length = self.read_within(into, left_bytes)?;
                self.framing = Framing::Length { left_bytes: left_bytes - length as u64 };
                Ok(length)
            }
            Framing::Chunks { ended: true, .. } => Ok(0),
            Framing::Chunks { left_bytes: 0, ended: false } => {
                let left_bytes = self.next_chunk()?;
                self.framing = Framing::Chunks { left_bytes, ended: left_bytes == 0 };
                self.read(into)
            }
            Framing::Chunks { left_bytes, ended: false } => {
                let length = self.read_within(into, left_bytes)?;
                self.framing = Framing::Chunks { left_bytes: left_bytes - length as u64, ended: false };
                Ok(length)
            }
        }
    }
}
