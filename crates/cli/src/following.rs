//! Following what happens: connection after connection, each taken up where the one before broke. A connection over which nothing is heard,
//! not even that somebody is there, is none: it is made anew.

use std::time::Duration;

use placet_wire::api::StreamQuery;
use placet_wire::endpoint::FollowRuns;
use placet_wire::{Client, ClientError, Heard, StreamEvent};
use tokio::sync::mpsc::Sender;
use tokio::time::timeout;

/// However a connection ended: one that ends at once is not asked for in a circle.
pub(crate) const BETWEEN_TRIES: Duration = Duration::from_millis(500);
/// The control plane says every fifteen seconds that it is there; three times missed, it is not.
pub(crate) const LONGEST_SILENCE: Duration = Duration::from_secs(45);

/// What is told of a connection.
#[derive(Debug)]
pub(crate) enum News {
    /// There is one.
    Live,
    Event(StreamEvent),
    /// Nothing was heard for too long.
    Silent,
    Lost(ClientError),
}

/// Follows the stream of all runs, and sends what is heard as whatever the listener understands.
pub(crate) async fn follow<T: From<News>>(client: Client, query: StreamQuery, silence: Duration, tell: Sender<T>) {
    let mut last = None;
    loop {
        last = follow_once(&client, &query, (last, silence), &tell).await;
        tokio::time::sleep(BETWEEN_TRIES).await;
    }
}

/// One connection; the number of the last event that was heard.
async fn follow_once<T: From<News>>(
    client: &Client,
    query: &StreamQuery,
    (mut last, silence): (Option<u64>, Duration),
    tell: &Sender<T>,
) -> Option<u64> {
    let stream = FollowRuns { query: query.clone() };
    let mut stream = match timeout(silence, client.follow(stream, last)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            // Whoever is refused begins anew: what they asked to go on from may be what was refused.
            last = last.filter(|_| error.problem().is_none());
            let _ = tell.send(News::Lost(error).into()).await;
            return last;
        }
        Err(_) => {
            let _ = tell.send(News::Silent.into()).await;
            return last;
        }
    };
    let _ = tell.send(News::Live.into()).await;
    loop {
        match timeout(silence, stream.heard()).await {
            Ok(Some(Heard::Event(event))) => {
                last = Some(event.seq);
                let _ = tell.send(News::Event(event).into()).await;
            }
            Ok(Some(Heard::Sign)) => {}
            Ok(None) => return last,
            Err(_) => {
                let _ = tell.send(News::Silent.into()).await;
                return last;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use placet_wire::Token;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::mpsc::{Receiver, channel};

    use super::*;

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    const EVENT: &[u8] = b"id: 7\nevent: x\ndata: {}\n\n";
    /// So that a test need not wait for longer.
    const SHORT: Duration = Duration::from_millis(200);

    /// Somebody who follows this server, and what they are told.
    async fn follower(silence: Duration) -> (TcpListener, Receiver<News>, tokio::task::JoinHandle<()>) {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = Client::new(format!("http://{}", server.local_addr().unwrap()), Token::new("none"));
        let (told, hears) = channel(64);
        let following = tokio::spawn(follow(client, StreamQuery::default(), silence, told));
        (server, hears, following)
    }

    async fn asked(server: &TcpListener) -> (TcpStream, String) {
        let (mut connection, _) = server.accept().await.unwrap();
        let mut buffer = [0; 4 << 10];
        let read = connection.read(&mut buffer).await.unwrap();
        (connection, String::from_utf8_lossy(&buffer[..read]).into_owned())
    }

    #[tokio::test]
    async fn b4_a_stream_that_ends_at_once_is_not_asked_for_in_a_circle() {
        let (server, mut hears, following) = follower(LONGEST_SILENCE).await;
        let began = Instant::now();
        for _ in 0..3 {
            let (mut connection, _) = asked(&server).await;
            connection.write_all(HEAD).await.unwrap();
            drop(connection);
            assert!(matches!(hears.recv().await, Some(News::Live)));
        }
        following.abort();
        // At least the two pauses; a slow machine only takes longer.
        assert!(began.elapsed() >= BETWEEN_TRIES * 2, "{:?}", began.elapsed());
    }

    #[tokio::test]
    async fn c16_a_connection_over_which_nothing_is_heard_is_made_anew_where_it_broke() {
        let (server, mut hears, following) = follower(SHORT).await;
        let (mut silent, first) = asked(&server).await;
        assert!(!first.contains("last-event-id"), "{first}");
        silent.write_all(&[HEAD, EVENT].concat()).await.unwrap();
        assert!(matches!(hears.recv().await, Some(News::Live)));
        assert!(matches!(hears.recv().await, Some(News::Event(StreamEvent { seq: 7, .. }))));
        // It stays open and says nothing.
        let (mut mute, second) = asked(&server).await;
        assert!(second.contains("last-event-id: 7"), "{second}");
        assert!(matches!(hears.recv().await, Some(News::Silent)));
        // Nor is one waited for that never answers.
        let (mut third, _) = asked(&server).await;
        assert!(matches!(hears.recv().await, Some(News::Silent)));
        third.write_all(HEAD).await.unwrap();
        assert!(matches!(hears.recv().await, Some(News::Live)));
        following.abort();
        let _ = (silent.shutdown().await, mute.shutdown().await);
    }

    #[tokio::test]
    async fn c16_as_long_as_somebody_says_that_they_are_there_the_connection_stays() {
        let (server, mut hears, following) = follower(SHORT * 5).await;
        let (mut connection, _) = asked(&server).await;
        connection.write_all(HEAD).await.unwrap();
        assert!(matches!(hears.recv().await, Some(News::Live)));
        // Together far longer than a silence may last.
        for _ in 0..15 {
            tokio::time::sleep(SHORT / 2).await;
            connection.write_all(b": here\n\n").await.unwrap();
        }
        connection.write_all(EVENT).await.unwrap();
        assert!(matches!(hears.recv().await, Some(News::Event(_))), "and not that it was silent");
        following.abort();
    }
}
