//! Takes connections and answers what is asked on them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use placet_dial::WriteTimeout;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use super::gateway::Gateway;
use super::key::Keys;
use super::purse::Purse;

const MOST_HEADERS: usize = 64;
const MOST_HEADER_BYTES: usize = 32 << 10;
/// What waits to be written to an agent that does not read; the usual is six times as much, for each connection.
const MOST_BUFFERED_BYTES: usize = 64 << 10;
/// Agents keep idle connections for minutes; a head that was begun comes at once.
const HEAD_TIMEOUT: Duration = Duration::from_secs(300);
/// After an error of the system (no more descriptors, say): long enough for some to be freed.
const RECOVERY: Duration = Duration::from_millis(50);
/// How long calls under way may go on when the gateway is told to stop.
const GRACE: Duration = Duration::from_secs(10);

/// Serves a listener, such as the door of a cage, until told to stop; then lets calls under way finish for a while.
pub async fn serve<K: Keys, P: Purse>(
    gateway: Arc<Gateway<K, P>>,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send,
) {
    let places = Arc::new(Semaphore::new(gateway.limits().connections.get()));
    let graceful = GracefulShutdown::new();
    tokio::pin!(stop);
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let accepted = tokio::select! {
            accepted = async { (place.await, listener.accept().await) } => accepted,
            () = &mut stop => break,
        };
        match accepted {
            (Ok(place), Ok((socket, _))) => {
                let _ = socket.set_nodelay(true);
                let connection = graceful.watch(connection(Arc::clone(&gateway), socket));
                tokio::spawn(async move {
                    // How a connection ends is its caller's business; what was asked on it is settled by itself.
                    let _ = connection.await;
                    drop(place);
                });
            }
            (_, Err(error)) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(RECOVERY).await;
            }
            (Err(_), _) => break,
        }
    }
    drop(listener);
    // What is estimated has been settled when this returns; its connections break a moment later.
    let connections = tokio::time::timeout(GRACE + RECOVERY, graceful.shutdown());
    let _ = tokio::join!(gateway.stop(GRACE), connections);
}

/// Serves one connection to its end.
pub async fn serve_connection<K: Keys, P: Purse, S>(gateway: Arc<Gateway<K, P>>, socket: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let _ = connection(gateway, socket).await;
}

fn connection<K: Keys, P: Purse, S>(
    gateway: Arc<Gateway<K, P>>,
    socket: S,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let unread = gateway.limits().unread();
    let answer = service_fn(move |request| {
        let gateway = Arc::clone(&gateway);
        async move { Ok::<_, Infallible>(gateway.handle(request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    http.max_headers(MOST_HEADERS).max_header_size(MOST_HEADER_BYTES).max_buf_size(MOST_BUFFERED_BYTES);
    let socket = WriteTimeout::new(socket, unread);
    http.serve_connection(TokioIo::new(socket), answer)
}
