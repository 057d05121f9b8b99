//! Doors by hand: whatever the command connects to inside is passed on to one address outside, and to no other.

use std::net::SocketAddr;

use placet_sandbox::Running;
use tokio::net::{TcpListener, TcpStream};

use crate::error::CliError;

/// A port of the cage, and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DoorTo {
    pub(super) port: u16,
    pub(super) to: SocketAddr,
}

/// Passes connections on until the process ends. Must be called in the runtime.
pub(super) fn open(running: &mut Running, doors: &[DoorTo]) -> Result<(), CliError> {
    for door in doors {
        let Some(listener) = running.take_door(door.port) else { continue };
        listener.set_nonblocking(true)?;
        tokio::spawn(serve(TcpListener::from_std(listener)?, door.to));
    }
    Ok(())
}

async fn serve(listener: TcpListener, to: SocketAddr) {
    while let Ok((mut inside, _)) = listener.accept().await {
        tokio::spawn(async move {
            // Where nobody answers outside, the connection is closed inside: the command sees that.
            if let Ok(mut outside) = TcpStream::connect(to).await {
                let _ = tokio::io::copy_bidirectional(&mut inside, &mut outside).await;
            }
        });
    }
}
