//! Takes connections: not without end, and only from those who say soon what they want.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use placet_gateway::Patient;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::app::Limits;

/// Enough for ours (47 characters of token) and for what proxies add.
const MOST_HEADERS: usize = 64;
const MOST_HEADER_BYTES: usize = 32 << 10;
/// After an error of the system (no more descriptors, say): long enough for some to be freed.
const RECOVERY: Duration = Duration::from_millis(50);

/// Serves connections until told to stop; then lets those under way finish.
pub(crate) async fn accept(listener: TcpListener, router: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let http = http(&limits);
    let graceful = GracefulShutdown::new();
    tokio::pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = next(&listener, &places) => accepted,
            () = &mut stop => break,
        };
        let Some((socket, place)) = accepted else { continue };
        // Answers are small and awaited: better sent at once than in company.
        let _ = socket.set_nodelay(true);
        let socket = Patient::new(socket, Duration::from_millis(limits.unread_ms));
        serve(&http, socket, place, router.clone(), &graceful);
    }
    drop(listener);
    graceful.shutdown().await;
}

/// The next connection, once there is a place for it.
async fn next(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((socket, _)) => Some((socket, place)),
        Err(error) => {
            tracing::warn!(%error, "a connection could not be taken");
            tokio::time::sleep(RECOVERY).await;
            None
        }
    }
}

/// Whoever opens a connection and sends no request, or sends it a byte at a time, is hung up on. That takes longer than our
/// own clients keep an idle connection, so that they never send into one that is just being closed.
fn http(limits: &Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_millis(limits.head_ms));
    http.max_headers(MOST_HEADERS).max_header_size(MOST_HEADER_BYTES);
    http
}

fn serve(
    http: &http1::Builder,
    socket: Patient<TcpStream>,
    place: OwnedSemaphorePermit,
    router: Router,
    graceful: &GracefulShutdown,
) {
    let connection = http.serve_connection(TokioIo::new(socket), TowerToHyperService::new(router));
    let watched = graceful.watch(connection);
    tokio::spawn(async move {
        // How a connection ends is its caller's business; what was asked on it has been answered and counted.
        let _ = watched.await;
        drop(place);
    });
}
