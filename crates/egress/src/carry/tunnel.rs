//! A tunnel: bytes both ways until both sides are done. A side that is done with sending may still receive; each side is
//! read only as fast as the other takes.

use std::future::Future;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::{Carriage, Direction};
use crate::inbox::Inbox;
use crate::rules::Reason;

/// A side of a tunnel: what it sends, and where it receives.
pub(crate) struct Side<'a, R, W> {
    pub(crate) inbox: &'a mut Inbox<R>,
    pub(crate) out: &'a mut W,
}

/// Carries both ways until both ends have closed.
pub(crate) async fn pump<R, W, R2, W2>(
    inside: Side<'_, R, W>,
    outside: Side<'_, R2, W2>,
    carriage: &Carriage<'_>,
) -> Result<(), Reason>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    R2: AsyncRead + Unpin,
    W2: AsyncWrite + Unpin,
{
    let up = one_way(inside.inbox, outside.out, carriage, Direction::Up);
    let down = one_way(outside.inbox, inside.out, carriage, Direction::Down);
    both(up, down).await
}

/// Waits for both, unless one is cut.
async fn both(
    up: impl Future<Output = Result<(), Reason>>,
    down: impl Future<Output = Result<(), Reason>>,
) -> Result<(), Reason> {
    tokio::try_join!(up, down).map(|((), ())| ())
}

async fn one_way<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    from: &mut Inbox<R>,
    to: &mut W,
    carriage: &Carriage<'_>,
    direction: Direction,
) -> Result<(), Reason> {
    // A connection that breaks is an end like any other: whoever is left sees its own side close.
    while let Ok(part) = from.some(u64::MAX).await {
        if part.is_empty() {
            break;
        }
        carriage.count(direction, part.len())?;
        if to.write_all(&part).await.is_err() || to.flush().await.is_err() {
            break;
        }
    }
    carriage.moved();
    let _ = to.shutdown().await;
    Ok(())
}
