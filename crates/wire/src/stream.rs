//! Reading server-sent events: enough of the format for what our own server sends.

use std::pin::Pin;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _};

use crate::presence::Presence;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamEvent {
    /// The ledger number: give it back to go on from here.
    pub seq: u64,
    pub event: String,
    pub data: String,
}

/// What comes over a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    Event(StreamEvent),
    /// Bytes that are no event yet, or never: whoever sends them is there.
    Sign,
}

type Chunks = Pin<Box<dyn Stream<Item = Result<Bytes, reqwest::Error>> + Send>>;

/// Events as they arrive. Ends when the connection does; reconnect with the last `seq`.
pub struct EventStream {
    chunks: Chunks,
    unread: BytesMut,
    /// The proof of the server's identity, which ends with the stream.
    presence: Option<Arc<Presence>>,
}

impl std::fmt::Debug for EventStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventStream").field("unread", &self.unread.len()).finish_non_exhaustive()
    }
}

impl EventStream {
    pub(crate) fn new(chunks: impl Stream<Item = Result<Bytes, reqwest::Error>> + Send + 'static) -> Self {
        Self { chunks: Box::pin(chunks), unread: BytesMut::new(), presence: None }
    }

    /// Discards this proof when the stream ends or fails: the server may have stopped, and another process may listen
    /// on its port.
    pub(crate) fn ending(self, presence: Option<Arc<Presence>>) -> Self {
        Self { presence, ..self }
    }

    /// The next event, or nothing when the stream is over.
    pub async fn next(&mut self) -> Option<StreamEvent> {
        loop {
            match self.heard().await? {
                Heard::Event(event) => return Some(event),
                Heard::Sign => {}
            }
        }
    }

    /// What is heard next, or nothing when the stream is over. Nothing is lost if it is not waited for to the end.
    pub async fn heard(&mut self) -> Option<Heard> {
        while let Some(end) = self.unread.windows(2).position(|pair| pair == b"\n\n") {
            let block = self.unread.split_to(end + 2);
            // Blocks without an id are comments that keep the connection alive.
            if let Some(event) = parse(&String::from_utf8_lossy(&block)) {
                return Some(Heard::Event(event));
            }
        }
        let Some(Ok(chunk)) = self.chunks.next().await else {
            self.presence.iter().for_each(|presence| presence.forget());
            return None;
        };
        self.unread.extend_from_slice(&chunk);
        Some(Heard::Sign)
    }
}

fn parse(block: &str) -> Option<StreamEvent> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let seq = field("id")?.parse().ok()?;
    let data: Vec<&str> = block.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    Some(StreamEvent { seq, event: field("event").unwrap_or("message").to_owned(), data: data.join("\n") })
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use placet_domain::permit::PermitSigner;

    use super::*;

    async fn read(chunks: &[&str]) -> Vec<StreamEvent> {
        let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk.as_bytes()))).collect();
        let mut events = EventStream::new(stream::iter(chunks));
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            seen.push(event);
        }
        seen
    }

    #[tokio::test]
    async fn events_are_put_together_however_they_are_cut() {
        let text = ": hello\n\nid: 7\nevent: action.approved\ndata: {\"a\":1}\n\nid: 8\ndata: x\ndata: y\n\n";
        let whole = read(&[text]).await;
        assert_eq!(whole.len(), 2);
        assert_eq!((whole[0].seq, whole[0].event.as_str(), whole[1].data.as_str()), (7, "action.approved", "x\ny"));
        for cut in 1..text.len() {
            assert_eq!(read(&[&text[..cut], &text[cut..]]).await, whole, "cut at {cut}");
        }
    }

    #[tokio::test]
    async fn b12_that_somebody_is_there_is_heard_although_nothing_happens() {
        let chunks = [": here\n\n", ": still here\n\n", "id: 7\ndata: x\n\n"];
        let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk.as_bytes()))).collect();
        let mut events = EventStream::new(stream::iter(chunks));
        for _ in 0..3 {
            assert_eq!(events.heard().await, Some(Heard::Sign));
        }
        assert!(matches!(events.heard().await, Some(Heard::Event(StreamEvent { seq: 7, .. }))));
        assert_eq!(events.heard().await, None);
    }

    #[tokio::test]
    async fn proof_ends_with_the_stream() {
        let presence = Arc::new(Presence::new(PermitSigner::from_seed(&[1; 32]).verifier()));
        presence.assume_proven();
        let chunks = stream::iter([Ok(Bytes::from_static(b": here\n\n"))]);
        let mut events = EventStream::new(chunks).ending(Some(Arc::clone(&presence)));
        assert_eq!(events.heard().await, Some(Heard::Sign));
        assert!(presence.is_proven());
        assert_eq!(events.heard().await, None);
        assert!(!presence.is_proven());
    }

    #[tokio::test]
    async fn an_unfinished_event_is_not_an_event() {
        assert_eq!(read(&["id: 7\ndata: half"]).await, []);
    }
}
