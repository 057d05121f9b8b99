//! The side of the cage: what it sent, and where it is answered.

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf};

use super::inbox::Inbox;

pub(super) struct Client<S> {
    pub(super) inbox: Inbox<ReadHalf<S>>,
    pub(super) out: WriteHalf<S>,
}

impl<S: AsyncRead + AsyncWrite> Client<S> {
    pub(super) fn new(stream: S) -> Self {
        let (from, out) = tokio::io::split(stream);
        Self { inbox: Inbox::new(from), out }
    }

    /// Tells it something. A client that is gone, or does not read, is told nothing.
    pub(super) async fn tell(&mut self, bytes: &[u8]) {
        const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);
        let told = async {
            self.out.write_all(bytes).await?;
            self.out.flush().await
        };
        let _ = tokio::time::timeout(PATIENCE, told).await;
    }

    /// Tells it the last thing, and waits a moment for it to stop sending: closing at once would take back the answer.
    pub(super) async fn dismiss(&mut self, bytes: &[u8]) {
        const PATIENCE: std::time::Duration = std::time::Duration::from_millis(500);
        self.tell(bytes).await;
        let _ = self.out.shutdown().await;
        let drained = async { while matches!(self.inbox.some(u64::MAX).await, Ok(part) if !part.is_empty()) {} };
        let _ = tokio::time::timeout(PATIENCE, drained).await;
    }
}
