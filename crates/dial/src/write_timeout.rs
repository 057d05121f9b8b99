//! Fails a connection whose other side takes no bytes for some time. Reads are not limited here.
//!
//! Without it, a client that asks and never reads would hold its connection, and everything behind it, without end.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// Connection that fails when not a single byte can be written within the limit.
pub struct WriteTimeout<S> {
    inner: S,
    limit: Duration,
    /// Timer that runs while a write waits.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> fmt::Debug for WriteTimeout<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteTimeout").field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl<S> WriteTimeout<S> {
    pub const fn new(inner: S, limit: Duration) -> Self {
        Self { inner, limit, timer: None }
    }

    /// Passes on the result of a write, or fails when the limit is over. Every success restarts the limit.
    fn check_limit<T>(&mut self, result: Poll<io::Result<T>>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.timer = None;
            return result;
        }
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads what is sent")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.inner).poll_write(cx, buf);
        self.check_limit(result, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.inner).poll_write_vectored(cx, bufs);
        self.check_limit(result, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.inner).poll_flush(cx);
        self.check_limit(result, cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.inner).poll_shutdown(cx);
        self.check_limit(result, cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn who_reads_nothing_is_given_up_and_who_reads_slowly_is_not() {
        let (near, mut far) = tokio::io::duplex(8);
        let mut near = WriteTimeout::new(near, Duration::from_millis(500));
        let reading = tokio::spawn(async move {
            let mut taken = [0; 4];
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_millis(70)).await;
                far.read_exact(&mut taken).await.unwrap();
            }
            far
        });
        near.write_all(&[1; 40]).await.expect("it takes longer than that, but something is always taken in between");
        let _far = reading.await.unwrap();
        let before = std::time::Instant::now();
        let error = near.write_all(&[1; 40]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(before.elapsed() >= Duration::from_millis(500));
    }
}
