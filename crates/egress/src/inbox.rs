//! What a peer sent and nobody has taken yet. Reads never run ahead by more than one buffer: a slow taker makes a slow
//! sender.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf as _, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};

/// One read. Large enough that a fast download is not a matter of system calls.
const READ_BYTES: usize = 16 << 10;

/// Why something that was waited for did not come.
#[derive(Debug)]
pub(super) enum Missing {
    TooLong,
    Ended,
    Broken,
}

impl From<io::Error> for Missing {
    fn from(_: io::Error) -> Self {
        Self::Broken
    }
}

#[derive(Debug)]
pub(super) struct Inbox<R> {
    from: R,
    held: BytesMut,
}

impl<R: AsyncRead + Unpin> Inbox<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, held: BytesMut::new() }
    }

    /// What is here and not taken.
    pub(super) fn held(&self) -> &[u8] {
        &self.held
    }

    /// Waits for more; 0 at the end. Nothing is lost if the caller stops waiting.
    pub(super) async fn more(&mut self) -> io::Result<usize> {
        self.held.reserve(READ_BYTES);
        (&mut self.from).take(READ_BYTES as u64).read_buf(&mut self.held).await
    }

    /// What is here first, then what comes: for whoever takes the stream over.
    pub(super) fn poll_read(&mut self, context: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.held.is_empty() {
            return Pin::new(&mut self.from).poll_read(context, to);
        }
        let count = self.held.len().min(to.remaining());
        to.put_slice(&self.held[..count]);
        self.held.advance(count);
        Poll::Ready(Ok(()))
    }

    /// Exactly so many bytes.
    pub(super) async fn exactly(&mut self, count: usize) -> Result<BytesMut, Missing> {
        while self.held.len() < count {
            if self.more().await? == 0 {
                return Err(Missing::Ended);
            }
        }
        Ok(self.held.split_to(count))
    }

    /// Everything up to and with `end`, which must come within so many bytes.
    pub(super) async fn until(&mut self, end: &[u8], most_bytes: usize) -> Result<BytesMut, Missing> {
        let mut looked = 0;
        loop {
            let from = looked.min(self.held.len());
            if let Some(at) = self.held[from..].windows(end.len()).position(|window| window == end) {
                let whole = from + at + end.len();
                return if whole > most_bytes { Err(Missing::TooLong) } else { Ok(self.held.split_to(whole)) };
            }
            if self.held.len() >= most_bytes {
                return Err(Missing::TooLong);
            }
            looked = self.held.len().saturating_sub(end.len() - 1);
            if self.more().await? == 0 {
                return Err(Missing::Ended);
            }
        }
    }

    /// Whatever is there, at most so many bytes; empty at the end.
    pub(super) async fn some(&mut self, most_bytes: u64) -> io::Result<BytesMut> {
        if self.held.is_empty() {
            self.more().await?;
        }
        let most = usize::try_from(most_bytes).unwrap_or(usize::MAX);
        Ok(self.held.split_to(self.held.len().min(most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_looked_for_is_found_across_reads_and_not_beyond_the_limit() {
        let mut inbox = Inbox::new(&b"ab\r\n\r\nrest"[..]);
        assert_eq!(&inbox.until(b"\r\n\r\n", 100).await.unwrap()[..], b"ab\r\n\r\n");
        assert_eq!(&inbox.some(2).await.unwrap()[..], b"re");
        assert_eq!(&inbox.exactly(2).await.unwrap()[..], b"st");
        assert!(matches!(inbox.exactly(1).await, Err(Missing::Ended)));
        let mut long = Inbox::new(&b"abcdef\r\n"[..]);
        assert!(matches!(long.until(b"\r\n", 7).await, Err(Missing::TooLong)));
    }
}
