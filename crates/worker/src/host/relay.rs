//! The one way out of an agent's cage: from its door to the control plane, and to nobody else.
//!
//! Bytes are passed on as they are. What they may ask for, the control plane decides by the token that comes with them.

use std::io;
use std::net::TcpListener as Door;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::{JoinHandle, JoinSet};

/// An agent has a handful of requests at a time; a flood of them waits inside.
const CONNECTIONS: usize = 32;
const CONNECT: Duration = Duration::from_secs(5);

/// A relay that runs. Dropping it closes the door and every connection through it.
#[derive(Debug)]
pub(super) struct Relay(JoinHandle<()>);

impl Drop for Relay {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Passes on whatever comes through the door. `server` is the address of the control plane, such as `127.0.0.1:7300`.
pub(super) fn open(door: Door, server: String) -> io::Result<Relay> {
    door.set_nonblocking(true)?;
    let door = TcpListener::from_std(door)?;
    Ok(Relay(tokio::spawn(pass_on(door, server))))
}

async fn pass_on(door: TcpListener, server: String) {
    let (places, mut open) = (Arc::new(Semaphore::new(CONNECTIONS)), JoinSet::new());
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let Ok((mut inside, _)) = door.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let server = server.clone();
        open.spawn(async move {
            // A control plane that is away for a moment is a closed connection to the agent, which tries again.
            if let Ok(Ok(mut outside)) = tokio::time::timeout(CONNECT, TcpStream::connect(&server)).await {
                let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
            }
            drop(place);
        });
        while open.try_join_next().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn asked(at: std::net::SocketAddr) -> io::Result<String> {
        let mut stream = TcpStream::connect(at).await?;
        stream.write_all(b"who are you?").await?;
        stream.shutdown().await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.map(|_| answer)
    }

    async fn server() -> TcpListener {
        TcpListener::bind("127.0.0.1:0").await.unwrap()
    }

    fn answering(server: TcpListener) {
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = server.accept().await {
                tokio::spawn(async move {
                    let mut asked = Vec::new();
                    let _ = stream.read_to_end(&mut asked).await;
                    let _ = stream.write_all(&[b"answer to ", &asked[..]].concat()).await;
                });
            }
        });
    }

    #[tokio::test]
    async fn e1_what_is_asked_through_the_door_is_answered_by_the_control_plane() {
        let control = server().await;
        let address = control.local_addr().unwrap().to_string();
        answering(control);
        let door = Door::bind("127.0.0.1:0").unwrap();
        let inside = door.local_addr().unwrap();
        let relay = open(door, address).unwrap();
        assert_eq!(asked(inside).await.unwrap(), "answer to who are you?");
        drop(relay);
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(asked(inside).await.is_err(), "closed with its relay");
    }

    #[tokio::test]
    async fn a_control_plane_that_is_away_closes_the_connection_and_comes_back() {
        let control = server().await;
        let address = control.local_addr().unwrap();
        drop(control);
        let door = Door::bind("127.0.0.1:0").unwrap();
        let inside = door.local_addr().unwrap();
        let _relay = open(door, address.to_string()).unwrap();
        assert_eq!(asked(inside).await.unwrap_or_default(), "");
        answering(TcpListener::bind(address).await.unwrap());
        assert_eq!(asked(inside).await.unwrap(), "answer to who are you?");
    }
}
