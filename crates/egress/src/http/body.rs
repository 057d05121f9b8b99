//! Bodies on their way: taken apart as they come and framed anew, counted before they are passed on.

use std::io;

use bytes::{Bytes, BytesMut};
use placet_dial::Scrubber;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::framing::{Framing, chunk_size};
use super::head::Flaw;
use crate::carry::{Carriage, Direction};
use crate::inbox::{Inbox, Missing};
use crate::rules::Reason;

/// Who is to blame when a body does not arrive.
#[derive(Debug)]
pub(super) enum Fault {
    /// The sender broke off.
    Ended,
    /// The sender wrote nonsense.
    Flawed(Flaw),
    /// The receiver is gone.
    Deaf,
    /// We cut it.
    Cut(Reason),
}

impl From<Missing> for Fault {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::TooLong => Self::Flawed("the size of a chunk is not a plain number"),
            Missing::Ended | Missing::Broken => Self::Ended,
        }
    }
}

/// The longest line before a chunk: 15 digits and CRLF.
const CHUNK_LINE_BYTES: usize = 17;

/// One way of a body: from whom, to whom, counted as what.
pub(super) struct Passing<'a, 'b, R, W> {
    pub(super) from: &'a mut Inbox<R>,
    pub(super) to: &'a mut W,
    pub(super) carriage: &'a Carriage<'b>,
    pub(super) direction: Direction,
    /// What takes a credential out that was put in on the other way.
    pub(super) scrubber: Option<Scrubber>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> Passing<'_, '_, R, W> {
    /// Passes a body on. `framed` says whether the receiver gets chunks as chunks, or bare bytes until the end.
    pub(super) async fn body(&mut self, framing: Framing, framed: Framing) -> Result<(), Fault> {
        match framing {
            Framing::Nothing => Ok(()),
            Framing::Length(length) => {
                self.length(length, framed).await?;
                self.rest(framed).await
            }
            Framing::Chunked => self.chunks(framed).await,
            Framing::UntilClose => {
                self.until_close().await?;
                self.rest(framed).await
            }
        }
    }

    async fn length(&mut self, length: u64, framed: Framing) -> Result<(), Fault> {
        let mut left = length;
        while left > 0 {
            let part = self.from.some(left).await.map_err(|_| Fault::Ended)?;
            if part.is_empty() {
                return Err(Fault::Ended);
            }
            left -= part.len() as u64;
            self.pass(part, framed).await?;
        }
        Ok(())
    }

    async fn chunks(&mut self, framed: Framing) -> Result<(), Fault> {
        loop {
            let line = self.from.until(b"\r\n", CHUNK_LINE_BYTES).await?;
            match chunk_size(&line[..line.len() - 2]).map_err(Fault::Flawed)? {
                0 => break,
                size => self.length(size, framed).await?,
            }
            if &self.from.exactly(2).await?[..] != b"\r\n" {
                return Err(Fault::Flawed("a chunk is longer than it says"));
            }
        }
        if &self.from.exactly(2).await?[..] != b"\r\n" {
            return Err(Fault::Flawed("there are trailers after the last chunk"));
        }
        self.rest(framed).await?;
        if framed == Framing::Chunked { self.write(b"0\r\n\r\n").await } else { Ok(()) }
    }

    async fn until_close(&mut self) -> Result<(), Fault> {
        loop {
            let part = self.from.some(u64::MAX).await.map_err(|_| Fault::Ended)?;
            if part.is_empty() {
                return Ok(());
            }
            self.pass(part, Framing::UntilClose).await?;
        }
    }

    async fn pass(&mut self, part: BytesMut, framed: Framing) -> Result<(), Fault> {
        let part = match &mut self.scrubber {
            Some(scrubber) => scrubber.pass(part.freeze()),
            None => part.freeze(),
        };
        self.frame(part, framed).await
    }

    /// What was held back because it might have been the beginning of a credential.
    async fn rest(&mut self, framed: Framing) -> Result<(), Fault> {
        match self.scrubber.as_mut().map(Scrubber::rest) {
            Some(part) => self.frame(part, framed).await,
            None => Ok(()),
        }
    }

    async fn frame(&mut self, part: Bytes, framed: Framing) -> Result<(), Fault> {
        // An empty chunk would be the end.
        if part.is_empty() {
            return Ok(());
        }
        if framed != Framing::Chunked {
            return self.write(&part).await;
        }
        let mut chunk = format!("{:x}\r\n", part.len()).into_bytes();
        chunk.extend_from_slice(&part);
        chunk.extend_from_slice(b"\r\n");
        self.write(&chunk).await
    }

    /// Counts first: what would be over the limit is not passed on.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.carriage.count(self.direction, bytes.len()).map_err(Fault::Cut)?;
        let written: io::Result<()> = async {
            self.to.write_all(bytes).await?;
            self.to.flush().await
        }
        .await;
        written.map_err(|_| Fault::Deaf)
    }
}
