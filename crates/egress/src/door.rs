//! The door of a cage: its connections are accepted here, and never more of them than the way out has room for.
//!
//! Room is taken before a connection is accepted. Whatever a cage opens beyond waits in the queue of its own network, where it takes
//! no descriptor of this process: what many cages share, one of them cannot use up.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Egress, Limits, serve};

/// Connections beyond the limit that are accepted to be told so, at most; more of them wait until one of these was told.
const TURNED_AWAY_AT_ONCE: usize = 8;
/// When accepting fails, this process lacks something for a moment; trying at once again would not help it.
const PAUSE: Duration = Duration::from_millis(50);

/// How many connections are held at once: those that are served, and a few that are turned away.
pub(super) fn room(limits: &Limits) -> Arc<Semaphore> {
    let connections = limits.connections.min(Semaphore::MAX_PERMITS - TURNED_AWAY_AT_ONCE);
    // Where there is little room, little of it is for those who get none.
    Arc::new(Semaphore::new(connections + (connections / 4).clamp(1, TURNED_AWAY_AT_ONCE)))
}

/// A connection of a cage, with the room it takes. Dropping it gives both back.
#[derive(Debug)]
pub struct Accepted {
    stream: TcpStream,
    egress: Arc<Egress>,
    room: OwnedSemaphorePermit,
}

impl Accepted {
    /// Serves it until it is over. Dropping the future ends it.
    pub async fn serve(self) {
        let Self { stream, egress, room } = self;
        serve(stream, &egress).await;
        drop(room);
    }
}

/// The next connection that comes through the door, once there is room for it. Nothing is lost if the caller stops waiting.
pub async fn accept(door: &TcpListener, egress: &Arc<Egress>) -> Accepted {
    let room = Arc::clone(&egress.room).acquire_owned().await.expect("nobody closes it");
    loop {
        match door.accept().await {
            Ok((stream, _)) => {
                // Head and body of an answer are two messages: the second should not wait for an acknowledgement of the first.
                let _ = stream.set_nodelay(true);
                return Accepted { stream, egress: Arc::clone(egress), room };
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
